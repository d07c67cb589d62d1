/** Calls that wait: which inquiry they wait for, and what ends the wait. */
import { describe, expect, test } from "vitest";
import type { ToolResult } from "../../src/ports/asker.ts";
import { AGENT, type Bridge, OPERATOR } from "../../src/testing/bridge.ts";
import { until } from "../../src/testing/until.ts";
import { bridges, ended, question, watched } from "./bridges.ts";
import { heldChannel } from "./held-channel.ts";

const open = bridges();
const SAME = question("held:1");

interface Call {
  readonly result: Promise<ToolResult>;
  /** The inquiry it waits for. */
  readonly id: Promise<string>;
  leave(): void;
}

function call(bridge: Bridge, input: object = SAME): Call {
  const leaving = new AbortController();
  let asked = (_: string) => {};
  const id = new Promise<string>((known) => {
    asked = known;
  });
  const result = bridge.engine.asker.askUser(AGENT, input, { signal: leaving.signal, onAsked: asked });
  return { result, id, leave: () => leaving.abort() };
}

/** Starts calls in the same moment, and resolves with them once each knows its inquiry. */
async function together(bridge: Bridge, count: number) {
  const calls = Array.from({ length: count }, () => call(bridge));
  const ids = await Promise.all(calls.map(({ id }) => id));
  const leave = async () => {
    for (const one of calls) one.leave();
    await Promise.all(calls.map(({ result }) => result));
  };
  return { calls, ids, leave };
}

describe("identical calls", () => {
  test("two at once get two inquiries; a third after both left attaches to one of them", async () => {
    const bridge = await open({ channels: () => [heldChannel().source] });
    const both = await together(bridge, 2);
    expect(new Set(both.ids).size).toBe(2);
    await both.leave();
    const third = call(bridge);
    expect(both.ids).toContain(await third.id);
    third.leave();
    expect((await third.result).status).toBe("waiting");
  });

  test("the second in the moment the first is stored: it does not attach to what the first waits for", async () => {
    const calls: Call[] = [];
    const bridge: Bridge = await open({
      channels: () => [heldChannel().source],
      through: (store) =>
        watched(store, async (method, work) => {
          const result = await work();
          if (method === "commit" && calls.length === 1) await calls[calls.push(call(bridge)) - 1]?.id;
          return result;
        }),
    });
    calls.push(call(bridge));
    await calls[0]?.id;
    expect(new Set(await Promise.all(calls.map(({ id }) => id))).size).toBe(2);
    for (const one of calls) one.leave();
    await Promise.all(calls.map(({ result }) => result));
  });

  test("that come back at once never share what they find", async () => {
    const bridge = await open({ channels: () => [heldChannel().source] });
    const { inquiry } = await bridge.engine.asker.ask(AGENT, SAME);
    for (let round = 0; round < 10; round++) {
      const six = await together(bridge, 6);
      expect(new Set(six.ids).size).toBe(6);
      expect(six.ids).toContain(inquiry.id);
      await six.leave();
    }
  });

  test("that come back at once for a settled one: one of them gets it, the other asks anew", async () => {
    const bridge = await open({ channels: () => [heldChannel().source] });
    const { inquiry } = await bridge.engine.asker.ask(AGENT, SAME);
    await bridge.engine.asker.answer(OPERATOR, inquiry.id, { answers: { q: ["Staging"] } });
    const both = await together(bridge, 2);
    expect(new Set(both.ids).size).toBe(2);
    await both.leave();
    const results = await Promise.all(both.calls.map(({ result }) => result));
    expect(results.map(({ status }) => status).sort()).toEqual(["answered", "waiting"]);
  });
});

test("a store fault while a call attaches leaves no waiter behind, and the repeated call attaches", async () => {
  let broken = false;
  const bridge = await open({
    channels: () => [heldChannel().source],
    through: (store) =>
      watched(store, (method, read) => {
        if (!broken || method !== "inquiry") return read();
        broken = false;
        return Promise.reject(new Error("disk I/O error"));
      }),
  });
  const { inquiry } = await bridge.engine.asker.ask(AGENT, SAME);
  const [stored] = await bridge.store.inquiriesById(inquiry.id, null);
  await until("the send is under way", async () => (await bridge.store.nextDue("delivery", "held")) !== null);
  broken = true;
  await expect(call(bridge).result).rejects.toThrow("disk I/O error");
  expect(bridge.engine.waiting(stored?.uid ?? "")).toBe(false);
  const again = call(bridge);
  expect(await again.id).toBe(inquiry.id);
  expect(bridge.engine.waiting(stored?.uid ?? "")).toBe(true);
  again.leave();
  await again.result;
});

describe("a wait ends", () => {
  test("with `waiting` when its own signal aborts", async () => {
    const bridge = await open({ channels: () => [heldChannel().source] });
    const waiting = call(bridge);
    const id = await waiting.id;
    waiting.leave();
    expect(await waiting.result).toMatchObject({ status: "waiting", inquiry_id: id });
  });

  test.each([
    ["its first call", false],
    ["a call that attached", true],
  ])("as unavailable when the engine stops: %s", async (_, attached) => {
    const bridge = await open({ channels: () => [heldChannel().source] });
    if (attached) await bridge.engine.asker.ask(AGENT, SAME);
    const waiting = call(bridge);
    const refused = expect(waiting.result).rejects.toMatchObject({ code: "unavailable" });
    const id = await waiting.id;
    await ended(bridge, bridge.engine.stop());
    await refused;
    expect((await bridge.engine.asker.get(AGENT, id)).status).toBe("waiting");
  });

  test("as unavailable when the engine stopped while the question was being stored", async () => {
    let stopping = Promise.resolve();
    const bridge: Bridge = await open({
      channels: () => [heldChannel().source],
      through: (store) =>
        watched(store, (method, commit) => {
          if (method === "attachable") stopping = bridge.engine.stop();
          return commit();
        }),
    });
    await expect(call(bridge).result).rejects.toMatchObject({ code: "unavailable" });
    await ended(bridge, stopping);
  });
});
