/**
 * The promise of a durable wait, with real processes: a gateway that is killed without warning while somebody is asked
 * over Telegram and an agent waits over HTTP, and started again on the same folder and port.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Client, createClient } from "../../src/client.ts";
import { type Message, startTelegram, type TelegramServer } from "../../src/testing/telegram-server.ts";
import { until } from "../../src/testing/until.ts";

const PATIENCE_MS = 40_000;
const AGENT_KEY = "ag_of-the-kill-test";
const ANA = 100;

let folder: string;
let platform: TelegramServer;
let running: ChildProcess[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "askgate-kill-"));
  platform = await startTelegram();
  platform.user(ANA, "Ana");
  const people = { ana: { identities: [`telegram:${ANA}`], roles: ["owner"] } };
  writeFileSync(join(folder, "app.json"), JSON.stringify({ people }));
});

afterEach(async () => {
  for (const child of running) child.kill("SIGKILL");
  running = [];
  await platform.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(port: string): Promise<{ url: string; kill(): Promise<void> }> {
  const { PATH, HOME } = process.env;
  const env = {
    ...{ PATH, HOME, ASKGATE_DATA: join(folder, "data"), ASKGATE_CONFIG: join(folder, "app.json"), ASKGATE_PORT: port },
    ...{ ASKGATE_API_KEY: AGENT_KEY, TELEGRAM_BOT_TOKEN: platform.token, TELEGRAM_API_ROOT: platform.url },
  };
  const child = spawn(process.execPath, ["--import", "tsx", "src/main.ts", "serve"], { env, stdio: "ignore" });
  running.push(child);
  const record = join(folder, "data", "gateway.json");
  const url = await until(
    "the gateway listens",
    () => {
      try {
        const { url: where, pid } = JSON.parse(readFileSync(record, "utf8")) as { url: string; pid: number };
        return pid === child.pid ? where : null;
      } catch {
        return null;
      }
    },
    PATIENCE_MS,
  );
  const kill = async () => {
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  return { url, kill };
}

const question = {
  questions: [
    {
      id: "target",
      header: "Deploy",
      question: "Where do I deploy?",
      options: [{ label: "Staging" }, { label: "Production" }],
    },
  ],
};

const prompts = () => platform.messages(ANA).filter((message) => platform.buttons(message).length > 0);

function shown(): Promise<Message> {
  return until("the prompt is shown", () => prompts()[0], PATIENCE_MS);
}

function press(message: Message, label: RegExp): void {
  const button = platform
    .buttons(message)
    .flat()
    .find((text) => label.test(text));
  platform.user(ANA, "Ana").presses(message.id, button ?? "no such button");
}

async function asked(client: Client): Promise<{ id: string; result: Promise<unknown> }> {
  let id = "";
  const result = client.askUser(question, {
    onAsked: (given) => {
      id = given;
    },
  });
  await until("it is stored", () => id !== "", PATIENCE_MS);
  return { id, result };
}

const answered = {
  status: "answered",
  answers: { answers: { target: ["Production"] } },
  details: [
    {
      id: "target",
      outcome: "answered",
      by: "ana",
      channel: "telegram",
      values: [{ kind: "option", label: "Production" }],
    },
  ],
};

describe("killed while a person is asked and an agent waits", () => {
  test.each([
    ["pressed after the start", "after"],
    ["pressed while it was down", "down"],
    ["typed while it was down", "typed"],
  ])("%s: answered once, by the same deadline, to the same waiter", async (_, when) => {
    const first = await start("0");
    const client = createClient({ url: first.url, key: AGENT_KEY });
    const { id, result } = await asked(client);
    const prompt = await shown();
    const before = await until("its showing is stored", async () => {
      const inquiry = await client.get(id);
      return inquiry.shownAt === undefined ? null : inquiry;
    });
    await first.kill();
    if (when === "down") press(prompt, /Production/);
    if (when === "typed") platform.user(ANA, "Ana").says(ANA, "2");
    await start(new URL(first.url).port);
    if (when === "after") press(prompt, /Production/);
    expect(await result).toMatchObject(answered);
    const after = await client.get(id);
    expect(after).toMatchObject({ status: "answered", version: before.version + 1, expiresAt: before.expiresAt });
    await until("the copy is closed", () => prompts().length === 0, PATIENCE_MS);
    expect(
      platform.calls("sendMessage").filter(({ body }) => String(body.text).includes("Where do I deploy")),
    ).toHaveLength(1);
    expect(platform.refusals).toEqual([]);
  });

  test("killed in the middle of a send: never two answerable prompts, and the press on the unseen one counts", async () => {
    platform.inject("sendMessage", { applied: true, connection: "hang" });
    const first = await start("0");
    const { result } = await asked(createClient({ url: first.url, key: AGENT_KEY }));
    const prompt = await shown();
    await first.kill();
    await start(new URL(first.url).port);
    press(prompt, /Production/);
    expect(await result).toMatchObject(answered);
    await until("the copy is closed", () => prompts().length === 0, PATIENCE_MS);
    expect(platform.messages(ANA)).toHaveLength(1);
    expect(platform.refusals).toEqual([]);
  });
});
