/**
 * Folding: when two texts count as the same to a reader.
 *
 * `foldCase` is the measure the door uses for labels and decides nothing a reader could not see. `fold` forgives more
 * and is for comparing what a person typed; what it returns is never shown, stored or handed to an agent.
 */

const INVISIBLE = /\p{Default_Ignorable_Code_Point}|\u2800|\u20E3|(?![\n\t])\p{Cc}/gu;

/** What a recommended option's label ends in; part of the label, shown as a mark, never needed in a reply. */
export const RECOMMENDED = " (Recommended)";

/** Compatibility forms, letter case and outer space do not count. */
export function foldCase(text: string): string {
  return text.normalize("NFKC").toUpperCase().toLowerCase().replaceAll("i\u0307", "i").normalize("NFKC").trim();
}

/** As `foldCase`; invisible characters, scripts of digits, variants of dashes, quotes, commas and Arabic letters neither. */
export function fold(text: string): string {
  return foldCase(asciiDigits(text).replace(INVISIBLE, ""))
    .replace(/[\p{Pd}\u2212]/gu, "-")
    .replace(/[\u2018\u2019\u02BC]/gu, "'")
    .replace(/[\u201C\u201D\u201E]/gu, '"')
    .replace(/[\u060C\u3001]/gu, ",")
    .replace(/\u061B/gu, ";")
    .replace(/\u061F/gu, "?")
    .replace(/\u3002/gu, ".")
    .replace(/[\u064A\u0649]/gu, "\u06CC")
    .replace(/\u0643/gu, "\u06A9")
    .replace(/[^\S\n]+/gu, " ")
    .trim();
}

/** Whether a reader would see nothing at all. */
export function isBlank(text: string): boolean {
  return text.replace(INVISIBLE, "").trim() === "";
}

/** The label without its recommendation mark, however that is cased. */
export function withoutMark(label: string): string {
  const text = label.trimEnd();
  const at = text.length - RECOMMENDED.trim().length;
  return text.slice(at).toLowerCase() === RECOMMENDED.trim().toLowerCase() ? text.slice(0, at).trimEnd() : label;
}

/** The label without one bracketed tail of any wording. */
export function withoutTail(label: string): string {
  const close = label.at(-1) ?? "";
  const open = { ")": "(", "]": "[" }[close];
  return open ? label.slice(0, label.lastIndexOf(open)).trimEnd() : label;
}

/** The text without the given characters at its end. In one pass: a pattern would try every run anew. */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Decimal digits of every script as 0-9; circled and dingbat digits and keycaps each as a word of its own. */
export function asciiDigits(text: string): string {
  return text
    .replace(/([0-9])\uFE0F?\u20E3/gu, " $1 ")
    .replace(/[\u2460-\u2473\u24F5-\u24FE\u2776-\u2793]/gu, (sign) => ` ${circled(sign.codePointAt(0) ?? 0)} `)
    .replace(/(?![0-9])\p{Nd}/gu, (sign) => String(digitOf(sign.codePointAt(0) ?? 0)));
}

function circled(code: number): number {
  if (code <= 0x2473) return code - 0x2460 + 1;
  if (code <= 0x24fe) return code - 0x24f5 + 1;
  return ((code - 0x2776) % 10) + 1;
}

/** Every script keeps its ten digits together, zero first; mathematical ones lie in runs of ten from U+1D7CE. */
function digitOf(code: number): number {
  if (code >= 0x1d7ce && code <= 0x1d7ff) return (code - 0x1d7ce) % 10;
  let zero = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return code - zero;
}
