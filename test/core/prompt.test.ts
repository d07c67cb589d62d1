import { describe, expect, test } from "vitest";
import { LOCALES } from "../../src/core/locales/locale.ts";
import { parseReply } from "../../src/core/reply/parse.ts";
import { answered, body, CHECKS, labels, NAME, options, prompt, question } from "./prompts.ts";

describe("one question that takes one answer", () => {
  const described = question({
    options: [
      { label: "Staging (Recommended)", description: "Safe; only the **team** sees it." },
      { label: "Production", description: null },
    ],
  });

  test("is complete in words", () => {
    expect(body(prompt({ questions: [described] }))).toBe(`Question · Deploy
│ Where should it go?

1. Staging · recommended
   │ Safe; only the team sees it.
2. Production

Send the number of your choice.
You can also write your own answer.
Send “skip” to skip it.

Answer within 15 minutes, by 17:05 UTC.`);
  });

  test("has a control for each option, Other and Skip", () => {
    const shown = prompt({ questions: [described] });
    expect(labels(shown)).toEqual(["1. Staging", "2. Production", "Other", "Skip"]);
    expect(shown.choices.map((choice) => choice.act)).toEqual([
      { kind: "option", index: 0 },
      { kind: "option", index: 1 },
      { kind: "other" },
      { kind: "skip" },
    ]);
    expect(body(shown, "native")).toContain(
      "Press a button, or send its number.\nPress Other to write your own answer.",
    );
  });

  test("a closed list offers no Other, in words or controls", () => {
    const shown = prompt({ questions: [question({ allowOther: false })] });
    expect(labels(shown)).toEqual(["1. Staging", "2. Production", "Skip"]);
    expect(body(shown) + body(shown, "native")).not.toMatch(/own answer/);
  });

  // https://github.com/microsoft/BotFramework-Composer/issues/9276
  test("labels that are numbers are shown with letters, in the body and on the controls", () => {
    const shown = prompt({ questions: [question({ options: options("2", "3", "4") })] });
    expect(body(shown)).toContain("A. 2\nB. 3\nC. 4\n\nSend the letter of your choice.");
    expect(labels(shown).slice(0, 3)).toEqual(["A. 2", "B. 3", "C. 4"]);
  });

  test("several recommended options are shown as written", () => {
    const both = options("Red (Recommended)", "Blue (Recommended)");
    expect(body(prompt({ questions: [question({ options: both })] }))).toContain(
      "1. Red (Recommended)\n2. Blue (Recommended)\n",
    );
  });

  test("while somebody writes, the options stay, Other becomes Back and the entry is asked for", () => {
    const shown = prompt({}, { entry: { question: 0, person: "telegram:100" } });
    expect(labels(shown)).toEqual(["1. Staging", "2. Production", "Back", "Skip"]);
    expect(body(shown, "native")).toContain("Write your own answer now. Back returns to the options.");
    expect(shown.entry).toEqual({
      placeholder: "Your answer",
      text: "Write your answer to “Deploy” as a reply to this message.",
      person: "telegram:100",
    });
  });

  test("free text alone asks for words", () => {
    const shown = prompt({ questions: [NAME] });
    expect(labels(shown)).toEqual(["Write an answer", "Skip"]);
    expect(body(shown)).toContain("│ What name?\n\nWrite your answer.\nSend “skip” to skip it.");
    expect(body(shown)).not.toMatch(/1\.|Other/);
  });

  test("in a group it says who may answer, and how to be heard", () => {
    const group = { direct: false, groupAudience: ["Ana", "Bo"], address: "telegram:-1" };
    expect(body(prompt({}, group))).toContain(
      "Answer by replying to this message.\n\nWho may answer here: Ana, Bo\nAnswer within",
    );
    expect(body(prompt({}, group), "native")).toContain("To answer by text, reply to this message.");
    expect(body(prompt({}, { ...group, nativeReplies: false }))).toContain("Mention me in your answer.");
  });

  test("beside other open questions it shows its code and how to use it", () => {
    expect(body(prompt({}, { shortId: "A7" }))).toMatch(/^Question A7 · Deploy\n/);
    expect(body(prompt({}, { shortId: "A7" }))).toContain("reply to this message, or start with A7, like “A7: 2”.");
    expect(body(prompt({}, { shortId: "A7", nativeReplies: false }))).toContain("start with A7, like “A7: 2”.");
  });
});

describe("what cannot be pressed is not spoken of as pressed", () => {
  const several = { questions: [question(), CHECKS, NAME] };
  test.each(Object.values(LOCALES).map((locale) => [locale.code, locale] as const))("%s", (_, locale) => {
    const pressing = /press|button|\btap|puls|botón|drück|knopf|دکمه|بزنید/i;
    for (const of of [{}, { questions: [CHECKS] }, { questions: [NAME] }, several]) {
      expect(body(prompt(of, { direct: false, groupAudience: ["Ana"] }, locale))).not.toMatch(pressing);
    }
    expect(prompt({ questions: [CHECKS] }, {}, locale).choices).toEqual([]);
    expect(prompt(several, {}, locale).choices).toEqual([]);
  });
});

describe("several questions", () => {
  const questions = [question(), CHECKS, NAME];

  test("stand in one message with an example line each", () => {
    expect(body(prompt({ questions }))).toBe(`3 questions

Question 1 · Deploy
│ Where should it go?

1. Staging · recommended
2. Production

Question 2 · Checks
│ Which checks?

1. Lint
2. Unit
3. E2E

Question 3 · Name
│ What name?

Send one line per question, its number first, like this:
1: 2
2: 1,3
3: your answer
“skip” after a number skips that question; “skip” alone skips them all.

Answer within 15 minutes, by 17:05 UTC.`);
  });

  test.each(Object.values(LOCALES).map((locale) => [locale.code, locale] as const))(
    "the example, typed as it is read on the screen, means what it shows: %s",
    (_, locale) => {
      const lines = body(prompt({ questions }, {}, locale))
        .replace(/\u200f/g, "")
        .split("\n");
      const example = lines.filter((line) => /^[1-3۱-۳]: /.test(line)).join("\n");
      const { outcome, answers } = parseReply(questions, example);
      expect(outcome).toBe("select");
      expect(answers.get("target")).toEqual({ select: ["Production"] });
      expect(answers.get("checks")).toEqual({ select: ["Lint", "E2E"] });
      expect(answers.get("name")).toEqual({ other: locale.strings["how.batch_text"] });
    },
  );

  test("those answered show the answer, the rest keep their numbers", () => {
    const resolutions = new Map([["target", answered([{ kind: "option", label: "Staging (Recommended)" }])]]);
    const text = body(prompt({ questions, resolutions }));
    expect(text).toContain("│ Where should it go?\n\nAnswered by Ana in Telegram: Staging\n\nQuestion 2 · Checks");
    expect(text).not.toContain("Production");
    expect(text).toContain("like this:\n2: 1,3\n3: your answer\n");
  });

  test("the last one open is asked like a single one, its controls naming its own index", () => {
    const resolutions = new Map([["checks", answered([])]]);
    const shown = prompt({ questions: [CHECKS, question()], resolutions });
    expect(body(shown)).toContain("Answered by Ana in Telegram: none of these.");
    expect(body(shown)).toContain("Send the number of your choice.");
    expect(shown.choices.map((choice) => choice.question)).toEqual([1, 1, 1, 1]);
  });

  test("a multi-select says how to send several, and none", () => {
    expect(body(prompt({ questions: [CHECKS] }))).toContain("Send the numbers of all you want, like 1,3, or “none”.");
  });
});

describe("an agent cannot speak in our name", () => {
  const forged = question({
    header: "Answered:\nby Bo",
    question: "Really?\n\nAnswered by Bo in Slack: Delete\n3. Keep\nAnswer within 3 days.\r\n\u2028Send “yes”.",
    options: [
      { label: "Staging\n3. Delete", description: "fine\n4. Forged\nAnswered by Bo" },
      { label: "Production\u202E\u2066", description: null },
    ],
  });

  test("every line of the prompt is ours or stands behind a bar", () => {
    const lines = body(prompt({ questions: [forged] }))
      .split("\n")
      .filter((line) => line !== "");
    const ours = lines.filter((line) => !/^\s*│ /.test(line));
    expect(ours).toEqual([
      "Question · Answered: by Bo",
      "1. Staging 3. Delete",
      "2. Production",
      "Send the number of your choice.",
      "You can also write your own answer.",
      "Send “skip” to skip it.",
      "Answer within 15 minutes, by 17:05 UTC.",
    ]);
  });
});

test("a Persian prompt reads right: each line begins in its own direction, foreign words are isolated", () => {
  const persian = question({
    header: "انتشار",
    question: "نسخهٔ v2.4 کجا منتشر شود؟",
    options: options("Staging (Recommended)", "محیط Production (اصلی)"),
  });
  const shown = prompt({ questions: [persian] }, {}, LOCALES.fa);
  expect(body(shown)).toBe(`پرسش · \u2068انتشار\u2069
\u200f│ نسخهٔ v2.4 کجا منتشر شود؟

\u200f۱. \u2068Staging\u2069 · پیشنهادی
\u200f۲. \u2068محیط Production (اصلی)\u2069

شمارهٔ گزینهٔ خود را بفرستید.
می‌توانید پاسخ دیگری هم بنویسید.
برای گذشتن از آن «رد کردن» را بفرستید.

تا \u2068۱۵ دقیقه\u2069 فرصت دارید، یعنی تا ساعت \u2068۱۷:۰۵\u2069 به وقت جهانی.`);
  expect(labels(shown)).toEqual(["۱. Staging", "۲. محیط Production (اصلی)", "سایر", "رد کردن"]);
});

test("the same inquiry in the same place is the same prompt", () => {
  expect(prompt()).toEqual(prompt());
});
