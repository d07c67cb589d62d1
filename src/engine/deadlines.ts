/**
 * Deadlines: settles what nobody answered in time.
 *
 * Nothing expires in the first 10 s after a start, nor, for at most 60 s, before every platform's backlog was read: a
 * press made while Askgate was down is still to come, and counts.
 */
import { isSettled } from "../core/inquiry.ts";
import { unseenReason } from "../core/route.ts";
import type { Instant } from "../ports/clock.ts";
import type { OutboxRow } from "../ports/store.ts";
import { applyEvent, type Context } from "./context.ts";
import type { Worker } from "./outbox.ts";
import { outlookOf } from "./render.ts";

const GRACE = { leastMs: 10_000, mostMs: 60_000 } as const;
const BATCH = 100;
const LEASE_MS = 30_000;
const POLL_MS = 1_000;

/** When expiry may begin; asked again while platforms are still behind. */
export function graceEnd(startedAt: Instant, now: Instant, caughtUp: boolean): Instant {
  const least = startedAt + GRACE.leastMs;
  return caughtUp ? least : Math.max(least, Math.min(startedAt + GRACE.mostMs, now + POLL_MS));
}

export function createDeadlines(context: Context, caughtUp: () => boolean): Worker {
  const { store, clock, log } = context;
  const startedAt = clock.now();
  let stopped = false;
  let cancelTimer = () => {};
  let running: Promise<void> | null = null;

  function nudge(): void {
    if (stopped || running) return;
    running = run().finally(() => {
      running = null;
    });
  }

  async function run(): Promise<void> {
    const now = clock.now();
    const open = graceEnd(startedAt, now, caughtUp());
    if (open > now) return wakeAt(open);
    try {
      const rows = await store.claim({ lane: "deadline", limit: BATCH, now, leaseMs: LEASE_MS });
      await Promise.all(rows.map(expire));
      const next = rows.length === BATCH ? now : await store.nextDue("deadline");
      wakeAt(Math.min(next ?? Number.POSITIVE_INFINITY, clock.now() + POLL_MS));
    } catch (error) {
      log.error({ err: error }, "deadlines could not be read");
      wakeAt(clock.now() + POLL_MS);
    }
  }

  function wakeAt(at: Instant): void {
    cancelTimer();
    if (!stopped) cancelTimer = clock.at(at, nudge);
  }

  async function expire(row: OutboxRow): Promise<void> {
    const inquiry = await store.inquiry(row.inquiry);
    if (inquiry && !isSettled(inquiry)) {
      const applied = await applyEvent(context, inquiry, async ({ uid }) => {
        const copies = await store.copies(uid);
        return { type: "expire", unseen: unseenReason(copies.map((copy) => outlookOf(context, copy))) };
      });
      log.info({ inquiry: row.inquiry, outcome: applied.outcome }, "a deadline passed");
    }
    await store.settle({ row: row.id, epoch: row.epoch, dueAt: null, attempts: 0, remove: true });
  }

  return {
    nudge,
    async stop() {
      stopped = true;
      cancelTimer();
      await running;
    },
  };
}
