/**
 * The one fallback ladder: a prompt and a channel's limits give what that channel is to show.
 */
import type { Span } from "./text.ts";

export interface Button {
  readonly label: string;
  /** Payload for the platform, from `encodeControl`. */
  readonly control: string;
}

/** What an adapter sends: it splits nothing, shortens nothing and decides nothing. */
export interface FittedPrompt {
  readonly form: "native" | "text";
  /** One native message each, in order; the buttons belong to the last. Never empty. */
  readonly parts: readonly (readonly Span[])[];
  readonly rows: readonly (readonly Button[])[];
  /** An entry field to open beside the prompt; `person` is the platform identity it is for, where that can be said. */
  readonly entry: { readonly placeholder: string; readonly text: string } | null;
}
