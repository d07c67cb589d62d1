/**
 * A long text as several messages: where it is cut, and what keeps each piece honest.
 *
 * Cuts fall at line ends, else at word ends, else between graphemes, never inside a surrogate pair. A line cut in two
 * begins again with its bar, or with an ellipsis, so that no piece of foreign text ever opens a message as if it were
 * a line of ours. Isolates are closed and opened again at a cut. The end of the text is kept together first.
 */
import { measure, type TextLimit } from "./limits.ts";
import { BAR, FIRST_STRONG_ISOLATE, graphemeEnd, POP_ISOLATE, plainOf, RIGHT_TO_LEFT_MARK, type Span } from "./text.ts";

export interface Paragraph {
  /** Line breaks between it and the paragraph before, when both stand in one message. */
  readonly gap: string;
  readonly spans: readonly Span[];
}

type Spans = readonly Span[];

/** At least one part, each within the limit; the last holds as many whole paragraphs from the end as fit. */
export function splitParts(paragraphs: readonly Paragraph[], limit: TextLimit): readonly Spans[] {
  const tail = paragraphs.findIndex((_, index) => fits(join(paragraphs.slice(index)), limit));
  if (tail === 0) return [join(paragraphs)];
  if (paragraphs.length === 0) return [[]];
  if (tail < 0) return splitLines(linesOf(join(paragraphs)), limit);
  return [...splitLines(linesOf(join(paragraphs.slice(0, tail))), limit), join(paragraphs.slice(tail))];
}

function fits(spans: Spans, limit: TextLimit): boolean {
  return measure(plainOf(spans), limit.unit) <= limit.max;
}

function join(paragraphs: readonly Paragraph[]): Spans {
  return paragraphs.flatMap((one, index) => (index === 0 ? one.spans : [plain(one.gap), ...one.spans]));
}

function plain(text: string): Span {
  return { text, style: "plain" };
}

function linesOf(spans: Spans): readonly Spans[] {
  const lines: Span[][] = [[]];
  for (const span of spans) {
    for (const [index, text] of span.text.split("\n").entries()) {
      if (index > 0) lines.push([]);
      if (text !== "") lines.at(-1)?.push({ text, style: span.style });
    }
  }
  return lines;
}

/** No message is cut smaller than this, whatever the limit says: a piece must hold its bar and some of its text. */
const SMALLEST = 16;
/** With less than this share of a message free, a line that must be cut anyway starts in the next one. */
const WORTH_FILLING = 1 / 4;

function splitLines(lines: readonly Spans[], given: TextLimit): readonly Spans[] {
  const limit = { ...given, max: Math.max(given.max, SMALLEST) };
  const parts: Spans[] = [];
  let part: Spans = [];
  for (const line of lines) {
    let rest = line;
    while (!fits(under(part, rest), limit)) {
      const free = limit.max - measure(plainOf(under(part, [])), limit.unit);
      const worthFilling = free >= Math.max(SMALLEST, limit.max * WORTH_FILLING) && !fits(rest, limit);
      if (part.length === 0 || worthFilling) {
        const [head, next] = cutLine(rest, { max: free, unit: limit.unit });
        part = under(part, head);
        rest = next;
      }
      parts.push(part);
      part = [];
    }
    part = under(part, rest);
  }
  return [...parts, part].map(withoutBlankEnd).filter((one) => one.length > 0);
}

function withoutBlankEnd(part: Spans): Spans {
  return part.slice(0, part.findLastIndex((span) => span.text.trim() !== "") + 1);
}

/** The line under what the part holds; a part does not open with a blank line. */
function under(part: Spans, line: Spans): Spans {
  return part.length === 0 ? line : [...part, plain("\n"), ...line];
}

/** A bar, or the mark of a line that goes on; then an isolate left open. Stays at the head of both pieces of a line. */
const OPENING = new RegExp(`^(?<lead>[\\u200e\\u200f]?(?:\\s*${BAR}|… ))?${FIRST_STRONG_ISOLATE}?`);

/** A beginning of the line within the limit, and the rest as a line of its own; each has some of the text. */
function cutLine(line: Spans, limit: TextLimit): readonly [Spans, Spans] {
  const text = plainOf(line);
  const match = OPENING.exec(text);
  const opening = match?.[0] ?? "";
  const closing = text.includes(FIRST_STRONG_ISOLATE) ? POP_ISOLATE : "";
  const room = limit.max - measure(opening + closing, limit.unit);
  const end = opening.length + lineEnd(text.slice(opening.length), { max: room, unit: limit.unit });
  const inside = text.lastIndexOf(FIRST_STRONG_ISOLATE, end - 1) > text.lastIndexOf(POP_ISOLATE, end - 1);
  const lead = match?.groups?.lead ?? (text.startsWith(RIGHT_TO_LEFT_MARK) ? `${RIGHT_TO_LEFT_MARK}… ` : "… ");
  const start = text[end] === " " ? end + 1 : end;
  return [
    [...slice(line, 0, end), ...(inside ? [plain(POP_ISOLATE)] : [])],
    [plain(inside ? lead + FIRST_STRONG_ISOLATE : lead), ...slice(line, start, text.length)],
  ];
}

/** The last word end in the second half of what fits, else the last grapheme end. */
function lineEnd(text: string, limit: TextLimit): number {
  const end = graphemeEnd(text, limit);
  const space = text.lastIndexOf(" ", end);
  return space > end / 2 && !/^[\p{M}\u200d]/u.test(text.slice(space + 1, space + 3)) ? space : end;
}

function slice(spans: Spans, from: number, to: number): Spans {
  const out: Span[] = [];
  let at = 0;
  for (const span of spans) {
    const text = span.text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (text !== "") out.push({ text, style: span.style });
    at += span.text.length;
  }
  return out;
}
