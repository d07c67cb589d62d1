/**
 * What is up: the store by asking it, each channel by what its holder last said, here or in the note on its lease.
 *
 * A channel is behind until whoever took it over has read its platform's backlog, and while nobody seems to hold it: what
 * people did there meanwhile is still to come.
 */
import type { ChannelState } from "../ports/channel.ts";
import type { Clock, Instant } from "../ports/clock.ts";
import type { ChannelHealth, Health } from "../ports/health.ts";
import type { Lease } from "../ports/lease.ts";
import type { Store } from "../ports/store.ts";
import { LEASE_TTL_MS, OVERDUE_MS } from "./leases.ts";
import { timeOf } from "./view.ts";

/** How a channel stands; as JSON the note on its lease. */
export interface Standing {
  readonly state: ChannelState;
  readonly since: Instant;
  readonly reason?: string;
  /** Since when what people do there may be unread; null: everything is read. */
  readonly behindSince: Instant | null;
}

export interface HealthKeeper extends Health {
  /** What this process, which holds the channel, knows of it; false when that is nothing new. */
  report(channel: string, state: ChannelState, reason?: string): boolean;
  /** This process took the channel over. */
  begins(channel: string, standing: Standing): void;
  /** What this process, which does not hold the channel, sees of it; null: there is no lease. */
  sees(channel: string, lease: Lease | null, now: Instant): void;
  standing(channel: string): Standing;
  /** Since when a channel is behind, of several the one that fell behind last; null: none is. */
  behindSince(): Instant | null;
}

export function createHealth(store: Store, clock: Clock, names: Iterable<string>): HealthKeeper {
  const standings = new Map<string, Standing>();
  for (const name of names) standings.set(name, starting(clock.now()));
  const standing = (channel: string) => standings.get(channel) ?? starting(clock.now());

  return {
    standing,
    begins: (channel, first) => void standings.set(channel, first),

    report(channel, state, reason) {
      const before = standing(channel);
      const since = before.state === state ? before.since : clock.now();
      const behindSince = state === "up" ? null : before.behindSince;
      if (since === before.since && reason === before.reason && behindSince === before.behindSince) return false;
      standings.set(channel, { state, since, behindSince, ...(reason !== undefined && { reason }) });
      return true;
    },

    sees: (channel, lease, now) => void standings.set(channel, elsewhere(standing(channel), lease, now)),

    behindSince() {
      const moments = [...standings.values()].flatMap(({ behindSince }) => behindSince ?? []);
      return moments.length === 0 ? null : Math.max(...moments);
    },

    async health() {
      const up = await store.nextDue("deadline").then(
        () => true,
        () => false,
      );
      const channels: Record<string, ChannelHealth> = {};
      for (const [name, { state, since, reason }] of standings) {
        channels[name] = { state, since: timeOf(since), ...(reason !== undefined && { reason }) };
      }
      return { ready: up, store: up ? "up" : "down", channels };
    },
  };
}

/** A channel of which nothing is known yet. */
export function starting(since: Instant): Standing {
  return { state: "starting", since, behindSince: since };
}

/** Longer than deadlines wait for a channel that is behind, so that they pass before they wait for it anew. */
const ONE_WAIT_MS = 75_000;

/** As it changes hands, which it may do again and again without ever being read: that counts as one time of being behind. */
export function changingHands({ behindSince }: Standing, now: Instant): Standing {
  const goesOn = behindSince !== null && now - behindSince < ONE_WAIT_MS;
  return { ...starting(now), behindSince: goesOn ? behindSince : now };
}

const VACANT = "no process holds the channel at the moment";

function elsewhere(before: Standing, lease: Lease | null, now: Instant): Standing {
  if (lease === null || lease.until <= now) {
    return before.reason === VACANT ? before : { ...changingHands(before, now), reason: VACANT };
  }
  const told = readNote(lease.note) ?? starting(now);
  const overdue = now - (lease.until - LEASE_TTL_MS) > OVERDUE_MS;
  return overdue ? { ...told, behindSince: told.behindSince ?? before.behindSince ?? now } : told;
}

const STATES: readonly ChannelState[] = ["starting", "up", "down", "conflict", "unauthorized"];

/** Null for what another version may have written. */
function readNote(note: string): Standing | null {
  try {
    const { state, since, reason, behindSince } = JSON.parse(note) as Partial<Record<keyof Standing, unknown>>;
    const known = STATES.find((one) => one === state);
    if (known === undefined || typeof since !== "number") return null;
    return {
      state: known,
      since,
      ...(typeof reason === "string" && { reason }),
      behindSince: typeof behindSince === "number" ? behindSince : null,
    };
  } catch {
    return null;
  }
}
