/**
 * What a channel can do, as data. `fit` alone reads these and decides between buttons and numbered text; an adapter
 * states them once, each figure with the vendor's page and the day it was read, and never decides by itself.
 */

/** How a platform counts text: Unicode code points, or UTF-16 units as JavaScript's `length`. */
export type TextUnit = "codePoints" | "utf16";

export interface TextLimit {
  readonly max: number;
  readonly unit: TextUnit;
}

export interface ButtonLimits {
  /** Buttons on one message. */
  readonly max: number;
  readonly perRow: number;
  readonly label: TextLimit;
  /** Bytes of the payload; control payloads are 40 at most. */
  readonly payloadBytes: number;
}

/** How fast the platform lets one bot send. */
export interface Pace {
  /** Sends in any second over the whole channel; null means no limit. */
  readonly perSecond: number | null;
  /** Milliseconds between two sends to one address; 0 means no limit. */
  readonly perAddressMs: number;
  /** The same for a group address, where it is slower. */
  readonly perGroupMs: number;
}

export interface Limits {
  /** One native message. */
  readonly text: TextLimit;
  /** Null: no buttons at all. */
  readonly buttons: ButtonLimits | null;
  /** Can change a message it sent. */
  readonly edits: boolean;
  /** Can tell that a message replies to one of ours. */
  readonly replies: boolean;
  /** Can open an entry field bound to a question (force reply, modal, input). */
  readonly entryField: boolean;
  /** `when open`: a surface the person comes to (inbox, panel), which shows only while it is open. */
  readonly attendance: "always" | "when open";
  readonly pace: Pace;
  /**
   * What to do when a send may or may not have arrived: `blind` waits `unknownWaitMs` for a press on the unseen copy,
   * then sends once more under a new prompt key; `idempotent` repeats at once, the platform drops the second.
   */
  readonly repeat: "blind" | "idempotent";
  /** Milliseconds; default for Telegram 30,000. */
  readonly unknownWaitMs: number;
}

/** Without buttons and without replies nothing ties an answer to its question but that it is the only one shown. */
export function showsOneAtATime(limits: Limits): boolean {
  return limits.buttons === null && !limits.replies;
}

export function measure(text: string, unit: TextUnit): number {
  if (unit === "utf16") return text.length;
  let points = 0;
  for (const _ of text) points++;
  return points;
}
