/**
 * Keeps a timeline by a clock that is asked over the network: by the middle of the shortest of a few round trips.
 *
 * What lies within the doubt of a measurement corrects nothing, and neither does one that failed or took too long.
 */
import type { Instant } from "./ports/clock.ts";
import type { Log } from "./ports/log.ts";
import type { Machine, Timeline } from "./timeline.ts";

const SYNC_MS = 10_000;
/** Readings at each look; the one with the shortest way counts. */
const READINGS = 3;
/** A reading that took longer than this says too little. */
const SLOWEST_READING_MS = 1_000;
/** Wall and monotonic clock parted by this much: reason to look at once. */
const SUSPICIOUS_MS = 1_000;

export interface Follower {
  /** Sets the timeline and follows from then on; rejects when the clock cannot be read. */
  begin(): Promise<void>;
  /** Looks at once when this machine's clocks have parted: it slept, or its clock was set. */
  watch(): void;
  end(): void;
}

export interface FollowerParts {
  readonly machine: Machine;
  readonly timeline: Timeline;
  /** Told how far the clock is ahead of the timeline. */
  readonly compare: (gap: number) => void;
  readonly log: Pick<Log, "debug">;
}

type Read = () => Promise<Instant>;

export function createFollower(reference: Read, { machine, timeline, compare, log }: FollowerParts): Follower {
  const apartNow = () => machine.wall() - machine.monotonic();
  let apart = apartNow();
  let looking = false;
  let again = false;
  let ended = false;
  let cancel = () => {};

  async function sync(): Promise<void> {
    const { gap, doubt } = await measure(reference, machine, timeline);
    if (!ended && Math.abs(gap) > doubt && doubt <= SLOWEST_READING_MS / 2) compare(gap);
  }

  async function look(): Promise<void> {
    cancel();
    looking = true;
    do {
      again = false;
      await sync().catch((error: unknown) => log.debug({ err: error }, "the database's clock could not be read"));
    } while (again && !ended);
    looking = false;
    schedule();
  }

  function schedule(): void {
    if (!ended) cancel = machine.after(SYNC_MS, () => void look());
  }

  return {
    async begin() {
      timeline.set((await measure(reference, machine, timeline)).gap);
      schedule();
    },
    watch() {
      const parted = apartNow();
      if (ended || Math.abs(parted - apart) < SUSPICIOUS_MS) return;
      apart = parted;
      if (looking) again = true;
      else void look();
    },
    end() {
      ended = true;
      cancel();
    },
  };
}

/** How far the clock is ahead of the timeline, and by how much that may be wrong. */
async function measure(reference: Read, machine: Machine, timeline: Timeline) {
  let best = { gap: 0, doubt: Number.POSITIVE_INFINITY };
  for (let reading = 0; reading < READINGS; reading += 1) {
    const asked = machine.monotonic();
    const time = await reference();
    const heard = machine.monotonic();
    const doubt = (heard - asked) / 2 + 1;
    if (doubt < best.doubt) best = { gap: time - timeline.read((asked + heard) / 2), doubt };
  }
  return best;
}
