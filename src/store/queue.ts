/**
 * When a row can be claimed, and the head of each address's queue.
 *
 * Rules: one copy of an address is in flight at a time, none before the address's wait is over, save those that would
 * not live to see its end. Each address therefore keeps `next_at`, the moment its next copy can be claimed. Whatever
 * changes a copy's `due_at`, its claim or the wait calls `refresh` in the same transaction; a claim then reads heads
 * alone, and neither a hundred thousand waiting copies nor a blocked address cost it anything.
 */
import { type Kysely, type RawBuilder, sql, type Transaction } from "kysely";
import { concurrent, lockAddresses } from "./locks.ts";
import type { Schema } from "./schema.ts";
import { atMost, statement } from "./statement.ts";

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
export const holdBack = statement((db, at: { readonly address: string; readonly until: number }) =>
  db
    .updateTable("address")
    .set({ not_before: at.until })
    .where("address", "=", at.address)
    .where("not_before", "<", at.until),
);

/**
 * Finds the heads of these addresses anew. Each is held before it is looked at: a statement sees what was committed when
 * it began, not what it waited for, and would overlook the copy whose settlement it waited for.
 */
export async function refresh(trx: Trx, addresses: Iterable<string>): Promise<void> {
  const names = [...new Set(addresses)].sort();
  await lockAddresses(trx, names);
  for (const address of names) await findHead.run(trx, { address });
}

/** The soonest copy, once the wait is over, or of those that would not live to see that; after the lease of the one in flight. */
const findHead = statement((db, at: { readonly address: string }) =>
  db
    .updateTable("address")
    .set({
      next_at: sql`(
        select case when soonest < lease then lease else soonest end from (
          select (
            select min(moment) from (
              select (select case when due_at < address.not_before then address.not_before else due_at end from outbox
                where outbox.address = address.address and due_at is not null order by due_at limit 1) as moment
              union all select (select min(due_at) from outbox
                where outbox.address = address.address and lives_until <= address.not_before and due_at is not null)
            ) as moments
          ) as soonest, (
            select max(claimed_until) from outbox
            where outbox.address = address.address and claimed_until is not null
          ) as lease
        ) as head)`,
    })
    .where("address", "=", at.address),
);

/** What stands in front of the others where one shows at a time. */
const IN_FRONT = sql<boolean>`state in ('pending', 'unknown', 'shown')`;
/** What a person may be looking at. */
export const OPEN = sql<boolean>`state in ('unknown', 'shown')`;
const IN_LINE = sql<boolean>`state in ('absent', 'queued')`;

const inFront = statement((db, at: { readonly address: string }) =>
  db
    .selectFrom("outbox")
    .select("id")
    .where("address", "=", at.address)
    .where(IN_FRONT)
    .where(ofWaiting())
    .limit(atMost(1)),
);

/** Whether a copy of a waiting inquiry is, or is about to be, in front of the person. */
export async function isTaken(db: Kysely<Schema>, address: string): Promise<boolean> {
  return (await inFront.first(db, { address })) !== undefined;
}

/** Approvals first, then the oldest. */
const firstInLine = statement((db, at: { readonly address: string }) => {
  const first = db
    .selectFrom("outbox")
    .select("id")
    .where("address", "=", at.address)
    .where(IN_LINE)
    .where(ofWaiting())
    .orderBy("turn")
    .orderBy("asked_at")
    .limit(atMost(1));
  return concurrent(db) ? first.forNoKeyUpdate() : first;
});

/** Lets the next in line be shown, unless the place is taken. */
export async function letNextIn(trx: Trx, address: string, at: number): Promise<void> {
  const first = await firstInLine.first(trx, { address });
  if (first === undefined) return;
  await lockAddresses(trx, [address]);
  if (await isTaken(trx, address)) return;
  await trx
    .updateTable("outbox")
    .set({ state: "pending", ...dueSooner(at) })
    .where("id", "=", first.id)
    .execute();
  await refresh(trx, [address]);
}

/** A surface was opened: what stood there is drawn anew, what is in flight there must be looked at once more. */
export async function openSurface(trx: Trx, address: string, at: number): Promise<void> {
  const here = trx.updateTable("outbox").set(dueSooner(at)).where("address", "=", address);
  await here.set({ digest: null }).where(OPEN).where("state", "=", "shown").where(ofWaiting()).execute();
  await here
    .set((eb) => ({ reopened_epoch: eb.ref("epoch") }))
    .where("claimed_until", "is not", null)
    .execute();
  await letNextIn(trx, address, at);
  await refresh(trx, [address]);
}

/** Ends every claim of the channel, as an interrupted one: nobody is left who holds it. */
export async function endClaims(trx: Trx, channel: string, at: number): Promise<void> {
  const ended = await trx
    .updateTable("outbox")
    .set({ claimed_until: at, due_at: at })
    .where("claimed_until", ">", at)
    .where("channel", "=", channel)
    .returning("address")
    .execute();
  await refresh(
    trx,
    ended.flatMap((row) => row.address ?? []),
  );
}

/** The addresses of the channel where somebody waits in line. */
export async function linesOf(db: Kysely<Schema>, channel: string): Promise<readonly string[]> {
  const lines = await db
    .selectFrom("outbox")
    .select("address")
    .distinct()
    .where(IN_LINE)
    .where("state", "=", "queued")
    .where("channel", "=", channel)
    .execute();
  return lines.flatMap(({ address }) => address ?? []);
}
