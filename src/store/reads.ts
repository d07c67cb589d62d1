/**
 * Looking things up. Nothing here writes, and nothing here costs more because much else is waiting: every query is a
 * range of one index with a limit, and what a person's message needs is read in one.
 */
import { type Kysely, type Selectable, sql } from "kysely";
import type { Inquiry } from "../core/inquiry.ts";
import type { AttachRequest, Copy, DeliveryRow, ListRequest } from "../ports/store.ts";
import { chatOf } from "./claims.ts";
import { OPEN } from "./queue.ts";
import { deliveryRowOf, inquiryOf, type JoinedRow } from "./rows.ts";
import type { InquiryTable, Schema } from "./schema.ts";
import { atMost, isOneOf, statement } from "./statement.ts";

type Db = Kysely<Schema>;

const ATTACHABLE_LIMIT = 10;
const BY_ID_LIMIT = 2;

const byUid = statement((db, at: { readonly uid: string }) =>
  db.selectFrom("inquiry").selectAll().where("uid", "=", at.uid),
);

export async function findInquiry(db: Db, uid: string): Promise<Inquiry | null> {
  const row = await byUid.first(db, { uid });
  return row ? inquiryOf(row) : null;
}

const newestById = (db: Db, id: string) =>
  db
    .selectFrom("inquiry")
    .selectAll()
    .where("given_id", "=", id)
    .orderBy("created_at", "desc")
    .orderBy("uid", "desc")
    .limit(atMost(BY_ID_LIMIT));
const byId = statement((db, at: { readonly id: string }) => newestById(db, at.id));
const byIdOfOwner = statement((db, at: { readonly id: string; readonly owner: string }) =>
  newestById(db, at.id).where("owner", "=", at.owner),
);

/** Under the caller's id, then under its own, which is the same where the caller gave none. */
export async function inquiriesById(db: Db, id: string, owner: string | null): Promise<readonly Inquiry[]> {
  const rows = [...(await (owner === null ? byId.all(db, { id }) : byIdOfOwner.all(db, { id, owner })))];
  if (rows.some((row) => row.uid === id)) return rows.map(inquiryOf);
  const itself = await byUid.first(db, { uid: id });
  if (itself && (owner === null || itself.owner === owner)) rows.push(itself);
  rows.sort((a, b) => b.created_at - a.created_at || (b.uid < a.uid ? -1 : 1));
  return rows.slice(0, BY_ID_LIMIT).map(inquiryOf);
}

/** The cursor is the `uid` of the last item; an unknown one ends the list. */
export async function list(
  db: Db,
  request: ListRequest,
): Promise<{ readonly items: readonly Inquiry[]; readonly next: string | null }> {
  const waiting = request.status === "waiting";
  // What waits is read from its own, short index; equality on a bare column would lure the planner into the history.
  const column = (name: "owner" | "session") =>
    waiting ? sql<string>`(${sql.ref(name)} || '')` : sql.ref<string>(name);
  let page = db.selectFrom("inquiry").selectAll();
  if (request.cursor !== null) {
    const last = await db
      .selectFrom("inquiry")
      .select("created_at")
      .where("uid", "=", request.cursor)
      .executeTakeFirst();
    if (!last) return { items: [], next: null };
    page = page.where((eb) =>
      eb(eb.refTuple("created_at", "uid"), "<", eb.tuple(last.created_at, request.cursor ?? "")),
    );
  }
  if (request.owner !== null) page = page.where(column("owner"), "=", request.owner);
  if (request.sessions !== null) page = page.where(isOneOf(column("session"), request.sessions));
  if (request.session !== null) page = page.where(column("session"), "=", request.session);
  if (request.status !== null) page = page.where("status", "=", request.status);
  if (waiting) page = page.where("settled_at", "is", null);
  const rows = await page
    .orderBy("created_at", "desc")
    .orderBy("uid", "desc")
    .limit(atMost(request.limit + 1))
    .execute();
  const items = rows.slice(0, request.limit).map(inquiryOf);
  return { items, next: rows.length > items.length ? (items.at(-1)?.uid ?? null) : null };
}

const sameContent = (db: Db, at: AttachRequest) =>
  db
    .selectFrom("inquiry")
    .selectAll()
    .where("content_key", "=", at.contentKey)
    .where("owner", "=", at.owner)
    .where("session", "=", at.session)
    .where("run", "is not distinct from", at.run)
    .where("task_id", "is not distinct from", at.taskId)
    .orderBy("created_at", "desc")
    .limit(atMost(ATTACHABLE_LIMIT));
const sameWaiting = (db: Db, at: AttachRequest) => sameContent(db, at).where("settled_at", "is", null);
const sameSettled = (db: Db, at: AttachRequest) =>
  sameContent(db, at)
    .where("settled_at", ">=", at.settledSince)
    .where("status", "!=", "cancelled")
    .where("collected_at", "is", null);
const same = statement((db, at: AttachRequest) =>
  db
    .selectFrom(sameWaiting(db, at).as("waiting"))
    .selectAll()
    .unionAll(db.selectFrom(sameSettled(db, at).as("settled")).selectAll()),
);

export async function attachable(db: Db, request: AttachRequest): Promise<readonly Inquiry[]> {
  const newest = [...(await same.all(db, request))].sort((a, b) => b.created_at - a.created_at);
  return newest.slice(0, ATTACHABLE_LIMIT).map(inquiryOf);
}

export async function waitingOfTask(db: Db, owner: string, taskId: string): Promise<readonly Inquiry[]> {
  const rows = await db
    .selectFrom("inquiry")
    .selectAll()
    .where("task_id", "=", taskId)
    .where("owner", "=", owner)
    .where("settled_at", "is", null)
    .execute();
  return rows.map(inquiryOf);
}

export async function waitingOfRun(db: Db, owner: string | null, run: string): Promise<readonly Inquiry[]> {
  let waiting = db.selectFrom("inquiry").selectAll().where("run", "=", run).where("settled_at", "is", null);
  if (owner !== null) waiting = waiting.where("owner", "=", owner);
  return (await waiting.execute()).map(inquiryOf);
}

const copiesFrom = (db: Db) =>
  db
    .selectFrom("outbox")
    .innerJoin("address", "address.address", "outbox.address")
    .selectAll("outbox")
    .select("address.not_before");
const withInquiry = (db: Db) =>
  copiesFrom(db).innerJoin("inquiry", "inquiry.uid", "outbox.inquiry").selectAll("inquiry");

const copiesOf = statement((db, at: { readonly inquiry: string }) =>
  copiesFrom(db)
    .where("outbox.inquiry", "=", at.inquiry)
    .where("outbox.lane", "=", "delivery")
    .orderBy("outbox.address")
    .orderBy("outbox.id"),
);

export async function copies(db: Db, inquiry: string): Promise<readonly DeliveryRow[]> {
  return (await copiesOf.all(db, { inquiry })).map(deliveryRowOf);
}

const underKey = statement((db, at: { readonly promptKey: string }) =>
  withInquiry(db).where("outbox.prompt_key", "=", at.promptKey),
);

export async function copyByKey(db: Db, promptKey: string): Promise<Copy | null> {
  const row = await underKey.first(db, { promptKey });
  return row ? copyOf(row) : null;
}

const behindMessage = statement((db, at: { readonly chat: string; readonly message: string }) =>
  withInquiry(db)
    .innerJoin("message", "message.copy", "outbox.id")
    .where("message.chat", "=", at.chat)
    .where("message.message", "=", at.message),
);

export async function copyByMessage(db: Db, chat: string, message: string): Promise<Copy | null> {
  const row = await behindMessage.first(db, { chat: chatOf(chat), message });
  return row ? copyOf(row) : null;
}

const openAt = statement((db, at: { readonly address: string; readonly limit: number }) =>
  withInquiry(db)
    .where("outbox.address", "=", at.address)
    .where(OPEN)
    .where("inquiry.settled_at", "is", null)
    .orderBy("outbox.asked_at", "desc")
    .limit(atMost(at.limit)),
);

const doubtfulAt = statement(
  (db, at: { readonly address: string; readonly limit: number; readonly doubtful: number }) =>
    withInquiry(db)
      .where("outbox.address", "=", at.address)
      .where("outbox.claimed_until", "is not", null)
      .where((eb) => eb.or([eb("outbox.interrupted", "=", 1), eb("outbox.claimed_until", "<=", at.doubtful)]))
      .where("outbox.state", "=", "pending")
      .where("inquiry.settled_at", "is", null)
      .orderBy("outbox.asked_at", "desc")
      .limit(atMost(at.limit)),
);

export async function openCopies(db: Db, address: string, limit: number, doubtful: number): Promise<readonly Copy[]> {
  const rows = [
    ...(await openAt.all(db, { address, limit })),
    ...(await doubtfulAt.all(db, { address, limit, doubtful })),
  ];
  return rows
    .map(copyOf)
    .sort((one, other) => other.inquiry.createdAt - one.inquiry.createdAt)
    .slice(0, limit);
}

export async function settledAmong(db: Db, uids: readonly string[]): Promise<readonly string[]> {
  const named = isOneOf(sql.ref("uid"), uids);
  const rows = await db.selectFrom("inquiry").select("uid").where(named).where("settled_at", "is not", null).execute();
  return rows.map(({ uid }) => uid);
}

const claimedAt = statement((db, at: { readonly address: string; readonly now: number }) =>
  db
    .selectFrom("outbox")
    .select("id")
    .where("address", "=", at.address)
    .where("claimed_until", ">", at.now)
    .limit(atMost(1)),
);

export async function inFlight(db: Db, address: string, now: number): Promise<boolean> {
  return (await claimedAt.first(db, { address, now })) !== undefined;
}

function copyOf(row: JoinedRow & Selectable<InquiryTable>): Copy {
  return { row: deliveryRowOf(row), inquiry: inquiryOf(row) };
}
