/**
 * From what a caller or a recogniser says to the entries an inquiry takes.
 *
 * An entry equal to a label, exactly or without its mark, is that option; anything else is the person's own text.
 */
import type { Entry, Value } from "./inquiry.ts";
import type { Question } from "./question.ts";
import { withoutMark } from "./reply/fold.ts";

export function valueFor(question: Question | undefined, word: string): Value {
  const labels = question?.options.map((option) => option.label) ?? [];
  const label = labels.find((one) => one === word) ?? labels.find((one) => withoutMark(one) === word);
  return label === undefined ? { kind: "text", text: word } : { kind: "option", label };
}

/** `answers` and `skip` as a caller gives them; an id no question has stays, for the inquiry to refuse. */
export function entriesOf(
  questions: readonly Question[],
  answers: ReadonlyMap<string, readonly string[]>,
  skip: readonly string[],
): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const [id, words] of answers) {
    const question = questions.find((one) => one.id === id);
    entries.set(id, { values: words.map((word) => valueFor(question, word)) });
  }
  for (const id of skip) entries.set(id, { skip: true });
  return entries;
}
