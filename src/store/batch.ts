/**
 * Group commit: writes asked for while the event loop is busy share one database transaction and one flush to disk.
 *
 * Rules: a write resolves only after the commit that holds it; each sees what those before it wrote; one that throws
 * takes nobody with it: the transaction is rolled back and every write runs again in a transaction of its own. A write
 * is therefore a function of the transaction alone and may run twice.
 */
import type { Kysely, Transaction } from "kysely";
import type { Schema } from "./schema.ts";

export type Write<T> = (trx: Transaction<Schema>) => Promise<T>;

export interface Batch {
  /** Rejects with what the write threw, or with the database's error; then nothing of it is stored. */
  write<T>(write: Write<T>): Promise<T>;
  /** Transactions committed so far. */
  commits(): number;
  /** Commits what is queued and refuses everything after it. */
  close(): Promise<void>;
}

interface Job {
  /** Runs the write; the result says how to tell its caller once it is committed. */
  run(trx: Transaction<Schema>): Promise<() => void>;
  fail(error: unknown): void;
}

export function openBatch(db: Kysely<Schema>): Batch {
  let queue: Job[] = [];
  let flushing: Promise<void> | null = null;
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

  async function flush(): Promise<void> {
    await nextTick();
    while (queue.length > 0) {
      const jobs = queue;
      queue = [];
      await commit(jobs);
      await nextTick();
    }
    flushing = null;
  }

  return {
    write<T>(write: Write<T>): Promise<T> {
      if (closed) return Promise.reject(new Error("The store is closed; nothing more is written."));
      return new Promise<T>((resolve, reject) => {
        queue.push({ run: async (trx) => resolve.bind(null, await write(trx)), fail: reject });
        flushing ??= flush();
      });
    },
    commits: () => commits,
    async close() {
      closed = true;
      await flushing;
    },
  };
}

/** After everything the loop has ready now: whoever asks for a write meanwhile shares the commit. */
function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
