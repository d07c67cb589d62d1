/**
 * What the commands do with databases while no gateway serves: look, bring up to date, move.
 *
 * The store is loaded only when one of them is called. What fails is told by the setting that names the database, its
 * host and its name; no message holds a user or a password.
 */
import { existsSync } from "node:fs";
import type { Config } from "./config.ts";
import { AskgateError } from "./core/errors.ts";
import { CliFault, type DatabaseCheck, type MoveRequest, type MoveResult } from "./gateway/cli/cli.ts";
import { createLog } from "./log.ts";
import type { Log } from "./ports/log.ts";
import { databaseFault, databaseName } from "./settings.ts";
import type { examinePostgres } from "./store/checkup.ts";

export async function checkDatabase(config: Config): Promise<DatabaseCheck> {
  const { databaseUrl: url } = config;
  const finding = databaseName(url);
  const path = /^sqlite:(.+)$/.exec(url)?.[1];
  if (path === undefined) return { finding, server: await examined({ setting: SETTING, url }) };
  if (path === ":memory:") return { finding: "is in memory and forgets everything at a stop" };
  if (!existsSync(path)) return { finding: `${path} is made at the first start` };
  await updated(url, quietLog(config));
  return { finding: `${path} opens` };
}

async function examined(place: Place): ReturnType<typeof examinePostgres> {
  const checkup = await import("./store/checkup.ts");
  return naming(place, () => checkup.examinePostgres(place.url));
}

export async function migrateDatabase(config: Config): Promise<{ database: string; applied: readonly string[] }> {
  const { databaseUrl: url } = config;
  const applied = await naming({ setting: SETTING, url }, () => updated(url, quietLog(config)));
  return { database: databaseName(url), applied };
}

async function updated(url: string, log: Log): Promise<readonly string[]> {
  const { openDatabase } = await import("./store/store.ts");
  const { db, applied } = await openDatabase(url, { log });
  await db.destroy();
  return applied;
}

export async function moveDatabases(config: Config, { from, to, progress }: MoveRequest): Promise<MoveResult> {
  const source = placeOf(config, "--from", from);
  const target = placeOf(config, "--to", to);
  const { moveDatabase } = await import("./store/move.ts");
  const move = moveDatabase({ from: source.url, to: target.url, log: quietLog(config), progress });
  const tables = await move.catch(async (error: unknown) => {
    // If one of them does not serve, that is why, and said with its name.
    for (const place of [source, target].filter(({ url }) => isServer(url))) await examined(place);
    throw error;
  });
  return { from: databaseName(source.url), to: databaseName(target.url), tables };
}

const SETTING = "ASKGATE_DATABASE_URL";

/** A database by the setting or the option that names it. */
interface Place {
  readonly setting: string;
  readonly url: string;
}

/** A side without its option is the database of the settings: a password among the arguments is seen by all on the machine. */
function placeOf({ variables }: Config, option: "--from" | "--to", given: string | null): Place {
  const url = given ?? variables.ASKGATE_DATABASE_URL;
  if (url === undefined) throw new CliFault(`Give ${option} too, or set ${SETTING} to that database.`, 2);
  const fault = databaseFault(url);
  if (fault !== null) throw new CliFault(`${option} ${fault}.`, 2);
  return { setting: given === null ? SETTING : option, url };
}

/** The work, whose failure names the server it is about; one about a file names that itself. */
export async function naming<T>({ setting, url }: Place, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isServer(url) || !(error instanceof Error)) throw error;
    const message = `${setting} (${databaseName(url)}): ${error.message.replaceAll(SETTING, setting)}`;
    if (!(error instanceof AskgateError)) throw new Error(message, { cause: error });
    throw new AskgateError(error.code, message, error.issues, { cause: error });
  }
}

function isServer(url: string): boolean {
  return !url.startsWith("sqlite:");
}

/** Their results are told in words; the log has only what went wrong. */
function quietLog({ secrets }: Config): Log {
  return createLog({ level: "error", secrets });
}
