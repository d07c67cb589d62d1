/**
 * A language: everything a person who is asked may read, and the words they may type. One file per language; a key
 * missing in one is a type error. Strings are ICU MessageFormat.
 *
 * Rules: nothing here depends on the present moment, so the same inquiry reads the same at every rendering; what is
 * filled in is somebody else's text, therefore cleaned, put on one line and isolated before it stands in our sentence.
 */
import { IntlMessageFormat } from "intl-messageformat";
import { type Direction, isolate, oneLine } from "../text.ts";
import { de } from "./de.ts";
import { en } from "./en.ts";
import { es } from "./es.ts";
import { fa } from "./fa.ts";

export interface Locale {
  /** BCP 47, as `en`. */
  readonly code: string;
  readonly direction: Direction;
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

export const LOCALES: Readonly<Record<"en" | "es" | "de" | "fa", Locale>> = { en, es, de, fa };

/** The language of a tag such as `es-MX` or `fa_IR`; what is not spoken here, or null, gives the fallback. */
export function localeOf(tag: string | null, fallback: Locale = LOCALES.en): Locale {
  const language = tag?.split(/[-_]/, 1)[0]?.toLowerCase() ?? "";
  return Object.values(LOCALES).find((locale) => locale.code === language) ?? fallback;
}

const compiled = new Map<string, IntlMessageFormat>();

/** One string in one language. Text arguments may come from anybody; numbers are written in the language's digits. */
export function say(locale: Locale, key: StringKey, args: Readonly<Record<string, string | number>> = {}): string {
  const name = `${locale.code}/${key}`;
  const known = compiled.get(name);
  const message = known ?? new IntlMessageFormat(locale.strings[key], locale.code, undefined, { ignoreTag: true });
  if (!known) compiled.set(name, message);
  const values = Object.entries(args).map(([arg, value]) => [
    arg,
    typeof value === "number" ? value : isolate(oneLine(value), locale.direction),
  ]);
  return String(message.format(Object.fromEntries(values)));
}

/** Our own name of a channel, as in "Telegram" or "the terminal's"; one without a string keeps its plain name. */
export function channelName(locale: Locale, channel: string): string {
  const key = `channel.${channel}`;
  return isKey(locale, key) ? say(locale, key) : oneLine(channel);
}

/** Where something was answered, ready to stand in a sentence: "in Telegram", "on the web panel". */
export function placeName(locale: Locale, channel: string): string {
  const key = `in.${channel}`;
  return isKey(locale, key) ? say(locale, key) : say(locale, "in.elsewhere", { channel });
}

function isKey(locale: Locale, key: string): key is StringKey {
  return Object.hasOwn(locale.strings, key);
}

/** A whole number in the language's digits, ungrouped: 3, ۳. */
export function numeral(locale: Locale, value: number): string {
  return new Intl.NumberFormat(locale.code, { useGrouping: false }).format(value);
}

/** Below this the seconds matter: milliseconds would round a short deadline away. */
const SHOW_SECONDS_BELOW = 120;

/**
 * "Answer within 15 minutes, by 17:05 UTC." Both figures are rounded down, never promising more time than there is.
 * @param timeoutSeconds 30 to 3,600
 * @param expiresAt milliseconds since the epoch
 */
export function deadlineText(locale: Locale, timeoutSeconds: number, expiresAt: number): string {
  const short = timeoutSeconds < SHOW_SECONDS_BELOW;
  const unit = short ? "second" : "minute";
  const amount = short ? timeoutSeconds : Math.floor(timeoutSeconds / 60);
  const span = new Intl.NumberFormat(locale.code, { style: "unit", unit, unitDisplay: "long" }).format(amount);
  const time = new Intl.DateTimeFormat(locale.code, {
    hour: "2-digit",
    minute: "2-digit",
    ...(short ? { second: "2-digit" } : {}),
    hourCycle: "h23",
    timeZone: "UTC",
  }).format(expiresAt);
  return say(locale, "deadline", { span, time });
}
