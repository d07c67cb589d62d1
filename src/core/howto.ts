/**
 * How to answer, said under an open prompt: once for copies with native controls, once for copies in words alone.
 *
 * A copy without buttons never speaks of pressing, and everything said here is understood by the reply recogniser.
 */
import { unanswered } from "./inquiry.ts";
import { type Locale, numeral, say } from "./locales/locale.ts";
import type { Question } from "./question.ts";
import { RIGHT_TO_LEFT_MARK } from "./text.ts";
import { type Block, block, type PromptView, plain, shownMark } from "./view.ts";

/** @param controls whether the prompt has native controls for a channel that can hold them */
export function howToAnswer(view: PromptView, controls: boolean): readonly Block[] {
  const text = paragraph([...textLines(view), ...addressLines(view, "text")]);
  if (!controls) return [text];
  const native = paragraph([...nativeLines(view), ...addressLines(view, "native")]);
  return [
    { ...text, only: "text" },
    { ...native, only: "native" },
  ];
}

function paragraph(lines: readonly string[]): Block {
  return block([plain(lines.join("\n"))]);
}

function nativeLines(view: PromptView): readonly string[] {
  const { locale, promptFor, inquiry } = view;
  const [question] = unanswered(inquiry);
  if (!question) return [];
  if (question.options.length === 0) return [say(locale, "how.free_native")];
  if (promptFor.entry) return [say(locale, "how.entry")];
  const lines = [say(locale, `how.native_${signs(locale, question)}`)];
  return question.allowOther ? [...lines, say(locale, "how.other_native")] : lines;
}

function textLines(view: PromptView): readonly string[] {
  const { locale, inquiry } = view;
  const open = unanswered(inquiry);
  const [question] = open;
  if (!question) return [];
  if (open.length > 1) return batchLines(view, open);
  const skip = say(locale, "how.skip");
  if (question.options.length === 0) return [say(locale, "how.free"), skip];
  const key = `how.${question.multiSelect ? "multi" : "single"}_${signs(locale, question)}` as const;
  const how = say(locale, key, { example: exampleOf(locale, question) });
  return [how, ...(question.allowOther ? [say(locale, "how.other")] : []), skip];
}

/** Several open questions: an example line for each, under its own number. */
function batchLines({ locale, inquiry }: PromptView, open: readonly Question[]): readonly string[] {
  const start = locale.direction === "rtl" ? RIGHT_TO_LEFT_MARK : "";
  const examples = open.map((question) => {
    const number = numeral(locale, inquiry.questions.indexOf(question) + 1);
    return `${start}${number}: ${exampleOf(locale, question)}`;
  });
  return [say(locale, "how.batch"), ...examples, say(locale, "how.skip_batch")];
}

/** An answer of the right shape: "2", "1,3", or the words that stand for free text. */
function exampleOf(locale: Locale, question: Question): string {
  const marks = question.options.map((_, index) => shownMark(locale, question, index));
  if (marks.length === 0) return say(locale, "how.batch_text");
  if (!question.multiSelect) return marks[1] ?? "";
  return [marks[0], marks[2] ?? marks[1]].join(say(locale, "list.comma"));
}

function signs(locale: Locale, question: Question): "number" | "letter" {
  return shownMark(locale, question, 0) === "A" ? "letter" : "number";
}

/** How typed words are known to be meant for this prompt, where that is not plain. */
function addressLines({ locale, promptFor, inquiry }: PromptView, form: "native" | "text"): readonly string[] {
  const { direct, nativeReplies, shortId, entry } = promptFor;
  if (shortId !== null) {
    const [question] = unanswered(inquiry);
    const example = `${shortId}: ${question ? exampleOf(locale, question) : ""}`;
    return [say(locale, nativeReplies ? "how.short_reply" : "how.short_start", { id: shortId, example })];
  }
  if (direct || entry) return [];
  return [say(locale, `how.${nativeReplies ? "reply" : "mention"}_${form}`)];
}
