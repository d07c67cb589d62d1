/** The inbox and the demo fed from a pipe, the settings told at the start, and readers who leave: real processes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it, vi } from "vitest";
import { readRecord } from "../src/gateway/cli/data-folder.ts";
import { clearAway, makeFolder, operatorOf, run, serve } from "./fixtures/commands.ts";
import { HOSTILE } from "./fixtures/hostile-screen.ts";

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

afterAll(clearAway);

const yesOrNo = (question: string) => ({
  questions: [{ id: "ok", header: "Ok", question, options: [{ label: "Yes" }, { label: "No" }] }],
});

describe("an inbox fed from a pipe", () => {
  let data: string;
  beforeEach(async () => {
    data = makeFolder();
    await serve(data);
  });

  it("hands in each line when a question is open, in the order they are shown", async () => {
    const { ask, settled } = operatorOf(data);
    const ids: string[] = [];
    for (const question of ["First?", "Second?"]) ids.push((await ask(yesOrNo(question))).inquiry.id);
    const inbox = run(data, ["inbox"], "1\n2\n");
    const outcomes = await Promise.all(ids.map((id) => settled(id)));
    expect(outcomes.map((one) => one.answers)).toEqual([{ ok: ["Yes"] }, { ok: ["No"] }]);
    expect(await inbox.end).toBe(0);
    expect(inbox.out().match(/Answered by owner/g)).toHaveLength(2);
  });

  it("answers the one that is shown though a whole page of newer ones waits", async () => {
    const operator = operatorOf(data);
    const { inquiry } = await operator.ask(yesOrNo("The oldest?"));
    for (let at = 0; at < 55; at++) await operator.ask(yesOrNo(`Number ${at}?`));
    const inbox = run(data, ["inbox"], "2\n");
    expect((await operator.settled(inquiry.id)).answers).toEqual({ ok: ["No"] });
    expect(await inbox.end).toBe(0);
  });

  it("shows a question again to an inbox that was opened after another was closed", async () => {
    const operator = operatorOf(data);
    const { inquiry } = await operator.ask(yesOrNo("Seen before?"));
    const first = run(data, ["inbox"], null);
    await first.seen(/Seen before\?/);
    first.child.kill("SIGTERM");
    await first.end;
    const second = run(data, ["inbox"], "1\n");
    expect((await operator.settled(inquiry.id)).answers).toEqual({ ok: ["Yes"] });
    expect(await second.end).toBe(0);
  });

  it("is not kept waiting by a line that nothing answers to", async () => {
    const operator = operatorOf(data);
    const { inquiry } = await operator.ask(yesOrNo("Well?"));
    const inbox = run(data, ["inbox"], "/deploy\n1\n");
    expect((await operator.settled(inquiry.id)).answers).toEqual({ ok: ["Yes"] });
    expect(await inbox.end).toBe(0);
  });

  it("prints nothing that moves the cursor, clears the screen or turns the writing direction", async () => {
    const operator = operatorOf(data);
    const questions = [
      {
        id: "ok",
        header: `H${HOSTILE}`.slice(0, 12),
        question: `Q ${HOSTILE}`,
        options: [{ label: `A ${HOSTILE}`, description: `D ${HOSTILE}` }, { label: "No" }],
      },
    ];
    await operator.ask({ questions });
    const inbox = run(data, ["inbox"], "1\n");
    expect(await inbox.end).toBe(0);
    expect(inbox.out()).toMatch(/Answered by owner/);
    expect(inbox.out()).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e\u2066\u2067]/u);
    expect(inbox.out()).not.toMatch(/^forged/m);
  });
});

it("an inbox that another gateway serves says so once, and opens when it is served", async () => {
  const detail = "The inbox is served by another gateway of this database.";
  let asked = 0;
  const gateway = createServer((_request, response) => {
    asked += 1;
    if (asked < 3) response.writeHead(503).end(JSON.stringify({ code: "unavailable", detail }));
    else response.writeHead(200).write('event: hello\ndata: {"person":"ana"}\n\n');
  });
  await once(gateway.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  const inbox = run(makeFolder(), ["inbox"], null, {
    ASKGATE_URL: url,
    ASKGATE_OPERATOR_KEY: "op_key_of_a_gateway_elsewhere",
  });
  await inbox.seen(/Inbox of ana/);
  expect(inbox.out().split(detail)).toHaveLength(2);
  inbox.child.kill("SIGTERM");
  await inbox.end;
  gateway.closeAllConnections();
  gateway.close();
});

it("an operator key that names sessions opens nobody's inbox and makes no key", async () => {
  const data = makeFolder();
  await serve(data);
  const { url } = readRecord(data) ?? {};
  const { key } = await operatorOf(data).addKey({ scope: "operator", sessions: ["support"] });
  const headers = { authorization: `Bearer ${key}` };
  expect((await fetch(`${url}/channels/terminal?person=owner`, { headers })).status).toBe(401);
  expect((await fetch(`${url}/v1/keys`, { headers })).status).toBe(403);
});

it("a start says in one line which keys of the settings file do nothing in this version", async () => {
  const data = makeFolder();
  const path = join(data, "..", "app.json");
  writeFileSync(path, JSON.stringify({ retentionDays: 30, sessions: { main: { remindAfterSeconds: [300] } } }));
  const gateway = await serve(data, { ASKGATE_CONFIG: path });
  expect(gateway.err()).toMatch(/^Set, but without effect in this version: retentionDays, sessions\.main\.remind\w+$/m);
});

it("a reader who leaves early ends a command quietly", async () => {
  const data = makeFolder();
  await serve(data);
  await operatorOf(data).ask(yesOrNo("Anyone?"));
  const pipeline = `"${process.execPath}" --import tsx src/main.ts list | true; echo "code \${PIPESTATUS[0]}"`;
  const { PATH, HOME } = process.env;
  const child = spawn("bash", ["-c", pipeline], { env: { PATH, HOME, ASKGATE_DATA: data } });
  let out = "";
  child.stdout.on("data", (chunk) => {
    out += String(chunk);
  });
  child.stderr.on("data", (chunk) => {
    out += String(chunk);
  });
  await once(child, "close");
  expect(out).toBe("code 0\n");
});
