/**
 * Looking things up. Nothing here writes, and nothing here costs more because much else is waiting: every query is a
 * range of one index with a limit.
 */
import { type Kysely, sql } from "kysely";
import type { Inquiry } from "../core/inquiry.ts";
import type { AttachRequest, Copy, DeliveryRow, ListRequest } from "../ports/store.ts";
import { chatOf } from "./claims.ts";
import { ofWaiting } from "./queue.ts";
import { deliveryRowOf, inquiryOf, type JoinedRow } from "./rows.ts";
import type { Schema } from "./schema.ts";

type Db = Kysely<Schema>;

const WAITING_LIMIT = 1_000;
const ATTACHABLE_LIMIT = 10;

export async function findInquiry(db: Db, uid: string): Promise<Inquiry | null> {
  const row = await db.selectFrom("inquiry").selectAll().where("uid", "=", uid).executeTakeFirst();
  return row ? inquiryOf(row) : null;
}

export async function inquiriesByUid(db: Db, uids: readonly string[]): Promise<readonly Inquiry[]> {
  if (uids.length === 0) return [];
  return (await db.selectFrom("inquiry").selectAll().where("uid", "in", uids).execute()).map(inquiryOf);
}

export async function inquiriesById(db: Db, id: string, owner: string | null): Promise<readonly Inquiry[]> {
  let found = db
    .selectFrom("inquiry")
    .selectAll()
    .where((eb) => eb.or([eb("uid", "=", id), eb("id", "=", id)]));
  if (owner !== null) found = found.where("owner", "=", owner);
  return (await found.orderBy("created_at", "desc").orderBy("uid", "desc").limit(2).execute()).map(inquiryOf);
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
  if (request.sessions !== null) page = page.where(column("session"), "in", request.sessions);
  if (request.session !== null) page = page.where(column("session"), "=", request.session);
  if (request.status !== null) page = page.where("status", "=", request.status);
  if (waiting) page = page.where("settled_at", "is", null);
  const rows = await page
    .orderBy("created_at", "desc")
    .orderBy("uid", "desc")
    .limit(request.limit + 1)
    .execute();
  const items = rows.slice(0, request.limit).map(inquiryOf);
  return { items, next: rows.length > items.length ? (items.at(-1)?.uid ?? null) : null };
}

export async function attachable(db: Db, request: AttachRequest): Promise<readonly Inquiry[]> {
  const same = db
    .selectFrom("inquiry")
    .selectAll()
    .where("content_key", "=", request.contentKey)
    .where("owner", "=", request.owner)
    .where("session", "=", request.session)
    .where("run", request.run === null ? "is" : "=", request.run)
    .where("task_id", request.taskId === null ? "is" : "=", request.taskId)
    .orderBy("created_at", "desc")
    .limit(ATTACHABLE_LIMIT);
  const waiting = await same.where("settled_at", "is", null).execute();
  const settled = await same
    .where("settled_at", ">=", request.settledSince)
    .where("status", "!=", "cancelled")
    .where("collected_at", "is", null)
    .execute();
  const newest = [...waiting, ...settled].sort((a, b) => b.created_at - a.created_at);
  return newest.slice(0, ATTACHABLE_LIMIT).map(inquiryOf);
}

export async function waitingOfTask(db: Db, owner: string, taskId: string): Promise<readonly Inquiry[]> {
  const rows = await db
    .selectFrom("inquiry")
    .selectAll()
    .where("task_id", "=", taskId)
    .where("owner", "=", owner)
    .where("settled_at", "is", null)
    .limit(WAITING_LIMIT)
    .execute();
  return rows.map(inquiryOf);
}

export async function waitingOfRun(db: Db, owner: string | null, run: string): Promise<readonly Inquiry[]> {
  let waiting = db.selectFrom("inquiry").selectAll().where("run", "=", run).where("settled_at", "is", null);
  if (owner !== null) waiting = waiting.where("owner", "=", owner);
  return (await waiting.limit(WAITING_LIMIT).execute()).map(inquiryOf);
}

export async function copies(db: Db, inquiry: string): Promise<readonly DeliveryRow[]> {
  const rows = await copiesFrom(db)
    .where("outbox.inquiry", "=", inquiry)
    .where("outbox.lane", "=", "delivery")
    .orderBy("outbox.address")
    .orderBy("outbox.id")
    .execute();
  return rows.map(deliveryRowOf);
}

export async function copyByKey(db: Db, promptKey: string): Promise<Copy | null> {
  const row = await copiesFrom(db).where("outbox.prompt_key", "=", promptKey).executeTakeFirst();
  return (await withInquiries(db, row ? [row] : []))[0] ?? null;
}

export async function copyByMessage(db: Db, chat: string, message: string): Promise<Copy | null> {
  const row = await copiesFrom(db)
    .innerJoin("message", "message.copy", "outbox.id")
    .where("message.chat", "=", chatOf(chat))
    .where("message.message", "=", message)
    .executeTakeFirst();
  return (await withInquiries(db, row ? [row] : []))[0] ?? null;
}

/** One range of the queue's index for each state and turn, so that none is longer than the limit. */
export async function openCopies(db: Db, address: string, limit: number): Promise<readonly Copy[]> {
  const open: JoinedRow[] = [];
  for (const state of ["shown", "unknown"] as const) {
    for (const turn of [0, 1]) {
      const rows = await copiesFrom(db)
        .where("outbox.address", "=", address)
        .where("outbox.state", "=", state)
        .where("outbox.turn", "=", turn)
        .where(ofWaiting())
        .orderBy("outbox.asked_at", "desc")
        .limit(limit)
        .execute();
      open.push(...rows);
    }
  }
  return withInquiries(db, open.sort((a, b) => b.asked_at - a.asked_at).slice(0, limit));
}

function copiesFrom(db: Db) {
  return db
    .selectFrom("outbox")
    .innerJoin("address", "address.address", "outbox.address")
    .selectAll("outbox")
    .select("address.not_before");
}

async function withInquiries(db: Db, rows: readonly JoinedRow[]): Promise<readonly Copy[]> {
  const found = await inquiriesByUid(
    db,
    rows.map((row) => row.inquiry),
  );
  const inquiries = new Map(found.map((inquiry) => [inquiry.uid, inquiry]));
  return rows.flatMap((row) => {
    const inquiry = inquiries.get(row.inquiry);
    return inquiry ? [{ row: deliveryRowOf(row), inquiry }] : [];
  });
}
