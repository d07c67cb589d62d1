/**
 * One copy of an inquiry in one place: its states as a table, what a failed send means, and when to try again.
 *
 * Rules: a send that may have arrived is never treated as one that did not (`sent: "unknown"`); a permanent failure is
 * never retried; a copy is answerable in one place at a time, so a repeated send retires the copy before it.
 */

/**
 * - `pending`: to be sent; where every copy begins unless it must queue.
 * - `queued`: waits behind another inquiry on a surface that shows one at a time.
 * - `absent`: the surface is closed; sent when someone opens it.
 * - `unknown`: the platform did not say whether it arrived.
 * - `shown`: the platform's receipt, or an open surface's acknowledgement.
 * - `failed`: it can never be shown there. Left only if a press proves that it is there.
 * - `closed`: settled, and the copy says so, or was never seen. Left only if a press proves that it is there.
 */
export type DeliveryState = "pending" | "queued" | "absent" | "unknown" | "shown" | "failed" | "closed";

export type DeliveryEvent =
  /** Its turn has come, or someone opened the surface. */
  | "ready"
  | "sent"
  | "unsure"
  | "absent"
  /** Another attempt will follow. */
  | "delayed"
  | "refused"
  /** The message was deleted, or its chat moved: shown again as a new one. */
  | "lost"
  /** A press proved that it is there. */
  | "found"
  /** The inquiry settled and this copy needs nothing more. */
  | "done";

export const DELIVERY: { readonly [S in DeliveryState]: { readonly [E in DeliveryEvent]?: DeliveryState } } = {
  pending: {
    sent: "shown",
    found: "shown",
    unsure: "unknown",
    absent: "absent",
    delayed: "pending",
    refused: "failed",
    done: "closed",
  },
  queued: { ready: "pending", refused: "failed", done: "closed" },
  absent: { ready: "pending", refused: "failed", done: "closed" },
  unknown: {
    sent: "shown",
    found: "shown",
    unsure: "unknown",
    absent: "absent",
    delayed: "unknown",
    refused: "failed",
    done: "closed",
  },
  shown: { lost: "pending", done: "closed" },
  failed: { found: "shown" },
  closed: { found: "shown" },
};

/** The state after an event; a final state stays. */
export function moveDelivery(state: DeliveryState, event: DeliveryEvent): DeliveryState {
  return DELIVERY[state][event] ?? state;
}

/**
 * - `rate-limited`: the platform names a wait.
 * - `unreachable`: network, time-out or a server fault; may pass.
 * - `absent`: nobody has the surface open.
 * - `gone`: the chat, the person or the message no longer exists or has blocked us.
 * - `unauthorized`: the token is bad or lacks a right.
 * - `rejected`: the platform refuses this content; a plainer form may pass.
 * - `moved`: the address has a new name, in `movedTo`.
 */
export type FailureReason = "rate-limited" | "unreachable" | "absent" | "gone" | "unauthorized" | "rejected" | "moved";

export interface FailureDetail {
  /** Whether the message may have arrived all the same. */
  readonly sent: "no" | "unknown";
  /** The platform's own words, without secrets. */
  readonly detail?: string;
  readonly retryAfterMs?: number;
  readonly movedTo?: string;
  /** What did arrive before the failure, when a message has several parts. */
  readonly partial?: Receipt;
}

/** The only thing a channel's `send` and `edit` reject with. */
export class DeliveryError extends Error {
  readonly reason: FailureReason;
  readonly sent: "no" | "unknown";
  readonly retryAfterMs: number | null;
  readonly movedTo: string | null;
  readonly partial: Receipt | null;

  constructor(reason: FailureReason, detail: FailureDetail) {
    super(detail.detail ?? reason);
    this.name = "DeliveryError";
    this.reason = reason;
    this.sent = detail.sent;
    this.retryAfterMs = detail.retryAfterMs ?? null;
    this.movedTo = detail.movedTo ?? null;
    this.partial = detail.partial ?? null;
  }
}

/** Where one copy stands on the platform: its native message ids in order, and the entry field's if one is open. */
export interface Receipt {
  readonly parts: readonly string[];
  readonly entry?: string;
  /** When its first part was posted, in ms by the platform's own clock, which also dates what people write. */
  readonly postedAt?: number;
}

/** Whether this copy waits for a person's free text to one question. */
export interface EntryMode {
  readonly question: number;
  readonly person: string;
}

export interface RetryRule {
  readonly firstMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** Attempts after which it is given up. */
  readonly attempts: number;
}

/** Opening copies are retried until the deadline; closing edits for about three hours. */
export const RETRY: { readonly [lane in "open" | "close"]: RetryRule } = {
  open: { firstMs: 1_000, factor: 2, maxMs: 30_000, attempts: Number.POSITIVE_INFINITY },
  close: { firstMs: 1_000, factor: 2, maxMs: 600_000, attempts: 25 },
};

/** Waits a platform asks for: what it means by naming none, and the bounds within which it is believed, in ms. */
export const RETRY_AFTER = { defaultMs: 5_000, minMs: 1_000, maxMs: 24 * 3_600_000 } as const;

/** When to try again after `attempts` failures, in milliseconds since the epoch; null means never. */
export function nextAttempt(error: DeliveryError, attempts: number, now: number, rule: RetryRule): number | null {
  switch (error.reason) {
    case "rate-limited":
      return now + believable(error.retryAfterMs ?? RETRY_AFTER.defaultMs);
    case "unreachable":
      if (attempts >= rule.attempts) return null;
      return now + Math.min(rule.maxMs, rule.firstMs * rule.factor ** Math.max(0, attempts - 1));
    case "moved":
      return now;
    case "absent":
    case "gone":
    case "unauthorized":
    case "rejected":
      return null;
  }
}

function believable(waitMs: number): number {
  return Math.min(RETRY_AFTER.maxMs, Math.max(RETRY_AFTER.minMs, waitMs));
}
