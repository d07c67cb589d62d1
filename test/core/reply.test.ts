import { describe, expect, it } from "vitest";
import { LOCALES } from "../../src/core/locales/locale.ts";
import type { Question } from "../../src/core/question.ts";
import { markOf } from "../../src/core/reply/marks.ts";
import { parseReply } from "../../src/core/reply/parse.ts";
import { isCancelWord } from "../../src/core/reply/words.ts";

function question(labels: readonly string[], over: Partial<Question> = {}): Question {
  const options = labels.map((label) => ({ label, description: null }));
  return {
    id: "q",
    header: "Q",
    question: "?",
    options,
    multiSelect: false,
    allowOther: true,
    sensitive: false,
    ...over,
  };
}
const multi = (...labels: string[]) => question(labels, { multiSelect: true });
const single = (...labels: string[]) => question(labels);
const closed = (...labels: string[]) => question(labels, { allowOther: false });

/** Labels chosen, `other: text`, `skip`, or the reason for asking again. */
function read(asked: Question, reply: string): readonly string[] | string {
  const result = parseReply([asked], reply);
  const answer = result.answers.get(asked.id);
  if (!answer) return result.reason ?? "nothing";
  if ("select" in answer) return answer.select;
  return "other" in answer ? `other: ${answer.other}` : "skip";
}

const ENV = single("Staging (Recommended)", "Production", "Local only");

// https://github.com/microsoft/BotFramework-Composer/issues/9276
describe("a label that is itself a number", () => {
  it("is what the number means, where options are shown with letters", () => {
    const workers = single("2", "3", "4");
    for (const label of ["2", "3", "4"]) expect(read(workers, label)).toEqual([label]);
    expect(read(workers, "1")).toBe("ambiguous");
    expect(read(workers, "7")).toBe("other: 7");
  });

  it("is asked again where the number could be a position or a value", () => {
    const tens = single("10", "20", "30");
    expect(read(tens, "20")).toEqual(["20"]);
    expect(read(tens, "2")).toBe("ambiguous");
    expect(read(tens, "7")).toBe("other: 7");
    expect(read(closed("10", "20", "30"), "7")).toBe("ambiguous");
  });

  it("and the position of another option at once is asked again", () => {
    expect(read(single("2", "Keep"), "2")).toBe("ambiguous");
    expect(read(single("Two", "Keep"), "2")).toBe("ambiguous");
    expect(read(single("Keep", "Move 1 file"), "1")).toBe("ambiguous");
    expect(read(single("1", "Keep"), "1")).toEqual(["1"]);
  });

  it("shows letters, and only there", () => {
    expect([0, 1, 2].map((index) => markOf(single("2", "3 replicas", "Four"), index))).toEqual(["A", "B", "C"]);
    expect([0, 1].map((index) => markOf(single("2", "Keep"), index))).toEqual(["1", "2"]);
    expect(read(single("10", "20", "30"), "b")).toEqual(["20"]);
    expect(read(single("10", "20", "30"), "C)")).toEqual(["30"]);
    expect(read(single("10", "20", "30"), "d")).toBe("out_of_range");
  });
});

// https://github.com/microsoft/botbuilder-dotnet/issues/6010
describe("a digit inside a sentence", () => {
  it.each(["no, wait until 01.02.2030", "call me at 2", "version 2 broke it"])(
    "%j stays text, word for word",
    (reply) => {
      expect(read(single("Publish", "Discard"), reply)).toBe(`other: ${reply}`);
      expect(read(closed("Publish", "Discard"), reply)).toBe("ambiguous");
    },
  );
});

// https://github.com/damianvtran/local-operator-ui/pull/121
describe("the position as shown", () => {
  const NEXT = single("Check the logs", "Restart the worker", "Stop");

  it.each([
    "2",
    "2.",
    "2)",
    "(2)",
    "[2]",
    "#2",
    " 2 ",
    "02",
    "2!",
    "２",
    "②",
    "❷",
    "2️⃣",
    "٢",
    "۲",
    "२",
    "𝟮",
    "\u200E2\u200F",
  ])("%j is option 2", (reply) => {
    expect(read(NEXT, reply)).toEqual(["Restart the worker"]);
  });

  it.each(["0", "4", "13", "99999999999999999999"])("%j is out of range", (reply) => {
    expect(read(NEXT, reply)).toBe("out_of_range");
  });

  it.each(["-1", "+1", "1️⃣3️⃣", "1/3", "1-3", "1,2", "1 2", "2?", "1 or 2", "not 2"])("%j is asked again", (reply) => {
    expect(read(NEXT, reply)).toBe("ambiguous");
  });

  it.each(["2.5", "1e0", "v2", "2pm", "10:30", "2%"])("%j is text", (reply) => {
    expect(read(NEXT, reply)).toBe(`other: ${reply}`);
  });

  it("with the label beside it must agree with it", () => {
    expect(read(NEXT, "2. Restart the worker")).toEqual(["Restart the worker"]);
    expect(read(NEXT, "1. Restart the worker")).toBe("ambiguous");
  });
});

describe("a label", () => {
  it.each([
    "Staging (Recommended)",
    "Staging",
    "  sTAGING ",
    "staging.",
    "ＳＴＡＧＩＮＧ",
    "st\u200Baging",
    "\u2067Staging\u2069",
  ])("%j is the option with its mark", (reply) => {
    expect(read(ENV, reply)).toEqual(["Staging (Recommended)"]);
  });

  it("that is a word of ours is a label first", () => {
    for (const label of ["Skip", "None", "No", "Cancel", "@next", "+1", "?", "> 5 GB", "Other: no"]) {
      expect(read(single("Yes", label), label)).toEqual([label]);
    }
  });

  it("exactly typed goes before one that only folds alike", () => {
    expect(read(single("a\u200Bb", "ab"), "ab")).toEqual(["ab"]);
    expect(read(single("a\u200Bb", "ab"), "AB")).toBe("ambiguous");
    expect(read(single("Delete (soft)", "Delete (hard)"), "delete")).toBe("ambiguous");
  });

  it("tells symbols apart", () => {
    for (const label of ["C", "C++", "C#"])
      expect(read(single("C", "C++", "C#"), label.toLowerCase())).toEqual([label]);
  });

  it("of 200 characters is found, a longer reply is text", () => {
    const long = "x".repeat(200);
    expect(read(single(long, "b"), long)).toEqual([long]);
    expect(read(single("a", "b"), `b${" ".repeat(300)}b`)).toMatch(/^other/);
  });
});

// https://github.com/NousResearch/hermes-agent/pull/92779
describe("a comma inside a label of a multi-select", () => {
  const TOPICS = multi("Cost, risk and law", "Design", "Sure, every time");

  it.each([
    ["Cost, risk and law", ["Cost, risk and law"]],
    ["sure, every time", ["Sure, every time"]],
    ["Design, Sure, every time", ["Design", "Sure, every time"]],
    ["1, 3", ["Cost, risk and law", "Sure, every time"]],
  ])("%j", (reply, labels) => {
    expect(read(TOPICS, reply)).toEqual(labels);
  });

  it("a part of such a label is no choice", () => {
    expect(read(TOPICS, "Cost, Design")).toBe("other: Cost, Design");
  });
});

// https://github.com/openclaw/openclaw/pull/130262
describe("a typed multi-select", () => {
  const CHECKS = multi("Lint", "Unit", "E2E", "Docs");

  it.each([
    ["1,3", ["Lint", "E2E"]],
    ["1 3", ["Lint", "E2E"]],
    ["1\n3", ["Lint", "E2E"]],
    ["۱، ۳", ["Lint", "E2E"]],
    ["1、3", ["Lint", "E2E"]],
    ["1; 3;", ["Lint", "E2E"]],
    ["3,1,3", ["Lint", "E2E"]],
    ["docs, Lint", ["Lint", "Docs"]],
    ["1-3", ["Lint", "Unit", "E2E"]],
    ["2", ["Unit"]],
    ["all", ["Lint", "Unit", "E2E", "Docs"]],
    ["none", []],
  ])("%j", (reply, labels) => {
    expect(read(CHECKS, reply)).toEqual(labels);
  });

  it.each(["1,9", "0 1", "1-9", "13"])("%j has an item out of range: nothing is half accepted", (reply) => {
    expect(read(CHECKS, reply)).toBe("out_of_range");
  });

  it.each(["3-1", "1 or 3", "1,3?", "1/3"])("%j is asked again", (reply) => {
    expect(read(CHECKS, reply)).toBe("ambiguous");
  });

  it("with an item that is not understood is text as a whole", () => {
    expect(read(CHECKS, "1, banana")).toBe("other: 1, banana");
  });

  it("does not take none for the empty choice where a label says it", () => {
    expect(read(multi("None of my files", "All"), "none")).toBe("ambiguous");
  });
});

// https://github.com/NousResearch/hermes-agent/issues/38475
// https://github.com/openclaw/openclaw/issues/126834
describe("a typed answer", () => {
  it("is a position, free text, or a label in other case", () => {
    expect(read(ENV, "2")).toEqual(["Production"]);
    expect(read(ENV, "none of these, use staging")).toBe("other: none of these, use staging");
    expect(read(ENV, "  pRODUCTION ")).toEqual(["Production"]);
  });

  it("is found between quoted lines and mentions", () => {
    expect(read(ENV, "> 1. Staging\n> 2. Production\n\n2")).toEqual(["Production"]);
    expect(read(ENV, "<@U123> 2")).toEqual(["Production"]);
    expect(read(ENV, "local only @askgate_bot")).toEqual(["Local only"]);
    expect(read(ENV, "ask ana@example.com or @ben first")).toBe("other: ask ana@example.com or @ben first");
    expect(read(ENV, "@askgate_bot")).toBe("empty");
  });

  it("is whatever is written where free text alone is asked for", () => {
    for (const reply of ["2", "2 weeks", "1 or 2", "all", "What about Monday?"])
      expect(read(single(), reply)).toBe(`other: ${reply}`);
  });

  it.each(["", "  ", "\u200B\u200F", "...", "!", "\u2800"])("%j says nothing", (reply) => {
    expect(read(ENV, reply)).toBe("empty");
  });

  it("that asks back is not an answer", () => {
    for (const reply of ["?", "؟", "What is staging?", "why? tell me"]) expect(read(ENV, reply)).toBe("question_back");
    expect(read(ENV, "production?")).toBe("ambiguous");
    expect(read(ENV, "see https://example.com/?a=b")).toBe("other: see https://example.com/?a=b");
  });

  it("after Other is text, whatever it is", () => {
    expect(read(ENV, "other: 2")).toBe("other: 2");
    expect(read(ENV, "Sonstiges: Production")).toBe("other: Production");
    expect(read(closed("a", "b"), "other: c")).toBe("ambiguous");
    expect(read(ENV, "other:")).toBe("empty");
  });
});

describe("skip and cancel", () => {
  const words = Object.values(LOCALES).map((locale) => locale.words);

  it("are understood in every language, as the whole reply", () => {
    for (const word of words.flatMap((one) => [...one.skip, ...one.cancel])) {
      expect(read(ENV, `${word.toUpperCase()}.`)).toBe("skip");
      expect(read(ENV, `${word} the tests`)).toMatch(/^other/);
    }
    expect(read(ENV, "/skip")).toBe("skip");
    expect(read(closed("a", "b"), "skip")).toBe("skip");
  });

  it("are asked again where they are a word of a label", () => {
    expect(read(single("Skip tests", "Run tests"), "skip")).toBe("ambiguous");
  });

  it("are told apart", () => {
    for (const word of words.flatMap((one) => one.cancel)) expect(isCancelWord(` ${word.toUpperCase()}! `)).toBe(true);
    for (const word of words.flatMap((one) => one.skip)) expect(isCancelWord(word)).toBe(false);
    expect(isCancelWord("cancel the deploy")).toBe(false);
  });
});
