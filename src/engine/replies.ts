/** What the person who acted is told. */
import type { Inquiry, Resolution, Value } from "../core/inquiry.ts";
import { unanswered } from "../core/inquiry.ts";
import { type Locale, numeral, say } from "../core/locales/locale.ts";
import type { Question } from "../core/question.ts";
import { withoutMark } from "../core/reply/fold.ts";
import { isValueQuestion } from "../core/reply/marks.ts";
import type { RepromptReason } from "../core/reply/single.ts";
import { shownMark } from "../core/view.ts";
import type { Reply } from "../ports/channel.ts";

export const NOTHING: Reply = { notice: null, say: null };

export function notice(text: string): Reply {
  return { notice: text, say: null };
}

export function spoken(text: string): Reply {
  return { notice: null, say: text };
}

/** Free text is not repeated to others, and a sensitive answer to nobody. */
function shownValues(question: Question | undefined, resolution: Resolution): string | null {
  if (!question || question.sensitive || resolution.values.some((value) => value.kind === "text")) return null;
  return resolution.values.map((value) => withoutMark(labelOf(value))).join(", ");
}

function labelOf(value: Value): string {
  return value.kind === "text" ? value.text : value.label;
}

export function recorded(locale: Locale, inquiry: Inquiry, id: string): string {
  const resolution = inquiry.resolutions.get(id);
  if (!resolution || resolution.outcome === "skipped") return say(locale, "notice.skipped");
  const answer = shownValues(
    inquiry.questions.find((one) => one.id === id),
    resolution,
  );
  return answer ? say(locale, "notice.recorded", { answer }) : say(locale, "notice.recorded_hidden");
}

/** What was recorded of each question, or that nothing was. */
export function wholly(locale: Locale, after: Inquiry): string {
  if (after.reason === "declined") return say(locale, "over.declined");
  return after.questions.map((one) => recorded(locale, after, one.id)).join("\n");
}

/** Why nothing changed: who answered already, or that it is closed. */
export function alreadyOver(locale: Locale, inquiry: Inquiry, id: string | null): string {
  const key = id ?? inquiry.questions[0]?.id ?? "";
  const resolution = inquiry.resolutions.get(key);
  if (resolution?.outcome !== "answered" || !resolution.by) return say(locale, "notice.already_settled");
  const { person } = resolution.by;
  const answer = shownValues(
    inquiry.questions.find((one) => one.id === key),
    resolution,
  );
  if (!answer) return say(locale, "notice.already_answered_hidden", { person });
  return say(locale, "notice.already_answered", { person, answer });
}

/** How to answer after a reply that was not clear. */
export function hintFor(locale: Locale, inquiry: Inquiry, reason: RepromptReason): string {
  const [only, another] = unanswered(inquiry);
  if (!only || another) return batchHint(locale, inquiry, only, reason);
  switch (reason) {
    case "empty":
    case "partial":
      return say(locale, "hint.empty");
    case "question_back":
      return say(locale, "hint.question_back");
    case "out_of_range": {
      const last = only.options.length - 1;
      return say(locale, "hint.out_of_range", {
        first: shownMark(locale, only, 0),
        last: shownMark(locale, only, last),
      });
    }
    case "ambiguous":
      if (!only.allowOther) return say(locale, "hint.closed");
      return say(locale, isValueQuestion(only) ? "hint.ambiguous_letter" : "hint.ambiguous_number");
  }
}

function batchHint(locale: Locale, inquiry: Inquiry, first: Question | undefined, reason: RepromptReason): string {
  switch (reason) {
    case "empty":
      return say(locale, "hint.empty");
    case "question_back":
      return say(locale, "hint.question_back");
    case "out_of_range":
      return say(locale, "hint.out_of_range_batch");
    case "partial":
    case "ambiguous":
      return say(locale, "hint.ambiguous_batch", { example: first ? exampleOf(locale, inquiry, first) : "" });
  }
}

/** "2: 1", as the prompt numbers its questions. */
function exampleOf(locale: Locale, inquiry: Inquiry, question: Question): string {
  const number = numeral(locale, inquiry.questions.indexOf(question) + 1);
  const answer = question.options.length > 0 ? shownMark(locale, question, 0) : say(locale, "how.batch_text");
  return `${number}: ${answer}`;
}

/** What was kept of several questions, and what is still open. */
export function partly(locale: Locale, after: Inquiry): string {
  const kept = after.questions.filter((one) => after.resolutions.has(one.id)).map((one) => one.header);
  const left = unanswered(after).map((one) => one.header);
  return say(locale, "hint.partial", { kept: kept.join(", "), left: left.join(", ") });
}
