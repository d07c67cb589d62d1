/**
 * Claiming due rows and settling them.
 *
 * Rules: a claim raises the epoch and moves `due_at` to the end of its lease, so that a row whose holder died comes due
 * by itself; only the holder of the current epoch settles; what happened to a row while it was held (woken, its receipt
 * adopted, its surface opened) outlives the holder's older view of it.
 */
import { type Kysely, type Selectable, sql, type Transaction } from "kysely";
import type { Receipt } from "../core/delivery.ts";
import type { ClaimRequest, Lane, OutboxRow, Settlement } from "../ports/store.ts";
import { earliest, holdBack, refresh } from "./queue.ts";
import { type JoinedRow, outboxRowOf, type Patch, patchColumns, receiptOf } from "./rows.ts";
import type { OutboxTable, Schema } from "./schema.ts";

type Trx = Transaction<Schema>;

export async function claim(trx: Trx, request: ClaimRequest): Promise<readonly OutboxRow[]> {
  const rows = request.lane === "delivery" ? await dueCopies(trx, request) : await dueInLane(trx, request);
  if (rows.length === 0) return [];
  const until = request.now + request.leaseMs;
  const ids = rows.map((row) => row.id);
  await trx
    .updateTable("outbox")
    .set((eb) => ({ epoch: eb("epoch", "+", 1), due_at: until, claimed_until: until, woken_at: null }))
    .where("id", "in", ids)
    .execute();
  const addresses = rows.flatMap((row) => row.address ?? []);
  if (addresses.length > 0) {
    await trx.updateTable("address").set({ next_at: until }).where("address", "in", addresses).execute();
  }
  return rows.map((row) => ({
    ...outboxRowOf({ ...row, epoch: row.epoch + 1 }),
    interrupted: row.claimed_until !== null,
    notBefore: row.not_before !== null && row.not_before > request.now ? row.not_before : null,
  }));
}

/** The first claimable copy of each address whose head is due. */
async function dueCopies(trx: Trx, { channel, now, limit }: ClaimRequest): Promise<readonly JoinedRow[]> {
  const first = sql<string>`(select id from outbox as copy where copy.address = address.address and copy.due_at <= ${now}
    and (address.not_before <= ${now} or copy.lives_until <= address.not_before)
    order by copy.due_at limit 1)`;
  let heads = trx
    .selectFrom("address")
    .innerJoin("outbox", (join) => join.on("outbox.id", "=", first))
    .selectAll("outbox")
    .select("address.not_before")
    .where("address.next_at", "<=", now);
  if (channel !== undefined) heads = heads.where("address.channel", "=", channel);
  return heads.orderBy("address.next_at").limit(limit).execute();
}

function dueInLane(trx: Trx, { lane, now, limit }: ClaimRequest): Promise<readonly JoinedRow[]> {
  return trx
    .selectFrom("outbox")
    .selectAll()
    .select(sql<null>`null`.as("not_before"))
    .where("lane", "=", lane)
    .where("address", "is", null)
    .where("due_at", "<=", now)
    .orderBy("due_at")
    .limit(limit)
    .execute();
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
  const row = await trx
    .selectFrom("outbox")
    .selectAll()
    .where("id", "=", settlement.row)
    .where("epoch", "=", settlement.epoch)
    .executeTakeFirst();
  if (!row) return false;
  if (settlement.remove) {
    await trx.deleteFrom("outbox").where("id", "=", row.id).execute();
    return true;
  }
  const patch = settlement.delivery ? patchOver(row, settlement.delivery) : null;
  await trx
    .updateTable("outbox")
    .set({
      due_at: earliest(settlement.dueAt, row.claimed_until === null ? row.due_at : row.woken_at),
      attempts: row.woken_at === null ? settlement.attempts : 0,
      claimed_until: null,
      woken_at: null,
      ...(patch && patchColumns(patch)),
    })
    .where("id", "=", row.id)
    .execute();
  if (patch) await recordMessages(trx, row, patch.receipt);
  if (settlement.shownAt !== undefined) await recordShown(trx, row.inquiry, settlement.shownAt);
  if (row.address !== null) {
    if (settlement.notBefore !== undefined) await holdBack(trx, row.address, settlement.notBefore);
    await refresh(trx, [row.address]);
  }
  return true;
}

/** What a holder's result still means after what happened meanwhile; null: nothing. */
function patchOver(row: Selectable<OutboxTable>, result: Patch): Patch | null {
  if (row.adopted_epoch === row.epoch && row.receipt !== null && result.receipt === null) return null;
  if (row.reopened_epoch !== row.epoch || row.claimed_until === null) return result;
  return result.state === "absent" ? { ...result, state: "pending" } : { ...result, digest: null };
}

/** Keeps the way back from a native message to its copy; the entry field's message is one of them. */
export async function recordMessages(
  trx: Trx,
  before: Selectable<OutboxTable>,
  receipt: Receipt | null,
): Promise<void> {
  if (before.address === null) return;
  const chat = chatOf(before.address);
  const old = messagesOf(receiptOf(before));
  const now = messagesOf(receipt);
  const gone = old.filter((message) => !now.includes(message));
  const fresh = now.filter((message) => !old.includes(message));
  if (gone.length > 0) {
    const mine = trx.deleteFrom("message").where("chat", "=", chat).where("copy", "=", before.id);
    await mine.where("message", "in", gone).execute();
  }
  if (fresh.length > 0) {
    await trx
      .insertInto("message")
      .values(fresh.map((message) => ({ chat, message, copy: before.id })))
      .onConflict((conflict) => conflict.columns(["chat", "message"]).doUpdateSet({ copy: before.id }))
      .execute();
  }
}

function messagesOf(receipt: Receipt | null): readonly string[] {
  if (receipt === null) return [];
  return [...new Set(receipt.entry === undefined ? receipt.parts : [...receipt.parts, receipt.entry])];
}

/** `telegram:-100/7` -> `telegram:-100`: message ids are unique in the chat, whatever the topic. */
export function chatOf(address: string): string {
  return address.split("/", 1)[0] ?? address;
}

/** The first confirmed showing stands. */
export async function recordShown(trx: Trx, inquiry: string, at: number): Promise<void> {
  await trx
    .updateTable("inquiry")
    .set({ shown_at: at })
    .where("uid", "=", inquiry)
    .where("shown_at", "is", null)
    .execute();
}
