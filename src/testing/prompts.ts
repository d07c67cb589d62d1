/**
 * Fitted prompts for suites: what `fit` could hand an adapter, cut to a channel's limits and no further.
 */
import { encodeControl } from "../core/control.ts";
import type { Button, FittedPrompt } from "../core/fit.ts";
import { type Limits, measure, type TextLimit } from "../core/limits.ts";
import type { Span } from "../core/text.ts";

export interface PromptWish {
  readonly text: string;
  /** Where the channel has buttons, one for each. */
  readonly labels?: readonly string[];
  readonly entry?: FittedPrompt["entry"];
  readonly promptKey?: string;
}

/** 16 base64url characters, as every prompt key. */
export const PROMPT_KEY = "AAAAbbbbCCCC-_09";

export function promptOf(limits: Limits, wish: PromptWish): FittedPrompt {
  const parts = chunks(wish.text, limits.text).map((text): readonly Span[] => styled(text));
  const buttons = limits.buttons ? (wish.labels ?? []) : [];
  return {
    open: buttons.length > 0,
    form: buttons.length > 0 ? "native" : "text",
    parts,
    rows: buttons.map((label, index) => [buttonOf(limits, label, index, wish.promptKey ?? PROMPT_KEY)]),
    entry: wish.entry ?? null,
  };
}

function buttonOf(limits: Limits, label: string, index: number, promptKey: string): Button {
  const [first = label] = limits.buttons ? chunks(label, limits.buttons.label) : [label];
  return { label: first, control: encodeControl({ promptKey, question: 0, act: { kind: "option", index } }) };
}

/** The text in as few pieces as the limit allows, cut between characters a person would count. */
export function chunks(text: string, limit: TextLimit): readonly string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const character of charactersOf(text, limit)) {
    if (piece !== "" && measure(piece + character, limit.unit) > limit.max) {
      pieces.push(piece.trim());
      piece = "";
    }
    piece += character;
  }
  return [...pieces, piece.trim()].filter((one) => one !== "");
}

/** Graphemes; one that is over the limit by itself falls apart into code points. */
function charactersOf(text: string, limit: TextLimit): readonly string[] {
  const graphemes = [...new Intl.Segmenter("en", { granularity: "grapheme" }).segment(text)];
  return graphemes.flatMap(({ segment }) => (measure(segment, limit.unit) > limit.max ? [...segment] : [segment]));
}

/** The same text in every style a span can have: three runs, so that seams between styles are seen too. */
function styled(text: string): readonly Span[] {
  const points = [...text];
  const third = Math.ceil(points.length / 3);
  const run = (from: number, style: Span["style"]): Span => ({
    text: points.slice(from, from + third).join(""),
    style,
  });
  return [run(0, "bold"), run(third, "plain"), run(2 * third, "code")].filter((span) => span.text !== "");
}

/** A text of three messages. */
export function longerThan({ text }: Limits): string {
  const sentence = "Which environment? ";
  return sentence.repeat(Math.ceil((2.5 * text.max) / sentence.length)).trim();
}

/** What a person is to read, part by part. */
export function textsOf(prompt: FittedPrompt): readonly string[] {
  return prompt.parts.map((spans) => spans.map((span) => span.text).join(""));
}
