/**
 * Keys, pairing codes, linked identities and renamed addresses.
 *
 * Rules: codes and keys are stored as hashes; a code works once; a wrong code costs every live code of its channel one
 * of its few failures, since nobody can tell which one was being guessed.
 */
import type { Kysely, Transaction } from "kysely";
import type { AccessStore, KeyRecord } from "../ports/access-store.ts";
import type { Batch } from "./batch.ts";
import { readJson } from "./json.ts";
import { isTexts } from "./rows.ts";
import type { Schema } from "./schema.ts";

export function accessOver({ read, write }: Batch): AccessStore {
  return {
    addKey: ({ sessions, createdAt, revokedAt, ...key }) =>
      write(async (trx) => {
        const times = { created_at: createdAt, revoked_at: revokedAt };
        await trx
          .insertInto("access_key")
          .values({ ...key, sessions: JSON.stringify(sessions), ...times })
          .execute();
      }),
    keys: () => read(keys),
    revokeKey: (id, at) =>
      write(async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable("access_key")
          .set({ revoked_at: at })
          .where("id", "=", id)
          .where("revoked_at", "is", null)
          .executeTakeFirstOrThrow();
        return numUpdatedRows === 1n;
      }),
    addPairing: ({ expiresAt, ...pairing }) =>
      write(async (trx) => {
        await trx
          .insertInto("pairing")
          .values({ ...pairing, expires_at: expiresAt })
          .execute();
      }),
    pair: (attempt) => write((trx) => pair(trx, attempt)),
    identities: () =>
      read(async (db) => {
        const rows = await db.selectFrom("identity").selectAll().orderBy("paired_at").orderBy("identity").execute();
        return rows.map(({ identity, person, paired_at }) => ({ identity, person, pairedAt: paired_at }));
      }),
    moveAddress: (from, to, at) => write((trx) => moveAddress(trx, from, to, at)),
    movedAddresses: () =>
      read(async (db) => {
        const rows = await db.selectFrom("moved_address").selectAll().orderBy("moved_at").orderBy("old_name").execute();
        return rows.map((row) => ({ from: row.old_name, to: row.new_name }));
      }),
  };
}

async function keys(db: Kysely<Schema>): Promise<readonly KeyRecord[]> {
  const rows = await db.selectFrom("access_key").selectAll().orderBy("created_at").orderBy("id").execute();
  return rows.map(({ sessions, created_at, revoked_at, ...key }) => ({
    ...key,
    sessions: readJson(sessions, isTexts, `access_key.sessions of ${key.id}`),
    createdAt: created_at,
    revokedAt: revoked_at,
  }));
}

async function pair(trx: Transaction<Schema>, attempt: Parameters<AccessStore["pair"]>[0]): Promise<string | null> {
  const { hash, channel, identity, now } = attempt;
  const used = await trx
    .deleteFrom("pairing")
    .where("hash", "=", hash)
    .where("channel", "=", channel)
    .where("expires_at", ">", now)
    .returning("person")
    .executeTakeFirst();
  if (!used) {
    const live = trx.updateTable("pairing").where("channel", "=", channel).where("expires_at", ">", now);
    await live.set((eb) => ({ failures: eb("failures", "+", 1) })).execute();
    await trx
      .deleteFrom("pairing")
      .where("channel", "=", channel)
      .where("failures", ">=", attempt.maxFailures)
      .execute();
    return null;
  }
  const link = { person: used.person, paired_at: now };
  await trx
    .insertInto("identity")
    .values({ identity, ...link })
    .onConflict((conflict) => conflict.column("identity").doUpdateSet(link))
    .execute();
  return used.person;
}

/** Every earlier name points to the newest one; an address that got its old name back has moved nowhere. */
async function moveAddress(trx: Transaction<Schema>, from: string, to: string, at: number): Promise<void> {
  const target = { new_name: to, moved_at: at };
  await trx.updateTable("moved_address").set({ new_name: to }).where("new_name", "=", from).execute();
  await trx
    .insertInto("moved_address")
    .values({ old_name: from, ...target })
    .onConflict((conflict) => conflict.column("old_name").doUpdateSet(target))
    .execute();
  await trx.deleteFrom("moved_address").whereRef("old_name", "=", "new_name").execute();
}
