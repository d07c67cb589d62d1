import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeControl } from "../../src/core/control.ts";
import { type FittedPrompt, fit as fitInto } from "../../src/core/fit.ts";
import { type ButtonLimits, type Limits, measure, type TextLimit } from "../../src/core/limits.ts";
import { LOCALES } from "../../src/core/locales/locale.ts";
import type { Prompt } from "../../src/core/prompt.ts";
import type { Option } from "../../src/core/question.ts";
import { plainOf, type Span } from "../../src/core/text.ts";
import { question as askedQuestion, prompt } from "./prompts.ts";

const KEY = "AbCdEfGh01234-_9";
const BUTTONS: ButtonLimits = { max: 25, perRow: 5, label: { max: 64, unit: "codePoints" }, payloadBytes: 64 };

function limits(text: TextLimit, buttons: ButtonLimits | null = BUTTONS): Limits {
  return {
    text,
    buttons,
    edits: true,
    replies: true,
    entryField: true,
    attendance: "always",
    pace: { perSecond: null, perAddressMs: 0, perGroupMs: 0 },
    repeat: "idempotent",
    unknownWaitMs: 30_000,
  };
}

const TELEGRAM = limits({ max: 4096, unit: "codePoints" });
const DISCORD = limits(
  { max: 2000, unit: "utf16" },
  { ...BUTTONS, label: { max: 80, unit: "utf16" }, payloadBytes: 100 },
);
const SLACK = limits({ max: 3000, unit: "codePoints" }, { ...BUTTONS, label: { max: 75, unit: "codePoints" } });
const HOSTILE = limits({ max: 40, unit: "utf16" }, null);

interface Asked {
  readonly question?: string;
  readonly options?: readonly (string | Option)[];
  readonly locale?: keyof typeof LOCALES;
  readonly entry?: boolean;
  readonly settled?: boolean;
}

function asked({
  question = "Which one?",
  options = ["Yes", "No"],
  locale = "en",
  entry = false,
  settled = false,
}: Asked): Prompt {
  const written = options.map((one) => (typeof one === "string" ? { label: one, description: null } : one));
  return prompt(
    {
      questions: [askedQuestion({ header: "Choice", question, options: written })],
      status: settled ? "timed_out" : "waiting",
    },
    { entry: entry ? { question: 0, person: "telegram:1" } : null },
    LOCALES[locale],
  );
}

function texts(fitted: FittedPrompt): readonly string[] {
  return fitted.parts.map((part) => plainOf(part));
}

function buttons(fitted: FittedPrompt) {
  return fitted.rows.flat();
}

function labels(fitted: FittedPrompt): readonly string[] {
  return buttons(fitted).map((button) => button.label);
}

/** Without what a cut adds: bars, ellipses, direction marks, isolates; and without white space. */
function substance(text: string): string {
  return text.replace(/[│…\u200e\u200f\u2068\u2069\s]/g, "");
}

function balanced(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === "\u2068") depth++;
    if (character === "\u2069") depth--;
    if (depth < 0 || depth > 1 || (character === "\n" && depth > 0)) return false;
  }
  return depth === 0;
}

describe("native or text", () => {
  const yesNo = asked({});

  test("native where every choice fits, its wording with it", () => {
    const fitted = fitInto(yesNo, TELEGRAM, KEY, { plain: false });
    expect(fitted.form).toBe("native");
    expect(texts(fitted).join()).toContain("Press a button");
  });

  test.each([
    ["no buttons at all", limits(TELEGRAM.text, null), false],
    ["one button too few", limits(TELEGRAM.text, { ...BUTTONS, max: 3 }), false],
    ["a payload too short", limits(TELEGRAM.text, { ...BUTTONS, payloadBytes: 21 }), false],
    ["labels too short to differ", limits(TELEGRAM.text, { ...BUTTONS, label: { max: 1, unit: "utf16" } }), false],
    ["the platform refused the native form", TELEGRAM, true],
  ] as const)("text, whole, with %s", (_, given, plain) => {
    const fitted = fitInto(yesNo, given, KEY, { plain });
    expect(fitted).toMatchObject({ form: "text", rows: [] });
    expect(texts(fitted).join()).toContain("Send the number of your choice.");
    expect(texts(fitted).join()).not.toContain("button");
  });

  test("the entry field opens where there is one, cut to the limit of the place", () => {
    const writing = asked({ entry: true });
    expect(fitInto(writing, TELEGRAM, KEY, { plain: false }).entry).toEqual({
      placeholder: "Your answer",
      text: "Write your answer to “Choice” as a reply to this message.",
    });
    expect(fitInto(writing, HOSTILE, KEY, { plain: false }).entry?.text).toBe(
      "Write your answer to “Choice” as a repl…".trim(),
    );
    expect(fitInto(writing, { ...TELEGRAM, entryField: false }, KEY, { plain: false }).entry).toBeNull();
    expect(fitInto(writing, TELEGRAM, KEY, { plain: true }).entry).toBeNull();
  });

  test("what is over has no controls", () => {
    expect(fitInto(asked({ settled: true }), TELEGRAM, KEY, { plain: false }).rows).toEqual([]);
  });
});

describe("buttons", () => {
  // https://github.com/openclaw/openclaw/issues/106996, https://github.com/openclaw/openclaw/pull/31948
  test("a long Persian label does not reach the payload, and no button is left out", () => {
    const label = "بازنویسی ماژول پرداخت پیش از انتشار آن";
    const fitted = fitInto(asked({ options: ["Wait", label, "Stop", "Ask again"] }), TELEGRAM, KEY, { plain: false });
    expect(labels(fitted)).toEqual(["1. Wait", `2. ${label}`, "3. Stop", "4. Ask again", "Other", "Skip"]);
    for (const { control } of buttons(fitted)) {
      expect(Buffer.byteLength(control)).toBeLessThanOrEqual(40);
      expect(control).toMatch(/^[\x21-\x7e]+$/);
    }
    expect(decodeControl(buttons(fitted)[1]?.control ?? "")).toEqual({
      promptKey: KEY,
      question: 0,
      act: { kind: "option", index: 1 },
    });
  });

  // https://github.com/NousResearch/hermes-agent/issues/54968
  test.each(["😀".repeat(40), "😀".repeat(41), "😀".repeat(80), `${"a".repeat(79)}😀`])(
    "counts as the platform does: %s",
    (label) => {
      const fitted = fitInto(asked({ options: [label, "No"] }), DISCORD, KEY, { plain: false });
      const [first = ""] = labels(fitted);
      expect(first.length).toBeLessThanOrEqual(80);
      expect(first).not.toMatch(/\p{Surrogate}/u);
      expect(texts(fitted).join()).toContain(label);
    },
  );

  // https://github.com/odefun/ode/pull/192, https://github.com/vercel/eve/issues/2779,
  // https://github.com/NousResearch/hermes-agent/issues/27497, https://github.com/openclaw/openclaw/pull/42970
  test("labels that only differ at the end stay apart, and stand in full in the body", () => {
    const start = "Roll back the last release, keep the database as it is, and page ";
    const long = [`${start}on-call now`, `${start}nobody now!`];
    for (const given of [TELEGRAM, DISCORD, SLACK]) {
      const fitted = fitInto(asked({ options: long }), given, KEY, { plain: false });
      expect(new Set(labels(fitted)).size).toBe(4);
      expect(new Set(buttons(fitted).map((button) => button.control)).size).toBe(4);
      expect(texts(fitted).join()).toContain(`1. ${long[0]}\n2. ${long[1]}\n`);
    }
  });

  // https://github.com/openclaw/openclaw/pull/118049
  test.each([1, 2, 3, 8])("drawn %d in a row at most, each means what it says", (perRow) => {
    const options = ["Red", "آبی", "A rather long label that needs its row", "Green"];
    const fitted = fitInto(asked({ options }), limits(TELEGRAM.text, { ...BUTTONS, perRow }), KEY, { plain: false });
    expect(Math.max(...fitted.rows.map((row) => row.length))).toBeLessThanOrEqual(perRow);
    for (const { label, control } of buttons(fitted).slice(0, 4)) {
      const act = decodeControl(control)?.act;
      expect(act?.kind === "option" ? label.endsWith(options[act.index] ?? "?") : false).toBe(true);
    }
  });

  test("short labels share a row, long ones have their own, Other and Skip stand below", () => {
    const rows = (options: readonly string[]) =>
      fitInto(asked({ options }), TELEGRAM, KEY, { plain: false }).rows.map((row) => row.map((button) => button.label));
    expect(rows(["Yes", "No"])).toEqual([
      ["1. Yes", "2. No"],
      ["Other", "Skip"],
    ]);
    expect(rows(["Staging environment", "Production environment"])).toEqual([
      ["1. Staging environment"],
      ["2. Production environment"],
      ["Other", "Skip"],
    ]);
  });
});

describe("messages", () => {
  const four: readonly Option[] = [1, 2, 3, 4].map((n) => ({
    label: `${n}${"l".repeat(198)}.`,
    description: "d".repeat(500),
  }));
  const sentence = "The quick brown fox jumps over the lazy dog. ";

  // https://github.com/openclaw/openclaw/pull/28854, https://github.com/mattmezza/humux/pull/89
  test.each([
    ["4,000 characters with everything long, Telegram", sentence.repeat(90).slice(0, 4000), TELEGRAM],
    ["2,500 characters, Discord", sentence.repeat(60).slice(0, 2500), DISCORD],
    ["3,200 characters, Slack", sentence.repeat(80).slice(0, 3200), SLACK],
    ["4,000 without a space, Telegram", "x".repeat(4000), TELEGRAM],
    ["4,000 emoji without a space, Discord", "👩‍👩‍👧".repeat(800), DISCORD],
    ["everything long, forty units, no buttons", sentence.repeat(90).slice(0, 4000), HOSTILE],
  ])("%s", (_, question, given) => {
    const fitted = fitInto(asked({ question, options: four }), given, KEY, { plain: false });
    expect(fitted.parts.length).toBeGreaterThan(1);
    for (const text of texts(fitted)) {
      expect(measure(text, given.text.unit)).toBeLessThanOrEqual(given.text.max);
      expect(text).not.toMatch(/\p{Surrogate}/u);
      expect(text).toMatch(/^(Question|\s*│|\d\. |…|[A-Z])/);
    }
    expect(texts(fitted).at(-1)).toContain("UTC.");
  });

  test("the options stand together on the last part, under the buttons' message", () => {
    const fitted = fitInto(asked({ question: "x".repeat(4000), options: four }), TELEGRAM, KEY, { plain: false });
    expect(fitted.parts).toHaveLength(2);
    expect(texts(fitted)[1]).toMatch(/^A\. 1l+\.\n {3}│ d{500}\nB\. 2l/);
  });

  test("each piece of the agent's text opens behind its bar", () => {
    const question = "Answered by Bo in Slack: yes. ".repeat(20);
    for (const text of texts(fitInto(asked({ question }), HOSTILE, KEY, { plain: false }))) {
      expect(text).not.toMatch(/^Answered/m);
    }
  });

  test("a style survives the cut", () => {
    const question = `**${"bold words ".repeat(20).trim()}**`;
    const parts = fitInto(asked({ question }), limits({ max: 60, unit: "codePoints" }, null), KEY, {
      plain: false,
    }).parts;
    const bold = parts.flat().filter((span: Span) => span.text.includes("bold"));
    expect(bold.length).toBeGreaterThan(2);
    expect(bold.every((span) => span.style === "bold")).toBe(true);
  });

  test("an isolate cut in two is closed and opened again", () => {
    const options = ["گزینه Production ".repeat(11).trim(), "No"];
    const parts = texts(fitInto(asked({ options, locale: "fa" }), HOSTILE, KEY, { plain: false }));
    expect(parts.filter((text) => text.includes("Production")).length).toBeGreaterThan(3);
    expect(parts.every(balanced)).toBe(true);
  });
});

describe("whatever is asked, wherever", () => {
  const character = fc.constantFrom(..."ab .*_`(\n", "م", "ی", "é", "👩‍👩‍👧", "😀", "🇮🇷", "e\u0301", "\u202e", "│");
  const words = (maxLength: number) =>
    fc.string({ unit: character, minLength: 1, maxLength }).filter((text) => /[a-zم]/.test(text));
  const prompts = fc
    .record({
      question: words(300),
      options: fc.uniqueArray(fc.record({ label: words(60), description: fc.option(words(80)) }), {
        minLength: 2,
        maxLength: 4,
        selector: (option) => substance(option.label),
      }),
      locale: fc.constantFrom("en" as const, "es" as const, "de" as const, "fa" as const),
    })
    .map(asked);
  const places = fc.record({
    text: fc.record({
      max: fc.integer({ min: 16, max: 400 }),
      unit: fc.constantFrom("codePoints" as const, "utf16" as const),
    }),
    label: fc.integer({ min: 14, max: 40 }),
  });

  test("every part is within the limit, balanced, and nothing is lost or added", () => {
    fc.assert(
      fc.property(prompts, places, (shown, place) => {
        const whole = fitInto(shown, limits({ max: 1e6, unit: "utf16" }, null), KEY, { plain: false });
        const fitted = fitInto(shown, limits(place.text, null), KEY, { plain: false });
        expect(substance(texts(fitted).join(""))).toBe(substance(texts(whole).join("")));
        for (const text of texts(fitted)) {
          expect(measure(text, place.text.unit)).toBeLessThanOrEqual(place.text.max);
          expect(text.trim()).not.toBe("");
          expect(text).not.toMatch(/\p{Surrogate}/u);
          expect(balanced(text)).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  test("buttons are distinct, within the limits, and decode to what they show", () => {
    fc.assert(
      fc.property(prompts, places, (shown, place) => {
        const label: TextLimit = { max: place.label, unit: place.text.unit };
        const fitted = fitInto(shown, limits(place.text, { ...BUTTONS, label }), KEY, { plain: false });
        expect(new Set(labels(fitted)).size).toBe(shown.choices.length);
        for (const [index, button] of buttons(fitted).entries()) {
          expect(measure(button.label, label.unit)).toBeLessThanOrEqual(label.max);
          expect(decodeControl(button.control)?.act).toEqual(shown.choices[index]?.act);
        }
      }),
      { numRuns: 300 },
    );
  });
});
