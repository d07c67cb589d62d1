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
import { createLoop, type Loop, POLL_MS } from "./loop.ts";
import { outlookOf } from "./render.ts";

const GRACE = { leastMs: 10_000, mostMs: 60_000 } as const;
const BATCH = 100;
const LEASE_MS = 30_000;

/** When expiry may begin; asked again while platforms are still behind. */
export function graceEnd(startedAt: Instant, now: Instant, caughtUp: boolean): Instant {
  const least = startedAt + GRACE.leastMs;
  return caughtUp ? least : Math.max(least, Math.min(startedAt + GRACE.mostMs, now + POLL_MS));
}

export function createDeadlines(context: Context, caughtUp: () => boolean): Loop {
  const { store, clock, log } = context;
  const startedAt = clock.now();

  return createLoop(clock, log, "deadlines", async () => {
    const now = clock.now();
    const open = graceEnd(startedAt, now, caughtUp());
    if (open > now) return open;
    const rows = await store.claim({ lane: "deadline", limit: BATCH, now, leaseMs: LEASE_MS });
    await Promise.all(rows.map((row) => expire(context, row)));
    return rows.length === BATCH ? now : store.nextDue("deadline");
  });
}

async function expire(context: Context, row: OutboxRow): Promise<void> {
  const { store, log } = context;
  const inquiry = await store.inquiry(row.inquiry);
  if (inquiry && !isSettled(inquiry)) {
    const applied = await applyEvent(context, inquiry, async ({ uid }) => {
      const copies = await store.copies(uid);
      return { type: "expire", unseen: unseenReason(copies.map((copy) => outlookOf(context, copy))) };
    });
    log.debug({ inquiry: row.inquiry, outcome: applied.outcome }, "a deadline passed");
  }
  await store.settle({ row: row.id, epoch: row.epoch, dueAt: null, attempts: 0, remove: true });
}
