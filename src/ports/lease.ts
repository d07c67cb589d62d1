/**
 * Leases: what only one process of a store may do at a time, such as polling one bot.
 *
 * A lease is a row with a holder, an end and an epoch that rises whenever it changes hands. Its holder renews it; one
 * that died lets it run out, and another takes it. Whoever was paused past its end finds its epoch passed.
 */
import type { Instant } from "./clock.ts";

export interface Lease {
  /** `channel:telegram`, or the presence of a process. */
  readonly name: string;
  /** The process, by the name that outlives its restarts. */
  readonly holder: string;
  readonly epoch: number;
  /** Held until then; 0 when it was given up. */
  readonly until: Instant;
  /** What the holder wants the others to know, as JSON. */
  readonly note: string;
}

export type LeaseRef = Pick<Lease, "name" | "holder" | "epoch">;

export interface LeaseStore {
  /**
   * Moves the end of those that have neither changed hands nor been given up; resolves with everybody's, as they stand
   * then. By epoch, not by holder: another process may have come under the same name.
   */
  renew(held: readonly LeaseRef[], until: Instant): Promise<readonly Lease[]>;
  /** Takes what is free, has run out or is the holder's own, under the next epoch; null while somebody else holds it. */
  take(lease: Omit<Lease, "epoch">, now: Instant): Promise<Lease | null>;
  /** Changes the note; does nothing when the lease has changed hands. */
  note(lease: LeaseRef, note: string): Promise<void>;
  /** Gives it up, free at once; does nothing when it has changed hands. */
  release(lease: LeaseRef): Promise<void>;
}

/** The lease by which a process shows that it lives. */
export function presenceOf(name: string): string {
  return `process:${name}`;
}

/** The lease of whoever sends and listens on a channel. */
export function channelLease(channel: string): string {
  return `channel:${channel}`;
}
