/**
 * What the commands do with databases while no gateway serves: look, bring up to date, move.
 *
 * The store is loaded only when one of them is called. No message holds a user or a password.
 */
import { existsSync } from "node:fs";
import type { Config } from "./config.ts";
import { CliFault, type DatabaseCheck, type MoveRequest, type MoveResult } from "./gateway/cli/cli.ts";
import { createLog } from "./log.ts";
import type { Log } from "./ports/log.ts";
import { databaseFault, databaseName } from "./settings.ts";

export async function checkDatabase(config: Config): Promise<DatabaseCheck> {
  const { databaseUrl: url } = config;
  const finding = databaseName(url);
  const path = /^sqlite:(.+)$/.exec(url)?.[1];
  if (path === undefined) {
    const { examinePostgres } = await import("./store/checkup.ts");
    return { finding, server: await examinePostgres(url) };
  }
  if (path === ":memory:") return { finding: "is in memory and forgets everything at a stop" };
  if (!existsSync(path)) return { finding: `${path} is made at the first start` };
  await updated(url, quietLog(config));
  return { finding: `${path} opens` };
}

export async function migrateDatabase(config: Config): Promise<{ database: string; applied: readonly string[] }> {
  return {
    database: databaseName(config.databaseUrl),
    applied: await updated(config.databaseUrl, quietLog(config)),
  };
}

async function updated(url: string, log: Log): Promise<readonly string[]> {
  const { openDatabase } = await import("./store/store.ts");
  const { db, applied } = await openDatabase(url, { log });
  await db.destroy();
  return applied;
}

export async function moveDatabases(config: Config, { from, to, progress }: MoveRequest): Promise<MoveResult> {
  for (const [option, url] of Object.entries({ "--from": from, "--to": to })) {
    const fault = databaseFault(url);
    if (fault !== null) throw new CliFault(`${option} ${fault}.`, 2);
  }
  const { moveDatabase } = await import("./store/move.ts");
  const tables = await moveDatabase({ from, to, log: quietLog(config), progress });
  return { from: databaseName(from), to: databaseName(to), tables };
}

/** Their results are told in words; the log has only what went wrong. */
function quietLog({ secrets }: Config): Log {
  return createLog({ level: "error", secrets });
}
