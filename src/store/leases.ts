/**
 * Leases as rows. Taking one is a single statement that compares and sets, so that of two who try one succeeds.
 */
import { type Kysely, sql } from "kysely";
import { type Lease, type LeaseStore, presenceOf } from "../ports/lease.ts";
import type { Batch } from "./batch.ts";
import type { Schema } from "./schema.ts";

export function leasesOver({ write }: Batch): LeaseStore {
  return {
    renew: (held, until) =>
      write(async (trx) => {
        const mine = trx
          .updateTable("lease")
          .where((eb) => eb.or(held.map(({ name, holder, epoch }) => eb.and({ name, holder, epoch }))));
        // A renewal that comes late must not take back what a later one has given.
        await mine.where("until", ">", 0).where("until", "<", until).set({ until }).execute();
        return trx.selectFrom("lease").selectAll().orderBy("name").execute();
      }),
    take: (lease, now) => write((trx) => take(trx, lease, now)),
    note: ({ name, holder, epoch }, note) =>
      write(async (trx) => {
        const mine = trx.updateTable("lease").where("name", "=", name).where("holder", "=", holder);
        await mine.where("epoch", "=", epoch).set({ note }).execute();
      }),
    release: ({ name, holder, epoch }) =>
      write(async (trx) => {
        const mine = trx.updateTable("lease").where("name", "=", name).where("holder", "=", holder);
        await mine.where("epoch", "=", epoch).set({ until: 0 }).execute();
      }),
  };
}

/** The first epoch is the time, so that a lease that was forgotten and comes again begins above all it ever had. */
async function take(trx: Kysely<Schema>, lease: Omit<Lease, "epoch">, now: number): Promise<Lease | null> {
  const { holder, until, note } = lease;
  const taken = await trx
    .insertInto("lease")
    .values({ ...lease, epoch: now })
    .onConflict((conflict) =>
      conflict
        .column("name")
        .doUpdateSet({ holder, until, note, epoch: sql<number>`lease.epoch + 1` })
        .where((eb) => eb.or([eb("lease.until", "<=", now), eb("lease.holder", "=", holder)])),
    )
    .returningAll()
    .executeTakeFirst();
  return taken ?? null;
}

/** Forgets the processes that are gone since before then, and those that left in order. */
export async function pruneLeases(db: Kysely<Schema>, before: number): Promise<void> {
  await db.deleteFrom("lease").where("name", "like", presenceOf("%")).where("until", "<", before).execute();
}

/** Marks the process as the one whose caller waits, unless a caller of another that lives does. */
export async function attend(db: Kysely<Schema>, uid: string, waiter: string, now: number): Promise<boolean> {
  const alive = sql<boolean>`exists (select 1 from lease where name = ${presenceOf("")} || waited_by and until > ${now})`;
  const { numUpdatedRows } = await db
    .updateTable("inquiry")
    .set({ waited_by: waiter })
    .where("uid", "=", uid)
    .where((eb) => eb.or([eb("waited_by", "is", null), eb("waited_by", "=", waiter), eb.not(alive)]))
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

export async function leave(db: Kysely<Schema>, uid: string | null, waiter: string): Promise<void> {
  const waited = db.updateTable("inquiry").where("waited_by", "=", waiter).set({ waited_by: null });
  await (uid === null ? waited.where("settled_at", "is", null) : waited.where("uid", "=", uid)).execute();
}
