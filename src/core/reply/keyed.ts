/**
 * Keyed replies to a batch: `1: …`, `2) …`, `Q1: …`, or the question's id or header before a colon, in lines or inline.
 *
 * Decides where a value begins and ends; values are cut from the reply as typed. `9:00` is a time, never a key.
 */
import type { Question } from "../question.ts";
import { asciiDigits, fold, isBlank, withoutEnd } from "./fold.ts";
import { isChoice, type RepromptReason, readOne, type Verdict } from "./single.ts";

interface Segment {
  /** Index of the question; null for a key that belongs to none, or to several. */
  readonly question: number | null;
  readonly value: string;
  /** Set off by a line break, a comma or a semicolon, not by a mere space. */
  readonly setOff: boolean;
}

/** Null when the reply is not keyed. */
export function readKeyed(questions: readonly Question[], reply: string): readonly Verdict[] | RepromptReason | null {
  const segments = segmentsOf(questions, reply.trim());
  if (!segments) return null;
  const verdicts = new Map<number, Verdict>();
  for (const { question: index, value, setOff } of segments) {
    const question = index === null ? undefined : questions[index];
    if (index === null || !question || verdicts.has(index)) return "ambiguous";
    const verdict: Verdict = isBlank(value) ? { reason: "partial" } : readOne(question, value);
    if (!setOff && !isChoice(verdict)) return "ambiguous";
    verdicts.set(index, verdict);
  }
  const answered = [...verdicts.values()].some((verdict) => !("reason" in verdict && verdict.reason === "partial"));
  return answered ? questions.map((_, index) => verdicts.get(index) ?? { reason: "partial" }) : "ambiguous";
}

function segmentsOf(questions: readonly Question[], reply: string): readonly Segment[] | null {
  const keys = keysOf(questions);
  const scanned = sameLength(reply);
  const marks = [...scanned.matchAll(keyPattern([...keys.keys()]))];
  if (!marks[0] || scanned.slice(0, marks[0].index).trim() !== "") return null;
  const inlineOnly = marks.some((mark) => mark.index > 0 && !isSetOff(scanned, mark.index));
  return marks.map((mark, index) => ({
    question: keys.get(fold(mark[1] ?? "")) ?? null,
    value: withoutEnd(reply.slice(mark.index + mark[0].length, marks[index + 1]?.index), " \t\n,;").trim(),
    setOff: !inlineOnly,
  }));
}

/** Every spelling of a key, folded; -1 where two questions share it, so that it names neither. */
function keysOf(questions: readonly Question[]): ReadonlyMap<string, number> {
  const keys = new Map<string, number>();
  for (let number = 1; number <= 9; number++) {
    for (const key of [`${number}`, `q${number}`]) keys.set(key, number <= questions.length ? number - 1 : -1);
  }
  for (const [index, question] of questions.entries()) {
    for (const key of new Set([fold(question.id), fold(question.header)])) {
      if (key !== "") keys.set(key, keys.has(key) && keys.get(key) !== index ? -1 : index);
    }
  }
  return keys;
}

function keyPattern(keys: readonly string[]): RegExp {
  const words = [...keys]
    .sort((a, b) => b.length - a.length)
    .map((key) => key.replace(/[.*+?^${}()|[\]\\/-]/gu, "\\$&"));
  return new RegExp(`(?<=^|[\\s,;])(${words.join("|")})[ \\t]*(?::(?!\\d\\d(?!\\d))|[=)]|[.-](?=\\s))`, "giu");
}

function isSetOff(text: string, at: number): boolean {
  return /[\n,;]/u.test(withoutEnd(text.slice(0, at), " \t").slice(-1));
}

/** For finding keys: digits and full-width signs as ASCII, direction marks as spaces, where that moves nothing. */
function sameLength(text: string): string {
  const unmarked = text.replace(/[\u200E\u200F\u061C\u2066-\u2069]/gu, " ");
  return unmarked.replace(/[\p{Nd}：＝）．，；،؛、]/gu, (sign) => {
    const plain = sign === "،" || sign === "、" ? "," : sign === "؛" ? ";" : asciiDigits(sign).normalize("NFKC");
    return plain.length === sign.length ? plain : sign;
  });
}
