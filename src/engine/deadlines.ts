/**
 * Deadlines: settles what nobody answered in time. Every process looks; who comes second changes nothing.
 *
 * Nothing expires in the first 10 s after a start or a jump of time, nor, for at most 60 s, before every platform's
 * backlog was read since its channel was taken over: a press made while nobody listened is still to come, and counts.
 */
import { isSettled } from "../core/inquiry.ts";
import { unseenReason } from "../core/route.ts";
import type { Instant } from "../ports/clock.ts";
import type { OutboxRow } from "../ports/store.ts";
import { applyEvent, type Context } from "./context.ts";
import { createLoop, type Loop, POLL_MS } from "./loop.ts";
import { outlookOf } from "./render.ts";
import { settled } from "./trail.ts";

const GRACE = { leastMs: 10_000, mostMs: 60_000 } as const;
const BATCH = 100;
/** Short: a process that dies with claimed deadlines makes none late by more, and two that settle one settle it once. */
const LEASE_MS = 1_000;

/**
 * When expiry may begin; asked again while platforms are still behind.
 *
 * @param steadySince the start, or the last jump of time
 * @param behindSince since when a platform is behind; null: none is
 */
export function graceEnd(steadySince: Instant, now: Instant, behindSince: Instant | null): Instant {
  const least = steadySince + GRACE.leastMs;
  return behindSince === null ? least : Math.max(least, Math.min(behindSince + GRACE.mostMs, now + POLL_MS));
}

/** What the deadlines must know of the channels. */
export interface Platforms {
  /** Resolves once the picture is not older than a moment. */
  current(): Promise<void>;
  behindSince(): Instant | null;
}

export function createDeadlines(context: Context, platforms: Platforms): Loop {
  const { store, clock, log } = context;
  let steadySince = clock.now();

  return createLoop(clock, log, "deadlines", async () => {
    await platforms.current();
    const now = clock.now();
    if (clock.steadySince() > steadySince) {
      steadySince = clock.steadySince();
      log.warn({ graceMs: GRACE.leastMs }, "time jumped; nothing expires for a moment");
    }
    const open = graceEnd(steadySince, now, platforms.behindSince());
    if (open > now) return open;
    const due = await store.nextDue("deadline");
    if (due === null || due > now) return due;
    const rows = await store.claim({ lane: "deadline", limit: BATCH, now, leaseMs: LEASE_MS });
    await Promise.all(rows.map((row) => expire(context, row)));
    return rows.length > 0 ? now : null;
  });
}

async function expire(context: Context, row: OutboxRow): Promise<void> {
  const { store } = context;
  const inquiry = await store.inquiry(row.inquiry);
  if (inquiry && !isSettled(inquiry)) {
    const applied = await applyEvent(context, inquiry, async ({ uid }) => {
      const copies = await store.copies(uid);
      return { type: "expire", unseen: unseenReason(copies.map((copy) => outlookOf(context, copy))) };
    });
    if (applied.outcome === "done") settled(context, applied.inquiry);
  }
  await store.settle({ row: row.id, epoch: row.epoch, dueAt: null, attempts: 0, remove: true });
}
