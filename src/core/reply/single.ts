/**
 * One reply to one question.
 *
 * Never selects what the person did not clearly choose: a reply that is anything more than a choice is kept whole as
 * free text, and one with two readings is asked again. Every label goes before every other reading, except where a
 * number is both a label and the position of another option.
 */
import type { Question } from "../question.ts";
import { choose } from "./choice.ts";
import { fold, isBlank } from "./fold.ts";
import { typedNumber } from "./marks.ts";
import { afterOther, isAllWord, isNoneWord, isSkipWord } from "./words.ts";

export type Answer = { readonly select: readonly string[] } | { readonly other: string } | { readonly skip: true };

/**
 * - `empty`: nothing was said.
 * - `out_of_range`: a number that no option has.
 * - `question_back`: the person asks us something.
 * - `ambiguous`: no single safe reading; also free text on a closed question.
 * - `partial`: a batch answered only in part.
 */
export type RepromptReason = "empty" | "out_of_range" | "question_back" | "ambiguous" | "partial";

export type Verdict = { readonly answer: Answer } | { readonly reason: RepromptReason };

export function readOne(question: Question, reply: string): Verdict {
  const text = reply.trim();
  const choice = choose(question, text);
  if (typeof choice === "string") return { reason: choice };
  if (choice) return selected(question, choice);
  const folded = fold(text);
  if (/^[?\p{P}\s]*$/u.test(folded)) return { reason: folded.includes("?") ? "question_back" : "empty" };
  const other = afterOther(text);
  if (other !== null) return isBlank(other) ? { reason: "empty" } : freeText(question, other);
  if (question.options.length > 0 && asks(folded)) return { reason: askedBack(question, folded) };
  if (isSkipWord(text)) return namesLabel(question, folded) ? { reason: "ambiguous" } : { answer: { skip: true } };
  const quantity = readQuantity(question, text, folded);
  if (quantity) return quantity;
  return question.options.length > 0 && isHalfChoice(folded) ? { reason: "ambiguous" } : freeText(question, text);
}

/** "all" and "none" of a multi-select; "all" of a question that takes one answer is no answer to it. */
function readQuantity(question: Question, text: string, folded: string): Verdict | null {
  const [all, none] = [isAllWord(text), isNoneWord(text)];
  if ((!all && !none) || question.options.length === 0) return null;
  if (namesLabel(question, folded)) return { reason: "ambiguous" };
  if (question.multiSelect) return { answer: { select: all ? question.options.map((option) => option.label) : [] } };
  return all ? { reason: "ambiguous" } : freeText(question, text);
}

/** Whether the reply was understood as a choice or a skip, not kept as text. */
export function isChoice(verdict: Verdict): boolean {
  return "answer" in verdict && !("other" in verdict.answer);
}

function selected(question: Question, indexes: readonly number[]): Verdict {
  const labels = question.options.filter((_, index) => indexes.includes(index)).map((option) => option.label);
  if (labels.length > 1 && !question.multiSelect) return { reason: "ambiguous" };
  return { answer: { select: labels } };
}

function freeText(question: Question, text: string): Verdict {
  return question.allowOther ? { answer: { other: text } } : { reason: "ambiguous" };
}

/** "1 or 2", "not 2": positions and a single word, which may turn them into anything. */
function isHalfChoice(folded: string): boolean {
  if (/[,;\n]/u.test(folded)) return false;
  const words = folded.split(" ");
  const numbers = words.filter((word) => (typedNumber(word)?.value ?? 9) <= 4);
  return numbers.length > 0 && words.length - numbers.length === 1;
}

/** A question mark at the end of a word; inside one it is part of an address. */
function asks(folded: string): boolean {
  return /\?(?=[\s"')\]!.]|$)/u.test(folded);
}

/** "2?" is a choice the person is not sure of; everything else is theirs to ask. */
function askedBack(question: Question, folded: string): RepromptReason {
  return choose(question, folded.replaceAll("?", " ").trim()) ? "ambiguous" : "question_back";
}

/** Whether a label has the words of the reply among its own: "skip" where an option is "Skip tests". */
function namesLabel(question: Question, folded: string): boolean {
  const words = folded.match(/[\p{L}\p{N}]+/gu) ?? [];
  return question.options.some((option) => {
    const inLabel = new Set(fold(option.label).match(/[\p{L}\p{N}]+/gu));
    return words.every((word) => inLabel.has(word));
  });
}
