/**
 * Group commit: writes asked for while the event loop is busy share one database transaction and one flush to disk, and
 * reads share one snapshot, since its beginning and end cost more than most reads.
 *
 * Rules: a write resolves only after the commit that holds it; each sees what those before it wrote; one that throws
 * takes nobody with it: the transaction is rolled back and every write runs again in a transaction of its own. A write
 * is therefore a function of the transaction alone and may run twice. A read sees what is committed when it runs, which
 * is after it was asked for, and nothing else.
 */
import type { Kysely, Transaction } from "kysely";
import type { Schema } from "./schema.ts";

export type Write<T> = (trx: Transaction<Schema>) => Promise<T>;
export type Read<T> = (db: Kysely<Schema>) => Promise<T>;

export interface Batch {
  /** Rejects with what the write threw, or with the database's error; then nothing of it is stored. */
  write<T>(write: Write<T>): Promise<T>;
  /** Rejects with what the read threw. */
  read<T>(read: Read<T>): Promise<T>;
  /** Transactions committed so far. */
  commits(): number;
  /** Commits what is queued and refuses everything after it. */
  close(): Promise<void>;
}

interface Job {
  /** Does what was asked for; the result tells the caller, of a write once it is committed. */
  run(trx: Transaction<Schema>): Promise<() => void>;
  fail(error: unknown): void;
}

export function openBatch(db: Kysely<Schema>): Batch {
  let commits = 0;
  let closed = false;

  async function commit(jobs: readonly Job[]): Promise<void> {
    let running = false;
    try {
      const tell = await db.transaction().execute(async (trx) => {
        running = true;
        const done: (() => void)[] = [];
        for (const job of jobs) done.push(await job.run(trx));
        running = false;
        return done;
      });
      commits += 1;
      for (const one of tell) one();
    } catch (error) {
      if (running && jobs.length > 1) for (const job of jobs) await commit([job]);
      else for (const job of jobs) job.fail(error);
    }
  }

  const writes = gather(commit);
  const reads = gather((jobs) => look(db, jobs));
  return {
    write<T>(write: Write<T>): Promise<T> {
      if (closed) return Promise.reject(new Error("The store is closed; nothing more is written."));
      return new Promise<T>((resolve, reject) => {
        writes.add({ run: async (trx) => resolve.bind(null, await write(trx)), fail: reject });
      });
    },
    read<T>(read: Read<T>): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        reads.add({ run: async (trx) => resolve.bind(null, await read(trx)), fail: reject });
      });
    },
    commits: () => commits,
    async close() {
      closed = true;
      await Promise.all([writes.idle(), reads.idle()]);
    },
  };
}

async function look(db: Kysely<Schema>, jobs: readonly Job[]): Promise<void> {
  const snapshot = db.transaction().setAccessMode("read only");
  try {
    await snapshot.execute(async (trx) => {
      for (const job of jobs) await job.run(trx).then((tell) => tell(), job.fail);
    });
  } catch (error) {
    for (const job of jobs) job.fail(error);
  }
}

/** Hands on what was added in one tick of the event loop, or while the last lot was being worked on. */
function gather(work: (jobs: readonly Job[]) => Promise<void>) {
  let queue: Job[] = [];
  let working: Promise<void> | null = null;

  async function run(): Promise<void> {
    await nextTick();
    while (queue.length > 0) {
      const jobs = queue;
      queue = [];
      await work(jobs);
      await nextTick();
    }
    working = null;
  }

  return {
    add(job: Job): void {
      queue.push(job);
      working ??= run();
    },
    idle: async () => working,
  };
}

/** After everything the loop has ready now: whoever asks for something meanwhile shares it. */
function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
