/**
 * The one fallback ladder: a prompt and a channel's limits give what that channel is to show.
 *
 * Native controls where all of them fit, else the same prompt as numbered text; never some of them. Nothing is lost:
 * what a button cuts stands in full in the body, what one message cannot hold goes on in the next, controls and options
 * on the last. A button's meaning is its control, fixed by question and option index, never by where it is drawn.
 */
import { encodeControl } from "./control.ts";
import { type ButtonLimits, type Limits, measure } from "./limits.ts";
import type { Choice, Prompt } from "./prompt.ts";
import { splitParts } from "./split.ts";
import { cut, type Span } from "./text.ts";
import type { Block } from "./view.ts";

export interface Button {
  readonly label: string;
  /** Payload for the platform, from `encodeControl`. */
  readonly control: string;
}

/** What an adapter sends: it splits nothing, shortens nothing and decides nothing. */
export interface FittedPrompt {
  /** Whether an answer is still asked for. */
  readonly open: boolean;
  readonly form: "native" | "text";
  /** One native message each, in order; the buttons belong to the last. Never empty. */
  readonly parts: readonly (readonly Span[])[];
  readonly rows: readonly (readonly Button[])[];
  /** An entry field to open beside the prompt. */
  readonly entry: EntryField | null;
}

export interface EntryField {
  readonly placeholder: string;
  readonly text: string;
  /** In a group: whom it opens for. Absent: the place has one reader. */
  readonly only?: { readonly identity: string; readonly name: string };
}

export interface FitOptions {
  /** The platform refused the native form: numbered text only. */
  readonly plain: boolean;
}

/** @param promptKey the 16 characters that name this copy in its controls */
export function fit(prompt: Prompt, limits: Limits, promptKey: string, options: FitOptions): FittedPrompt {
  const rows = options.plain ? null : rowsFor(prompt.choices, limits.buttons, promptKey);
  const form = rows ? "native" : "text";
  const blocks = prompt.blocks.filter((block) => block.only === undefined || block.only === form);
  return {
    open: prompt.open,
    form,
    parts: splitParts(blocks.map(paragraphOf), limits.text),
    rows: rows ?? [],
    entry: entryFor(prompt, limits, options),
  };
}

/** A paragraph together with what separates it from the one before. */
function paragraphOf(block: Block): { readonly gap: string; readonly spans: readonly Span[] } {
  return { gap: block.tight ? "\n" : "\n\n", spans: block.spans };
}

/** Null when the channel cannot hold every choice. */
function rowsFor(
  choices: readonly Choice[],
  limits: ButtonLimits | null,
  promptKey: string,
): readonly Button[][] | null {
  if (!limits || choices.length === 0 || choices.length > limits.max) return null;
  const buttons = choices.map((choice) => ({
    label: cut(choice.mark === "" ? choice.label : `${choice.mark}. ${choice.label}`, limits.label),
    control: encodeControl({ promptKey, question: choice.question, act: choice.act }),
  }));
  if (buttons.some((button) => button.control.length > limits.payloadBytes)) return null;
  if (new Set(buttons.map((button) => button.label)).size < buttons.length) return null;
  const options = buttons.filter((_, index) => choices[index]?.act.kind === "option");
  const actions = buttons.filter((_, index) => choices[index]?.act.kind !== "option");
  return [...inRows(options, limits.perRow), ...inRows(actions, limits.perRow)];
}

/** What a phone shows in one row before it cuts labels, in characters over all its equally wide buttons. */
const ROW_CHARACTERS = 30;

/** Neighbours share a row while all of them stay readable there. */
function inRows(buttons: readonly Button[], perRow: number): Button[][] {
  const rows: Button[][] = [];
  for (const button of buttons) {
    const row = rows.at(-1);
    const shared = [...(row ?? []), button];
    const widest = Math.max(...shared.map((one) => measure(one.label, "codePoints")));
    if (row && shared.length <= perRow && shared.length * widest <= ROW_CHARACTERS) row.push(button);
    else rows.push([button]);
  }
  return rows;
}

function entryFor(prompt: Prompt, limits: Limits, options: FitOptions): FittedPrompt["entry"] {
  if (!prompt.entry || !limits.entryField || options.plain) return null;
  return { placeholder: prompt.entry.placeholder, text: cut(prompt.entry.text, limits.text) };
}
