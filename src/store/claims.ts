/**
 * Claiming due rows and settling them.
 *
 * Rules: a claim raises the epoch and moves `due_at` to the end of its lease, so that a row whose holder died comes due
 * by itself; only the holder of the current epoch settles; what happened to a row while it was held (woken, its receipt
 * adopted, its surface opened) outlives the holder's older view of it.
 */
import { type Kysely, type RawBuilder, type Selectable, sql, type Transaction } from "kysely";
import type { Receipt } from "../core/delivery.ts";
import type { LeaseRef } from "../ports/lease.ts";
import type { ClaimRequest, Lane, OutboxRow, Settlement } from "../ports/store.ts";
import { appendShown } from "./events.ts";
import { concurrent, Raced } from "./locks.ts";
import { earliest, holdBack, letNextIn, refresh } from "./queue.ts";
import { type JoinedRow, outboxRowOf, type Patch, type PatchColumns, patchColumns, receiptOf } from "./rows.ts";
import type { MessageTable, OutboxTable, Schema } from "./schema.ts";
import { atMost, statement } from "./statement.ts";

type Trx = Transaction<Schema>;

export async function claim(trx: Trx, request: ClaimRequest): Promise<readonly OutboxRow[]> {
  const rows = request.lane === "delivery" ? await dueCopies(trx, request) : await dueInLane(trx, request);
  if (rows.length === 0) return [];
  const until = request.now + request.leaseMs;
  const ids = rows.map((row) => row.id);
  await trx
    .updateTable("outbox")
    .set((eb) => ({ epoch: eb("epoch", "+", 1), due_at: until, claimed_until: until, woken_at: null }))
    .set({ interrupted: sql`case when claimed_until is null then 0 else 1 end` })
    .where("id", "in", ids)
    .execute();
  const addresses = rows.flatMap((row) => row.address ?? []);
  if (addresses.length > 0) {
    await trx.updateTable("address").set({ next_at: until }).where("address", "in", addresses).execute();
  }
  return rows.map((row) => ({
    ...outboxRowOf({ ...row, epoch: row.epoch + 1, interrupted: row.claimed_until === null ? 0 : 1 }),
    notBefore: row.not_before !== null && row.not_before > request.now ? row.not_before : null,
  }));
}

/** The first claimable copy of each address whose head is due. */
async function dueCopies(trx: Trx, { channel, now, limit, lease }: ClaimRequest): Promise<readonly JoinedRow[]> {
  const first = sql<string>`(select id from outbox as copy where copy.address = address.address and copy.due_at <= ${now}
    and (address.not_before <= ${now} or copy.lives_until <= address.not_before)
    order by copy.due_at limit 1)`;
  let heads = trx
    .selectFrom("address")
    .innerJoin("outbox", (join) => join.on("outbox.id", "=", first))
    .selectAll("outbox")
    .select("address.not_before")
    .where("address.next_at", "<=", now)
    .where("outbox.due_at", "<=", now);
  if (channel !== undefined) heads = heads.where("address.channel", "=", channel);
  if (lease !== undefined) heads = heads.where(stands(lease));
  if (concurrent(trx)) heads = heads.forNoKeyUpdate(["address", "outbox"]).skipLocked();
  return heads.orderBy("address.next_at").limit(atMost(limit)).execute();
}

/** The condition that the lease is still held under that epoch. */
function stands({ name, holder, epoch }: LeaseRef): RawBuilder<boolean> {
  return sql`exists (select 1 from lease
    where lease.name = ${name} and lease.holder = ${holder} and lease.epoch = ${epoch} and lease.until > 0)`;
}

function dueInLane(trx: Trx, { lane, now, limit }: ClaimRequest): Promise<readonly JoinedRow[]> {
  const due = trx
    .selectFrom("outbox")
    .selectAll()
    .select(sql<null>`null`.as("not_before"))
    .where("lane", "=", lane)
    .where("address", "is", null)
    .where("due_at", "<=", now)
    .orderBy("due_at")
    .limit(atMost(limit));
  return (concurrent(trx) ? due.forNoKeyUpdate().skipLocked() : due).execute();
}

export async function nextDue(db: Kysely<Schema>, lane: Lane, channel: string | undefined): Promise<number | null> {
  if (lane !== "delivery") {
    const row = await db
      .selectFrom("outbox")
      .select((eb) => eb.fn.min("due_at").as("at"))
      .where("lane", "=", lane)
      .where("address", "is", null)
      .where("due_at", "is not", null)
      .executeTakeFirst();
    return row?.at ?? null;
  }
  let heads = db
    .selectFrom("address")
    .select((eb) => eb.fn.min("next_at").as("at"))
    .where("next_at", "is not", null);
  if (channel !== undefined) heads = heads.where("channel", "=", channel);
  return (await heads.executeTakeFirst())?.at ?? null;
}

export async function settle(trx: Trx, settlement: Settlement): Promise<boolean> {
  const { row: id, epoch, shownAt } = settlement;
  const first =
    shownAt !== undefined && (await appendShown(trx, await shownUnder.first(trx, { id, epoch, at: shownAt })));
  const row = await held.first(trx, { id, epoch });
  if (row === undefined) {
    if (first) throw new Raced(`The outbox row ${id}`);
    return false;
  }
  if (settlement.remove) {
    await trx.deleteFrom("outbox").where("id", "=", row.id).execute();
    return true;
  }
  const rest = {
    id: row.id,
    due_at: earliest(settlement.dueAt, row.claimed_until === null ? row.due_at : row.woken_at),
    attempts: row.woken_at === null ? settlement.attempts : 0,
  };
  const patch = settlement.delivery && patchOver(row, settlement.delivery);
  if (!patch) await putBack.run(trx, rest);
  else {
    await putBackChanged.run(trx, { ...rest, ...patchColumns(patch) });
    await recordMessages(trx, row, patch.receipt);
  }
  if (row.address !== null) {
    const { address } = row;
    if (patch?.state === "absent" && wasReopened(row)) await letNextIn(trx, address, row.woken_at ?? 0);
    if (settlement.notBefore !== undefined) await holdBack.run(trx, { address, until: settlement.notBefore });
    await refresh(trx, [address]);
  }
  return true;
}

type HeldRow = Pick<
  Selectable<OutboxTable>,
  "id" | "epoch" | "due_at" | "claimed_until" | "woken_at" | "adopted_epoch" | "reopened_epoch" | "receipt"
>;

/** The row as long as nobody has claimed it anew. */
const held = statement((db, at: { readonly id: string; readonly epoch: number }) => {
  const row = db
    .selectFrom("outbox")
    .select(["id", "inquiry", "address", "epoch", "due_at", "claimed_until", "woken_at"])
    .select(["adopted_epoch", "reopened_epoch", "receipt"])
    .where("id", "=", at.id)
    .where("epoch", "=", at.epoch);
  return concurrent(db) ? row.forNoKeyUpdate() : row;
});

/** The first confirmed showing of the row's inquiry stands. */
const shownUnder = statement(
  (db, { id, epoch, at }: { readonly id: string; readonly epoch: number; readonly at: number }) =>
    db
      .updateTable("inquiry")
      .set({ shown_at: at })
      .where("uid", "=", (eb) =>
        eb.selectFrom("outbox").select("inquiry").where("id", "=", id).where("epoch", "=", epoch),
      )
      .where("shown_at", "is", null)
      .returning(["uid", "owner", "session", "shown_at as at"]),
);

type Rest = { readonly id: string } & Pick<OutboxTable, "due_at" | "attempts">;

const putBackWith = (db: Kysely<Schema>, { id, ...columns }: Rest & Partial<PatchColumns>) =>
  db
    .updateTable("outbox")
    .set({ claimed_until: null, woken_at: null, interrupted: 0, ...columns })
    .where("id", "=", id);
const putBack = statement((db, at: Rest) => putBackWith(db, at));
const putBackChanged = statement((db, at: Rest & PatchColumns) => putBackWith(db, at));

/** What a holder's result still means after what happened meanwhile. */
function patchOver(row: HeldRow, result: Patch): Patch {
  if (row.adopted_epoch === row.epoch && result.state !== "shown") return foundOver(row, result);
  return wasReopened(row) && result.state !== "absent" ? { ...result, digest: null } : result;
}

/** The surface was opened while the row was held: what was found absent may be there now. */
function wasReopened(row: HeldRow): boolean {
  return row.reopened_epoch === row.epoch && row.claimed_until !== null;
}

/** A press proved that the copy is there while its holder lost sight of it: its parts are what either knows of. */
function foundOver(row: HeldRow, result: Patch): Patch {
  const found = receiptOf(row);
  const parts = [...new Set([...(result.receipt?.parts ?? []), ...(found?.parts ?? [])])];
  return { ...result, state: "shown", reason: null, digest: null, unknownUntil: null, receipt: { ...found, parts } };
}

type Posted = Pick<Selectable<OutboxTable>, "id" | "address" | "receipt">;
type Message = Selectable<MessageTable>;

/** Keeps the way back from a native message to its copy; the entry field's message is one of them. */
export async function recordMessages(trx: Trx, before: Posted, receipt: Receipt | null): Promise<void> {
  if (before.address === null) return;
  const chat = chatOf(before.address);
  const old = messagesOf(receiptOf(before));
  const now = messagesOf(receipt);
  for (const message of old) if (!now.includes(message)) await forget.run(trx, { chat, message, copy: before.id });
  for (const message of now) if (!old.includes(message)) await remember.run(trx, { chat, message, copy: before.id });
}

const forget = statement((db, at: Message) =>
  db.deleteFrom("message").where("chat", "=", at.chat).where("message", "=", at.message).where("copy", "=", at.copy),
);

const remember = statement((db, at: Message) =>
  db
    .insertInto("message")
    .values(at)
    .onConflict((conflict) => conflict.columns(["chat", "message"]).doUpdateSet({ copy: at.copy })),
);

function messagesOf(receipt: Receipt | null): readonly string[] {
  if (receipt === null) return [];
  return [...new Set(receipt.entry === undefined ? receipt.parts : [...receipt.parts, receipt.entry])];
}

/** `telegram:-100/7` -> `telegram:-100`: message ids are unique in the chat, whatever the topic. */
export function chatOf(address: string): string {
  return address.split("/", 1)[0] ?? address;
}
