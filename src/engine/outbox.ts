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
import { createLoop, type Loop } from "./loop.ts";

/** Longer than the 20 s a channel may take for one send and the few a claimed row waits for its turn. */
const LEASE_MS = 30_000;
/**
 * Sends in flight on one channel, and rows claimed: no more than start within 4 s at the slowest pace there is (Telegram's
 * 30 a second), so that no lease runs out in a queue; and many, since rows claimed together share a commit.
 */
const CONCURRENCY = 100;

export interface Worker extends Loop {
  /** Resolves once nothing is in flight to the address. */
  quiet(address: string): Promise<void>;
}

export function createOutbox(context: Context, name: string, channel: Channel, limits: Limits): Worker {
  const { store, clock, log } = context;
  const queue = new PQueue({ concurrency: CONCURRENCY, ...paceOf(limits) });
  const inFlight = new Map<string, Promise<void>>();
  // Not before: until then the queue still counts the row that ended, and a full window would look full.
  queue.on("next", () => loop.nudge());

  const loop = createLoop(clock, log, `outbox ${name}`, async () => {
    const limit = CONCURRENCY - queue.size - queue.pending;
    if (limit <= 0) return null;
    const request = { lane: "delivery", channel: name, limit, now: clock.now(), leaseMs: LEASE_MS } as const;
    const rows = await store.claim(request);
    for (const row of rows) void queue.add(() => track(row as DeliveryRow));
    return rows.length > 0 ? clock.now() : store.nextDue("delivery", name);
  });

  /** An address has one copy in flight; its next may be claimed before the last is done with. */
  function track(row: DeliveryRow): Promise<void> {
    const { address } = row.delivery;
    const done = work(row).finally(() => {
      if (inFlight.get(address) === done) inFlight.delete(address);
    });
    inFlight.set(address, done);
    return done;
  }

  async function work(row: DeliveryRow): Promise<void> {
    try {
      await deliver(context, channel, limits, row);
    } catch (error) {
      log.error(
        { channel: name, row: row.id, inquiry: row.inquiry, err: error },
        "a copy was left as it was by a fault",
      );
    }
  }

  return {
    nudge: loop.nudge,
    quiet: async (address) => inFlight.get(address),
    async stop() {
      await loop.stop();
      await queue.onIdle();
    },
  };
}

function paceOf({ pace }: Limits) {
  return pace.perSecond === null ? {} : { intervalCap: pace.perSecond, interval: 1_000, strict: true };
}
