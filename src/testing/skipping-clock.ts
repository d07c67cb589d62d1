/**
 * A clock that runs like any other and can be moved ahead: what was due in between is called at once, in order.
 */
import type { Clock, Instant } from "../ports/clock.ts";

export interface SkippingClock extends Clock {
  skip(ms: number): void;
}

interface Alarm {
  readonly at: Instant;
  readonly wake: () => void;
  readonly timer: NodeJS.Timeout;
}

/** The longest a Node timer can sleep, in milliseconds; an alarm that rings too early is set again. */
const LONGEST_MS = 2 ** 31 - 1;

export function skippingClock(): SkippingClock {
  const alarms = new Set<Alarm>();
  let ahead = 0;
  const now = (): Instant => Date.now() + ahead;

  function at(due: Instant, wake: () => void): () => void {
    const alarm: Alarm = {
      at: due,
      wake,
      timer: setTimeout(() => ring(alarm), Math.min(LONGEST_MS, Math.max(0, due - now()))),
    };
    alarms.add(alarm);
    return () => {
      clearTimeout(alarm.timer);
      alarms.delete(alarm);
    };
  }

  function ring(alarm: Alarm): void {
    clearTimeout(alarm.timer);
    if (!alarms.delete(alarm)) return;
    if (alarm.at > now()) at(alarm.at, alarm.wake);
    else alarm.wake();
  }

  return {
    now,
    steadySince: () => 0,
    at,
    skip(ms) {
      ahead += ms;
      const due = [...alarms].filter((alarm) => alarm.at <= now()).sort((a, b) => a.at - b.at);
      for (const alarm of due) ring(alarm);
    },
  };
}
