/**
 * A clock that runs with the world and can be put forward: what would happen in an hour happens now, over the same code.
 */
import { randomBytes } from "node:crypto";
import type { Clock, Entropy, Instant } from "../ports/clock.ts";

export interface TestClock extends Clock {
  /** Puts the clock forward; everything due by then is woken, in order. */
  advance(ms: number): void;
}

export const entropy: Entropy = { bytes: (length) => randomBytes(length) };

export function createTestClock(): TestClock {
  const started = Date.now() - performance.now();
  const alarms = new Set<{ readonly at: Instant; readonly wake: () => void; timer: NodeJS.Timeout }>();
  let ahead = 0;
  const now = () => Math.floor(started + performance.now() + ahead);

  function at(when: Instant, wake: () => void): () => void {
    const alarm = { at: when, wake: () => ring(), timer: setTimeout(() => ring(), Math.max(0, when - now())) };
    function ring() {
      if (!alarms.delete(alarm)) return;
      clearTimeout(alarm.timer);
      wake();
    }
    alarms.add(alarm);
    return () => {
      alarms.delete(alarm);
      clearTimeout(alarm.timer);
    };
  }

  return {
    now,
    at,
    advance(ms) {
      ahead += ms;
      const due = [...alarms].filter((alarm) => alarm.at <= now()).sort((a, b) => a.at - b.at);
      for (const alarm of due) setTimeout(alarm.wake, 0);
    },
  };
}
