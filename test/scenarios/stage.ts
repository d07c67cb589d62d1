/**
 * Where scenarios play: a platform, a database, and gateways as processes on it, each reached over lines of its own that
 * keep their addresses over every kill.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "../../src/client.ts";
import { startTelegram, type TelegramServer } from "../../src/testing/telegram-server.ts";
import { type Gateway, startGateway } from "./gateway.ts";
import { type Line, openLine } from "./line.ts";
import type { Preload, Programs } from "./programs.ts";

const KEYS = { agent: "ag_of-the-scenarios", operator: "op_of-the-scenarios" } as const;
/** Each has a private chat with the bot, and one question at a time. */
const PEOPLE = Array.from({ length: 150 }, (_, index) => 1_000 + index);

export interface Life {
  readonly from: number;
  /** Null while it lives. */
  to: number | null;
}

/** A place to run gateways in, one after the other: its own data folder and lines. */
export interface Node {
  readonly name: string;
  /** Holds its data folder, `data`. */
  readonly folder: string;
  readonly lines: { readonly agent: Line; readonly operator: Line };
  readonly agent: Client;
  readonly operator: Client;
  /** When a gateway has listened here, oldest first. */
  readonly lives: readonly Life[];
  gateway(): Gateway;
  /** Starts a gateway without waiting for it; `command` runs another command of the program instead. */
  launch(more?: Readonly<Record<string, string>>, command?: readonly string[]): Gateway;
  /** Resolves once it listens and the lines lead to it. */
  start(): Promise<Gateway>;
  /** To be told when the gateway is gone. */
  ended(): void;
}

export interface Stage {
  readonly platform: TelegramServer;
  readonly nodes: readonly Node[];
  /** The first node. */
  readonly node: Node;
  /** As the test reaches the database itself. */
  readonly databaseUrl: string;
  /** A person whose chat is free. */
  person(): number;
  close(): Promise<void>;
}

export interface StageOptions {
  readonly programs: Programs;
  readonly preloads?: readonly Preload[];
  /** The database as gateways reach it, by node; default: a SQLite file of the stage. */
  readonly databaseUrls?: readonly string[];
  /** As the test reaches it; default: the first of the above. */
  readonly directUrl?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export async function openStage(options: StageOptions): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "askgate-scenario-"));
  const platform = await startTelegram({ local: true });
  for (const id of PEOPLE) platform.user(id, `p${id}`);
  const urls = options.databaseUrls ?? [`sqlite:${join(folder, "askgate.db")}`];
  const nodes = await Promise.all(
    urls.map((url, index) => openNode(folder, `node${index + 1}`, url, platform, options)),
  );
  const [node] = nodes;
  if (!node) throw new Error("a stage needs a node");
  let next = 0;
  return {
    platform,
    nodes,
    node,
    databaseUrl: options.directUrl ?? urls[0] ?? "",
    person: () => PEOPLE[next++ % PEOPLE.length] ?? 0,
    async close() {
      for (const one of nodes) await one.close();
      await platform.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function settings(): string {
  const people = PEOPLE.map((id, index) => [
    `p${id}`,
    { identities: [`telegram:${id}`], roles: index === 0 ? ["owner"] : [] },
  ]);
  return JSON.stringify({ people: Object.fromEntries(people) });
}

function variablesOf(folder: string, databaseUrl: string, platform: TelegramServer): Record<string, string> {
  return {
    ASKGATE_CONFIG: join(folder, "app.json"),
    ASKGATE_DATABASE_URL: databaseUrl,
    ASKGATE_API_KEY: KEYS.agent,
    ASKGATE_OPERATOR_KEY: KEYS.operator,
    TELEGRAM_BOT_TOKEN: platform.token,
    TELEGRAM_API_ROOT: platform.url,
  };
}

async function openNode(
  parent: string,
  name: string,
  databaseUrl: string,
  platform: TelegramServer,
  { programs, preloads = [], env = {} }: StageOptions,
): Promise<Node & { close(): Promise<void> }> {
  const folder = join(parent, name);
  mkdirSync(folder);
  writeFileSync(join(folder, "app.json"), settings());
  const lines = { agent: await openLine(), operator: await openLine() };
  const lives: Life[] = [];
  const every: Gateway[] = [];
  const gateway = () => {
    const last = every.at(-1);
    if (!last) throw new Error(`no gateway was started at ${name}`);
    return last;
  };
  const lead = (to: string | null) => {
    for (const line of [lines.agent, lines.operator]) line.lead(to);
  };
  const variables = { ...variablesOf(folder, databaseUrl, platform), ...env };
  const launch: Node["launch"] = (more = {}, command = ["serve"]) => {
    const started = startGateway({ programs, folder, preloads, env: { ...variables, ...more }, command });
    every.push(started);
    return started;
  };
  return {
    ...{ name, folder, lines, lives, gateway, launch },
    agent: createClient({ url: lines.agent.url, key: KEYS.agent, patienceMs: 120_000 }),
    operator: createClient({ url: lines.operator.url, key: KEYS.operator }),
    async start() {
      const started = launch();
      lead(await started.listening);
      lives.push({ from: Date.now(), to: null });
      return started;
    },
    ended() {
      lead(null);
      const last = lives.at(-1);
      if (last) last.to ??= Date.now();
    },
    async close() {
      for (const one of every) one.signal("SIGKILL");
      await Promise.all(every.map((one) => one.gone));
      await Promise.all([lines.agent.close(), lines.operator.close()]);
    },
  };
}
