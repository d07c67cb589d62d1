/**
 * Whether a text is a choice of options and nothing else: labels, marks, or a list of them.
 *
 * A number that could mean two options is `ambiguous`, one that no option has is `out_of_range`, and a list with one
 * such item is refused whole. Text is split at separators only where no label holds them.
 */
import type { Question } from "../question.ts";
import { fold, withoutEnd, withoutTail } from "./fold.ts";
import { isValueQuestion, numbersIn, type TypedMark, typedLetter, typedNumber } from "./marks.ts";

export type Fault = "out_of_range" | "ambiguous";

/** The option whose label a text is. */
type Named = number | "ambiguous" | null;
/** The index of an option; null when the text is no choice. */
type Item = Named | "out_of_range";

/** Code points beyond which a reply can only be one whole label. */
const LONGEST_LIST = 240;
const SEPARATORS = /[,;\n\u060C\u061B\u3001\uFF0C\uFF1B]/gu;

/** The indexes chosen, at least one and maybe repeated; null when the text is no choice. */
export function choose(question: Question, text: string): readonly number[] | Fault | null {
  if (question.options.length === 0) return null;
  const label = labelOf(question, text);
  if (text.length > LONGEST_LIST) return typeof label === "number" ? [label] : label;
  const item = readItem(question, text, label);
  if (typeof item === "number") return [item];
  return item ?? readList(question, text) ?? readRange(question, fold(text));
}

/** The option whose label this is; the strictest comparison that finds any decides. */
export function labelOf(question: Question, text: string): Named {
  const labels = question.options.map((option) => option.label);
  const folded = labels.map(fold);
  const typed = fold(text);
  const ended = withoutEnd(typed, " .!,;:");
  const levels: readonly (readonly boolean[])[] = [
    labels.map((label) => label === text),
    folded.map((label) => label === typed),
    folded.map((label) => label === ended && ended !== ""),
    folded.map((label) => withoutTail(label) === ended && ended !== ""),
  ];
  const hits = levels
    .map((level) => level.flatMap((hit, index) => (hit ? [index] : [])))
    .find((level) => level.length > 0);
  if (!hits) return null;
  return hits.length === 1 ? (hits[0] ?? null) : "ambiguous";
}

function readItem(question: Question, text: string, label = labelOf(question, text)): Item {
  const typed = withoutEnd(fold(text), " ");
  const number = typedNumber(typed);
  if (number) return readNumber(question, number, label);
  if (label !== null) return label;
  if (/^[+-]\d+$/u.test(typed)) return "ambiguous";
  return readLetter(question, typed) ?? readMarkedLabel(question, typed);
}

/** A number may name a position, a label, or both. */
function readNumber(question: Question, number: TypedMark, label: Named): Item {
  if (label === "ambiguous") return label;
  const { value } = number;
  const position = value >= 1 && value <= question.options.length ? value - 1 : null;
  const named = question.options.flatMap((option, index) =>
    numbersIn(fold(option.label)).includes(value) ? [index] : [],
  );
  if (isValueQuestion(question))
    return readValue(question, number, label ?? position, label === null ? named : [label]);
  const readings = new Set([...named, ...(label === null ? [] : [label]), ...(position === null ? [] : [position])]);
  if (readings.size === 0) return "out_of_range";
  return readings.size === 1 ? ([...readings][0] ?? null) : "ambiguous";
}

/** Where labels are numbers a plain number is a value; one with list punctuation is still a position. */
function readValue(
  question: Question,
  { value, plain }: TypedMark,
  position: number | null,
  named: readonly number[],
): Item {
  const [only] = named;
  if (only === undefined) return position === null ? null : plain ? "ambiguous" : position;
  const begins = fold(question.options[only]?.label ?? "").split(" ")[0] === String(value);
  if (named.length > 1) return "ambiguous";
  return only === position || (plain && begins) ? only : "ambiguous";
}

function readLetter(question: Question, typed: string): Item {
  const position = typedLetter(typed);
  if (position === null) return null;
  const letter = String.fromCharCode(96 + position);
  const others = question.options.some(
    (option, index) => index !== position - 1 && fold(option.label).startsWith(letter),
  );
  if (others) return "ambiguous";
  return position <= question.options.length ? position - 1 : "out_of_range";
}

/** "2. Production" as shown: the mark and the label must agree. */
function readMarkedLabel(question: Question, typed: string): Item {
  const match = /^([#([]?(?:\d{1,2}|[a-d]))([.):\]-]{0,2}) +(\S.*)$/su.exec(typed);
  if (!match) return null;
  const [, mark = "", , rest = ""] = match;
  const label = labelOf(question, rest);
  if (label === null) return null;
  const position = isValueQuestion(question) ? typedLetter(mark) : (typedNumber(mark)?.value ?? typedLetter(mark));
  if (position === null) return null;
  return label === position - 1 ? label : "ambiguous";
}

interface Piece {
  readonly from: number;
  readonly to: number;
}

/** Pieces between separators; at each place the longest run of pieces that is one label goes first. */
function readList(question: Question, text: string): readonly number[] | Fault | null {
  const pieces = piecesOf(text);
  const longest = Math.max(...question.options.map((option) => piecesOf(option.label).length));
  const items: Item[] = [];
  for (let at = 0; at < pieces.length; ) {
    const run = labelRun(question, text, pieces, at, longest);
    items.push(...(run ? [run.item] : readPiece(question, text.slice(pieces[at]?.from, pieces[at]?.to))));
    at += run?.length ?? 1;
  }
  if (items.length < 2 || items.includes(null)) return items.length === 1 ? fromItem(items[0] ?? null) : null;
  if (items.includes("out_of_range")) return "out_of_range";
  return items.includes("ambiguous") ? "ambiguous" : items.filter((item) => typeof item === "number");
}

function fromItem(item: Item): readonly number[] | Fault | null {
  return typeof item === "number" ? [item] : item;
}

function labelRun(question: Question, text: string, pieces: readonly Piece[], at: number, longest: number) {
  for (let length = Math.min(longest, pieces.length - at); length > 1; length--) {
    const item = labelOf(question, text.slice(pieces[at]?.from, pieces[at + length - 1]?.to).trim());
    if (item !== null) return { item, length };
  }
  return null;
}

/** One item, several numbers with spaces between them, or nothing. */
function readPiece(question: Question, piece: string): readonly Item[] {
  const text = piece.trim();
  if (text === "") return [];
  const item = readItem(question, text);
  if (item !== null) return [item];
  const words = fold(text).split(/\s+/u);
  const numbers = words.every((word) => typedNumber(word) !== null);
  return numbers ? words.map((word) => readItem(question, word)) : [null];
}

function piecesOf(text: string): readonly Piece[] {
  const cuts = [...text.matchAll(SEPARATORS)].map((match) => match.index);
  return [...cuts, text.length].map((to, index) => ({ from: index === 0 ? 0 : (cuts[index - 1] ?? 0) + 1, to }));
}

/** "1-3" on a multi-select; on any other question two numbers joined by a sign have no safe reading. */
function readRange(question: Question, typed: string): readonly number[] | Fault | null {
  const match = /^(\d{1,3}) ?([-/]) ?(\d{1,3})$/u.exec(typed);
  if (!match) return null;
  const [from, to] = [Number(match[1]), Number(match[3])];
  if (match[2] === "/" || !question.multiSelect || isValueQuestion(question) || from > to) return "ambiguous";
  if (from < 1 || to > question.options.length) return "out_of_range";
  const range = Array.from({ length: to - from + 1 }, (_, index) => readItem(question, String(from + index)));
  return range.every((item) => typeof item === "number") ? range : "ambiguous";
}
