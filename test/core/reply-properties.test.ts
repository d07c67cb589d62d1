import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Question } from "../../src/core/question.ts";
import { parseReply } from "../../src/core/reply/parse.ts";

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

describe("any reply", () => {
  const label = fc.oneof(
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }),
    fc.constantFrom("2", "one", "1, 2", "Skip", "b", "٣"),
  );
  const questions = fc
    .array(
      fc.record({
        labels: fc.uniqueArray(label, { minLength: 2, maxLength: 4 }),
        multi: fc.boolean(),
        open: fc.boolean(),
      }),
      {
        minLength: 1,
        maxLength: 3,
      },
    )
    .map((all) =>
      all.map((one, at) => question(one.labels, { id: `q${at}`, multiSelect: one.multi, allowOther: one.open })),
    );
  const reply = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc
      .array(fc.constantFrom("1", "2", "3", ":", ",", ";", "\n", " ", "?", "Q1", "skip", "(", ")", "-", "٢", ">"), {
        maxLength: 20,
      })
      .map((all) => all.join("")),
  );

  it("has a result that fits the questions, and never throws", () => {
    fc.assert(
      fc.property(questions, reply, (asked, typed) => {
        const result = parseReply(asked, typed);
        expect(result.reason === null).toBe(result.outcome !== "reprompt");
        if (result.outcome !== "reprompt") expect(result.answers.size).toBe(asked.length);
        for (const [id, answer] of result.answers) {
          const one = asked.find((candidate) => candidate.id === id);
          if ("other" in answer) expect(one?.allowOther && answer.other.trim() !== "").toBe(true);
          if (!("select" in answer)) continue;
          const labels = one?.options.map((option) => option.label) ?? [];
          expect(labels.filter((each) => answer.select.includes(each))).toEqual(answer.select);
          expect(one?.multiSelect || answer.select.length === 1).toBe(true);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("that is exactly a label selects it or is asked again, never another", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(label, { minLength: 2, maxLength: 4 }),
        fc.nat(3),
        fc.boolean(),
        (labels, at, several) => {
          const typed = labels[at % labels.length] ?? "";
          const result = parseReply([question(labels, { multiSelect: several })], typed);
          const answer = result.answers.get("q");
          if (result.outcome !== "reprompt") expect(answer).toEqual({ select: [typed] });
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("takes time in proportion to its length", () => {
    const asked = [question(["a, b", "c"], { id: "x" }), question(["1", "2"], { id: "y", multiSelect: true })];
    for (const unit of [
      " ",
      ".",
      "(",
      "1 ",
      "1, ",
      "1: ",
      "a, ",
      "\n",
      ">\n",
      "@a ",
      "?",
      "<at>",
      "-",
      "Q1:",
      "٢",
      "\u200B",
    ]) {
      for (const end of ["", "x"]) {
        const typed = unit.repeat(40_000) + end;
        const started = performance.now();
        parseReply(asked, typed);
        parseReply(asked.slice(0, 1), typed);
        expect(performance.now() - started, JSON.stringify(unit)).toBeLessThan(3_000);
      }
    }
  });
});
