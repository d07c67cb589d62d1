/**
 * Text that other people wrote, made safe to show: agent text becomes spans once, and adapters only escape.
 *
 * Rules: what is not certainly Markdown stays literal; control characters and characters that turn the writing
 * direction around never reach a screen; each line of foreign text carries a bar, so that it cannot pass for a line of
 * ours; foreign text inside a sentence of ours is isolated, so that right-to-left and Latin do not tangle.
 * Everything here takes time linear in the text.
 */
import { measure, type TextLimit } from "./limits.ts";

/** A run of text in one style. Whoever wrote it, its characters are shown as they are and never interpreted again. */
export interface Span {
  readonly text: string;
  readonly style: "plain" | "bold" | "italic" | "code";
}

export type Direction = "ltr" | "rtl";

/** All controls but tab and newline; then embeddings, overrides, isolates and other invisible format characters. */
const CONTROLS = /[^\P{Cc}\t\n]/gu;
const INVISIBLE = /[\u202a-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb]/g;
const LINE_BREAKS = /\r\n|[\r\u0085\u2028\u2029]/g;

/** For display only: what can deceive is gone, line breaks are `\n`, half surrogate pairs are replacement characters. */
export function clean(text: string): string {
  return text
    .replace(LINE_BREAKS, "\n")
    .replace(CONTROLS, "")
    .replace(INVISIBLE, "")
    .replace(/\p{Surrogate}/gu, "\ufffd");
}

/** The same on one line, each run of white space a single space. */
export function oneLine(text: string): string {
  return clean(text).replace(/\s+/g, " ").trim();
}

/**
 * `code`, **bold**, *italic* and _italic_, each within one line, tight around words and standing apart from words;
 * anything nested or doubtful (`snake_case_name`, `a*b*c`, `2 * 3`, `*.ts`) is left as written.
 */
const MARKDOWN =
  /(?<=^|[\s("'“«‘[])(?:`(?<code>[^\s`](?:[^`\n]*[^\s`])?)`|\*\*(?<bold>[^\s\p{P}][^*\n]*)(?<![\s*])\*\*|\*(?<star>[^\s\p{P}][^*\n]*)(?<!\s)\*|_(?<line>[^\s\p{P}][^_\n]*)(?<!\s)_)(?=$|[\s.,;:!?)\]"'”»’…،؛؟])/gmu;

/** Agent text as spans; concatenated they hold the text without the marks that became a style. Never throws. */
export function spansOf(agentText: string): readonly Span[] {
  const text = clean(agentText);
  const spans: Span[] = [];
  let from = 0;
  for (const match of text.matchAll(MARKDOWN)) {
    if (match.index > from) spans.push({ text: text.slice(from, match.index), style: "plain" });
    spans.push(styled(match.groups ?? {}));
    from = match.index + match[0].length;
  }
  if (from < text.length) spans.push({ text: text.slice(from), style: "plain" });
  return spans;
}

function styled(groups: Readonly<Record<string, string | undefined>>): Span {
  if (groups.code !== undefined) return { text: groups.code, style: "code" };
  if (groups.bold !== undefined) return { text: groups.bold, style: "bold" };
  return { text: groups.star ?? groups.line ?? "", style: "italic" };
}

export function plainOf(spans: readonly Span[]): string {
  return spans.map((span) => span.text).join("");
}

export const FIRST_STRONG_ISOLATE = "\u2068";
export const POP_ISOLATE = "\u2069";
const LEFT_TO_RIGHT_MARK = "\u200e";
export const RIGHT_TO_LEFT_MARK = "\u200f";
const RIGHT_TO_LEFT_LETTER = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * One line of text to stand inside a line that runs `around`: it keeps its own order and leaves ours alone.
 * Left-to-right text on a left-to-right line needs nothing and stays free of invisible characters.
 */
export function isolate(text: string, around: Direction): string {
  if (text === "" || (around === "ltr" && !RIGHT_TO_LEFT_LETTER.test(text))) return text;
  return `${FIRST_STRONG_ISOLATE}${text}${POP_ISOLATE}`;
}

/** The direction most of its letters run in. */
export function directionOf(text: string): Direction {
  const letters = text.match(/\p{L}/gu) ?? [];
  const rightToLeft = letters.filter((letter) => RIGHT_TO_LEFT_LETTER.test(letter)).length;
  return rightToLeft * 2 > letters.length ? "rtl" : "ltr";
}

/** What a line of foreign text begins with; no line of ours does. */
export const BAR = "│ ";

/** Foreign text as lines of its own, each behind a bar; `around` is the direction of the lines beside it. */
export function quoteLines(text: string, around: Direction, indent = ""): string {
  const safe = clean(text).trim();
  const mixed = around === "rtl" || RIGHT_TO_LEFT_LETTER.test(safe);
  const mark = directionOf(safe) === "rtl" ? RIGHT_TO_LEFT_MARK : LEFT_TO_RIGHT_MARK;
  const lead = `${mixed ? mark : ""}${indent}${BAR}`;
  return safe
    .split("\n")
    .map((line) => lead + line)
    .join("\n");
}

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Where a text of at most `max` units ends without cutting a grapheme; only one longer than `max` is cut, at a code point. */
export function graphemeEnd(text: string, limit: TextLimit): number {
  let end = 0;
  let used = 0;
  for (const point of text) {
    used += limit.unit === "utf16" ? point.length : 1;
    if (used > limit.max) break;
    end += point.length;
  }
  if (end >= text.length) return text.length;
  return graphemes.segment(text.slice(0, end + 2)).containing(end)?.index || end;
}

/** The text, shortened to the limit with an ellipsis where it must be. */
export function cut(text: string, limit: TextLimit): string {
  if (measure(text, limit.unit) <= limit.max) return text;
  const end = graphemeEnd(text, { max: Math.max(0, limit.max - 1), unit: limit.unit });
  return `${text.slice(0, end).trimEnd()}…`;
}
