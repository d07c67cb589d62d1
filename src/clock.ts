/**
 * The system's clock and chance.
 *
 * `now` is the wall clock as it stood when the process began plus the monotonic time since: it never runs backwards and
 * no correction of the wall clock moves a deadline. A timer never keeps the process alive; whoever listens does.
 */
import { randomBytes } from "node:crypto";
import type { Clock, Entropy, Instant } from "./ports/clock.ts";

/** Node fires a longer timer at once; a farther moment is reached in steps. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function createClock(): Clock {
  const origin = Date.now() - performance.now();
  const now = () => Math.floor(origin + performance.now());
  return { now, at: (at, wake) => schedule(now, at, wake) };
}

function schedule(now: () => Instant, at: Instant, wake: () => void): () => void {
  let timer: NodeJS.Timeout;
  const arm = () => {
    const left = at - now();
    timer = setTimeout(left > LONGEST_TIMER_MS ? arm : wake, Math.min(Math.max(left, 0), LONGEST_TIMER_MS));
    timer.unref();
  };
  arm();
  return () => clearTimeout(timer);
}

export const entropy: Entropy = { bytes: (length) => randomBytes(length) };
