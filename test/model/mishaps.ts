/** What can go wrong with a call to the platform, and what the caller is told then. */
import { DeliveryError } from "../../src/core/delivery.ts";

/**
 * What the next call at an address meets. `lost`: it arrives, the receipt does not; `vanished`: neither; `stalls`: it
 * arrives, the receipt only after a lease has run out.
 */
export type Mishap =
  | "unreachable"
  | "lost"
  | "vanished"
  | "rate limited"
  | "rate limited for long"
  | "gone"
  | "rejected"
  | "unauthorized"
  | "stalls";

const RATE_MS = 2_000;
const LONG_RATE_MS = 150_000;

export function failure(what: Exclude<Mishap, "stalls">): { error: DeliveryError; arrives: boolean } {
  switch (what) {
    case "lost":
      return { error: new DeliveryError("unreachable", { sent: "unknown" }), arrives: true };
    case "vanished":
      return { error: new DeliveryError("unreachable", { sent: "unknown" }), arrives: false };
    case "rate limited":
      return { error: new DeliveryError("rate-limited", { sent: "no", retryAfterMs: RATE_MS }), arrives: false };
    case "rate limited for long":
      return { error: new DeliveryError("rate-limited", { sent: "no", retryAfterMs: LONG_RATE_MS }), arrives: false };
    case "unreachable":
    case "gone":
    case "rejected":
    case "unauthorized":
      return { error: new DeliveryError(what, { sent: "no" }), arrives: false };
  }
}
