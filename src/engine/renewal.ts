/**
 * The leases of this process: renewed, and known to stand until a moment of its own clock.
 *
 * Rules: a store that gives no answer is a store that failed; patience ends with the leases, since work must not go on
 * while somebody else may begin it. On a store that no other process works on they are taken for good, and nothing is
 * written while nothing happens.
 */
import type { Instant } from "../ports/clock.ts";
import type { Lease, LeaseRef } from "../ports/lease.ts";
import type { Context } from "./context.ts";
import { LEASE_TTL_MS, OVERDUE_MS } from "./leases.ts";
import { within } from "./patience.ts";

/** Less patience would take a slow store for a dead one; more would let two renewals go by, but for the first of all. */
const PATIENCE = { firstMs: 10_000, leastMs: 400, mostMs: 2_000 } as const;

export interface Renewal {
  /** Whether what was taken still stands, by this process's own clock; not where that has stumbled since. */
  stands(): boolean;
  /** Whether the last renewal was a moment ago. */
  isFresh(): boolean;
  /** Everybody's leases; null when what is held could not be renewed. */
  renew(held: readonly LeaseRef[]): Promise<readonly Lease[] | null>;
  take(name: string, note: string): Promise<Lease | null>;
  note(lease: LeaseRef, note: string): Promise<void>;
  /** Never rejects: what is not released runs out. */
  release(lease: LeaseRef): Promise<void>;
}

/** A hundred years. */
const FOR_GOOD_MS = 3_155_760_000_000;

export function createRenewal(context: Context): Renewal {
  const { clock, log } = context;
  const { leases, shared } = context.store;
  const ttlMs = shared ? LEASE_TTL_MS : FOR_GOOD_MS;
  let renewedAt: Instant = Number.NEGATIVE_INFINITY;
  let isFailing = false;

  function answered<T>(answer: Promise<T>): Promise<T> {
    const left = Math.max(PATIENCE.leastMs, Math.min(PATIENCE.mostMs, renewedAt + ttlMs - clock.now()));
    return within(clock, renewedAt === Number.NEGATIVE_INFINITY ? PATIENCE.firstMs : left, answer);
  }

  /** Of the last renewal; a machine that slept since then does not know how long ago that was. */
  function isWithin(ms: number): boolean {
    return clock.now() - renewedAt <= ms && clock.steadySince() <= renewedAt;
  }

  return {
    stands: () => isWithin(ttlMs - 1),
    isFresh: () => isWithin(shared ? OVERDUE_MS : ttlMs),

    async renew(held) {
      const now = clock.now();
      try {
        const seen = await answered(leases.renew(held, now + ttlMs));
        renewedAt = now;
        if (isFailing) log.info({}, "the leases are renewed again");
        isFailing = false;
        return seen;
      } catch (error) {
        if (!isFailing) log.warn({ err: error }, "the leases could not be renewed");
        isFailing = true;
        return null;
      }
    },

    take(name, note) {
      const now = clock.now();
      return answered(leases.take({ name, holder: context.process, until: now + ttlMs, note }, now));
    },

    note: (lease, note) => answered(leases.note(lease, note)),

    async release(lease) {
      await answered(leases.release(lease)).catch((error: unknown) => {
        log.warn({ lease: lease.name, err: error }, "a lease was not released; it runs out");
      });
    },
  };
}
