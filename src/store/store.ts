/**
 * The store: the port over one query layer, whichever database stands behind it.
 *
 * Rules: every write goes through the batch, every read sees committed data alone; what a database needs for itself
 * lives in its dialect file.
 */
import { type Dialect, Kysely } from "kysely";
import type { Log } from "../ports/log.ts";
import type { Store } from "../ports/store.ts";
import { accessOver } from "./access.ts";
import { openBatch } from "./batch.ts";
import { claim, nextDue, settle } from "./claims.ts";
import { applyCommit, findTask, storedReply } from "./commit.ts";
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
    if (applied.length > 0) deps.log.info({ migrations: applied }, "database brought up to date");
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
  const { write } = batch;
  return {
    commit: (change) => write((trx) => applyCommit(trx, change)),
    claim: (request) => write((trx) => claim(trx, request)),
    settle: (settlement) => write((trx) => settle(trx, settlement)),
    ready: (address, at) => write((trx) => letNextIn(trx, address, at)),
    reopen: (address, at) => write((trx) => openSurface(trx, address, at)),
    recover: (at) => write((trx) => recover(trx, at)),
    collect: (inquiry, at) =>
      write(async (trx) => {
        const rest = trx.updateTable("inquiry").set({ collected_at: at }).where("uid", "=", inquiry);
        await rest.where("collected_at", "is", null).execute();
      }),
    nextDue: (lane, channel) => nextDue(db, lane, channel),
    inquiry: (uid) => reads.findInquiry(db, uid),
    inquiriesById: (id, owner) => reads.inquiriesById(db, id, owner),
    list: (request) => reads.list(db, request),
    attachable: (request) => reads.attachable(db, request),
    waitingOfTask: (owner, taskId) => reads.waitingOfTask(db, owner, taskId),
    waitingOfRun: (owner, run) => reads.waitingOfRun(db, owner, run),
    task: (owner, taskId) => findTask(db, owner, taskId),
    copies: (inquiry) => reads.copies(db, inquiry),
    copyByKey: (promptKey) => reads.copyByKey(db, promptKey),
    copyByMessage: (address, message) => reads.copyByMessage(db, address, message),
    openCopies: (address, limit) => reads.openCopies(db, address, limit),
    replyOf: async (key) => (await storedReply(db, key))?.reply ?? null,
    access: accessOver(db, batch),
    stats: () => ({ commits: batch.commits() }),
    async close() {
      await batch.close();
      await db.destroy();
    },
  };
}
