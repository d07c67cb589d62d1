import { describe, expect, test } from "vitest";
import type { Inquiry, Resolution, Value } from "../../src/core/inquiry.ts";
import { ANA, answered, body, CHECKS, NAME, prompt, question } from "./prompts.ts";

describe("once it is over", () => {
  const option: Value = { kind: "option", label: "Staging (Recommended)" };
  const words: Value = { kind: "text", text: "only after\nAnswered by Bo" };
  const done = (value: readonly Value[], over: Partial<Inquiry> = {}): Partial<Inquiry> => ({
    status: "answered",
    resolutions: new Map([["target", answered(value)]]),
    ...over,
  });

  test("it says what was answered, by whom, where, and has nothing left to press", () => {
    const shown = prompt(done([option]), { entry: { question: 0, person: "telegram:100" } });
    expect(body(shown)).toBe("Question · Deploy\n│ Where should it go?\n\nAnswered by Ana in Telegram: Staging");
    expect(shown).toMatchObject({ open: false, choices: [], entry: null });
  });

  test("words are shown where they were typed, behind bars", () => {
    expect(body(prompt(done([words])))).toContain("Answered by Ana in Telegram:\n│ only after\n│ Answered by Bo");
  });

  test("other copies say that it was answered, their author's own page shows it", () => {
    expect(body(prompt(done([words]), { address: "slack:C1" }))).toMatch(/\n\nAnswered by Ana in Telegram\.$/);
    expect(body(prompt(done([words]), { address: "web:Bo", ownViewOf: "Bo" }))).not.toContain("only after");
    expect(body(prompt(done([words]), { address: "web:Ana", ownViewOf: "Ana" }))).toContain("│ only after");
  });

  test("a sensitive answer is shown nowhere, not even its option", () => {
    const questions = [question({ sensitive: true })];
    for (const values of [[option], [words]]) {
      expect(body(prompt(done(values, { questions })))).toMatch(/\n\nAnswered by Ana in Telegram\.$/);
    }
  });

  test("several chosen options stand one under another", () => {
    const resolutions = new Map([
      [
        "checks",
        answered([
          { kind: "option", label: "Lint" },
          { kind: "option", label: "E2E" },
        ]),
      ],
    ]);
    expect(body(prompt({ questions: [CHECKS], status: "answered", resolutions }))).toContain(
      "Answered by Ana in Telegram:\n│ Lint\n│ E2E",
    );
  });

  test("a default is named as chosen by nobody", () => {
    const default_: Resolution = {
      outcome: "unanswered",
      values: [{ kind: "default", label: "Production" }],
      by: null,
    };
    expect(body(prompt({ status: "timed_out", resolutions: new Map([["target", default_]]) }))).toContain(
      "Nobody chose. Used instead, as set in advance: Production\n\nTime is up. This is closed now.",
    );
  });

  test.each([
    ["cancelled", "declined", "Cancelled. No answer is needed any more."],
    ["cancelled", "aborted", "The agent stopped asking. No answer is needed any more."],
    ["cancelled", "superseded", "The work has moved on. No answer is needed any more."],
    ["cancelled", "operator", "Closed by an operator. No answer is needed any more."],
    ["timed_out", null, "Time is up. This is closed now."],
    ["undelivered", "no_surface", "This reached nobody in time. It is closed now."],
  ] as const)("%s %s says so", (status, reason, line) => {
    expect(body(prompt({ status, reason }))).toBe(`Question · Deploy\n│ Where should it go?\n\n${line}`);
  });

  test("a person's cancel says who cancelled", () => {
    expect(body(prompt({ status: "cancelled", reason: "declined", settledBy: ANA }))).toMatch(
      /\n\nCancelled by Ana in Telegram\. No answer is needed any more\.$/,
    );
  });

  test("skipped says by whom", () => {
    const resolutions = new Map<string, Resolution>([["target", { outcome: "skipped", values: [], by: ANA }]]);
    expect(body(prompt({ status: "cancelled", reason: "skipped", resolutions }))).toMatch(
      /\n\nSkipped by Ana in Telegram\.$/,
    );
  });

  test("of several questions, those left open say so", () => {
    const text = body(prompt({ questions: [question(), NAME], ...done([option]), status: "timed_out" }));
    expect(text).toContain("Answered by Ana in Telegram: Staging");
    expect(text).toMatch(/│ What name\?\n\nNot answered\.\n\nTime is up\./);
  });
});
