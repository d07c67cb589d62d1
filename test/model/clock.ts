/**
 * A clock that stands still until it is moved, so that no verdict depends on how fast the machine is. What was due in
 * between is called at once, in order; what is due when it is set, in the next turn of the event loop.
 */
import { createAlarms } from "../../src/alarms.ts";
import type { Clock, Instant } from "../../src/ports/clock.ts";

export interface StandingClock extends Clock {
  move(ms: number): void;
}

/** Any moment will do: nothing here reads another clock. */
const BEGINNING = Date.UTC(2026, 0, 1);

export function standingClock(): StandingClock {
  const alarms = createAlarms();
  let now: Instant = BEGINNING;

  function ring(): void {
    for (const { wake } of alarms.takeDue(now)) wake();
  }

  return {
    now: () => now,
    steadySince: () => BEGINNING,
    at(at, wake) {
      if (at <= now) setImmediate(ring);
      return alarms.set({ at, wake });
    },
    move(ms) {
      now += ms;
      ring();
    },
  };
}
