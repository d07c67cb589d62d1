/**
 * The prompt: what one copy of an inquiry shows now, free of any channel.
 */
import type { Act } from "./control.ts";
import type { Span } from "./text.ts";

/** One paragraph. `native` and `text` lines are alternatives: `fit` keeps those of the form it chose. */
export interface Block {
  readonly spans: readonly Span[];
  /** Absent: in every form. */
  readonly only?: "native" | "text";
}

/** A native control the prompt could have. */
export interface Choice {
  readonly label: string;
  /** Shown before the label when labels alone would look alike: "1", "A". */
  readonly mark: string;
  readonly question: number;
  readonly act: Act;
}

export interface Prompt {
  readonly open: boolean;
  readonly blocks: readonly Block[];
  /** Empty when the form is text only, or the inquiry is over. */
  readonly choices: readonly Choice[];
  /** Free text is asked for now: shown as force reply, modal or input where there is one. */
  readonly entry: { readonly placeholder: string; readonly text: string; readonly person: string } | null;
}
