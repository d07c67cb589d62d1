/**
 * When an update the host cannot keep is itself at fault, and no longer the store.
 *
 * What cannot be kept is tried again for as long as that takes: a store that is away must cost no answer. Only what
 * failed ten times over a minute, and fails before and after the host took another update, is let go, lest its chat be
 * deaf for ever.
 */
import type { ChannelHost } from "../../src/ports/channel.ts";
import type { Instant } from "../../src/ports/clock.ts";
import type { NativeUpdate } from "./inbound.ts";

/** When an update begins to be suspected; both must be reached. */
const SUSPECT = { attempts: 10, forMs: 60_000 } as const;

/** The attempts at one update so far. */
export interface Trial {
  readonly since: Instant;
  failures: number;
  /** Updates the host had taken at the last failure. */
  takenBefore: number;
}

/**
 * - `again`: to be tried again.
 * - `suspect`: too, but nothing proves that the host works: whatever else there is may be tried before it.
 * - `poison`: to be let go.
 */
export type Verdict = "again" | "suspect" | "poison";

/** @param taken updates the host has taken so far */
export function beginTrial(now: Instant, taken: number): Trial {
  return { since: now, failures: 0, takenBefore: taken };
}

/** After another failure. */
export function judge(trial: Trial, now: Instant, taken: number): Verdict {
  trial.failures += 1;
  const suspect = trial.failures >= SUSPECT.attempts && now - trial.since >= SUSPECT.forMs;
  const works = taken > trial.takenBefore;
  trial.takenBefore = taken;
  if (!suspect) return "again";
  return works ? "poison" : "suspect";
}

export function reportPoison({ log }: ChannelHost, { update_id }: NativeUpdate): void {
  log.error({ channel: "telegram", event: update_id }, "an update that fails while others are kept was dropped");
}
