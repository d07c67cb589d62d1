/**
 * The store: the port over one query layer, whichever database stands behind it.
 *
 * Rules: everything goes through the batch, and every read sees committed data alone; what a database needs for itself
 * lives in its dialect file.
 */
import { type Dialect, Kysely } from "kysely";
import type { Log } from "../ports/log.ts";
import type { Store } from "../ports/store.ts";
import { accessOver } from "./access.ts";
import { openBatch } from "./batch.ts";
import { claim, nextDue, settle } from "./claims.ts";
import { applyCommit, collect, findTask, storedReply } from "./commit.ts";
import { migrate } from "./migrations.ts";
import { letNextIn, openSurface, recover } from "./queue.ts";
import * as reads from "./reads.ts";
import type { Schema } from "./schema.ts";
import { sqliteDialect } from "./sqlite.ts";

export interface StoreStats {
  /** Database transactions committed since the store was opened; writes of one tick share one. */
  readonly commits: number;
}

export interface DurableStore extends Store {
  stats(): StoreStats;
}

/** Opens the database and brings it up to date. `url` is `sqlite:PATH` or `sqlite::memory:`, which forgets everything. */
export async function openStore(url: string, deps: { readonly log: Log }): Promise<DurableStore> {
  const db = new Kysely<Schema>({ dialect: dialectOf(url) });
  try {
    const applied = await migrate(db);
    if (applied.length > 0) deps.log.debug({ migrations: applied }, "database brought up to date");
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return storeOver(db);
}

function dialectOf(url: string): Dialect {
  const path = url.startsWith("sqlite:") ? url.slice("sqlite:".length) : "";
  if (path !== "") return sqliteDialect(path);
  const scheme = url.split(":", 1)[0];
  throw new Error(
    `ASKGATE_DATABASE_URL must be "sqlite:PATH" or "sqlite::memory:"; received one of scheme "${scheme}" without a path ` +
      'this version can open. Set it to "sqlite:data/askgate.db", for example.',
  );
}

function storeOver(db: Kysely<Schema>): DurableStore {
  const batch = openBatch(db);
  const { read, write } = batch;
  return {
    commit: (change) => write((trx) => applyCommit(trx, change)),
    claim: (request) => write((trx) => claim(trx, request)),
    settle: (settlement) => write((trx) => settle(trx, settlement)),
    ready: (address, at) => write((trx) => letNextIn(trx, address, at)),
    reopen: (address, at) => write((trx) => openSurface(trx, address, at)),
    recover: (at) => write((trx) => recover(trx, at)),
    collect: (uid, at) =>
      write(async (trx) => {
        await collect.run(trx, { uid, at });
      }),
    nextDue: (lane, channel) => read((trx) => nextDue(trx, lane, channel)),
    inquiry: (uid) => read((trx) => reads.findInquiry(trx, uid)),
    inquiriesById: (id, owner) => read((trx) => reads.inquiriesById(trx, id, owner)),
    list: (request) => read((trx) => reads.list(trx, request)),
    attachable: (request) => read((trx) => reads.attachable(trx, request)),
    waitingOfTask: (owner, taskId) => read((trx) => reads.waitingOfTask(trx, owner, taskId)),
    waitingOfRun: (owner, run) => read((trx) => reads.waitingOfRun(trx, owner, run)),
    task: (owner, taskId) => read((trx) => findTask(trx, owner, taskId)),
    copies: (inquiry) => read((trx) => reads.copies(trx, inquiry)),
    copyByKey: (promptKey) => read((trx) => reads.copyByKey(trx, promptKey)),
    copyByMessage: (address, message) => read((trx) => reads.copyByMessage(trx, address, message)),
    openCopies: (address, limit) => read((trx) => reads.openCopies(trx, address, limit)),
    replyOf: (key) => read((trx) => storedReply(trx, key)),
    prune: (before) =>
      write(async (trx) => {
        await trx.deleteFrom("once").where("at", "<", before).execute();
        await trx.deleteFrom("pairing").where("expires_at", "<", before).execute();
      }),
    access: accessOver(batch),
    stats: () => ({ commits: batch.commits() }),
    async close() {
      await batch.close();
      await db.destroy();
    },
  };
}
