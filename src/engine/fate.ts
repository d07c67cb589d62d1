/**
 * What becomes of a copy that could not be shown, or must not be sent yet. Pure: the row, the error and the time in, the
 * row's next state out.
 *
 * The three words a copy of unknown fate carries as its reason: `unconfirmed` (left to prove itself by a press),
 * `repeated` (to be sent once more, under a new prompt key that retires the unseen copy), `delivery_unknown` (that was
 * not confirmed either: nothing more is sent).
 */
import {
  type DeliveryError,
  type DeliveryState,
  type FailureReason,
  moveDelivery,
  nextAttempt,
  RETRY,
} from "../core/delivery.ts";
import { type Inquiry, isSettled } from "../core/inquiry.ts";
import type { Limits } from "../core/limits.ts";
import type { Entropy, Instant } from "../ports/clock.ts";
import type { Delivery, DeliveryRow, Settlement } from "../ports/store.ts";
import { mintPromptKey } from "./mint.ts";

export type Patch = NonNullable<Settlement["delivery"]>;

/** The copy as it is to be stored, and when to look at it again; null: when something changes. */
export interface Outcome {
  readonly copy: Patch;
  readonly dueAt: Instant | null;
  readonly attempts: number;
  readonly shownAt?: Instant;
  readonly notBefore?: Instant;
}

interface Surroundings {
  readonly entropy: Entropy;
  readonly now: Instant;
}

const REASONS: { readonly [R in FailureReason]: string } = {
  "rate-limited": "rate_limited",
  unreachable: "unreachable",
  absent: "absent",
  gone: "gone",
  unauthorized: "unauthorized",
  rejected: "rejected",
  moved: "gone",
};

/** Not to be sent until something makes them `pending`. */
const UNSENT: readonly DeliveryState[] = ["queued", "absent", "failed"];

/** Addresses that go on being renamed lead nowhere. */
const MAX_MOVES = 5;

/** Nothing more to do until something changes. */
export function rest(delivery: Delivery, change: Partial<Patch>): Outcome {
  return { copy: { ...patchOf(delivery), ...change }, dueAt: null, attempts: 0 };
}

/** What must happen before an unshown copy may be sent; null: send it. */
export function beforeSend(
  entropy: Entropy,
  row: DeliveryRow,
  limits: Limits,
  inquiry: Inquiry,
  now: Instant,
): Outcome | null {
  const { delivery } = row;
  if (UNSENT.includes(delivery.state)) return rest(delivery, {});
  if (limits.repeat === "idempotent") return null;
  if (row.interrupted && delivery.unknownUntil === null) return unsure(row, limits, inquiry, now);
  if (delivery.state !== "unknown" || delivery.reason === "repeated") return null;
  if (delivery.unknownUntil === null) return rest(delivery, {});
  if (delivery.unknownUntil > now) return { ...rest(delivery, {}), dueAt: delivery.unknownUntil };
  const retired = { promptKey: mintPromptKey(entropy), reason: "repeated", unknownUntil: null };
  return { ...rest(delivery, retired), dueAt: now };
}

/** The address must wait; longer than the inquiry lives means never. */
export function tooLate(row: DeliveryRow, inquiry: Inquiry, notBefore: Instant): Outcome {
  const { delivery, attempts } = row;
  const hopeless = !isSettled(inquiry) && delivery.state !== "shown" && notBefore >= inquiry.expiresAt;
  if (!hopeless) return { ...rest(delivery, {}), attempts, dueAt: notBefore };
  return rest(delivery, { state: moveDelivery(delivery.state, "refused"), reason: "rate_limited" });
}

export function afterFailure(
  { entropy, now }: Surroundings,
  row: DeliveryRow,
  limits: Limits,
  inquiry: Inquiry,
  error: DeliveryError,
): Outcome {
  const { delivery } = row;
  const attempts = row.attempts + 1;
  const partial = error.partial ?? delivery.receipt;
  if (error.reason === "rejected" && !delivery.plain) {
    // An earlier try of the native form may have arrived unseen: whatever it shows must not answer beside the plain one.
    const unseen = delivery.state !== "shown" && (row.attempts > 0 || row.interrupted);
    const retired = unseen ? { promptKey: mintPromptKey(entropy) } : {};
    return { ...rest(delivery, { plain: true, digest: null, receipt: partial, ...retired }), dueAt: now };
  }
  if (error.reason === "moved" && attempts <= MAX_MOVES) return { ...rest(delivery, {}), attempts, dueAt: now };
  if (isSettled(inquiry)) return closing(row, attempts, now, error);
  if (delivery.state === "shown") return stillShown({ entropy, now }, row, attempts, error);
  if (error.sent === "unknown" && limits.repeat === "blind") return unsure(row, limits, inquiry, now, partial);
  const reason = REASONS[error.reason];
  if (error.reason === "absent") return rest(delivery, { state: moveDelivery(delivery.state, "absent"), reason });
  const at = nextAttempt(error, attempts, now, RETRY.open);
  const wait = error.reason === "rate-limited" && at !== null ? { notBefore: at } : {};
  if (at === null || at >= inquiry.expiresAt) {
    return { ...rest(delivery, { state: moveDelivery(delivery.state, "refused"), reason, receipt: partial }), ...wait };
  }
  const state = moveDelivery(delivery.state, "delayed");
  return { ...rest(delivery, { state, reason, receipt: partial }), attempts, dueAt: at, ...wait };
}

/** It may be there: left to prove itself by a press, for a while that ends well before the deadline. */
function unsure(
  row: DeliveryRow,
  limits: Limits,
  inquiry: Inquiry,
  now: Instant,
  receipt = row.delivery.receipt,
): Outcome {
  const { delivery } = row;
  const state = moveDelivery(delivery.state, "unsure");
  if (delivery.reason === "repeated")
    return rest(delivery, { state, receipt, reason: "delivery_unknown", unknownUntil: null });
  const until = now + Math.min(limits.unknownWaitMs, Math.max(0, inquiry.expiresAt - now) / 2);
  const unknownUntil = Math.floor(until);
  return { ...rest(delivery, { state, receipt, reason: "unconfirmed", unknownUntil }), dueAt: unknownUntil };
}

/** The last word on a settled inquiry: tried for a few hours, then left. */
function closing(row: DeliveryRow, attempts: number, now: Instant, error: DeliveryError): Outcome {
  const at = nextAttempt(error, attempts, now, RETRY.close);
  if (at === null) return rest(row.delivery, { state: "closed", reason: REASONS[error.reason] });
  const wait = error.reason === "rate-limited" ? { notBefore: at } : {};
  return { ...rest(row.delivery, { receipt: error.partial ?? row.delivery.receipt }), attempts, dueAt: at, ...wait };
}

/** An open copy that could not be brought up to date: it still answers; a deleted one is shown again. */
function stillShown({ entropy, now }: Surroundings, row: DeliveryRow, attempts: number, error: DeliveryError): Outcome {
  const { delivery } = row;
  if (error.reason === "gone") {
    const state = moveDelivery(delivery.state, "lost");
    const fresh = { receipt: null, digest: null, promptKey: mintPromptKey(entropy), reason: "gone" };
    return { ...rest(delivery, { state, ...fresh }), dueAt: now };
  }
  const at = nextAttempt(error, attempts, now, RETRY.close);
  const wait = error.reason === "rate-limited" && at !== null ? { notBefore: at } : {};
  return { ...rest(delivery, { receipt: error.partial ?? delivery.receipt }), attempts, dueAt: at, ...wait };
}

function patchOf({ channel: _channel, address: _address, entry: _entry, ...patch }: Delivery): Patch {
  return patch;
}
