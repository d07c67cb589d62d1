/**
 * The log of events.
 *
 * Rules: an event is appended in the transaction that makes it happen, and a reader is told only what can no longer be
 * preceded by anything. On SQLite, which writes one transaction after the other, that is every committed row, in the
 * order of `seq`. PostgreSQL commits them in any order: there `turn` is the transaction's number, and only those below
 * the oldest one still open are told, in the order of (turn, seq); a later row can then never belong before them. A
 * server counts its own transactions, so a log that was restored on another one goes on in a new era of numbers.
 */
import { type Kysely, type RawBuilder, sql, type Transaction } from "kysely";
import { AskgateError } from "../core/errors.ts";
import type { Inquiry } from "../core/inquiry.ts";
import type { EventPage, EventRecord, EventRequest, EventType } from "../ports/event.ts";
import { concurrent } from "./locks.ts";
import type { EventTable, Schema } from "./schema.ts";
import { atMost, isOneOf, statement } from "./statement.ts";

type Db = Kysely<Schema>;
type NewEvent = Pick<EventTable, "type" | "at" | "inquiry" | "owner" | "session">;

/** Numbers in an era: more transactions than one server lives to see, and few enough for a position to be exact. */
const ERA = sql.lit(1_000_000_000_000);
/** The first number of the present era, which the last event tells. */
const ERA_BEGIN = sql`(select coalesce(max(turn), 0) / ${ERA} * ${ERA} from event)`;
const TURN = sql<number>`${ERA_BEGIN} + pg_current_xact_id()::text::bigint`;

const append = statement((db, at: NewEvent) =>
  db.insertInto("event").values(concurrent(db) ? { ...at, turn: TURN } : at),
);

/**
 * To be called when a database is opened. A number that the server has yet to give is another server's: the last event
 * then opens the next era. It may be told a second time, and every position, lost events' too, leads on from there.
 * Resolves to whether it was so.
 */
export async function continueEvents(db: Db): Promise<boolean> {
  if (!concurrent(db)) return false;
  const { numAffectedRows = 0n } = await sql`update event set turn = (turn / ${ERA} + 1) * ${ERA}
    where (turn, seq) = (select turn, seq from event order by turn desc, seq desc limit 1)
    and turn % ${ERA} >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint`.execute(db);
  return numAffectedRows > 0n;
}

async function appendOf(trx: Transaction<Schema>, type: EventType, inquiry: Inquiry, at: number): Promise<void> {
  await append.run(trx, { type, at, inquiry: inquiry.uid, owner: inquiry.owner, session: inquiry.session });
}

export async function appendCreated(trx: Transaction<Schema>, inquiry: Inquiry): Promise<void> {
  await appendOf(trx, "inquiry.created", inquiry, inquiry.createdAt);
  await appendEnd(trx, inquiry);
}

/** Of an inquiry that is over; a partial answer is no event. */
export async function appendEnd(trx: Transaction<Schema>, inquiry: Inquiry): Promise<void> {
  const { status, settledAt } = inquiry;
  if (status !== "waiting" && settledAt !== null) await appendOf(trx, `inquiry.${status}`, inquiry, settledAt);
}

/** What an update that records the first showing gives back; undefined when it changed nothing. */
export interface FirstShown {
  readonly uid: string;
  readonly owner: string;
  readonly session: string;
  readonly at: number | null;
}

/** Resolves to whether there was anything to tell. */
export async function appendShown(trx: Transaction<Schema>, shown: FirstShown | undefined): Promise<boolean> {
  if (shown === undefined || shown.at === null) return false;
  const { uid, owner, session, at } = shown;
  await append.run(trx, { type: "inquiry.delivered", at, inquiry: uid, owner, session });
  return true;
}

/** The turn below which every transaction has ended. */
const OLDEST_OPEN = sql<number>`${ERA_BEGIN} + pg_snapshot_xmin(pg_current_snapshot())::text::bigint`;

export async function readEvents(db: Db, { after, owner, sessions, limit }: EventRequest): Promise<EventPage> {
  const behind = after === null ? { turn: -1, seq: -1 } : placeOf(after);
  const parallel = concurrent(db);
  let rows = db
    .selectFrom("event")
    .selectAll()
    .select((parallel ? sql<boolean>`turn < ${OLDEST_OPEN}` : everything).as("certain"));
  if (parallel) rows = rows.where(sql<boolean>`(turn, seq) > (${behind.turn}, ${behind.seq})`);
  else rows = rows.where("seq", ">", behind.seq);
  if (owner !== null) rows = rows.where("owner", "=", owner);
  if (sessions !== null) rows = rows.where(isOneOf(sql.ref("session"), sessions));
  const ordered = parallel ? rows.orderBy("turn").orderBy("seq") : rows.orderBy("seq");
  const found = await ordered.limit(atMost(limit)).execute();
  const end = found.findIndex((row) => !row.certain);
  const certain = end < 0 ? found : found.slice(0, end);
  return { items: certain.map(eventOf), unsettled: end >= 0 };
}

const everything: RawBuilder<boolean> = sql<boolean>`1`;

export async function endOfEvents(db: Db): Promise<string> {
  const parallel = concurrent(db);
  let rows = db.selectFrom("event").select(["turn", "seq"]);
  if (parallel) rows = rows.where("turn", "<", OLDEST_OPEN);
  const ordered = parallel ? rows.orderBy("turn", "desc").orderBy("seq", "desc") : rows.orderBy("seq", "desc");
  return positionOf((await ordered.limit(atMost(1)).executeTakeFirst()) ?? { turn: 0, seq: 0 });
}

type Place = { readonly turn: number; readonly seq: number };

function positionOf({ turn, seq }: Place): string {
  return `${turn}.${seq}`;
}

function placeOf(position: string): Place {
  const [, turn, seq] = /^(\d{1,15})\.(\d{1,15})$/.exec(position) ?? [];
  if (turn !== undefined && seq !== undefined) return { turn: Number(turn), seq: Number(seq) };
  throw new AskgateError(
    "invalid_request",
    `"${position.slice(0, 40)}" is no position in the log of events; send the id of the last event received, or none.`,
  );
}

function eventOf(row: NewEvent & Place): EventRecord {
  const { type, at, inquiry, owner, session } = row;
  return { position: positionOf(row), type, at, inquiry, owner, session };
}
