/**
 * The system's clock and chance.
 *
 * The clock is its reference as it stood at the start plus the monotonic time since. The reference is this machine's
 * wall clock, or the database's, where all processes of a database must agree.
 *
 * Rules: it never runs backwards. Found more than 60 s behind its reference (the machine slept, a clock was set), it
 * jumps there, wakes whoever is due by then, and is steady since that moment only. Found more than 60 s ahead, it says so
 * and goes on evenly: what was promised for a moment stays promised. Smaller differences from the wall clock are left
 * alone; those from the database are followed, forward at once, backward at half speed. No timer keeps the process alive.
 */
import { randomBytes } from "node:crypto";
import { createAlarms } from "./alarms.ts";
import { createFollower } from "./follower.ts";
import type { Clock, Entropy, Instant } from "./ports/clock.ts";
import type { Log } from "./ports/log.ts";
import { createTimeline, JUMP_MS, type Machine } from "./timeline.ts";

export interface ClockOptions {
  /** The database's clock; null, the default: the wall clock of this machine. */
  readonly reference?: (() => Promise<Instant>) | null;
  readonly log?: Pick<Log, "warn" | "debug">;
  readonly machine?: Machine;
}

export interface SystemClock extends Clock {
  /**
   * Sets the clock by its reference and follows it from then on; to be called before anybody else reads the clock.
   * Rejects when the reference cannot be read.
   */
  begin(): Promise<void>;
  /** Follows nothing any more and wakes nobody. */
  end(): void;
}

/** How often somebody who waits looks whether time was even. */
const WATCH_MS = 1_000;

const system: Machine = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

const silent = { warn: () => {}, debug: () => {} };

export function createClock(options: ClockOptions = {}): SystemClock {
  const { reference = null, log = silent, machine = system } = options;
  const timeline = createTimeline(machine, reference !== null, log);
  const bell = createBell(machine, {
    now: () => now(),
    stalled(ms) {
      timeline.stumble();
      log.warn({ ms }, "the process stood still; deadlines get the grace of a start");
    },
  });
  const compare = (gap: number) => {
    if (timeline.correct(gap)) bell.rearm();
  };
  const follower = reference === null ? null : createFollower(reference, { machine, timeline, compare, log });
  const look = follower === null ? () => compare(machine.wall() - timeline.read()) : follower.watch;
  let latest: Instant = Number.NEGATIVE_INFINITY;

  function now(): Instant {
    look();
    latest = Math.max(latest, Math.floor(timeline.read()));
    return latest;
  }

  return {
    now,
    steadySince: () => Math.floor(timeline.steadySince()),
    at: bell.at,
    begin: async () => follower?.begin(),
    end() {
      follower?.end();
      bell.end();
    },
  };
}

/** Wakes whoever is due, looking again each second while anybody waits. */
function createBell(machine: Machine, clock: { now(): Instant; stalled(ms: number): void }) {
  const alarms = createAlarms();
  let cancel = () => {};
  /** When the next look is due, in monotonic time. */
  let next = Number.POSITIVE_INFINITY;

  function arm(now: Instant): void {
    cancel();
    const first = alarms.first();
    next = Number.POSITIVE_INFINITY;
    if (first === undefined) return;
    const left = Math.min(Math.max(first.at - now, 0), WATCH_MS);
    next = machine.monotonic() + left;
    cancel = machine.after(left, ring);
  }

  function ring(): void {
    const late = machine.monotonic() - next;
    if (late > JUMP_MS) clock.stalled(Math.round(late));
    const now = clock.now();
    const due = alarms.takeDue(now);
    arm(now);
    for (const { wake } of due) wake();
  }

  return {
    at(at: Instant, wake: () => void): () => void {
      const remove = alarms.set({ at, wake });
      if (alarms.first()?.wake === wake || next === Number.POSITIVE_INFINITY) arm(clock.now());
      return remove;
    },
    /** The clock moved ahead: somebody may be due now. */
    rearm(): void {
      if (next === Number.POSITIVE_INFINITY) return;
      cancel();
      next = machine.monotonic();
      cancel = machine.after(0, ring);
    },
    end(): void {
      cancel();
      alarms.clear();
      next = Number.POSITIVE_INFINITY;
    },
  };
}

export const entropy: Entropy = { bytes: (length) => randomBytes(length) };
