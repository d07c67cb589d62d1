/** Tasks and runs that asked more than a thousand questions: all of them move. */
import { expect, test } from "vitest";
import { AGENT, type Bridge } from "../../src/testing/bridge.ts";
import { bridges, question } from "./bridges.ts";
import { heldChannel } from "./held-channel.ts";

const open = bridges();
const COUNT = 1_100;

async function askMany(bridge: Bridge) {
  const task = { taskId: "t", stateVersion: 1 };
  await bridge.engine.asker.moveTask(AGENT, "t", { stateVersion: 1 });
  const asks = Array.from({ length: COUNT }, () =>
    bridge.engine.asker.ask(AGENT, question("held:1", { run: "r", task })),
  );
  return (await Promise.all(asks)).map(({ inquiry }) => inquiry.id).sort();
}

test("a task that moves supersedes each of 1,100", async () => {
  const bridge = await open({ channels: () => [heldChannel().source] });
  const asked = await askMany(bridge);
  const { superseded } = await bridge.engine.asker.moveTask(AGENT, "t", { stateVersion: 2 });
  expect([...superseded].sort()).toEqual(asked);
  expect(await bridge.store.waitingOfTask(AGENT.keyId, "t")).toEqual([]);
});

test("a run that is aborted cancels each of 1,100", async () => {
  const bridge = await open({ channels: () => [heldChannel().source] });
  const asked = await askMany(bridge);
  const { cancelled } = await bridge.engine.asker.abortRun(AGENT, "r");
  expect([...cancelled].sort()).toEqual(asked);
  expect(await bridge.store.waitingOfRun(null, "r")).toEqual([]);
});
