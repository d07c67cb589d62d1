/**
 * The marks options are shown with and typed by: numbers, or letters where the labels are numbers themselves.
 *
 * Decides what a mark reads as, never whether it is the answer.
 */
import type { Question } from "../question.ts";
import { fold } from "./fold.ts";
import { numberWord } from "./words.ts";

/** A mark as typed: its position from 1; `plain` when it has no list punctuation that would make it more than a word. */
export interface TypedMark {
  readonly value: number;
  readonly plain: boolean;
}

/** Whether every label is a number or begins with one, so that a number typed is a value rather than a position. */
export function isValueQuestion(question: Question): boolean {
  return question.options.length > 0 && question.options.every((option) => beginsWithNumber(fold(option.label)));
}

function beginsWithNumber(folded: string): boolean {
  const word = /^[\p{L}\p{M}]+/u.exec(folded)?.[0] ?? "";
  return /^\d/u.test(folded) || numberWord(word) !== undefined;
}

/** What the option is shown with and answers to when typed: "1", or "A" in a value question. */
export function markOf(question: Question, index: number): string {
  return isValueQuestion(question) ? String.fromCharCode(65 + index) : String(index + 1);
}

/** "2", "2.", "2)", "(2)", "#2" and so on, folded; null for everything else. Leading zeros do not count. */
export function typedNumber(folded: string): TypedMark | null {
  const match = /^([#([]?)(\d+)([.):\]!,;]*)$/u.exec(folded);
  if (!match) return null;
  const [, before = "", digits = "", after = ""] = match;
  return { value: Number(digits), plain: before === "" && /^[.!,;]*$/u.test(after) };
}

/** A lone letter a to d, folded, as its position from 1; null for everything else. */
export function typedLetter(folded: string): number | null {
  const match = /^[([]?([a-d])[.):\]!,;]*$/u.exec(folded);
  return match ? (match[1] ?? "a").charCodeAt(0) - 96 : null;
}

/** The numbers a folded label holds as words of their own, or the one its only word says. */
export function numbersIn(folded: string): readonly number[] {
  const word = numberWord(folded);
  const digits = folded.match(/(?<![\p{L}\p{N}])\d+(?![\p{L}\p{N}])/gu) ?? [];
  return word === undefined ? digits.map(Number) : [word];
}
