/**
 * A loop that looks for work: when nudged, and when the moment it last named comes. It never looks twice at once, a
 * nudge while it looks makes it look again, and a look that fails is repeated a little later. A fault that lasts is
 * logged when it comes and when it has passed, not at every look between.
 */
import type { Clock, Instant } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";

/** Even without a hint every loop looks again after this long: another process may have made something due. */
export const POLL_MS = 1_000;

export interface Loop {
  /** Something may have become due. Cheap; any number of calls make one look. */
  nudge(): void;
  /** Looks no more; resolves when the look under way has ended. */
  stop(): Promise<void>;
}

/** @param look does what is due and says when to look again at the latest; null: when nudged */
export function createLoop(clock: Clock, log: Log, name: string, look: () => Promise<Instant | null>): Loop {
  let stopped = false;
  let looking: Promise<void> | null = null;
  let again = false;
  let failing = false;
  let cancelTimer = () => {};

  async function lookOnce(): Promise<Instant | null> {
    try {
      const next = await look();
      if (failing) log.info({ loop: name }, "a loop looks for work again");
      failing = false;
      return next;
    } catch (error) {
      if (failing) log.debug({ loop: name, err: error }, "a loop still fails to look for work");
      else log.error({ loop: name, err: error }, "a loop failed to look for work; it tries again every second");
      failing = true;
      return null;
    }
  }

  async function turn(): Promise<void> {
    do {
      again = false;
      cancelTimer();
      const next = await lookOnce();
      const at = Math.min(next ?? Number.POSITIVE_INFINITY, clock.now() + POLL_MS);
      if (!stopped) cancelTimer = clock.at(at, nudge);
    } while (again && !stopped);
    looking = null;
  }

  function nudge(): void {
    if (stopped) return;
    if (looking !== null) again = true;
    else looking = turn();
  }

  return {
    nudge,
    async stop() {
      stopped = true;
      cancelTimer();
      await looking;
      cancelTimer();
    },
  };
}
