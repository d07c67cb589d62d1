/**
 * What a prompt is made from and made of: the inquiry, the place and the language of one copy; paragraphs of spans.
 */
import type { EntryMode } from "./delivery.ts";
import type { Inquiry } from "./inquiry.ts";
import { type Locale, numeral } from "./locales/locale.ts";
import type { Question } from "./question.ts";
import { markOf } from "./reply/marks.ts";
import type { Span } from "./text.ts";

/** Where the copy stands. */
export interface PromptPlace {
  /** A private chat, or a surface of one person. */
  readonly direct: boolean;
  /** Names of those who may answer in this group; empty in a direct chat, or to say nothing. */
  readonly groupAudience: readonly string[];
  /** Who writes free text here now, and to which question. */
  readonly entry: EntryMode | null;
  readonly address: string;
  /** The place can tell that a message replies to one of ours. */
  readonly nativeReplies: boolean;
  /** Shown, with how to use it, when several questions are open here; else null. */
  readonly shortId: string | null;
  /** The person whose own web view this is: they see what they typed elsewhere. */
  readonly ownViewOf?: string | null;
}

export interface PromptView {
  readonly inquiry: Inquiry;
  readonly promptFor: PromptPlace;
  readonly locale: Locale;
}

/** One paragraph. `native` and `text` lines are alternatives: `fit` keeps those of the form it chose. */
export interface Block {
  readonly spans: readonly Span[];
  /** Absent: in every form. */
  readonly only?: "native" | "text";
  /** Stands directly under the block before, without a blank line. */
  readonly tight?: true;
}

export function block(spans: readonly Span[], rest: Omit<Block, "spans"> = {}): Block {
  return { spans, ...rest };
}

export function plain(text: string): Span {
  return { text, style: "plain" };
}

/** The sign a person types for an option, in the language's digits. */
export function shownMark(locale: Locale, question: Question, index: number): string {
  const mark = markOf(question, index);
  return /^\d+$/.test(mark) ? numeral(locale, Number(mark)) : mark;
}
