/**
 * The outbox: brings every copy up to date with its inquiry, one worker per channel.
 *
 * A due row says that a copy may be out of date, never what to send. The worker claims rows that are ready, so a row
 * whose chat must wait holds no slot; p-queue paces the claimed ones by the channel's limits. Every row is settled
 * under the epoch of its claim. Nothing waits in memory alone: a crash leaves rows whose lease runs out.
 */
import PQueue from "p-queue";
import type { Limits } from "../core/limits.ts";
import type { Channel } from "../ports/channel.ts";
import type { DeliveryRow } from "../ports/store.ts";
import type { Context } from "./context.ts";
import { deliver } from "./deliver.ts";

/** Longer than the 20 s a channel may take for one send. */
const LEASE_MS = 30_000;
/** Sends in flight on one channel. */
const CONCURRENCY = 32;
/** Rows claimed ahead of the pace; more would let leases run out while they wait their turn. */
const WINDOW = 64;
/** Even without a hint the worker looks again after this long: another process may have made rows due. */
const POLL_MS = 1_000;

export interface Worker {
  /** Something may have become due. Cheap; any number of calls make one look. */
  nudge(): void;
  /** Claims nothing more and resolves when everything in flight is settled. */
  stop(): Promise<void>;
}

export function createOutbox(context: Context, name: string, channel: Channel, limits: Limits): Worker {
  const { store, clock, log } = context;
  const queue = new PQueue({
    concurrency: CONCURRENCY,
    ...(limits.pace.perSecond !== null && { intervalCap: limits.pace.perSecond, interval: 1_000, strict: true }),
  });
  let stopped = false;
  let looking: Promise<void> | null = null;
  let again = false;
  let cancelTimer = () => {};

  function nudge(): void {
    if (stopped) return;
    if (looking) {
      again = true;
      return;
    }
    looking = look().finally(() => {
      looking = null;
      if (again) {
        again = false;
        nudge();
      }
    });
  }

  async function look(): Promise<void> {
    try {
      const room = WINDOW - queue.size - queue.pending;
      const rows = room > 0 ? await store.claim({ lane: "delivery", channel: name, limit: room, now: clock.now(), leaseMs: LEASE_MS }) : [];
      for (const row of rows) void queue.add(() => work(row as DeliveryRow));
      if (rows.length === 0) await rest();
    } catch (error) {
      log.error({ channel: name, err: error }, "the outbox could not claim");
      wakeAt(clock.now() + POLL_MS);
    }
  }

  async function rest(): Promise<void> {
    const next = await store.nextDue("delivery", name);
    wakeAt(Math.min(next ?? Number.POSITIVE_INFINITY, clock.now() + POLL_MS));
  }

  function wakeAt(at: number): void {
    cancelTimer();
    if (!stopped) cancelTimer = clock.at(at, nudge);
  }

  async function work(row: DeliveryRow): Promise<void> {
    try {
      await deliver(context, channel, limits, row);
    } catch (error) {
      log.error({ channel: name, row: row.id, inquiry: row.inquiry, err: error }, "a copy could not be brought up to date");
    }
    nudge();
  }

  return {
    nudge,
    async stop() {
      stopped = true;
      cancelTimer();
      await looking;
      await queue.onIdle();
    },
  };
}
