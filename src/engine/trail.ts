/**
 * The trail of an inquiry: one line a stage, all under one id, from the asking to the handing over, and what is counted
 * of it.
 *
 * Rules: each stage is told once, by the process whose commit made it happen; what is repeated or lost to a race tells
 * nothing again. Lines carry ids, channels and words of Askgate's own, never what anybody asked or answered.
 */
import { type Inquiry, isSettled } from "../core/inquiry.ts";
import type { InboundEvent, Reply } from "../ports/channel.ts";
import type { Instant } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { Meter } from "../ports/meter.ts";
import type { DeliveryRow, NewOutboxRow } from "../ports/store.ts";

export interface Witness {
  readonly log: Log;
  readonly meter: Meter;
}

export function asked({ log, meter }: Witness, inquiry: Inquiry, rows: readonly NewOutboxRow[]): void {
  const { uid, id, session, kind } = inquiry;
  const channels = [...new Set(rows.flatMap(({ delivery }) => delivery?.channel ?? []))];
  meter.asked(kind);
  log.info({ inquiry: uid, id, session, kind, channels }, "asked");
}

/** A copy is there for the first time; `before` is the inquiry as it was. */
export function shown({ log, meter }: Witness, before: Inquiry, { delivery }: DeliveryRow, at: Instant): void {
  const { channel } = delivery;
  if (before.shownAt === null) meter.shown(channel, at - before.createdAt);
  log.info({ inquiry: before.uid, channel }, "shown");
}

export type HeardOutcome =
  /** An answer or a skip, in time. */
  | "recorded"
  | "declined"
  /** The field for free text was opened or left. */
  | "entry"
  /** It was over, or that question was. */
  | "late"
  /** By somebody who may not answer. */
  | "not admitted"
  /** Understood as no answer: the person is told how. */
  | "unclear"
  /** Nothing about an inquiry. */
  | "none"
  /** The same event again, whose effect and reply are known. */
  | "repeat";

/** What became of an event from a person. */
export interface Heard {
  readonly reply: Reply;
  readonly outcome: HeardOutcome;
  /** What it was about, if anything: as it found it, or as it left it. */
  readonly inquiry: Inquiry | null;
}

export function heard(
  { log, meter }: Witness,
  channel: string,
  kind: InboundEvent["kind"],
  { outcome, inquiry }: Omit<Heard, "reply">,
): void {
  if (outcome === "repeat") return;
  meter.heard(channel, kind);
  if (inquiry === null) return;
  log.debug({ inquiry: inquiry.uid, channel, kind, outcome }, "heard");
  if (outcome === "recorded" || outcome === "declined") settled({ log, meter }, inquiry);
}

/** A program answered, skipped or cancelled, or was refused under that code. */
export function called({ log }: Witness, inquiry: Inquiry, call: string, outcome: string): void {
  log.debug({ inquiry: inquiry.uid, channel: "http", kind: call, outcome }, "heard");
}

/** To be called with what a commit left of an inquiry; tells nothing while it waits. */
export function settled({ log, meter }: Witness, inquiry: Inquiry): void {
  if (!isSettled(inquiry)) return;
  const { uid, status, reason, settledAt, settledBy, createdAt } = inquiry;
  meter.settled(status, (settledAt ?? createdAt) - createdAt);
  const by = settledBy === null ? {} : { channel: settledBy.channel };
  log.info({ inquiry: uid, status, ...(reason !== null && { reason }), ...by }, "settled");
}

/** A caller has the result. */
export function collected({ log }: Witness, inquiry: Inquiry): void {
  log.debug({ inquiry: inquiry.uid }, "collected");
}
