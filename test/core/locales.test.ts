import { describe, expect, test } from "vitest";
import {
  channelName,
  deadlineText,
  LOCALES,
  type Locale,
  localeOf,
  numeral,
  placeName,
  type StringKey,
  say,
} from "../../src/core/locales/locale.ts";
import { isCancelWord, isNoneWord, isSkipWord, meansOther } from "../../src/core/reply/words.ts";

const locales = Object.values(LOCALES);
const keys = Object.keys(LOCALES.en.strings) as StringKey[];

/** The names between braces, sorted: what a string takes. */
function argumentsOf(message: string): readonly string[] {
  return [...new Set([...message.matchAll(/\{(\w+)[},]/g)].map((match) => match[1] ?? ""))].sort();
}

/** `say` for a key known only at run time. */
const sayAny = say as (locale: Locale, key: StringKey, args: Readonly<Record<string, string | number>>) => string;

function sampleOf(message: string): Record<string, string | number> {
  const numbers = new Set(["count", "number"]);
  return Object.fromEntries(argumentsOf(message).map((name) => [name, numbers.has(name) ? 2 : `<${name}>`]));
}

describe.each(locales.map((locale) => [locale.code, locale] as const))("%s", (_, locale: Locale) => {
  test.each(keys)("%s is written, takes what English takes and shows it", (key) => {
    const english = sampleOf(LOCALES.en.strings[key]);
    expect(argumentsOf(locale.strings[key])).toEqual(Object.keys(english));
    const text = sayAny(locale, key, english);
    expect(text.trim()).not.toBe("");
    for (const value of Object.values(english)) {
      expect(text).toContain(typeof value === "number" ? numeral(locale, value) : value);
    }
  });

  test("has no string English does not have", () => {
    expect(Object.keys(locale.strings)).toEqual(keys);
  });

  test("speaks of pressing only where there is something to press", () => {
    const pressing = /press|button|\btap|puls|botón|drück|knopf|دکمه|بزنید/i;
    const spoken = keys.filter((key) => pressing.test(locale.strings[key]) && !key.startsWith("inbox."));
    expect(spoken.filter((key) => !key.endsWith("_native") && !/^how\.native_/.test(key))).toEqual([
      "notice.old_button",
      "notice.being_written",
    ]);
  });

  test("the words a person is told to send are words that are understood", () => {
    const quoted = (key: StringKey) => /[“«„](?<word>[^”»“]+)[”»“]/u.exec(locale.strings[key])?.groups?.word ?? "";
    expect(isSkipWord(quoted("how.skip"))).toBe(true);
    expect(isSkipWord(quoted("how.skip_batch"))).toBe(true);
    expect(isNoneWord(quoted("how.multi_number"))).toBe(true);
    expect(isSkipWord(locale.strings["command.skip"])).toBe(true);
    expect(isCancelWord(locale.strings["command.cancel"])).toBe(true);
    expect(meansOther(locale.strings["button.other"])).toBe(true);
  });

  test("words are lower case, without repetition, and mean one thing", () => {
    const { other, skip, cancel } = locale.words;
    const all = [...other, ...skip, ...cancel];
    expect(all.map((word) => word.toLowerCase())).toEqual(all);
    expect(new Set(all).size).toBe(all.length);
    expect(skip).toContain(locale.strings["button.skip"].toLowerCase());
    expect(other).toContain(locale.strings["button.other"].toLowerCase());
  });
});

test.each(["Something else", "Another", "None of these", "Etwas anderes", "Otra vez", "یک چیز دیگر"])(
  "an option called %j is an option, not Other",
  (label) => {
    expect(meansOther(label)).toBe(false);
  },
);

test.each([
  ["es-MX", "es"],
  ["fa_IR", "fa"],
  ["DE", "de"],
  ["pt-BR", "en"],
  ["", "en"],
  [null, "en"],
])("the tag %j is spoken to in %s", (tag, code) => {
  expect(localeOf(tag, LOCALES.en).code).toBe(code);
});

test("what is filled in stays on one line and cannot turn the sentence around", () => {
  const answer = "Staging\n\nAnswered by\u202E Bo";
  expect(say(LOCALES.en, "notice.already_answered", { person: "Ana", answer })).toBe(
    "Already answered by Ana: Staging Answered by Bo",
  );
  expect(say(LOCALES.en, "notice.already_answered", { person: "سارا", answer: "{x}" })).toBe(
    "Already answered by \u2068سارا\u2069: {x}",
  );
  expect(say(LOCALES.fa, "notice.recorded", { answer: "<b>v2</b>" })).toBe("ثبت شد: \u2068<b>v2</b>\u2069");
});

test.each([
  ["en", 900, "Answer within 15 minutes, by 17:05 UTC."],
  ["en", 120, "Answer within 2 minutes, by 17:05 UTC."],
  ["en", 119, "Answer within 119 seconds, by 17:05:42 UTC."],
  ["en", 3600, "Answer within 60 minutes, by 17:05 UTC."],
  ["es", 900, "Responde en 15 minutos, hasta las 17:05 UTC."],
  ["de", 900, "Antworte innerhalb von 15 Minuten, bis 17:05 UTC."],
  ["fa", 900, "تا \u2068۱۵ دقیقه\u2069 فرصت دارید، یعنی تا ساعت \u2068۱۷:۰۵\u2069 به وقت جهانی."],
] as const)("the deadline in %s after %d seconds", (code, seconds, expected) => {
  expect(deadlineText(LOCALES[code], seconds, Date.UTC(2026, 10, 30, 17, 5, 42, 900))).toBe(expected);
});

test("a place is named, also one nobody has a word for", () => {
  expect(placeName(LOCALES.en, "web")).toBe("on the web panel");
  expect(placeName(LOCALES.de, "pigeon")).toBe("in pigeon");
  expect(channelName(LOCALES.fa, "telegram")).toBe("تلگرام");
  expect(channelName(LOCALES.en, "constructor")).toBe("constructor");
});
