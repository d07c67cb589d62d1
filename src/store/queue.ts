/**
 * When a row can be claimed, and the head of each address's queue.
 *
 * Rules: one copy of an address is in flight at a time, none before the address's wait is over, save those that would
 * not live to see its end. Each address therefore keeps `next_at`, the moment its next copy can be claimed. Whatever
 * changes a copy's `due_at`, its claim or the wait calls `refresh` in the same transaction; a claim then reads heads
 * alone, and neither a hundred thousand waiting copies nor a blocked address cost it anything.
 */
import { type Kysely, type RawBuilder, sql, type Transaction } from "kysely";
import type { DeliveryState } from "../core/delivery.ts";
import type { Schema } from "./schema.ts";

type Trx = Transaction<Schema>;

/** Sets of the columns of a row that becomes due at `at`: at once, or, while somebody holds it, at its settlement. */
export function dueSooner(at: number): { due_at: RawBuilder<number>; woken_at: RawBuilder<number | null> } {
  return {
    due_at: sql`case when claimed_until is null and (due_at is null or due_at > ${at}) then ${at} else due_at end`,
    woken_at: sql`case when claimed_until is not null and (woken_at is null or woken_at > ${at}) then ${at} else woken_at end`,
  };
}

/** The condition that a row of the table `outbox` belongs to an inquiry that waits. */
export function ofWaiting(): RawBuilder<boolean> {
  return sql`exists (select 1 from inquiry where inquiry.uid = outbox.inquiry and inquiry.settled_at is null)`;
}

/** The earlier of two moments, null being never. */
export function earliest(one: number | null, other: number | null): number | null {
  if (one === null) return other;
  return other === null ? one : Math.min(one, other);
}

/** Makes the address wait until then, or longer if it must already. Followed by `refresh`. */
export async function holdBack(trx: Trx, address: string, notBefore: number): Promise<void> {
  await trx
    .updateTable("address")
    .set({ not_before: notBefore })
    .where("address", "=", address)
    .where("not_before", "<", notBefore)
    .execute();
}

/** Finds the heads of these addresses anew. */
export async function refresh(trx: Trx, addresses: readonly string[]): Promise<void> {
  if (addresses.length === 0) return;
  const heads = await trx
    .selectFrom("address")
    .select(["address", "not_before", "next_at"])
    .select(
      sql<number | null>`(select min(due_at) from outbox
      where outbox.address = address.address and due_at is not null)`.as("due"),
    )
    .select(
      sql<number | null>`(select min(due_at) from outbox
      where outbox.address = address.address and lives_until <= address.not_before and due_at is not null)`.as(
        "doomed",
      ),
    )
    .select(
      sql<number | null>`(select max(claimed_until) from outbox
      where outbox.address = address.address and claimed_until is not null)`.as("lease"),
    )
    .where("address", "in", addresses)
    .execute();
  for (const { address, not_before, next_at, due, doomed, lease } of heads) {
    const soonest = earliest(doomed, due === null ? null : Math.max(due, not_before));
    const next = soonest === null ? null : Math.max(soonest, lease ?? 0);
    if (next !== next_at)
      await trx.updateTable("address").set({ next_at: next }).where("address", "=", address).execute();
  }
}

/** What stands in front of the others where one shows at a time. */
const IN_FRONT: readonly DeliveryState[] = ["pending", "unknown", "shown"];

/** Whether a copy of a waiting inquiry is, or is about to be, in front of the person. */
export async function isTaken(db: Kysely<Schema>, address: string): Promise<boolean> {
  const row = await db
    .selectFrom("outbox")
    .select("id")
    .where("address", "=", address)
    .where("state", "in", IN_FRONT)
    .where(ofWaiting())
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Lets the next in line be shown, unless the place is taken. */
export async function letNextIn(trx: Trx, address: string, at: number): Promise<void> {
  if (await isTaken(trx, address)) return;
  const first = await firstInLine(trx, address);
  if (first === null) return;
  await trx
    .updateTable("outbox")
    .set({ state: "pending", ...dueSooner(at) })
    .where("id", "=", first)
    .execute();
  await refresh(trx, [address]);
}

/** Approvals first, then the oldest. */
async function firstInLine(trx: Trx, address: string): Promise<string | null> {
  const found = [];
  for (const state of ["absent", "queued"] as const) {
    const row = await trx
      .selectFrom("outbox")
      .select(["id", "turn", "asked_at"])
      .where("address", "=", address)
      .where("state", "=", state)
      .where(ofWaiting())
      .orderBy("turn")
      .orderBy("asked_at")
      .limit(1)
      .executeTakeFirst();
    if (row) found.push(row);
  }
  found.sort((a, b) => a.turn - b.turn || a.asked_at - b.asked_at);
  return found[0]?.id ?? null;
}

/** A surface was opened: what stood there is drawn anew, what is in flight there must be looked at once more. */
export async function openSurface(trx: Trx, address: string, at: number): Promise<void> {
  const here = trx.updateTable("outbox").set(dueSooner(at)).where("address", "=", address);
  await here.set({ digest: null }).where("state", "=", "shown").where(ofWaiting()).execute();
  await here
    .set((eb) => ({ reopened_epoch: eb.ref("epoch") }))
    .where("claimed_until", "is not", null)
    .execute();
  await refresh(trx, [address]);
  await letNextIn(trx, address, at);
}

/** Ends every claim, as an interrupted one: nobody is left who holds it, or who would have let the next in. */
export async function recover(trx: Trx, at: number): Promise<void> {
  const ended = await trx
    .updateTable("outbox")
    .set({ claimed_until: at, due_at: at })
    .where("claimed_until", ">", at)
    .returning("address")
    .execute();
  await refresh(trx, [...new Set(ended.flatMap((row) => row.address ?? []))]);
  const lines = await trx.selectFrom("outbox").select("address").distinct().where("state", "=", "queued").execute();
  for (const { address } of lines) if (address !== null) await letNextIn(trx, address, at);
}
