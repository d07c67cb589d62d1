/**
 * What keeps transactions that run side by side from undoing or waiting for each other.
 *
 * SQLite runs one writing transaction at a time and needs none of this. On PostgreSQL, which runs many under READ
 * COMMITTED, every write takes row locks in one order, so that no two wait for each other in a circle:
 * once, task, inquiry, outbox, address, the addresses sorted. A claim skips what is locked and waits for nobody. What
 * was checked and then found changed throws `Raced` and runs again from its beginning.
 */
import { type Kysely, PostgresAdapter, sql } from "kysely";
import type { Schema } from "./schema.ts";

/** A check no longer holds when its write comes: somebody else committed in between. The whole write runs again. */
export class Raced extends Error {
  constructor(what: string) {
    super(`${what} was changed by somebody else between its check and its write`);
    this.name = "Raced";
  }
}

/** Whether the database runs writing transactions side by side. */
export function concurrent(db: Kysely<Schema>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/** Whoever must find an address as nobody else can change it meanwhile holds its row until the commit. */
export async function lockAddresses(trx: Kysely<Schema>, addresses: Iterable<string>): Promise<void> {
  const names = [...new Set(addresses)];
  if (names.length === 0 || !concurrent(trx)) return;
  await trx
    .selectFrom("address")
    .select(sql<number>`1`.as("held"))
    .where("address", "in", names)
    .orderBy(sql`address collate "C"`)
    .forNoKeyUpdate()
    .execute();
}
