/** The contract of asking, one line for each way to ask. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { cliHarness } from "../src/testing/asker-cli.ts";
import { engineHarness, httpHarness, openGateway } from "../src/testing/asker-engine.ts";
import { askerSuite } from "../src/testing/asker-suite.ts";
import { until } from "../src/testing/until.ts";

askerSuite("the engine", engineHarness);
askerSuite("HTTP", httpHarness);
askerSuite("the command line", cliHarness);

it("an `ask` that is killed, as a process, leaves its question open and finds it when asked again", async () => {
  const gateway = await openGateway();
  const env = { ...process.env, ASKGATE_URL: gateway.url, ASKGATE_API_KEY: gateway.keys.agent };
  const ask = () => spawn(process.execPath, ["--import", "tsx", "src/main.ts", "ask", "Well?", "--json"], { env });
  const caller = await gateway.engine.access.authenticate(gateway.keys.agent);
  if (!caller) throw new Error("the agent's key is gone");
  const asked = async () => (await gateway.engine.asker.list(caller, {})).items;

  const killed = ask();
  await until("it is asked", async () => (await asked()).length === 1, 15_000);
  killed.kill("SIGKILL");
  await gateway.quiet();
  const again = ask();
  await until("it waits again", () => gateway.waiting() === 1, 15_000);
  expect(await asked()).toMatchObject([{ status: "waiting" }]);
  await gateway.chat.write("all is well");
  const [out] = (await once(again.stdout, "data")) as [Buffer];
  expect(JSON.parse(String(out))).toMatchObject({
    status: "answered",
    answers: { answers: { answer: ["all is well"] } },
  });
  await gateway.close();
}, 60_000);
