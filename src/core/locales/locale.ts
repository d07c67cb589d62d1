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

/** The names a message takes, read off its English text: `{name}` and `{name, plural, …}`. */
type NamesIn<Message extends string> = Message extends `${string}{${infer Inside}}${infer Rest}`
  ? NameOf<Inside> | NamesIn<Rest>
  : never;
type NameOf<Inside extends string> = Inside extends `${infer Name},${string}` ? NameOf<Name> : WithoutSpace<Inside>;
type WithoutSpace<Word extends string> = Word extends `${string} ${string}` ? never : Word;

type ArgumentsOf<Key extends StringKey> = [NamesIn<(typeof en.strings)[Key]>] extends [never]
  ? readonly []
  : readonly [Readonly<Record<NamesIn<(typeof en.strings)[Key]>, string | number>>];

/**
 * One string in one language, with everything it takes. Text arguments may come from anybody; numbers are written in
 * the language's digits.
 */
export function say<Key extends StringKey>(locale: Locale, key: Key, ...[args]: ArgumentsOf<Key>): string {
  const name = `${locale.code}/${key}`;
  const known = compiled.get(name);
  const message = known ?? new IntlMessageFormat(locale.strings[key], locale.code, undefined, { ignoreTag: true });
  if (!known) compiled.set(name, message);
  const given: Readonly<Record<string, string | number>> = args ?? {};
  const values = Object.entries(given).map(([arg, value]) => [
    arg,
    typeof value === "number" ? value : isolate(oneLine(value), locale.direction),
  ]);
  return String(message.format(Object.fromEntries(values)));
}

/** Our own name of a channel, as in "Telegram" or "terminal"; one without a string keeps its plain name. */
export function channelName(locale: Locale, channel: string): string {
  const key = `channel.${channel}` as const;
  return isKey(locale, key) ? say(locale, key) : oneLine(channel);
}

/** Where something was answered, ready to stand in a sentence: "in Telegram", "on the web panel". */
export function placeName(locale: Locale, channel: string): string {
  const key = `in.${channel}` as const;
  return isKey(locale, key) && key !== "in.elsewhere" ? say(locale, key) : say(locale, "in.elsewhere", { channel });
}

function isKey<Key extends string>(locale: Locale, key: Key): key is Key & StringKey {
  return Object.hasOwn(locale.strings, key);
}

/** A language's own formatters; making one costs a hundred times what using it does, so each is made once. */
interface Formatters {
  readonly number: Intl.NumberFormat;
  readonly seconds: Intl.NumberFormat;
  readonly minutes: Intl.NumberFormat;
  readonly toTheSecond: Intl.DateTimeFormat;
  readonly toTheMinute: Intl.DateTimeFormat;
  readonly list: Intl.ListFormat;
}

const formatters = new Map<string, Formatters>();

function formattersOf({ code }: Locale): Formatters {
  const known = formatters.get(code);
  if (known) return known;
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: "UTC" } as const;
  const made: Formatters = {
    number: new Intl.NumberFormat(code, { useGrouping: false }),
    seconds: new Intl.NumberFormat(code, { style: "unit", unit: "second", unitDisplay: "long" }),
    minutes: new Intl.NumberFormat(code, { style: "unit", unit: "minute", unitDisplay: "long" }),
    toTheSecond: new Intl.DateTimeFormat(code, { ...clock, second: "2-digit" }),
    toTheMinute: new Intl.DateTimeFormat(code, clock),
    list: new Intl.ListFormat(code, { type: "unit" }),
  };
  formatters.set(code, made);
  return made;
}

/** A whole number in the language's digits, ungrouped: 3, ۳. */
export function numeral(locale: Locale, value: number): string {
  return formattersOf(locale).number.format(value);
}

/** Names one after another, as the language lists them. */
export function listed(locale: Locale, names: readonly string[]): string {
  return formattersOf(locale).list.format(names);
}

/** Seconds; below this a whole minute is too coarse a figure. */
const SHOW_SECONDS_BELOW = 120;

/**
 * "Answer within 15 minutes, by 17:05 UTC." Both figures are rounded down, never promising more time than there is.
 * @param timeoutSeconds 30 to 3,600
 * @param expiresAt milliseconds since the epoch
 */
export function deadlineText(locale: Locale, timeoutSeconds: number, expiresAt: number): string {
  const { seconds, minutes, toTheSecond, toTheMinute } = formattersOf(locale);
  const short = timeoutSeconds < SHOW_SECONDS_BELOW;
  const span = short ? seconds.format(timeoutSeconds) : minutes.format(Math.floor(timeoutSeconds / 60));
  return say(locale, "deadline", { span, time: (short ? toTheSecond : toTheMinute).format(expiresAt) });
}
