/**
 * What is on its way to an address while somebody writes there: a prompt can be read and answered before its receipt is
 * stored.
 *
 * Words wait until no send to their address is under way. What is claimed for longer than that wait, or was left claimed
 * by a process that died, was perhaps sent and counts as open; what was claimed a moment ago is still to be seen.
 */

import { channelOf } from "../core/people.ts";
import type { Instant } from "../ports/clock.ts";
import type { Context } from "./context.ts";
import { CLAIM_MS } from "./outbox.ts";
import { passed } from "./patience.ts";
import type { Station } from "./station.ts";

/** How long to wait for what another process sends, and how often to look. */
const QUIET = { mostMs: 5_000, everyMs: 50 } as const;

/** Resolves once no send to the address is under way: here, or as the store knows it where another process sends. */
export async function quiet(context: Context, stations: ReadonlyMap<string, Station>, address: string): Promise<void> {
  const { store, clock } = context;
  const channel = channelOf(address);
  const until = clock.now() + QUIET.mostMs;
  while (!context.holds(channel)) {
    if (clock.now() >= until || !(await store.inFlight(address, clock.now()))) return;
    await passed(clock, QUIET.everyMs);
  }
  await stations.get(channel)?.quiet(address);
}

/** The last moment a claim may end at that began before the longest wait for quiet. */
export function doubtfulUntil(now: Instant): Instant {
  return now + CLAIM_MS - QUIET.mostMs;
}
