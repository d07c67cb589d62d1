/**
 * A clone as a new user has it, with its own data folder: the commands of README.md run in it as they stand. Only the
 * port differs, and Telegram is a server of our own.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Client, createClient } from "../../src/client.ts";
import { readRecord } from "../../src/gateway/cli/data-folder.ts";
import { startTelegram, type TelegramServer } from "../../src/testing/telegram-server.ts";
import { until } from "../../src/testing/until.ts";
import { ROOT } from "./document.ts";

const CLONED = ["package.json", "tsconfig.json", "config", "src", "adapters", "node_modules"];
const PUBLISHED_URL = "http://127.0.0.1:8787";
/** A busy machine takes its time to start a process. */
const PATIENCE_MS = 60_000;
const LOG_LINE = /^\{.*\n/gm;
/** The last line of the greeting, whole: its lines come one by one. */
const GREETED = /^Try it[\s\S]* ask ".*\n/m;

export interface Run {
  /** Exit code. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Stand {
  readonly folder: string;
  readonly telegram: TelegramServer;
  readonly operator: Client;
  /** What the gateway has said to people so far; its log goes the same way and comes when it comes. */
  greeting(): string;
  /** Puts the gateway's address where the page names the default one. */
  placed(text: string): string;
  /** Runs shell text to its end. */
  run(text: string, stdin?: string): Promise<Run>;
  /** Runs shell text that does not end by itself; `stop` ends it. */
  watch(text: string): { out(): string; stop(): Promise<void> };
  close(): Promise<void>;
}

/** `start` is the command that runs the gateway. */
export async function openStand(start: string): Promise<Stand> {
  const folder = mkdtempSync(join(tmpdir(), "askgate-readme-"));
  for (const name of CLONED) symlinkSync(join(ROOT, name), join(folder, name));
  const telegram = await startTelegram();
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, npm_config_update_notifier: "false" };
  const bot = { TELEGRAM_BOT_TOKEN: telegram.token, TELEGRAM_API_ROOT: telegram.url };
  const gateway = shell(start, folder, { ...env, ...bot, ASKGATE_PORT: "0" });
  await until("the gateway has started", () => GREETED.test(gateway.said().err), PATIENCE_MS);
  const url = readRecord(join(folder, "data"))?.url ?? "";
  const operator = createClient({ url, key: readFileSync(join(folder, "data/operator.key"), "utf8").trim() });
  const placed = (text: string) => text.replaceAll(PUBLISHED_URL, url);
  return {
    folder,
    telegram,
    operator,
    greeting: () => gateway.said().err.replace(LOG_LINE, ""),
    placed,
    run: (text, stdin = "") => {
      const running = shell(`set -eu\n${placed(text)}`, folder, env);
      running.child.stdin?.end(stdin);
      return running.end;
    },
    watch(text) {
      const running = shell(`exec ${placed(text)}`, folder, env);
      return {
        out: () => running.said().out,
        async stop() {
          running.child.kill("SIGKILL");
          await running.end;
        },
      };
    },
    async close() {
      if (gateway.child.pid !== undefined) process.kill(-gateway.child.pid, "SIGTERM");
      await gateway.end;
      await telegram.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A process group of its own: npm does not always pass a signal on. */
function shell(text: string, cwd: string, env: NodeJS.ProcessEnv) {
  const child: ChildProcess = spawn("bash", ["-c", text], { cwd, env, detached: true });
  let out = "";
  let err = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    out += chunk;
  });
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    err += chunk;
  });
  const end = once(child, "close").then(([code]): Run => ({ code: code as number | null, out, err }));
  return { child, end, said: () => ({ out, err }) };
}

/** Somebody who answers all that is asked during the work: the last option, or words where there is none. */
export async function whileSomebodyAnswers<T>({ operator }: Stand, work: Promise<T>): Promise<T> {
  let done = false;
  const finished = work.finally(() => {
    done = true;
  });
  const answering = async () => {
    while (!done) {
      const { items } = await operator.list({ status: "waiting" });
      for (const { id, questions } of items) {
        const answers = questions.map((one) => [one.id, [one.options.at(-1)?.label ?? "Search is faster"]]);
        await operator.answer(id, { answers: Object.fromEntries(answers) });
      }
      await pause(50);
    }
  };
  const [result] = await Promise.all([finished, answering()]);
  return result;
}

/** Whether the output is what the page shows; `…` on the page stands for anything. */
export function shows(shown: string, output: string): boolean {
  const pattern = shown.split("…").map((piece) => piece.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${pattern.join("[\\s\\S]*")}$`).test(output.trim());
}
