/**
 * The even run of time and its corrections: what clock.ts rules, kept as a line that never turns back.
 *
 * It stands at a moment, goes on with the monotonic clock, and is told how far the reference is from it.
 */
import type { Log } from "./ports/log.ts";

/** What a clock is made of; times in milliseconds. */
export interface Machine {
  /** Since the epoch, as this machine believes; may be set to anything at any moment. */
  wall(): number;
  /** Never runs backwards, and stands still while the machine sleeps. */
  monotonic(): number;
  /** Calls once, later; the result calls it off. */
  after(ms: number, call: () => void): () => void;
}

/** A difference beyond this is no drift: something happened to a clock, or the machine slept. */
export const JUMP_MS = 60_000;

export interface Timeline {
  /** The time at that moment of the monotonic clock, default now. */
  read(monotonic?: number): number;
  steadySince(): number;
  /** Takes note that the reference is `gap` ms ahead of it; true when it moved forward. */
  correct(gap: number): boolean;
  /** Sets it to whatever the reference says: only before anybody has read it. */
  set(gap: number): void;
  /** Time has not passed evenly for this process. */
  stumble(): void;
}

/** @param follows whether small differences are taken over too */
export function createTimeline(machine: Machine, follows: boolean, log: Pick<Log, "warn">): Timeline {
  const pace = createPace(machine);
  let steady = pace.read();
  /** The farthest ahead of its reference that was told. */
  let told = 0;

  function leap(gap: number): void {
    pace.shift(gap, 0);
    steady = pace.read();
    log.warn({ ms: Math.round(gap) }, "the clock jumped ahead to its reference; deadlines get the grace of a start");
  }

  function overrun(gap: number): void {
    if (gap > told - JUMP_MS) return;
    told = gap;
    log.warn(
      { ms: Math.round(-gap) },
      "the clock's reference went back; time goes on evenly here, and a restart follows the reference",
    );
  }

  return {
    read: pace.read,
    steadySince: () => steady,
    correct(gap) {
      if (gap < -JUMP_MS) {
        overrun(gap);
        return false;
      }
      told = 0;
      if (gap > JUMP_MS) leap(gap);
      else if (follows) pace.shift(Math.max(gap, 0), Math.max(-gap, 0));
      return gap > (follows ? 0 : JUMP_MS);
    },
    set(gap) {
      pace.shift(gap, 0);
      steady = pace.read();
    },
    stumble() {
      steady = pace.read();
    },
  };
}

function createPace(machine: Machine) {
  let from = machine.monotonic();
  let base = machine.wall();
  /** How far it is still ahead of its reference; it runs at half speed until that is used up. */
  let ahead = 0;

  function read(monotonic = machine.monotonic()): number {
    const passed = monotonic - from;
    return base + (passed - Math.min(ahead, Math.max(passed, 0) / 2));
  }

  return {
    read,
    /** Forward at once, and slower for as long as it is ahead by `slow`. */
    shift(forward: number, slow: number): void {
      const monotonic = machine.monotonic();
      base = read(monotonic) + forward;
      from = monotonic;
      ahead = slow;
    },
  };
}
