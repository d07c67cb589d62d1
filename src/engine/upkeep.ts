/**
 * Upkeep: once a day, forgets what is kept against repeats alone.
 *
 * Telegram repeats an update for 24 hours; a week leaves room for programs that repeat a call under the same
 * idempotency key after a long outage.
 */
import type { Context } from "./context.ts";

const KEEP_MS = 7 * 24 * 3_600_000;
const EVERY_MS = 24 * 3_600_000;

/** Begins at once; the result ends it. */
export function startUpkeep({ store, clock, log }: Context): () => void {
  let cancel = () => {};
  const turn = () => {
    store
      .prune(clock.now() - KEEP_MS)
      .catch((error: unknown) => log.error({ err: error }, "old replies were not pruned"));
    cancel = clock.at(clock.now() + EVERY_MS, turn);
  };
  turn();
  return () => cancel();
}
