/**
 * Writes and reads side by side, for a database that runs many transactions at a time.
 *
 * Rules: each write is a transaction of its own on one of the pool's connections, each read one statement or a few that
 * see committed data alone; the database itself lets commits that come together share one flush. A write that lost a
 * race (locks.ts) or was chosen to end a circle of waits has left nothing and runs again.
 */
import type { Kysely } from "kysely";
import type { Batch, Read, Write } from "./batch.ts";
import { Raced } from "./locks.ts";
import { codeOf, toUnavailable } from "./postgres-faults.ts";
import type { Schema } from "./schema.ts";

/** Each lost race is somebody else's success; more in a row than this is a fault of ours. */
const MAX_RUNS = 50;

/** Of https://www.postgresql.org/docs/current/errcodes-appendix.html, read 2026-11-30: it is enough to run again. */
const RACED_CODES = new Set(["40001", "40P01", "23505"]);

export function openLanes(db: Kysely<Schema>): Batch {
  const working = new Set<Promise<unknown>>();
  let commits = 0;
  let closed = false;

  async function run<T>(write: Write<T>): Promise<T> {
    for (let runs = 1; ; runs += 1) {
      try {
        const result = await db.transaction().execute(write);
        commits += 1;
        return result;
      } catch (error) {
        if (runs === MAX_RUNS || !isRace(error)) throw toUnavailable(error);
        await aside(runs);
      }
    }
  }

  async function look<T>(read: Read<T>): Promise<T> {
    try {
      return await read(db);
    } catch (error) {
      throw toUnavailable(error);
    }
  }

  /** Until it has ended, the store does not close. */
  function tracked<T>(work: Promise<T>): Promise<T> {
    const ended: Promise<unknown> = work.then(
      () => working.delete(ended),
      () => working.delete(ended),
    );
    working.add(ended);
    return work;
  }

  return {
    write: (write) =>
      closed ? Promise.reject(new Error("The store is closed; nothing more is written.")) : tracked(run(write)),
    read: (read) => tracked(look(read)),
    commits: () => commits,
    async close() {
      closed = true;
      await Promise.all(working);
    },
  };
}

/** A random while, so that those who race do not meet again: up to 2^runs milliseconds, 100 at most. */
function aside(runs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(100, 2 ** runs)));
}

function isRace(error: unknown): boolean {
  return error instanceof Raced || RACED_CODES.has(codeOf(error));
}
