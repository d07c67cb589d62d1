/**
 * A language: everything a person who is asked may read, and the words they may type. One file per language; a key
 * missing in one is a type error. Strings are ICU MessageFormat.
 */
import { de } from "./de.ts";
import { en } from "./en.ts";
import { es } from "./es.ts";
import { fa } from "./fa.ts";

export interface Locale {
  /** BCP 47, as `en`. */
  readonly code: string;
  readonly direction: "ltr" | "rtl";
  readonly strings: Readonly<Record<StringKey, string>>;
  readonly words: Words;
}

/** Words people type, lower case, matched whole after folding. */
export interface Words {
  /** What an option that means Other is called; such an authored option is removed. */
  readonly other: readonly string[];
  readonly skip: readonly string[];
  readonly cancel: readonly string[];
}

export type StringKey = keyof typeof en.strings;

export const LOCALES: Readonly<Record<string, Locale>> = { en, es, de, fa };
