/** The command line as people and scripts use it: real processes on a data folder of their own. */
import { chmodSync, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createClient } from "../src/client.ts";
import type { Cli, CliDeps } from "../src/gateway/cli/cli.ts";
import { runCli } from "../src/gateway/cli/commands.ts";
import { readRecord } from "../src/gateway/cli/data-folder.ts";
import { printResult } from "../src/gateway/cli/outcome.ts";
import type { ToolResult } from "../src/ports/asker.ts";
import { startTelegram } from "../src/testing/telegram-server.ts";
import { clearAway, idOf, makeFolder, operatorOf, type Running, run, serve } from "./fixtures/commands.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

afterAll(clearAway);

describe("with a gateway running", () => {
  const data = makeFolder();
  let gateway: Running;

  beforeAll(async () => {
    gateway = await serve(data);
  });

  it("says in plain words where it is and what to try, and keeps keys and folder to their owner", () => {
    expect(gateway.out()).toBe("");
    expect(gateway.err()).toContain(`Askgate listens on ${readRecord(data)?.url}`);
    expect(gateway.err()).toMatch(/channels {2}terminal\n/);
    expect(statSync(data).mode & 0o777).toBe(0o700);
    for (const file of ["agent.key", "operator.key", "gateway.json", "process"]) {
      expect(statSync(join(data, file)).mode & 0o777, file).toBe(0o600);
    }
  });

  it("refuses a second one on the folder and says where the first is", async () => {
    const second = run(data, ["serve"]);
    expect(await second.end).toBe(1);
    expect(second.err()).toContain(`already at ${readRecord(data)?.url}`);
    expect(second.err()).toMatch(
      /A second one, on the same database too, needs a data folder of its own: set ASKGATE_DATA/,
    );
  });

  it("takes a question from the shell to an inbox and the answer back", async () => {
    const asking = run(data, ["ask", "Deploy where?", "-o", "Staging (Recommended)", "-o", "Production"]);
    await asking.seen(/Nobody sees it yet\. .* inbox/);
    const inbox = run(data, ["inbox"], "2\n");
    expect(await asking.end).toBe(0);
    expect(asking.out()).toBe("Production\n");
    expect(await inbox.end).toBe(0);
    expect(inbox.out()).toMatch(/Deploy where\?[\s\S]*1\. Staging[\s\S]*2\. Production[\s\S]*Answered by owner/);
  });

  it("prints several labels one a line, and the whole result as JSON", async () => {
    const asking = run(data, ["ask", "Tell whom?", "-o", "Team", "-o", "Support", "-o", "All", "--multi"]);
    const asJson = run(data, ["ask", "Which day?", "-o", "Monday", "-o", "Friday", "--json"]);
    const id = await idOf(data, "Tell whom?");
    const answer = run(data, ["answer", id, "--set", "answer=Support", "--set", "answer=Team", "--json"]);
    expect(await answer.end).toBe(0);
    expect(JSON.parse(answer.out())).toMatchObject({ id, status: "answered" });
    expect(await asking.end).toBe(0);
    expect(asking.out()).toBe("Team\nSupport\n");
    expect(await run(data, ["answer", await idOf(data, "Which day?"), "--text", "2"]).end).toBe(0);
    expect(await asJson.end).toBe(0);
    expect(JSON.parse(asJson.out())).toMatchObject({
      status: "answered",
      answers: { answers: { answer: ["Friday"] } },
    });
  });

  it("cancels the question when the asker is interrupted, and ends with 5", async () => {
    const asking = run(data, ["ask", "Still needed?", "-o", "Yes", "-o", "No"]);
    const id = await idOf(data, "Still needed?");
    asking.child.kill("SIGINT");
    expect(await asking.end).toBe(5);
    expect(asking.out()).toBe("");
    expect(await operatorOf(data).get(id)).toMatchObject({ status: "cancelled", reason: "aborted" });
  });

  it("ends with 5 when skipped and with 3 when it reaches nobody", async () => {
    const skipped = run(data, ["ask", "Lunch?", "-o", "Pizza", "-o", "Soup"]);
    const lost = run(data, ["ask", "Anyone?", "-o", "Yes", "-o", "No", "--to", "discord:1"]);
    expect(await run(data, ["skip", await idOf(data, "Lunch?")]).end).toBe(0);
    expect(await skipped.end).toBe(5);
    expect(await lost.end).toBe(3);
    expect(lost.err()).toContain("reached nobody");
  });

  it("waits for, shows and lists what was asked elsewhere", async () => {
    const { inquiry } = await operatorOf(data).ask({
      id: "elsewhere",
      questions: [{ id: "ok", header: "Ok", question: "All well?", options: [{ label: "Yes" }, { label: "No" }] }],
    });
    const listed = run(data, ["list", "--status", "waiting"]);
    expect(await listed.end).toBe(0);
    expect(listed.out()).toMatch(/^elsewhere {2}waiting {2}main {2}All well\?$/m);
    const waiting = run(data, ["wait", inquiry.id]);
    await operatorOf(data).answer(inquiry.id, { answers: { ok: ["Yes"] } });
    expect(await waiting.end).toBe(0);
    expect(waiting.out()).toBe("Yes\n");
    const shown = run(data, ["show", inquiry.id]);
    expect(await shown.end).toBe(0);
    expect(shown.out()).toMatch(/answered[\s\S]*1\. Yes/);
    const unknown = run(data, ["show", "nothing"]);
    expect(await unknown.end).toBe(1);
  });

  it("makes, lists and revokes keys", async () => {
    const added = run(data, ["keys", "add", "--scope", "agent", "--session", "deploys", "--json"]);
    expect(await added.end).toBe(0);
    const { id, key, ...rest } = JSON.parse(added.out());
    expect(rest).toEqual({ scope: "agent", sessions: ["deploys"], kind: "main" });
    const client = createClient({ url: readRecord(data)?.url ?? "", key });
    expect((await client.list()).items).toEqual([]);
    expect(await run(data, ["keys", "revoke", id]).end).toBe(0);
    await expect(client.list()).rejects.toMatchObject({ code: "unauthorized" });
    const listed = run(data, ["keys", "list"]);
    await listed.end;
    expect(listed.out()).toContain(`${id}  agent  main  deploys  revoked`);
    expect(listed.out()).not.toContain(key);
  });

  it("plays the demo unattended", async () => {
    const demo = run(data, ["demo", "--json"]);
    expect(await demo.end).toBe(0);
    expect(JSON.parse(demo.out())).toEqual({ deploy_target: ["Staging (Recommended)"], announce: ["The team"] });
  });

  it("is found well by the doctor, who tells of a key that others can read", async () => {
    const well = run(data, ["doctor"]);
    expect(await well.end).toBe(0);
    expect(well.out()).toMatch(/ok {5}gateway: .* is ready/);
    chmodSync(join(data, "operator.key"), 0o644);
    const ill = run(data, ["doctor", "--json"]);
    expect(await ill.end).toBe(1);
    const { findings } = JSON.parse(ill.out());
    expect(findings).toContainEqual(expect.objectContaining({ check: "operator key", state: "fault" }));
    chmodSync(join(data, "operator.key"), 0o600);
  });
});

describe("when the gateway is killed", () => {
  it("keeps the question, comes back at once, and the waiting asker and the open inbox go on", async () => {
    const data = makeFolder();
    const first = await serve(data);
    const inbox = run(data, ["inbox"], null);
    await inbox.seen(/Inbox of owner/);
    const asking = run(data, ["ask", "Survive?", "-o", "Yes", "-o", "No"]);
    await inbox.seen(/Survive\?/);
    first.child.kill("SIGKILL");
    await first.end;
    await inbox.seen(/connection is lost/);
    const second = await serve(data);
    inbox.child.stdin?.write("1\n");
    expect(await asking.end).toBe(0);
    expect(asking.out()).toBe("Yes\n");
    second.child.kill("SIGTERM");
    expect(await second.end).toBe(0);
    expect(existsSync(join(data, "gateway.json"))).toBe(false);
    expect(existsSync(join(data, "gateway.lock"))).toBe(false);
    inbox.child.kill("SIGTERM");
    expect(await inbox.end).toBe(0);
  });
});

describe("with a Telegram bot", () => {
  it("prints the first code, which links the owner, whose press answers the shell", async () => {
    const platform = await startTelegram();
    const environment = { TELEGRAM_BOT_TOKEN: platform.token, TELEGRAM_API_ROOT: platform.url };
    const data = makeFolder();
    const gateway = await serve(data, environment);
    expect(gateway.err()).toMatch(/channels {2}terminal, telegram\n/);
    const code = /telegram: nobody is linked yet\. Send (\S+) to your bot/.exec(gateway.err())?.[1] ?? "";
    const ana = platform.user(100, "Ana");
    ana.says(100, code);
    await platform.waitFor(() => platform.messages(100).some(({ text }) => text.startsWith("Linked.")), 20_000);

    const asking = run(data, ["ask", "Deploy where?", "-o", "Staging", "-o", "Production"]);
    const asked = await platform.waitFor(
      () => platform.messages(100).find((message) => platform.buttons(message).length > 0),
      40_000,
    );
    const button = platform
      .buttons(asked)
      .flat()
      .find((label) => label.endsWith("Production"));
    ana.presses(asked.id, button ?? "");
    expect(await asking.end).toBe(0);
    expect(asking.out()).toBe("Production\n");

    const doctor = run(data, ["doctor"], "", environment);
    expect(await doctor.end).toBe(0);
    expect(doctor.out()).toMatch(/ok {5}telegram: the token is @askgate_bot's[\s\S]*none, as polling needs/);
    const refused = run(data, ["doctor"], "", { ...environment, TELEGRAM_BOT_TOKEN: "1:wrong" });
    expect(await refused.end).toBe(1);
    expect(refused.out()).toMatch(/FAULT {2}telegram: the platform answers 4\d\d to the token\n\s+Ask @BotFather/);
    for (const text of [gateway.err(), doctor.out(), refused.out()]) expect(text).not.toContain("loopback-token");
    gateway.child.kill("SIGTERM");
    expect(await gateway.end).toBe(0);
    await platform.close();
  });
});

describe("without a gateway", () => {
  it("says how to start one", async () => {
    const data = makeFolder();
    const asking = run(data, ["ask", "Anyone?", "-o", "Yes", "-o", "No"]);
    expect(await asking.end).toBe(1);
    expect(asking.err()).toContain(`No gateway runs on ${data}. Start one with: npm start`);
    expect(asking.out()).toBe("");
  });

  it("reads replies as JSON Lines", async () => {
    const questions = [{ id: "target", options: ["Staging", { label: "Production" }] }];
    const lines = ["2", "skip", "tomorrow rather"].map((reply) => JSON.stringify({ questions, reply })).join("\n");
    const parsing = run(makeFolder(), ["parse"], lines);
    expect(await parsing.end).toBe(0);
    expect(
      parsing
        .out()
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { outcome: "select", answers: { target: { select: ["Production"] } } },
      { outcome: "skip", answers: { target: { skip: true } } },
      { outcome: "other", answers: { target: { other: "tomorrow rather" } } },
    ]);
  });
});

describe("before anything is read or reached", () => {
  const untouched: CliDeps = {
    config: () => {
      throw new Error("the configuration was read");
    },
    startGateway: () => Promise.reject(new Error("a gateway was started")),
    tryDatabase: () => Promise.reject(new Error("the database was opened")),
    migrate: () => Promise.reject(new Error("the database was opened")),
    move: () => Promise.reject(new Error("the database was opened")),
  };
  const printed: string[] = [];
  beforeEach(() => {
    printed.length = 0;
    const keep = (chunk: unknown) => printed.push(String(chunk)) > 0;
    vi.spyOn(process.stdout, "write").mockImplementation(keep);
    vi.spyOn(process.stderr, "write").mockImplementation(keep);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each([
    ["an unknown command", ["frobnicate"]],
    ["an option that is missing", ["keys", "add"]],
    ["a value that is none", ["ask", "Q?", "--timeout", "soon"]],
    ["an unknown choice", ["keys", "add", "--scope", "king"]],
    ["an argument too many", ["list", "all"]],
    ["a group without a command", ["keys"]],
    ["nothing at all", []],
  ])("%s ends with 2", async (_name, argv) => {
    expect(await runCli(argv, untouched)).toBe(2);
    expect(printed.join("")).not.toMatch(/was (read|started|opened)/);
  });

  it.each([
    ["no question", ["ask"], "Give a question"],
    ["a question twice", ["ask", "Q?", "--file", "q.json"], "not both"],
    ["a file that is not there", ["ask", "--file", "gone.json"], "gone.json cannot be used"],
    ["neither --text nor --set", ["answer", "x"], "either --text or --set"],
    ["a --set without label", ["answer", "x", "--set", "target"], 'received "target"'],
  ])("%s ends with 2 and says why", async (_name, argv, why) => {
    expect(await runCli(argv, untouched)).toBe(2);
    expect(printed.join("")).toContain(why);
  });

  it.each([
    ...["serve", "inbox", "demo", "ask", "wait", "show", "list", "skip", "cancel", "answer", "parse", "pair"],
    ...["migrate", "doctor"],
  ])("%s explains itself with an example", async (name) => {
    expect(await runCli([name, "--help"], untouched)).toBe(0);
    expect(printed.join("")).toMatch(/--json[\s\S]*Example:\n {2}\S*askgate/);
  });
});

describe("the exit code of an outcome", () => {
  const silent = { out() {}, note() {} } as unknown as Cli;
  const reasons = [
    ["undelivered", 3],
    ["timed_out", 4],
    ["skipped", 5],
    ["cancelled", 5],
    ["superseded", 5],
  ] as const;
  it.each(reasons)("%s is %i", (reason, code) => {
    const result: ToolResult = { status: "no_answer", reason, inquiry_id: "a", timeout_seconds: 900 };
    expect(printResult(silent, result, false)).toBe(code);
  });
});
