/**
 * The log of events: what became of inquiries, in an order that everybody sees alike.
 *
 * An event is appended in the commit that makes it happen, so the log says neither less nor more than the store.
 */
import type { Status } from "../core/inquiry.ts";
import type { Instant } from "./clock.ts";

/** What happened to an inquiry, as callers are told of it; section 4 of the public contract. */
export type EventType = "inquiry.created" | "inquiry.delivered" | `inquiry.${Exclude<Status, "waiting">}`;

/** One entry of the log of events: appended by the commit that makes it happen. */
export interface EventRecord {
  /** Where it stands in the log, as an opaque word; later events have later ones. */
  readonly position: string;
  readonly type: EventType;
  readonly at: Instant;
  readonly inquiry: string;
  readonly owner: string;
  readonly session: string;
}

export interface EventRequest {
  /** Read from behind it; null: from the first event on. A word that is no position is refused with `invalid_request`. */
  readonly after: string | null;
  readonly owner: string | null;
  /** Null: every session. */
  readonly sessions: readonly string[] | null;
  readonly limit: number;
}

export interface EventPage {
  readonly items: readonly EventRecord[];
  /**
   * Newer ones exist whose order is not yet certain, because an older transaction is still open: look again soon. What
   * is told is never followed by something that belongs before it.
   */
  readonly unsettled: boolean;
}

export interface EventStore {
  /** The log, oldest first; each event tells of something committed. */
  read(request: EventRequest): Promise<EventPage>;
  /** Where the log ends now; what is committed later stands behind it. */
  end(): Promise<string>;
}
