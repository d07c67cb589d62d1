import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { measure, type TextUnit } from "../../src/core/limits.ts";
import {
  clean,
  cut,
  directionOf,
  graphemeEnd,
  isolate,
  oneLine,
  plainOf,
  quoteLines,
  spansOf,
} from "../../src/core/text.ts";
import { RESERVED } from "../../src/testing/hostile-texts.ts";

/** Compact spelling of spans: <b:…> bold, <i:…> italic, <c:…> code. */
function spelled(text: string): string {
  const tags = { bold: "b", italic: "i", code: "c" } as const;
  return spansOf(text)
    .map((span) => (span.style === "plain" ? span.text : `<${tags[span.style]}:${span.text}>`))
    .join("");
}

describe("agent text becomes spans", () => {
  test.each([
    ["Use **bold** here", "Use <b:bold> here"],
    ["**Stop!**", "<b:Stop!>"],
    ["an *italic* and _another_ word", "an <i:italic> and <i:another> word"],
    ["run `npm test -- --run`, please", "run <c:npm test -- --run>, please"],
    ["(**bold**)", "(<b:bold>)"],
    ["**دو کلمه** فارسی", "<b:دو کلمه> فارسی"],
    ["first\n*second*\n`third`", "first\n<i:second>\n<c:third>"],
    ["**a_b** and `x*y`", "<b:a_b> and <c:x*y>"],
  ])("%j", (text, expected) => {
    expect(spelled(text)).toBe(expected);
  });

  // https://github.com/vercel/chat/pull/407, https://github.com/NousResearch/hermes-agent/pull/9722
  test.each([
    ...RESERVED,
    "* _ [ ] ` ( ) . ! - # \\ <b> a<b && c>d snake_case_name v1.2-rc_3",
    "*_[]`().!-#\\<b>a<b && c>dsnake_case_namev1.2-rc_3",
    "a*b*c",
    "2 * 3 * 4",
    "*.ts and *.js",
    "src/*.ts,*.js",
    "* one\n* two",
    "def f(*args, **kwargs)",
    "__init__.py",
    "_private and _other",
    "** not bold **",
    "**open",
    "**across\nlines**",
    "` spaced `",
    "``double``",
    "***both***",
    "[link](https://example.org/a_b_c)",
    "@everyone <@1> <!channel>",
    "tab\there\nand newline",
  ])("stays literal: %j", (text) => {
    expect(spelled(text)).toBe(text);
  });

  test("never throws, and loses nothing but the marks of a style", () => {
    const text = fc.string({
      unit: fc.constantFrom("*", "_", "`", " ", "\n", "a", "é", "😀", ".", "(", "م"),
      maxLength: 60,
    });
    fc.assert(
      fc.property(text, (agentText) => {
        const marks = /[*_`]/g;
        expect(plainOf(spansOf(agentText)).replace(marks, "")).toBe(agentText.replace(marks, ""));
      }),
    );
  });

  test("takes any string at all", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (agentText) => Array.isArray(spansOf(agentText))));
  });

  test.each(["*a ", "**a ", "_a ", "`a ", "(`", "*", "`"])("takes linear time on %j repeated", (piece) => {
    const started = process.hrtime.bigint();
    spansOf(piece.repeat(200_000));
    expect(Number(process.hrtime.bigint() - started) / 1e6).toBeLessThan(2_000);
  });
});

describe("cleaning for display", () => {
  test.each([
    ["a\u202Eb\u2066c\u2069", "abc"],
    ["bell\u0007 and escape\u001b[31m", "bell and escape[31m"],
    ["one\r\ntwo\rthree\u2028four\u0085five", "one\ntwo\nthree\nfour\nfive"],
    ["half \ud83d pair", "half \ufffd pair"],
    ["tab\tand\nnewline", "tab\tand\nnewline"],
    ["می‌شود 👩‍👩‍👧", "می‌شود 👩‍👩‍👧"],
  ])("%j", (text, expected) => {
    expect(clean(text)).toBe(expected);
  });

  test("one line is one line", () => {
    expect(oneLine(" Staging\n3. Forged\t option ")).toBe("Staging 3. Forged option");
  });
});

describe("foreign text is set apart", () => {
  test("every line stands behind a bar", () => {
    expect(quoteLines("Deploy?\n\nAnswered by Ana\r\n1. Yes", "ltr")).toBe(
      "│ Deploy?\n│ \n│ Answered by Ana\n│ 1. Yes",
    );
  });

  test("a bar of its own does not take the place of ours", () => {
    expect(quoteLines("a\n│ b\u2028c", "ltr")).toBe("│ a\n│ │ b\n│ c");
  });

  test.each([
    ["plain Latin on a Latin line", "Staging", "ltr", "Staging"],
    ["Persian on a Latin line", "سلام", "ltr", "\u2068سلام\u2069"],
    ["Latin on a Persian line", "Staging (v2.0)", "rtl", "\u2068Staging (v2.0)\u2069"],
  ] as const)("%s", (_, text, around, expected) => {
    expect(isolate(text, around)).toBe(expected);
  });

  test("the direction is that of most letters, whatever comes first", () => {
    expect(directionOf("API باید به‌روز شود؟")).toBe("rtl");
    expect(directionOf("Is سلام a greeting?")).toBe("ltr");
    expect(directionOf("123")).toBe("ltr");
  });
});

describe("cutting", () => {
  test.each([
    ["short", 10, "codePoints", "short"],
    ["exactly te", 10, "codePoints", "exactly te"],
    ["eleven char", 10, "codePoints", "eleven ch…"],
    ["😀😀😀", 4, "utf16", "😀…"],
    ["ab👩‍👩‍👧", 5, "codePoints", "ab…"],
    ["🇪🇸🇩🇪🇮🇷", 4, "codePoints", "🇪🇸…"],
  ] as const)("%j to %d %s", (text, max, unit, expected) => {
    expect(cut(text, { max, unit })).toBe(expected);
  });

  test("stays within the limit, ends between graphemes and never halves a pair", () => {
    const unit = fc.constantFrom<TextUnit>("codePoints", "utf16");
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", maxLength: 40 }),
        fc.integer({ min: 2, max: 30 }),
        unit,
        (text, max, by) => {
          const end = graphemeEnd(text, { max, unit: by });
          expect(measure(text.slice(0, end), by)).toBeLessThanOrEqual(max);
          expect(text.slice(0, end)).not.toMatch(/\p{Surrogate}/u);
          expect(measure(cut(text, { max, unit: by }), by)).toBeLessThanOrEqual(max);
        },
      ),
    );
  });
});
