/**
 * The harness of asking on which every call is the command a script would run: its arguments in, its lines and its exit
 * code out, against a gateway on a port of its own. Commands run in this process, since a suite of them as processes of
 * their own takes minutes; test/cli.test.ts runs real ones.
 *
 * Only what a script could read is used: JSON on standard output, the last line of standard error, the exit code, which
 * must be the one the contract names. A call that is cut off is a killed command: its connections break and nothing
 * more comes from it, so that no word about withdrawing the question reaches the gateway.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../client.ts";
import { AskgateError, ERRORS, type ErrorCode, type ExitCode, type Issue } from "../core/errors.ts";
import { type Cli, createCli } from "../gateway/cli/cli.ts";
import { runCommand } from "../gateway/cli/commands.ts";
import type { InquiryView, Page, ToolResult } from "../ports/asker.ts";
import { type GatewayStand, openGateway, personOf } from "./asker-engine.ts";
import type { Ability, AskerHarness, Calls } from "./asker-harness.ts";

const LACKS: readonly Ability[] = [
  "idempotency key",
  "answer as JSON",
  "ask without waiting",
  "abort run",
  "move task",
  "page size",
];

export async function cliHarness(): Promise<AskerHarness> {
  const stand = await openGateway();
  const desk = openDesk(stand);
  return {
    as: (who) => callsOf(desk, stand.keys[who]),
    person: personOf(stand),
    quiet: stand.quiet,
    pass: async (ms) => stand.clock.skip(ms),
    async close() {
      desk.close();
      await stand.close();
    },
  };
}
cliHarness.lacks = LACKS;

/** Where commands are started. */
interface Desk {
  start(key: string, argv: readonly string[]): Running;
  /** Path of a file with that content as JSON. */
  file(content: unknown): string;
  /** Kills what still runs. */
  close(): void;
}

interface Ended {
  readonly exit: ExitCode;
  readonly out: string;
  /** Lines on standard error. */
  readonly notes: readonly string[];
}

interface Running {
  /** Never settles once it was killed. */
  readonly end: Promise<Ended>;
  /** Called with each line on standard error. */
  onNote: (line: string) => void;
  kill(): void;
}

function openDesk(stand: GatewayStand): Desk {
  const folder = mkdtempSync(join(tmpdir(), "askgate-asker-"));
  const running = new Set<Running>();
  let files = 0;
  return {
    start(key, argv) {
      const command = startCommand(stand.url, key, [...argv, "--json"]);
      running.add(command);
      void command.end.then(() => running.delete(command));
      return command;
    },
    file(content) {
      const path = join(folder, `${++files}.json`);
      writeFileSync(path, JSON.stringify(content));
      return path;
    },
    close() {
      for (const command of running) command.kill();
      rmSync(folder, { recursive: true });
    },
  };
}

function startCommand(url: string, key: string, argv: readonly string[]): Running {
  const life = new AbortController();
  const notes: string[] = [];
  let out = "";
  const cli: Cli = {
    ...createCli({
      config: () => ({ data: tmpdir(), url, keys: { agent: key, operator: key }, locale: "en", telegram: null }),
      startGateway: () => Promise.reject(new Error("a gateway is running already")),
      tryDatabase: () => Promise.reject(new Error("the database is the gateway's")),
      migrate: () => Promise.reject(new Error("the database is the gateway's")),
      move: () => Promise.reject(new Error("the database is the gateway's")),
    }),
    client: () => createClient({ url, key, fetch: mortal(life.signal) }),
    out: (line) => {
      out += `${line}\n`;
    },
    note: (line) => {
      notes.push(line);
      if (!life.signal.aborted) command.onNote(line);
    },
  };
  const ended = runCommand(argv, cli).then((exit): Ended => ({ exit, out, notes }));
  const command: Running = {
    end: new Promise((resolve) => {
      void ended.then((end) => life.signal.aborted || resolve(end));
    }),
    onNote: () => {},
    kill: () => life.abort(),
  };
  return command;
}

/** A fetch whose requests all break when the signal aborts, and that makes none afterwards. */
function mortal(life: AbortSignal): typeof fetch {
  // An error of this kind ends the command at once: the client tries again after any other.
  const broken = (error: unknown): never => {
    throw life.aborted ? new AskgateError("internal", "killed") : error;
  };
  return async (input, init) => {
    const signal = AbortSignal.any([life, ...(init?.signal ? [init.signal] : [])]);
    const response = await fetch(input, { ...init, signal }).catch(broken);
    const text = response.text.bind(response);
    return Object.assign(response, { text: () => text().catch(broken) });
  };
}

function callsOf(desk: Desk, key: string): Calls {
  async function run<T>(...argv: readonly string[]): Promise<T> {
    return read<T>(argv, await desk.start(key, argv).end);
  }
  const list: Calls["list"] = ({ status, session, cursor, limit } = {}) => {
    if (limit !== undefined) throw wordless("page size");
    return run<Page>("list", ...option("status", status), ...option("session", session), ...option("cursor", cursor));
  };
  return {
    list,
    async ask(input, repeat) {
      if (repeat) throw wordless("idempotency key");
      const before = await list();
      const asking = startAsk(desk, key, input);
      const id = await Promise.race([asking.asked, asking.result.then((one) => one.inquiry_id)]);
      const inquiry = await run<InquiryView>("show", id);
      return { created: !before.items.some((one) => one.id === id), inquiry };
    },
    async askUser(input, { idempotencyKey, signal, onAsked } = {}) {
      if (idempotencyKey !== undefined) throw wordless("idempotency key");
      const asking = startAsk(desk, key, input);
      void asking.asked.then(onAsked);
      const cut = new Promise<never>((_resolve, reject) => {
        signal?.addEventListener("abort", () => {
          asking.kill();
          reject(signal.reason);
        });
      });
      return Promise.race([asking.result, cut]);
    },
    get: (id, { waitSeconds } = {}) => run<InquiryView>(waitSeconds === undefined ? "show" : "wait", id),
    async answer(id, input, repeat) {
      if (repeat) throw wordless("idempotency key");
      return run<InquiryView>("answer", id, ...answerArguments(input));
    },
    async skip(id, repeat) {
      if (repeat) throw wordless("idempotency key");
      return run<InquiryView>("skip", id);
    },
    async cancel(id, repeat) {
      if (repeat) throw wordless("idempotency key");
      return run<InquiryView>("cancel", id);
    },
    abortRun: () => Promise.reject(wordless("abort run")),
    moveTask: () => Promise.reject(wordless("move task")),
  };
}

interface Asking {
  /** The inquiry's id, once the command says where it was shown. */
  readonly asked: Promise<string>;
  readonly result: Promise<ToolResult>;
  kill(): void;
}

function startAsk(desk: Desk, key: string, input: unknown): Asking {
  const command = desk.start(key, ["ask", "--file", desk.file(input)]);
  const asked = new Promise<string>((resolve) => {
    command.onNote = (line) => {
      const id = /^Asked as (.+), waiting until /.exec(line)?.[1];
      if (id !== undefined) resolve(id);
    };
  });
  const result = command.end.then((end) => read<ToolResult>(["ask"], end));
  result.catch(() => {});
  return { asked, result, kill: command.kill };
}

function option(name: string, value: string | undefined): readonly string[] {
  return value === undefined ? [] : [`--${name}=${value}`];
}

function answerArguments(input: unknown): readonly string[] {
  const { text, answers, ...rest } = input as { text?: string; answers?: Readonly<Record<string, readonly string[]>> };
  if (Object.keys(rest).length > 0) throw wordless("answer as JSON");
  if (text !== undefined) return [`--text=${text}`];
  const pairs = Object.entries(answers ?? {}).flatMap(([id, labels]) => labels.map((label) => `--set=${id}=${label}`));
  if (pairs.length === 0) throw wordless("answer as JSON");
  return pairs;
}

function wordless(ability: Ability): Error {
  return new Error(`the command line has no words for "${ability}": say that the case needs it`);
}

/** The exit code by which `ask` and `wait` tell how it ended; everything else that worked ends with 0. */
const EXITS: Readonly<Record<string, ExitCode>> = { answered: 0, undelivered: 3, timed_out: 4 };

function read<T>([name]: readonly string[], { exit, out, notes }: Ended): T {
  if (out === "") throw refusalOf(exit, notes.at(-1) ?? "");
  const value = JSON.parse(out);
  const outcome = value.status === "no_answer" ? value.reason : value.status;
  const right = name === "ask" || name === "wait" ? (EXITS[outcome] ?? 5) : 0;
  if (exit !== right) throw new Error(`${name} ended with ${exit} instead of ${right}: ${out}`);
  return value as T;
}

/** The error that a command told on its last line. */
function refusalOf(exit: ExitCode, line: string): Error {
  const { code, detail, issues } = JSON.parse(line) as { code: ErrorCode; detail: string; issues?: readonly Issue[] };
  if (exit !== ERRORS[code]?.exit) return new Error(`the exit code ${exit} is not that of ${code}: ${detail}`);
  return new AskgateError(code, detail, issues);
}
