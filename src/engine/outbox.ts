/**
 * The outbox: brings every copy up to date with its inquiry, one worker for the time this process holds a channel.
 *
 * A due row says that a copy may be out of date, never what to send. The worker claims rows that are ready, so a row
 * whose chat must wait holds no slot; p-queue paces the claimed ones by the channel's limits. Every row is settled
 * under the epoch of its claim. Nothing waits in memory alone: a crash leaves rows whose lease runs out. Whoever was
 * paused and may have lost the channel sends nothing before it knows.
 */
import PQueue from "p-queue";
import type { Limits } from "../core/limits.ts";
import type { Channel } from "../ports/channel.ts";
import type { LeaseRef } from "../ports/lease.ts";
import type { DeliveryRow } from "../ports/store.ts";
import type { Context } from "./context.ts";
import { deliver } from "./deliver.ts";
import { createLoop, type Loop } from "./loop.ts";

/** Longer than the 20 s a channel may take for one send and the few a claimed row waits for its turn. */
export const CLAIM_MS = 30_000;
/**
 * Sends in flight on one channel, and rows claimed: no more than start within 4 s at the slowest pace there is (Telegram's
 * 30 a second), so that no lease runs out in a queue; and many, since rows claimed together share a commit.
 */
const CONCURRENCY = 100;

/** One time of holding a channel, from the taking of its lease to its loss. */
export interface Tenure {
  readonly lease: LeaseRef;
  /** Whether the channel is still held; where its lease has run out by the clock, once that is known. */
  stands(): Promise<boolean>;
}

export interface Worker extends Loop {
  /** Resolves once nothing is in flight to the address. */
  quiet(address: string): Promise<void>;
}

class NotHeld extends Error {}

export interface Outlet {
  readonly name: string;
  readonly limits: Limits;
  readonly channel: Channel;
}

export function createOutbox(context: Context, outlet: Outlet, tenure: Tenure): Worker {
  const { store, clock, log } = context;
  const { name, limits } = outlet;
  const queue = new PQueue({ concurrency: CONCURRENCY, ...paceOf(limits) });
  const queued = new Set<DeliveryRow>();
  const inFlight = new Map<string, Promise<void>>();
  const held = { ...outlet, channel: whileHeld(outlet.channel, tenure) };
  // Not before: until then the queue still counts the row that ended, and a full window would look full.
  queue.on("next", () => loop.nudge());

  const loop = createLoop(clock, log, `outbox ${name}`, async () => {
    const limit = CONCURRENCY - queue.size - queue.pending;
    if (limit <= 0) return null;
    // Looking is one statement where a claim is a transaction, and most nudges are about something else.
    const due = await store.nextDue("delivery", name);
    if (due === null || due > clock.now()) return due;
    const request = { lane: "delivery", channel: name, limit, now: clock.now(), leaseMs: CLAIM_MS } as const;
    const rows = await store.claim({ ...request, lease: tenure.lease });
    for (const row of rows as readonly DeliveryRow[]) enqueue(row);
    return rows.length > 0 ? clock.now() : null;
  });

  function enqueue(row: DeliveryRow): void {
    queued.add(row);
    void queue.add(() => {
      queued.delete(row);
      return track(row);
    });
  }

  /** An address has one copy in flight; its next may be claimed before the last is done with. */
  function track(row: DeliveryRow): Promise<void> {
    const { address } = row.delivery;
    const done = work(context, held, row).finally(() => {
      if (inFlight.get(address) === done) inFlight.delete(address);
    });
    inFlight.set(address, done);
    return done;
  }

  return {
    nudge: loop.nudge,
    quiet: async (address) => inFlight.get(address),
    async stop() {
      await loop.stop();
      queue.clear();
      await Promise.all([queue.onIdle(), ...[...queued].map((row) => putBack(context, name, row))]);
    },
  };
}

async function work(context: Context, { name, limits, channel }: Outlet, row: DeliveryRow): Promise<void> {
  try {
    await deliver(context, channel, limits, row);
  } catch (error) {
    if (error instanceof NotHeld) return putBack(context, name, row);
    const fields = { channel: name, row: row.id, inquiry: row.inquiry, err: error };
    context.log.error(fields, "a copy was left as it was by a fault");
  }
}

/** Gives an untouched row to whoever comes next; the doubt about an interrupted one would be lost with its claim. */
async function putBack({ store, clock, log }: Context, channel: string, row: DeliveryRow): Promise<void> {
  const { id, epoch, attempts, interrupted, inquiry } = row;
  if (interrupted) return;
  await store.settle({ row: id, epoch, dueAt: clock.now(), attempts }).catch((error: unknown) => {
    log.warn({ channel, row: id, inquiry, err: error }, "a copy was not put back; its claim runs out");
  });
}

/** The channel as long as it is held: what is to be sent or edited after that is not. */
function whileHeld(channel: Channel, { stands }: Tenure): Channel {
  async function held<T>(act: () => Promise<T>): Promise<T> {
    if (!(await stands())) throw new NotHeld("the channel may be another process's by now");
    return act();
  }
  return {
    send: (...given) => held(() => channel.send(...given)),
    edit: (...given) => held(() => channel.edit(...given)),
    say: (...given) => channel.say(...given),
    listen: (signal) => channel.listen(signal),
    close: () => channel.close(),
  };
}

function paceOf({ pace }: Limits) {
  return pace.perSecond === null ? {} : { intervalCap: pace.perSecond, interval: 1_000, strict: true };
}
