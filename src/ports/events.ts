/**
 * The events port: what happens to inquiries, told live to whoever follows.
 *
 * An event says what happened and shows the inquiry as it stands when it is told: who reads late learns the truth at
 * once, and `version` tells whether it is news.
 */
import type { Caller, InquiryView } from "./asker.ts";
import type { EventType } from "./event.ts";

export interface EventView {
  /** Where it stands in the log; following on from it skips and repeats nothing. */
  readonly id: string;
  readonly type: EventType;
  /** When it happened; RFC 3339 UTC. */
  readonly timestamp: string;
  readonly data: InquiryView;
}

export interface Events {
  /**
   * The position to follow from: `after` itself, or for null where the log ends now, so that whoever is told of it misses
   * nothing from then on. Rejects with `invalid_request` when `after` is no position of this log.
   */
  position(after: string | null): Promise<string>;
  /**
   * What the caller may see of it, in order and without gaps, from behind `after` (null: from now on) until the signal
   * aborts. Rejects with `invalid_request` when `after` is no position of this log, with `unavailable` at a stop.
   */
  follow(caller: Caller, after: string | null, signal: AbortSignal): AsyncIterable<EventView>;
}
