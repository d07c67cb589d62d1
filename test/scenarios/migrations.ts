/**
 * Killed while an older database is brought up to date, or while everything moves to another database: what was open
 * stays open, and is answered once, by the deadline it had.
 */
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";
import pg from "pg";
import { until } from "../../src/testing/until.ts";
import type { Ledger } from "./ledger.ts";
import type { Node, Stage } from "./stage.ts";
import type { Snare } from "./trap.ts";
import type { Trapped } from "./trapped.ts";

const FIRST = new URL("../fixtures/first-schema.sql", import.meta.url);
const ID = "from-before";
/** Whom the open question of that database stands before. */
const PERSON = 1_000;
const LIFE_MS = 600_000;
const PATIENCE_MS = 60_000;

/** Fills an empty database as the first version left it; resolves with the deadline of its open question. */
export async function layFirst(url: string): Promise<string> {
  const asked = Date.now() - 1_000;
  const expires = asked + LIFE_MS;
  const values = { ":asked": asked, ":shown": asked, ":expires": expires };
  const text = Object.entries(values).reduce(
    (sql, [name, at]) => sql.replaceAll(name, String(at)),
    readFileSync(FIRST, "utf8"),
  );
  await (url.startsWith("sqlite:") ? runOnSqlite(url.slice("sqlite:".length), text) : runOnPostgres(url, text));
  return new Date(expires).toISOString();
}

interface File {
  exec(sql: string): void;
  close(): void;
}

async function runOnSqlite(path: string, text: string): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  const major = Number(process.versions.node.split(".")[0]);
  const name = major >= 22 ? "better-sqlite3" : "better-sqlite3-node20";
  const Driver: new (path: string) => File = createRequire(import.meta.url)(name);
  const file = new Driver(path);
  file.exec(text);
  file.close();
}

async function runOnPostgres(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text);
  await client.end();
}

/** Starts on an older database, is killed at the snare, starts again, and has the open question answered. */
export async function killMigration(trapped: Trapped, snare: Snare, ledger: Ledger): Promise<void> {
  const { stage } = trapped;
  const expiresAt = await layFirst(stage.databaseUrl);
  const doomed = await trapped.launchInto(snare);
  await dies(doomed.gone);
  ledger.count("faults");
  await stage.node.start();
  await answerFirst(stage, stage.node, expiresAt, ledger);
}

/** Moves an older database to the trapped one, is killed at the snare, and goes on with what is there. */
export async function killMove(trapped: Trapped, source: string, snare: Snare, ledger: Ledger): Promise<void> {
  const { stage, watchedUrl } = trapped;
  const expiresAt = await layFirst(source);
  const command = ["migrate", "--from", source, "--to", watchedUrl];
  const doomed = await trapped.launchInto(snare, command);
  await dies(doomed.gone);
  ledger.count("faults");
  if (snare.when === "before") {
    const again = await trapped.launchInto(null, command);
    await again.gone;
    const code = again.process.exitCode;
    if (code !== 0) ledger.wrong("lost", `the move cannot be repeated after a kill (${code}): ${again.said()}`);
  }
  await stage.node.start();
  await answerFirst(stage, stage.node, expiresAt, ledger);
}

function dies(gone: Promise<void>): Promise<true> {
  let over = false;
  void gone.then(() => {
    over = true;
  });
  return until("the process is killed", () => over, PATIENCE_MS);
}

/** The person types the second option; it must count once. */
export async function answerFirst({ platform }: Stage, node: Node, expiresAt: string, ledger: Ledger): Promise<void> {
  platform.user(PERSON).says(PERSON, "2");
  ledger.count("inquiries");
  const view = await until(
    "the question of before is answered",
    async () => {
      const now = await node.operator.get(ID).catch(() => null);
      return now?.status === "answered" ? now : null;
    },
    PATIENCE_MS,
  ).catch(() => null);
  if (view?.answers?.target?.join() !== "Production") {
    ledger.wrong("lost", `the question of before became ${view?.status} ${view?.answers?.target}`);
    return;
  }
  if (view.version !== 2) ledger.wrong("duplicated", `the question of before has version ${view.version}`);
  if (view.expiresAt !== expiresAt)
    ledger.wrong("late", `the question of before: ${expiresAt} became ${view.expiresAt}`);
  const settled = await node.operator.get("answered-before");
  if (settled.status !== "answered") ledger.wrong("lost", `what was answered before is ${settled.status}`);
  ledger.count("runs");
}
