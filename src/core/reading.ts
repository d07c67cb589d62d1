/**
 * From a typed reply to the entries an inquiry takes: the recogniser's verdict, in the engine's terms.
 */
import type { Entry } from "./inquiry.ts";
import type { Question } from "./question.ts";
import { parseReply } from "./reply/parse.ts";
import type { RepromptReason } from "./reply/single.ts";
import { isCancelWord } from "./reply/words.ts";

export type Reading =
  | { readonly kind: "entries"; readonly entries: ReadonlyMap<string, Entry> }
  | { readonly kind: "cancel" }
  /** Asked again; `entries` holds what was understood of several questions, which is kept. */
  | { readonly kind: "again"; readonly reason: RepromptReason; readonly entries: ReadonlyMap<string, Entry> };

/** @param questions those still unanswered; at least one */
export function readReply(questions: readonly Question[], text: string): Reading {
  if (isCancelWord(text)) return { kind: "cancel" };
  const result = parseReply(questions, text);
  const entries = new Map<string, Entry>();
  for (const [id, answer] of result.answers) {
    if ("skip" in answer) entries.set(id, { skip: true });
    else if ("other" in answer) entries.set(id, { values: [{ kind: "text", text: answer.other }] });
    else entries.set(id, { values: answer.select.map((label) => ({ kind: "option", label })) });
  }
  if (result.outcome === "reprompt") return { kind: "again", reason: result.reason ?? "ambiguous", entries };
  return { kind: "entries", entries };
}
