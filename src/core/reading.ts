/**
 * From a typed reply to the entries an inquiry takes: the recogniser's verdict, in the engine's terms.
 */
import { type Entry, type Inquiry, unanswered } from "./inquiry.ts";
import { parseReply } from "./reply/parse.ts";
import type { RepromptReason } from "./reply/single.ts";
import { isCancelWord } from "./reply/words.ts";

export type Reading =
  | { readonly kind: "entries"; readonly entries: ReadonlyMap<string, Entry> }
  | { readonly kind: "cancel" }
  /** Asked again; `entries` holds what was understood of several questions, which is kept. */
  | { readonly kind: "again"; readonly reason: RepromptReason; readonly entries: ReadonlyMap<string, Entry> };

/** Reads a reply to an inquiry that waits. */
export function readReply(inquiry: Inquiry, text: string): Reading {
  const result = parseReply(inquiry.questions, text, unanswered(inquiry));
  if (result.outcome === "skip" && isCancelWord(text)) return { kind: "cancel" };
  const entries = new Map<string, Entry>();
  for (const [id, answer] of result.answers) {
    if ("skip" in answer) entries.set(id, { skip: true });
    else if ("other" in answer) entries.set(id, { values: [{ kind: "text", text: answer.other }] });
    else entries.set(id, { values: answer.select.map((label) => ({ kind: "option", label })) });
  }
  if (result.outcome === "reprompt") return { kind: "again", reason: result.reason ?? "ambiguous", entries };
  return { kind: "entries", entries };
}
