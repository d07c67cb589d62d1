/**
 * Answers, skips and cancels by program. Only an operator answers for somebody; an agent may take back what it asked.
 * A repeat under the same idempotency key gets the first response and changes nothing.
 */
import { type AnswerInput, readAnswer } from "../core/answer.ts";
import { entriesOf } from "../core/entries.ts";
import { AskgateError } from "../core/errors.ts";
import { type Author, type Inquiry, type InquiryEvent, isSettled } from "../core/inquiry.ts";
import { readReply } from "../core/reading.ts";
import type { Caller, InquiryView } from "../ports/asker.ts";
import { applyEvent, type Context } from "./context.ts";
import { valid } from "./door.ts";
import { called, settled } from "./trail.ts";
import { viewOf } from "./view.ts";
import { findInquiry, requireOperator } from "./visibility.ts";

type Call = "answer" | "skip" | "cancel";

export async function answer(
  context: Context,
  caller: Caller,
  id: string,
  input: unknown,
  key?: string,
): Promise<InquiryView> {
  requireOperator(caller, "answer");
  const given = valid("invalid_answer", readAnswer(input));
  return change(context, caller, id, { call: "answer", key }, (inquiry) =>
    answerEvent(inquiry, given, authorOf(caller)),
  );
}

export async function skip(context: Context, caller: Caller, id: string, key?: string): Promise<InquiryView> {
  requireOperator(caller, "skip a question");
  return change(context, caller, id, { call: "skip", key }, () => ({ type: "skip", by: authorOf(caller) }));
}

export function cancel(context: Context, caller: Caller, id: string, key?: string): Promise<InquiryView> {
  const reason = caller.scope === "operator" ? "operator" : "aborted";
  return change(context, caller, id, { call: "cancel", key }, () => ({ type: "cancel", reason }));
}

async function change(
  context: Context,
  caller: Caller,
  id: string,
  { call, key }: { readonly call: Call; readonly key: string | undefined },
  event: (inquiry: Inquiry) => InquiryEvent,
): Promise<InquiryView> {
  const { store } = context;
  const inquiry = await findInquiry(context, caller, id);
  const once = key === undefined ? undefined : `api:${caller.keyId}:${call}:${inquiry.uid}:${key}`;
  const earlier = once === undefined ? null : await store.replyOf(once);
  if (earlier) return earlier as InquiryView;
  const copies = await store.copies(inquiry.uid);
  const applied = await applyEvent(context, inquiry, event, {
    ...(once !== undefined && { once: { key: once, reply: (after: Inquiry) => viewOf(after, copies) } }),
  });
  if (applied.outcome === "repeat") return applied.reply as InquiryView;
  called(context, inquiry, call, applied.outcome === "refused" ? applied.refusal.code : "done");
  if (applied.outcome === "refused") throw new AskgateError(applied.refusal.code, applied.refusal.message);
  if (applied.outcome === "done") settled(context, applied.inquiry);
  return viewOf(applied.inquiry, copies);
}

function authorOf(caller: Caller): Author {
  return { person: "operator", channel: "http", address: `http:${caller.keyId}` };
}

/** A text is read only against an inquiry that waits in the state it was typed for: settled, stale, invalid, in this order. */
function answerEvent(inquiry: Inquiry, input: AnswerInput, by: Author): InquiryEvent {
  const version = input.stateVersion === undefined ? {} : { stateVersion: input.stateVersion };
  const stale = input.stateVersion !== undefined && input.stateVersion !== inquiry.task?.stateVersion;
  if (input.text === undefined || stale || isSettled(inquiry)) {
    return { type: "answer", entries: entriesOf(inquiry.questions, input.answers, input.skip), by, ...version };
  }
  const reading = readReply(inquiry, input.text);
  if (reading.kind === "cancel") return { type: "cancel", reason: "operator", by };
  if (reading.kind === "entries") return { type: "answer", entries: reading.entries, by, ...version };
  const why = `The reply "${input.text}" is not a clear answer: ${reading.reason}. Nothing was recorded.`;
  throw new AskgateError("invalid_answer", why);
}
