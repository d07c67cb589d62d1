/**
 * Moves everything from one database to another, open inquiries included, in either direction.
 *
 * Rules: one snapshot of the source, one transaction on the target, so all of it arrives or nothing does; nobody may be
 * at work on either meanwhile, and the source is left as it was. Leases stay behind, since they belong to processes. A
 * claim goes along with its end: whoever held it is gone, so it comes due as an interrupted one. Events keep their
 * order, below everything later, and those whose position can stay the same keep that too.
 */
import { existsSync } from "node:fs";
import { CompiledQuery, type Kysely, type Selectable, sql, type Transaction } from "kysely";
import { AskgateError } from "../core/errors.ts";
import type { Log } from "../ports/log.ts";
import { concurrent } from "./locks.ts";
import { databaseTime } from "./postgres.ts";
import { toUnavailable } from "./postgres-faults.ts";
import type { EventTable, Schema } from "./schema.ts";
import { atMost } from "./statement.ts";
import { openDatabase } from "./store.ts";

type Table = Exclude<keyof Schema, "lease">;
type Row = Readonly<Record<string, unknown>>;

/** Every table with its key, each after those it refers to. */
const TABLES: Readonly<Record<Table, readonly string[]>> = {
  inquiry: ["uid"],
  address: ["address"],
  outbox: ["id"],
  message: ["chat", "message"],
  task: ["owner", "task_id"],
  once: ["key"],
  access_key: ["id"],
  pairing: ["hash"],
  identity: ["identity"],
  moved_address: ["old_name"],
  event: ["turn", "seq"],
};
const NAMES = Object.keys(TABLES) as readonly Table[];

/** Rows read and written at once. */
const BATCH = 1_000;
/** Values one statement may have: SQLite takes 32,766 (https://sqlite.org/limits.html, read 2026-11-30), PostgreSQL 65,535. */
const MOST_VALUES = 32_766;

export interface Moved {
  readonly table: string;
  readonly rows: number;
}

export interface MoveProgress extends Moved {
  /** All rows of the table. */
  readonly total: number;
}

export interface MoveRequest {
  /** Addresses as ASKGATE_DATABASE_URL takes them. */
  readonly from: string;
  readonly to: string;
  readonly log: Log;
  /** Called after each batch. */
  readonly progress: (at: MoveProgress) => void;
}

/**
 * Brings both databases up to date and moves everything. Rejects with the target empty when a gateway runs on either,
 * when the target is not empty, or when anything fails.
 */
export async function moveDatabase({ from, to, log, progress }: MoveRequest): Promise<readonly Moved[]> {
  refuseUnmovable(from, to);
  const source = await openDatabase(from, { log, alone: true });
  try {
    const target = await openDatabase(to, { log, alone: true });
    try {
      return await target.db.transaction().execute(async (into) => {
        await hold(into, "exclusive");
        await refuseRunning(into, "to");
        await refuseFilled(into);
        const snapshot = source.db.transaction().setIsolationLevel("repeatable read");
        return snapshot.execute((out) => moveTables(out, into, progress));
      });
    } finally {
      await target.db.destroy();
    }
  } catch (error) {
    throw toUnavailable(error);
  } finally {
    await source.db.destroy();
  }
}

function refuseUnmovable(from: string, to: string): void {
  if (from === to) throw refused("Both databases are the same one. Name another one as the target.");
  if ([from, to].includes("sqlite::memory:")) throw refused("A database in memory ends with its process. Name a file.");
  const file = /^sqlite:(.+)$/.exec(from)?.[1];
  if (file !== undefined && !existsSync(file)) {
    throw refused(`There is no database ${file} to move from. Correct its path.`);
  }
}

function refused(message: string): AskgateError {
  return new AskgateError("invalid_request", message);
}

/** Nobody writes until the transaction ends. A file is taken for this process alone, which fails while a gateway has it. */
async function hold(trx: Transaction<Schema>, mode: "share" | "exclusive"): Promise<void> {
  if (!concurrent(trx)) {
    await trx.updateTable("lease").set({ until: 0 }).execute();
    return;
  }
  const tables = sql.join(NAMES.map((name) => sql.table(name)));
  await sql`lock table ${tables} in ${sql.raw(mode)} mode`.execute(trx);
}

/** On a file that is taken for this process alone nobody else can be. */
async function refuseRunning(trx: Transaction<Schema>, side: "from" | "to"): Promise<void> {
  if (!concurrent(trx)) return;
  const now = await databaseTime(trx);
  const live = await trx.selectFrom("lease").select("holder").distinct().where("until", ">", now).execute();
  if (live.length === 0) return;
  const names = live.map(({ holder }) => holder).join(", ");
  throw new AskgateError(
    "unavailable",
    `A gateway runs on the database to move ${side} (process ${names}). Stop it first; one that was killed counts as ` +
      "gone a few seconds later.",
  );
}

async function refuseFilled(into: Transaction<Schema>): Promise<void> {
  for (const table of NAMES) {
    const rows = await countOf(into, table);
    if (rows > 0) {
      throw refused(`The database to move to is not empty: ${table} has ${rows} rows. Name an empty one.`);
    }
  }
}

async function countOf(db: Kysely<Schema>, table: Table): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(db);
  return Number(rows[0]?.count ?? 0);
}

async function moveTables(
  out: Transaction<Schema>,
  into: Transaction<Schema>,
  progress: MoveRequest["progress"],
): Promise<readonly Moved[]> {
  await hold(out, "share");
  await refuseRunning(out, "from");
  const moved: Moved[] = [];
  for (const table of NAMES) {
    const total = await countOf(out, table);
    const change = await changeOf(out, table);
    let rows = 0;
    for await (const batch of batchesOf(out, table)) {
      await insert(into, table, batch.map(change)).catch((error: unknown) => unstorable(error, table));
      rows += batch.length;
      progress({ table, rows, total });
    }
    const arrived = await countOf(into, table);
    if (arrived !== total) throw new Error(`Of ${total} rows of ${table}, ${arrived} arrived; nothing was moved.`);
    moved.push({ table, rows });
  }
  if (concurrent(into)) await continueEvents(into);
  return moved;
}

async function* batchesOf(out: Transaction<Schema>, table: Table): AsyncGenerator<readonly Row[]> {
  const keys = sql.join(TABLES[table].map((column) => sql.ref(column)));
  let last: Row | undefined;
  do {
    const { [table]: columns } = TABLES;
    const after: Row | undefined = last;
    const behind =
      after === undefined ? sql`` : sql`where (${keys}) > (${sql.join(columns.map((column) => after[column]))})`;
    const page = sql<Row>`select * from ${sql.table(table)} ${behind} order by ${keys} limit ${atMost(BATCH)}`;
    const { rows } = await page.execute(out);
    if (rows.length > 0) yield rows;
    last = rows.length === BATCH ? rows.at(-1) : undefined;
  } while (last !== undefined);
}

async function insert(into: Transaction<Schema>, table: Table, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {});
  const atOnce = Math.floor(MOST_VALUES / columns.length);
  for (let start = 0; start < rows.length; start += atOnce) {
    const some = rows.slice(start, start + atOnce);
    const values = some.flatMap((row) => columns.map((column) => row[column]));
    await into.executeQuery(CompiledQuery.raw(insertion(into, table, columns, some.length), values));
  }
}

/** One database stores what another refuses, a text with a zero character for example. */
function unstorable(error: unknown, table: Table): never {
  const known = toUnavailable(error);
  if (known !== error || !(error instanceof Error)) throw known;
  throw new Error(`A row of ${table} cannot be stored there, so nothing was moved: ${error.message}.`, {
    cause: error,
  });
}

/** Written out, since the query layer takes longer to build it than the database to run it. */
function insertion(into: Transaction<Schema>, table: Table, columns: readonly string[], rows: number): string {
  const mark = concurrent(into) ? (at: number) => `$${at + 1}` : () => "?";
  const one = (row: number) => `(${columns.map((_, at) => mark(row * columns.length + at)).join(",")})`;
  const all = Array.from({ length: rows }, (_, row) => one(row)).join(",");
  return `insert into "${table}" (${columns.map((column) => `"${column}"`).join(",")}) values ${all}`;
}

/** What a row of the table becomes in the target. */
async function changeOf(out: Transaction<Schema>, table: Table): Promise<(row: Row) => Row> {
  if (table === "inquiry") return (row) => ({ ...row, waited_by: null });
  if (table !== "event") return (row) => row;
  const { last } = await out
    .selectFrom("event")
    .select((eb) => eb.fn.max("seq").as("last"))
    .executeTakeFirstOrThrow();
  return renumbered(Number(last ?? 0));
}

/**
 * Turns are numbers of one server's transactions: elsewhere all is turn 0, below every transaction to come. What is of
 * turn 0 already keeps its position, so that whoever follows goes on; the rest is numbered on in its order, above every
 * number there was, so that an old position leads to too much rather than too little.
 */
function renumbered(last: number): (row: Row) => Row {
  let seq = last;
  return (row) => {
    const place: Pick<Selectable<EventTable>, "turn" | "seq"> = { turn: Number(row.turn), seq: Number(row.seq) };
    if (place.turn === 0) return { ...row, ...place };
    seq += 1;
    return { ...row, turn: 0, seq };
  };
}

/** PostgreSQL counts on behind what was moved in; SQLite does so by itself. */
async function continueEvents(into: Transaction<Schema>): Promise<void> {
  await sql`select setval(pg_get_serial_sequence('event', 'seq'), max(seq)) from event having count(*) > 0`.execute(
    into,
  );
}
