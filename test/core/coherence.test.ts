import { describe, expect, it } from "vitest";
import { LOCALES } from "../../src/core/locales/locale.ts";
import { contentKeyOf } from "../../src/core/question.ts";
import { accepted, ask, faults, options, question, refused } from "./asks.ts";

describe("labels", () => {
  it.each([
    ["letter case", "staging", "STAGING"],
    ["outer space", "staging", " staging "],
    ["compatibility forms", "staging", "ｓｔａｇｉｎｇ"],
    ["sharp s", "straße", "STRASSE"],
    ["the recommendation mark", "Staging (Recommended)", "staging"],
  ])("are not told apart by %s", (_, left, right) => {
    expect(faults(ask({}, question({ options: options(left, right) })))).toEqual([
      "questions[0].options[1].label unique",
    ]);
  });

  it("may be equal in different questions", () => {
    expect(faults(ask({}, question({ id: "a" }), question({ id: "b" })))).toEqual([]);
  });
});

// https://github.com/humanlayer/humanlayer/pull/957
describe("an authored Other", () => {
  const kept = (...labels: string[]) =>
    accepted(ask({}, question({ options: options(...labels) }))).questions[0]?.options.map((option) => option.label);

  it.each(["Other", " other ", "OTHER...", "Other…", "other:", "Sonstiges", "Otra", "سایر"])(
    "%j is removed",
    (label) => {
      expect(kept("a", "b", label)).toEqual(["a", "b"]);
    },
  );

  it("is removed in the words of every language", () => {
    for (const locale of Object.values(LOCALES)) {
      for (const word of locale.words.other) expect(kept("a", word.toUpperCase(), "b")).toEqual(["a", "b"]);
    }
  });

  it("is not seen in words that go on", () => {
    expect(kept("a", "Something else", "Other team")).toEqual(["a", "Something else", "Other team"]);
  });

  it("leaves too few: refused, saying why", () => {
    const [issue] = refused(ask({}, question({ options: options("a", "Other", "SONSTIGES") })));
    expect(issue).toMatchObject({ path: "questions[0].options", rule: "min", limit: 2 });
    expect(issue?.message).toContain("Other");
    expect(issue?.message).toContain("1 left");
  });
});

describe("onTimeout", () => {
  const use = (labels: unknown, over: object = {}) =>
    ask({ reversible: true, onTimeout: { use: { target: labels } } }, question(over));

  it("keeps labels as authored, in option order, the mark not needed", () => {
    expect(accepted(use(["Staging"])).defaults.get("target")).toEqual(["Staging (Recommended)"]);
    expect(accepted(use(["Production", "Staging"], { multiSelect: true })).defaults.get("target")).toEqual([
      "Staging (Recommended)",
      "Production",
    ]);
    expect(accepted(use([], { multiSelect: true })).defaults.get("target")).toEqual([]);
  });

  it.each([
    ["a label in other case", ["production"], "onTimeout.use.target[0] unknown_label"],
    ["none for a single answer", [], "onTimeout.use.target length"],
    ["two for a single answer", ["Staging", "Production"], "onTimeout.use.target length"],
    ["a bare label", "Staging", "onTimeout.use.target type"],
  ])("refuses %s", (_, labels, fault) => {
    expect(faults(use(labels))).toEqual([fault]);
  });

  it("refuses one label twice, and the label of a removed Other", () => {
    expect(faults(use(["Staging", "Staging (Recommended)"], { multiSelect: true }))).toEqual([
      "onTimeout.use.target[1] unique",
    ]);
    expect(faults(use(["Other"], { options: options("a", "b", "Other") }))).toEqual([
      "onTimeout.use.target[0] unknown_label",
    ]);
  });

  it("needs reversible, as silence is never consent", () => {
    for (const over of [{}, { reversible: false }]) {
      expect(faults(ask({ ...over, onTimeout: { use: { target: ["Production"] } } }))).toEqual(["onTimeout requires"]);
    }
  });
});

describe("free text alone", () => {
  it("cannot be closed nor take several answers", () => {
    expect(faults(ask({}, question({ options: [], allowOther: false, multiSelect: true })))).toEqual([
      "questions[0].allowOther conflict",
      "questions[0].multiSelect conflict",
    ]);
  });
});

describe("the content key", () => {
  const key = (raw: object) => contentKeyOf(accepted(raw));

  it("is the same whatever the call is named, and for values that mean the same", () => {
    const base = key(ask());
    expect(key(ask({ id: "x", session: "s", run: "r" }))).toBe(base);
    expect(key(ask({ timeoutSeconds: 900, reversible: false, kind: "question" }))).toBe(base);
    expect(key(ask({ timeoutSeconds: 0 }))).toBe(key(ask({ timeoutSeconds: 30 })));
  });

  it.each([
    ["a question", ask({}, question({ question: "Where?" }))],
    ["the order of options", ask({}, question({ options: options("Production", "Staging (Recommended)") }))],
    ["the deadline", ask({ timeoutSeconds: 60 })],
    ["the task", ask({ task: { taskId: "t", stateVersion: 1 } })],
    ["the place", ask({ to: ["telegram:1"] })],
    ["the people", ask({ respondents: ["ana"] })],
    ["the callback", ask({ callbackUrl: "https://example.com/" })],
    ["the default", ask({ reversible: true, onTimeout: { use: { target: ["Production"] } } })],
  ])("changes with %s", (_, raw) => {
    expect(key(raw)).not.toBe(key(ask()));
  });

  it("tells defaults apart", () => {
    const withDefault = (label: string) => key(ask({ reversible: true, onTimeout: { use: { target: [label] } } }));
    expect(withDefault("Production")).not.toBe(withDefault("Staging"));
  });
});
