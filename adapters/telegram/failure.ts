/**
 * What a failed call means: the platform's errors as the words of the channel port.
 *
 * The one thing it must never do is call a message unsent that may have been posted: a 5xx, a broken connection, a
 * time-out and an unreadable answer all leave that open.
 */
import { TelegramError } from "telegraf";
import { DeliveryError, type FailureReason } from "../../src/core/delivery.ts";
import { formatAddress } from "./address.ts";
import type { Api } from "./api.ts";

/** The connection never stood, so nothing was said. */
const NEVER_CONNECTED = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

/** Descriptions of a 400 that stand for more than refused content; the platform has no codes for them. */
const GONE =
  /chat not found|user not found|peer_id_invalid|input_user_deactivated|message to (edit|delete|be replied) not found|message can't be edited|message_id_invalid|message thread not found|topic_(closed|deleted)/i;
const NO_RIGHT = /not enough rights|have no rights|chat_write_forbidden|need administrator rights/i;
const UNMODIFIED = /message is not modified/i;
const DELETED = /message to delete not found|message_id_invalid/i;

export function toDeliveryError(error: unknown, { scrub }: Api): DeliveryError {
  if (error instanceof DeliveryError) return error;
  const detail = scrub(error instanceof Error ? error.message : String(error));
  if (!(error instanceof TelegramError)) {
    return new DeliveryError("unreachable", { sent: NEVER_CONNECTED.has(codeOf(error)) ? "no" : "unknown", detail });
  }
  if (error.code >= 500) return new DeliveryError("unreachable", { sent: "unknown", detail });
  const { migrate_to_chat_id: movedTo, retry_after: seconds } = error.parameters ?? {};
  if (movedTo !== undefined) {
    return new DeliveryError("moved", { sent: "no", detail, movedTo: formatAddress(movedTo, null) });
  }
  const wait = typeof seconds === "number" ? { retryAfterMs: seconds * 1000 } : {};
  return new DeliveryError(reasonOf(error), { sent: "no", detail, ...wait });
}

function reasonOf({ code, description }: TelegramError): FailureReason {
  if (code === 429) return "rate-limited";
  if (code === 401 || code === 404) return "unauthorized";
  if (code === 403 || GONE.test(description)) return "gone";
  return NO_RIGHT.test(description) ? "unauthorized" : "rejected";
}

/** The message already shows exactly this. */
export function isUnmodified(error: unknown): boolean {
  return error instanceof TelegramError && UNMODIFIED.test(error.description);
}

/** The message to be removed is not there any more. */
export function isDeleted(error: unknown): boolean {
  return error instanceof TelegramError && DELETED.test(error.description);
}

/** HTTP status of the platform's answer; 0 where there was none. */
export function statusOf(error: unknown): number {
  return error instanceof TelegramError ? error.code : 0;
}

/** The platform's wait in milliseconds, if it names one. */
export function retryAfterOf(error: unknown): number | null {
  const seconds = error instanceof TelegramError ? error.parameters?.retry_after : undefined;
  return typeof seconds === "number" ? seconds * 1000 : null;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
