/**
 * `migrate`: brings the database up to date, or moves everything from one database to another.
 *
 * Rules: what was done is the result, how far it is is a remark; nothing is half moved; where the settings still name
 * the old database, that is said.
 */
import { Command } from "commander";
import type { Cli, MoveStep } from "./cli.ts";

interface MigrateOptions {
  readonly from?: string;
  readonly to?: string;
  readonly json?: boolean;
}

export function migrateCommand(cli: Cli): Command {
  return new Command("migrate")
    .description("bring the database up to date, or move everything to another one, open inquiries included")
    .option("--from <url>", "the database to move from; no gateway may run on it")
    .option("--to <url>", "the database to move to, which must be empty")
    .addHelpText("after", OTHER_SIDE)
    .action(async ({ from, to, json = false }: MigrateOptions) => {
      if (from === undefined && to === undefined) await update(cli, json);
      else await move(cli, { from: from ?? null, to: to ?? null, json });
    });
}

const OTHER_SIDE = `
Without one of them that side is ASKGATE_DATABASE_URL. Keep an address with a password there: arguments are seen by
everybody on the machine.`;

const SET = "ASKGATE_DATABASE_URL names the new one already, for the next start.";
const TO_BE_SET = "Set ASKGATE_DATABASE_URL to the new one before the next start.";

async function update(cli: Cli, json: boolean): Promise<void> {
  const { database, applied } = await cli.deps.migrate();
  if (json) return cli.out(JSON.stringify({ database, applied }));
  for (const name of applied) cli.out(name);
  cli.note(applied.length > 0 ? `${database} is brought up to date.` : `${database} was up to date.`);
}

interface Move {
  readonly from: string | null;
  readonly to: string | null;
  readonly json: boolean;
}

async function move(cli: Cli, { from, to, json }: Move): Promise<void> {
  const moved = await cli.deps.move({ from, to, progress: progressOn(cli) });
  const rows = moved.tables.reduce((sum, one) => sum + one.rows, 0);
  if (json) {
    const tables = Object.fromEntries(moved.tables.map((one) => [one.table, one.rows]));
    cli.out(JSON.stringify({ from: moved.from, to: moved.to, rows, tables }));
  } else {
    for (const { table, rows: count } of moved.tables) cli.out(`${table.padEnd(16)}${numbered(count)}`);
  }
  cli.note(`Moved ${numbered(rows)} rows from ${moved.from} to ${moved.to}; every count agrees.`);
  cli.note(`The old database is left as it was. ${to === null ? SET : TO_BE_SET}`);
}

/** Between remarks about one table, in milliseconds. */
const REMARK_MS = 1_000;

/** The end of each table, and how far it is once a second. */
function progressOn(cli: Cli): (step: MoveStep) => void {
  let told = performance.now();
  return ({ table, rows, total }) => {
    if (rows < total && performance.now() - told < REMARK_MS) return;
    told = performance.now();
    cli.note(`${table}: ${numbered(rows)} of ${numbered(total)} rows`);
  };
}

function numbered(count: number): string {
  return count.toLocaleString("en");
}
