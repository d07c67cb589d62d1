/**
 * The store: the port over one query layer, whichever database stands behind it.
 *
 * Rules: everything goes through the batch, and every read sees committed data alone; what a database needs for itself
 * lives in its own files, and stops here.
 */
import { type Dialect, Kysely, sql } from "kysely";
import { AskgateError } from "../core/errors.ts";
import type { AccessStore } from "../ports/access-store.ts";
import type { Log } from "../ports/log.ts";
import type { Commit, Store } from "../ports/store.ts";
import { accessOver } from "./access.ts";
import { type Batch, openBatch } from "./batch.ts";
import { claim, nextDue, settle } from "./claims.ts";
import { applyCommit, collect, storedReply } from "./commit.ts";
import { continueEvents, endOfEvents, readEvents } from "./events.ts";
import { type Hints, openHints } from "./hints.ts";
import { openLanes } from "./lanes.ts";
import { attend, leasesOver, leave, pruneLeases } from "./leases.ts";
import { migrate } from "./migrations.ts";
import { databaseTime, postgresDialect } from "./postgres.ts";
import { toUnavailable } from "./postgres-faults.ts";
import { endClaims, letNextIn, linesOf, openSurface } from "./queue.ts";
import * as reads from "./reads.ts";
import type { Schema } from "./schema.ts";
import { sqliteDialect } from "./sqlite.ts";
import { findTask } from "./tasks.ts";

export interface StoreStats {
  /** Database transactions committed since the store was opened; writes of one tick may share one. */
  readonly commits: number;
  /** Statements sent to the database, those that begin and end transactions included. */
  readonly statements: number;
}

export interface DurableStore extends Store {
  stats(): StoreStats;
}

/** A database, open and up to date. */
export interface Database {
  readonly db: Kysely<Schema>;
  /** Null where one process has it for itself. */
  readonly url: string | null;
  /** The migrations that were applied now. */
  readonly applied: readonly string[];
  statements(): number;
}

/**
 * Opens the database and brings it up to date. `url` is `sqlite:PATH`, `sqlite::memory:`, which forgets everything, or
 * `postgres://…`.
 */
export async function openStore(url: string, deps: { readonly log: Log }): Promise<DurableStore> {
  return storeOver(await openDatabase(url, deps), deps.log);
}

/** `alone`: this process means to have it for itself, for as long as it takes; a file that somebody has is refused. */
export async function openDatabase(
  url: string,
  { log, alone = false }: { readonly log: Log; readonly alone?: boolean },
): Promise<Database> {
  const remote = /^postgres(ql)?:/.test(url);
  let statements = 0;
  const count = () => {
    statements += 1;
  };
  const db = new Kysely<Schema>({
    dialect: remote ? postgresDialect(url, log, { patient: alone }) : fileDialect(url),
    log: count,
  });
  try {
    if (alone && !remote) {
      await sql`pragma busy_timeout = 1000`.execute(db);
      await sql`pragma locking_mode = exclusive`.execute(db);
    }
    const applied = await migrate(db);
    if (applied.length > 0) log.debug({ migrations: applied }, "database brought up to date");
    if (await continueEvents(db))
      log.warn({}, "the log of events comes from another server; it goes on behind its end");
    return { db, url: remote ? url : null, applied, statements: () => statements };
  } catch (error) {
    await db.destroy();
    const fault = toUnavailable(error instanceof Error ? error.cause : error);
    throw fault instanceof AskgateError ? fault : error;
  }
}

function fileDialect(url: string): Dialect {
  const path = url.startsWith("sqlite:") ? url.slice("sqlite:".length) : "";
  if (path !== "") return sqliteDialect(path);
  const scheme = url.split(":", 1)[0];
  throw new Error(
    `ASKGATE_DATABASE_URL must be "sqlite:PATH", "sqlite::memory:" or "postgres://…"; received one of scheme "${scheme}" ` +
      'without a path. Set it to "sqlite:data/askgate.db", for example.',
  );
}

function storeOver({ db, url, statements }: Database, log: Log): DurableStore {
  const batch = url === null ? openBatch(db) : openLanes(db);
  const vital = url === null ? batch : openVital(url, log);
  const hints = url === null ? null : openHints(url, (channel, text) => notify(db, channel, text), log);
  const { read, write } = batch;
  return {
    ...writesOver(batch, hints),
    ...readsOver(batch),
    access: hints === null ? accessOver(batch) : tellingOf(accessOver(batch), hints),
    leases: leasesOver(vital),
    events: {
      read: (request) => read((trx) => readEvents(trx, request)),
      end: () => read(endOfEvents),
    },
    prune: (before) =>
      write(async (trx) => {
        await trx.deleteFrom("once").where("at", "<", before).execute();
        await trx.deleteFrom("pairing").where("expires_at", "<", before).execute();
        await pruneLeases(trx, before);
      }),
    shared: hints !== null,
    time: hints === null ? null : () => vital.read(databaseTime),
    listen: (hear) => hints?.listen(hear) ?? (() => {}),
    stats: () => ({ commits: batch.commits(), statements: statements() }),
    async close() {
      await Promise.all([hints?.close(), batch.close(), vital.close()]);
      await db.destroy();
    },
  };
}

/** A connection of its own for what must not queue behind any work: who is too busy to renew its leases counts as dead. */
function openVital(url: string, log: Log): Batch {
  const db = new Kysely<Schema>({ dialect: postgresDialect(url, log, { connections: 1 }) });
  const batch = openLanes(db);
  return {
    ...batch,
    async close() {
      await batch.close();
      await db.destroy();
    },
  };
}

async function notify(db: Kysely<Schema>, channel: string, text: string): Promise<void> {
  await sql`select pg_notify(${channel}, ${text})`.execute(db);
}

type Writes = "commit" | "claim" | "settle" | "ready" | "reopen" | "recover" | "collect" | "attend" | "leave";

function writesOver({ read, write }: Batch, hints: Hints | null): Pick<Store, Writes> {
  return {
    async commit(change) {
      const result = await write((trx) => applyCommit(trx, change));
      if (result.outcome === "done") hints?.tell(inquiriesOf(change));
      return result;
    },
    claim: (request) => write((trx) => claim(trx, request)),
    settle: (settlement) => write((trx) => settle(trx, settlement)),
    ready: (address, at) => write((trx) => letNextIn(trx, address, at)),
    reopen: (address, at) => write((trx) => openSurface(trx, address, at)),
    async recover(channel, at) {
      await write((trx) => endClaims(trx, channel, at));
      for (const address of await read((db) => linesOf(db, channel))) await write((trx) => letNextIn(trx, address, at));
    },
    collect: (uid, at) =>
      write(async (trx) => {
        await collect.run(trx, { uid, at });
      }),
    attend: (uid, waiter, now) => write((trx) => attend(trx, uid, waiter, now)),
    leave: (uid, waiter) => write((trx) => leave(trx, uid, waiter)),
  };
}

/** Every inquiry that looks different after the change, or has a copy to be looked at. */
function inquiriesOf({ create = [], update = [], wake = [] }: Commit): readonly string[] {
  return [
    ...create.map(({ uid }) => uid),
    ...update.map(({ inquiry }) => inquiry.uid),
    ...wake.map(({ inquiry }) => inquiry),
  ];
}

type Reads =
  | ("nextDue" | "inquiry" | "inquiriesById" | "list" | "attachable" | "waitingOfTask" | "waitingOfRun" | "task")
  | ("settledAmong" | "copies" | "copyByKey" | "copyByMessage" | "openCopies" | "inFlight" | "replyOf");

function readsOver({ read }: Batch): Pick<Store, Reads> {
  return {
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
    openCopies: (address, limit, doubtful) => read((trx) => reads.openCopies(trx, address, limit, doubtful)),
    settledAmong: (uids) => read((trx) => reads.settledAmong(trx, uids)),
    inFlight: (address, now) => read((trx) => reads.inFlight(trx, address, now)),
    replyOf: (key) => read((trx) => storedReply(trx, key)),
  };
}

/** Tells the other processes of each change. */
function tellingOf(access: AccessStore, hints: Hints): AccessStore {
  const telling =
    <A extends unknown[], R>(change: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      const result = await change(...given);
      hints.tell([], true);
      return result;
    };
  return {
    ...access,
    addKey: telling(access.addKey),
    revokeKey: telling(access.revokeKey),
    pair: telling(access.pair),
    moveAddress: telling(access.moveAddress),
  };
}
