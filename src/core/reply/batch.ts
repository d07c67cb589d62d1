/**
 * One reply to two or three questions.
 *
 * A part answers a question only if a key, its place or a label ties it there; one text is never copied to several
 * questions. Where the reply as a whole fits in no single way nothing is kept and the person is asked again.
 */
import type { Question } from "../question.ts";
import { labelOf } from "./choice.ts";
import { fold, isBlank } from "./fold.ts";
import { readKeyed } from "./keyed.ts";
import { typedNumber } from "./marks.ts";
import { isChoice, type RepromptReason, readOne, type Verdict } from "./single.ts";
import { isSkipWord, isYesNoWord } from "./words.ts";

/** One verdict per question, or the reason why nothing is kept. */
export type BatchVerdict = readonly Verdict[] | RepromptReason;

export function readBatch(questions: readonly Question[], reply: string): BatchVerdict {
  const text = reply.trim();
  const folded = fold(text);
  const fitting = questions.filter((question) => typeof labelOf(question, text) === "number");
  if (isSkipWord(text) && fitting.length === 0) return questions.map(() => ({ answer: { skip: true } }));
  if (isBlank(text) || /^[\p{P}\s]*$/u.test(folded)) return folded.includes("?") ? "question_back" : "empty";
  return (
    byLines(questions, text) ??
    readKeyed(questions, text) ??
    byPlace(questions, text.split(";"), "free") ??
    (questions.some((question) => question.multiSelect) ? null : byCommas(questions, text, folded)) ??
    byLabel(questions, text, folded, fitting) ??
    (/\?(?=\s|$)/u.test(folded) ? "question_back" : "ambiguous")
  );
}

/** As many lines as questions, none keyed unless it is a label of its question as it stands. */
function byLines(questions: readonly Question[], text: string): BatchVerdict | null {
  const lines = text.split("\n").filter((line) => !isBlank(line));
  const inOrder = lines.every((line, index) => {
    const question = questions[index];
    if (!question) return false;
    return labelOf(question, line.trim()) !== null || readKeyed(questions, line) === null;
  });
  return inOrder ? byPlace(questions, lines, "free") : null;
}

function byCommas(questions: readonly Question[], text: string, folded: string): BatchVerdict | null {
  const parts = [text.split(/[,\u060C\u3001\uFF0C]/u), text.split(" / "), folded.split(/\s+/u)];
  for (const [index, split] of parts.entries()) {
    const numbers = index < 2 || split.every((part) => typedNumber(part) !== null);
    const verdicts = numbers ? byPlace(questions, split, "choices") : null;
    if (verdicts) return verdicts;
  }
  return null;
}

/** Parts in the order of the questions. `free` lets some be text if one is a choice; `choices` lets none. */
function byPlace(
  questions: readonly Question[],
  parts: readonly string[],
  rule: "free" | "choices",
): BatchVerdict | null {
  if (parts.length !== questions.length) return null;
  const verdicts = questions.map((question, index) => readOne(question, parts[index] ?? ""));
  const outOfRange = (verdict: Verdict) => "reason" in verdict && verdict.reason === "out_of_range";
  const fits = rule === "free" ? verdicts.some(isChoice) : verdicts.every((one) => isChoice(one) || outOfRange(one));
  return fits ? verdicts : null;
}

/** A label that one question alone has answers that question; a number or a bare yes could be meant for any. */
function byLabel(
  questions: readonly Question[],
  text: string,
  folded: string,
  fitting: readonly Question[],
): BatchVerdict | null {
  const [only] = fitting;
  if (!only || fitting.length > 1 || typedNumber(folded) || isYesNoWord(text)) return null;
  return questions.map((question) => (question === only ? readOne(question, text) : { reason: "partial" }));
}
