/**
 * What every command works with: where results and remarks go, how an end becomes an exit code, and the gateway.
 *
 * Rules: standard output carries results only, everything else goes to standard error; an error is printed once, in
 * words, and never as a stack; commands reach the gateway over HTTP alone.
 */
import { type Command, CommanderError } from "commander";
import { type Client, createClient } from "../../client.ts";
import { AskgateError, ERRORS, type ExitCode } from "../../core/errors.ts";
import { clean } from "../../core/text.ts";
import { isDead, type KeyName, keyPath, readKey, readRecord } from "./data-folder.ts";

/** The part of the configuration that commands need. */
export interface CliConfig {
  /** Absolute path of the data folder. */
  readonly data: string;
  /** A gateway elsewhere; null: the one of the data folder. */
  readonly url: string | null;
  /** Keys from the environment; null: the files in the data folder. */
  readonly keys: Readonly<Record<KeyName, string | null>>;
  readonly locale: string;
  readonly telegram: {
    readonly token: string;
    readonly apiRoot: string | null;
    /** Where updates are to be pushed; null or absent: they are polled. */
    readonly webhook?: string | null;
  } | null;
}

export interface RunningGateway {
  readonly url: string;
  /** Where the world reaches the webhooks; null where there is no port of their own. */
  readonly publicUrl: string | null;
  /** The database, without user and password. */
  readonly database: string;
  readonly channels: readonly string[];
  /** First codes for channels that nobody has linked an account on. */
  readonly codes: readonly { readonly channel: string; readonly code: string }[];
  /** Keys of the settings file that are set and have no effect in this version. */
  readonly idle: readonly string[];
  /** Resolves when the gateway cannot go on by itself, with the reason. */
  readonly failed: Promise<Error>;
  stop(): Promise<void>;
}

/** What main lends to the commands; each is called only by those that need it. */
export interface CliDeps {
  /** Throws with every fault in one message. */
  config(): CliConfig;
  startGateway(): Promise<RunningGateway>;
  /** Looks at the database and says how it is; rejects with what is wrong. */
  tryDatabase(): Promise<DatabaseCheck>;
  /** Brings the configured database up to date. */
  migrate(): Promise<{ readonly database: string; readonly applied: readonly string[] }>;
  /** Moves everything; rejects with the target as empty as before. */
  move(request: MoveRequest): Promise<MoveResult>;
}

export interface DatabaseCheck {
  readonly finding: string;
  /** Of a PostgreSQL server, of which more can be told. */
  readonly server?: {
    /** As `16.4`, and 16 of it. */
    readonly version: string;
    readonly major: number;
    /** Where its user's tables are made; null: nowhere. */
    readonly schema: string | null;
    readonly mayCreate: boolean;
    readonly user: string;
    /** Milliseconds its clock is ahead of this machine's. */
    readonly ahead: number;
    /** Whether notifications pass. */
    readonly hears: boolean;
  };
}

/** How far a table is. */
export interface MoveStep {
  readonly table: string;
  readonly rows: number;
  readonly total: number;
}

export interface MoveRequest {
  /** As ASKGATE_DATABASE_URL takes them; null: the one that is set there. */
  readonly from: string | null;
  readonly to: string | null;
  readonly progress: (step: MoveStep) => void;
}

export interface MoveResult {
  /** Both without user and password. */
  readonly from: string;
  readonly to: string;
  readonly tables: readonly { readonly table: string; readonly rows: number }[];
}

export interface Cli {
  readonly deps: CliDeps;
  /** How a person starts a command here, as `npm run -s askgate --`. */
  readonly program: string;
  config(): CliConfig;
  client(key: KeyName): Client;
  /** A request to the gateway with the operator's key. */
  request(path: string, init?: RequestInit): Promise<Response>;
  out(line: string): void;
  note(line: string): void;
}

export function createCli(deps: CliDeps): Cli {
  let known: CliConfig | undefined;
  const config = () => {
    known ??= deps.config();
    return known;
  };
  const toGateway: typeof fetch = (input, init) => {
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    return fetch(gatewayUrl(config(), program) + pathname + search, init);
  };
  const program = process.argv[1]?.endsWith(".ts") ? "npm run -s askgate --" : "askgate";
  return {
    deps,
    program,
    config,
    client: (name) =>
      createClient({ url: gatewayUrl(config(), program), key: keyOf(config(), name), fetch: toGateway }),
    request: async (path, init = {}) => {
      const headers = { ...init.headers, authorization: `Bearer ${keyOf(config(), "operator")}` };
      return fetch(gatewayUrl(config(), program) + path, { ...init, headers });
    },
    out: (line) => process.stdout.write(`${line}\n`),
    note: (line) => process.stderr.write(`${line}\n`),
  };
}

/** Where the gateway listens now: it may come back on another port after a restart. */
export function gatewayUrl(config: CliConfig, program: string): string {
  if (config.url !== null) return config.url.replace(/\/$/, "");
  const record = readRecord(config.data);
  if (record?.url && !isDead(record)) return record.url;
  const start = program === "askgate" ? "askgate serve" : "npm start";
  throw new AskgateError("unavailable", `No gateway runs on ${config.data}. Start one with: ${start}`);
}

function keyOf(config: CliConfig, name: KeyName): string {
  const key = config.keys[name] ?? readKey(config.data, name);
  if (key) return key;
  const variable = name === "agent" ? "ASKGATE_API_KEY" : "ASKGATE_OPERATOR_KEY";
  const remedy = `Set ${variable}, or start the gateway of this data folder once, which makes it.`;
  throw new AskgateError("unauthorized", `There is no ${name} key in ${keyPath(config.data, name)}. ${remedy}`);
}

/** A failure the command has a word for, with its exit code. */
export class CliFault extends Error {
  readonly exit: ExitCode;

  constructor(message: string, exit: ExitCode) {
    super(message);
    this.name = "CliFault";
    this.exit = exit;
  }
}

/** Runs a command line to its exit code. */
export async function runToExit(cli: Cli, program: Command, argv: readonly string[]): Promise<ExitCode> {
  try {
    await program.parseAsync(argv, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof Finished) return error.exit;
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    cli.note(argv.includes("--json") ? asJson(error) : `askgate: ${clean(wordsOf(error))}`);
    if (error instanceof AskgateError) return ERRORS[error.code].exit;
    return error instanceof CliFault ? error.exit : 1;
  }
}

/** An error as one line for programs: `code` is one of the catalogue, or absent where the catalogue has no word for it. */
function asJson(error: unknown): string {
  if (!(error instanceof AskgateError)) return JSON.stringify({ detail: wordsOf(error) });
  const { code, message, issues } = error;
  return JSON.stringify({ code, detail: message, ...(issues.length > 0 && { issues }) });
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** How an action that ended with something else than 0 says so. */
export class Finished extends Error {
  readonly exit: ExitCode;

  constructor(exit: ExitCode) {
    super(`finished with exit code ${exit}`);
    this.exit = exit;
  }
}

/** Aborts at the first interrupt or termination; a second one kills as usual. Call `release` when done. */
export function interruptible(): { readonly signal: AbortSignal; release(): void } {
  const abort = new AbortController();
  const stop = () => {
    release();
    abort.abort();
  };
  const release = () => {
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  return { signal: abort.signal, release };
}
