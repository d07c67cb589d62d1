import { describe, expect, it } from "vitest";
import { z } from "zod";
import { cutHeader } from "../../src/core/header.ts";
import { askUserInput, readAskUser } from "../../src/core/question.ts";
import { accepted, ask, faults, options, question, refused } from "./asks.ts";

describe("the door", () => {
  it("fills in every default", () => {
    expect(accepted(ask())).toEqual({
      id: null,
      session: null,
      run: null,
      kind: "question",
      task: null,
      questions: [
        {
          id: "target",
          header: "Target",
          question: "Where to?",
          options: [
            { label: "Staging (Recommended)", description: null },
            { label: "Production", description: null },
          ],
          multiSelect: false,
          allowOther: true,
          sensitive: false,
        },
      ],
      timeoutSeconds: 900,
      to: [],
      respondents: [],
      locale: null,
      reversible: false,
      defaults: new Map(),
      callbackUrl: null,
    });
  });

  it("keeps labels, newlines and tabs as authored", () => {
    const label = " Ｓtaging\u202E ";
    const read = accepted(ask({}, question({ question: "One\n\ttwo", options: options(label, "Production") })));
    expect(read.questions[0]?.options[0]?.label).toBe(label);
    expect(read.questions[0]?.question).toBe("One\n\ttwo");
  });

  it("counts lengths in code points", () => {
    const exactly = "😀".repeat(200);
    expect(accepted(ask({}, question({ options: options(exactly, "b") }))).questions[0]?.options[0]?.label).toBe(
      exactly,
    );
    const [issue] = refused(ask({}, question({ options: options(`${exactly}😀`, "b") })));
    expect(issue).toMatchObject({ path: "questions[0].options[0].label", rule: "max", limit: 200 });
    expect(issue?.received).toContain("201 characters");
  });

  it("takes what the tool does not offer from other callers alone", () => {
    const closed = ask({}, question({ allowOther: false }), question({ id: "notes", options: [], sensitive: true }));
    const read = accepted(closed);
    expect(read.questions.map((one) => [one.allowOther, one.options.length, one.sensitive])).toEqual([
      [false, 2, false],
      [true, 0, true],
    ]);
    const tool = readAskUser(closed);
    expect(tool.ok ? [] : tool.issues.map((issue) => `${issue.path} ${issue.rule}`)).toEqual([
      "questions[0].allowOther unknown_key",
      "questions[1].options min",
      "questions[1].sensitive unknown_key",
    ]);
  });

  it("reads the rest of an inquiry", () => {
    const read = accepted(
      ask({
        id: "a1",
        session: "s",
        run: "r",
        kind: "clarification",
        task: { taskId: "t", stateVersion: 0 },
        to: ["telegram:-100/7"],
        respondents: ["role:owner"],
        locale: "pt-BR",
        callbackUrl: "https://example.com/hook",
      }),
    );
    expect(read).toMatchObject({ id: "a1", session: "s", run: "r", kind: "clarification", to: ["telegram:-100/7"] });
    expect(read.task).toEqual({ taskId: "t", currentStep: null, stateVersion: 0 });
  });

  it.each([
    ["a control character", { id: "a\u0000" }, "id pattern"],
    ["an outer space", { session: " s" }, "session pattern"],
    ["half a character", { run: "\uD800" }, "run pattern"],
    ["an address without a channel", { to: ["100"] }, "to[0] pattern"],
    ["another scheme", { callbackUrl: "file:///etc/passwd" }, "callbackUrl pattern"],
    ["a fraction", { task: { taskId: "t", stateVersion: 1.5 } }, "task.stateVersion type"],
    ["a negative version", { task: { taskId: "t", stateVersion: -1 } }, "task.stateVersion min"],
    ["a kind of the gate's", { kind: "approval" }, "kind enum"],
  ])("refuses %s", (_, over, fault) => {
    expect(faults(ask(over))).toEqual([fault]);
  });

  it.each([null, undefined, 3, "ask", [], () => 1])("refuses %s as a whole", (raw) => {
    expect(refused(raw)).toMatchObject([{ path: "", rule: raw === undefined ? "required" : "type" }]);
  });

  it("offers models a schema without references that states every bound", () => {
    const schema = JSON.stringify(z.toJSONSchema(askUserInput));
    expect(schema).not.toContain("$ref");
    expect(schema).not.toContain("allowOther");
    expect(schema).not.toContain("sensitive");
    for (const bound of ['"maxItems":3', '"maxItems":4', '"maxLength":4000', '"maxLength":200', '"maxLength":500']) {
      expect(schema).toContain(bound);
    }
  });
});

describe("headers", () => {
  it.each([
    ["  Target  ", "Target"],
    ["Authentication", "Authenticati"],
    ["Hello world of", "Hello world"],
    ["👨‍👩‍👧‍👦".repeat(13), "👨‍👩‍👧‍👦".repeat(6)],
    ["é".normalize("NFD").repeat(13), "é".normalize("NFD").repeat(12)],
    [`a${"\u0301".repeat(60)}`, ""],
  ])("cuts %j between graphemes", (header, cut) => {
    expect(cutHeader(header)).toBe(cut);
  });

  it("refuses one of which nothing could be shown", () => {
    for (const header of ["", "  ", "\u200B\u2800", `a${"\u0301".repeat(60)}`]) {
      expect(faults(ask({}, question({ header })))).toEqual(["questions[0].header blank"]);
    }
  });
});

// https://github.com/agentclientprotocol/codex-acp/issues/344
describe("timeoutSeconds", () => {
  it.each([
    [undefined, 900],
    [null, 900],
    [0, 30],
    [-5, 30],
    [29, 30],
    [30, 30],
    [3600, 3600],
    [3601, 3600],
    [900000, 3600],
  ])("%s waits %s seconds", (timeoutSeconds, effective) => {
    expect(accepted(ask({ timeoutSeconds })).timeoutSeconds).toBe(effective);
  });

  it("absent waits 900 seconds", () => {
    expect(accepted(ask()).timeoutSeconds).toBe(900);
  });

  it.each([
    ["900", "900"],
    [Number.NaN, "NaN"],
    [Number.POSITIVE_INFINITY, "Infinity"],
    [30.5, "30.5"],
    [true, "true"],
  ])("refuses %s with bounds and value", (timeoutSeconds, value) => {
    const [issue, ...more] = refused(ask({ timeoutSeconds }));
    expect(more).toEqual([]);
    expect(issue).toMatchObject({ path: "timeoutSeconds", rule: "type" });
    expect(issue?.message).toContain("30 to 3600");
    expect(issue?.received).toContain(value);
  });
});

// https://github.com/BitterSecurity/Decepticon/issues/126
// https://github.com/google-gemini/gemini-cli/issues/19233
describe("arguments as models really send them", () => {
  it("says to pass the array itself where options are JSON text", () => {
    const [issue, ...more] = refused(ask({}, question({ options: JSON.stringify(options("a", "b")) })));
    expect(more).toEqual([]);
    expect(issue?.path).toBe("questions[0].options");
    expect(issue?.message).toContain("pass the array itself");
  });

  it.each([
    ["one option", ask({}, question({ options: options("a") })), "questions[0].options min"],
    ["five options", ask({}, question({ options: options("a", "b", "c", "d", "e") })), "questions[0].options max"],
    ["no questions", { questions: [] }, "questions min"],
    ["four questions", ask({}, ...["a", "b", "c", "d"].map((id) => question({ id }))), "questions max"],
    ["an empty label", ask({}, question({ options: options("", "b") })), "questions[0].options[0].label blank"],
    ["a label of spaces", ask({}, question({ options: options("a", "  ") })), "questions[0].options[1].label blank"],
    ["an unknown field", ask({ urgent: true }), "urgent unknown_key"],
    ["an unknown field inside", ask({}, question({ hint: "x" })), "questions[0].hint unknown_key"],
    ["a flag in quotes", ask({}, question({ multiSelect: "false" })), "questions[0].multiSelect type"],
    ["a missing field", ask({}, question({ header: undefined })), "questions[0].header required"],
  ])("refuses %s by path and rule", (_, raw, fault) => {
    expect(faults(raw)).toEqual([fault]);
  });

  it("tells all faults at once, in path order, those between fields among them", () => {
    const raw = {
      questions: [
        question({ id: "a", multiSelect: "false", options: options("x", "X ", "") }),
        question({ id: "a", header: " ", question: "" }),
      ],
      timeoutSeconds: 30.5,
      bogus: 1,
      onTimeout: { use: { a: ["y"], b: ["x"] } },
    };
    expect(faults(raw)).toEqual([
      "bogus unknown_key",
      "onTimeout requires",
      "onTimeout.use.a[0] unknown_label",
      "onTimeout.use.b unknown_question",
      "questions[0].multiSelect type",
      "questions[0].options[1].label unique",
      "questions[0].options[2].label blank",
      "questions[1].header blank",
      "questions[1].id unique",
      "questions[1].question blank",
      "timeoutSeconds type",
    ]);
  });

  it("quotes a long value in part and gives its length", () => {
    const [issue] = refused(ask({}, question({ question: "é".repeat(5000) })));
    expect(issue).toMatchObject({ rule: "max", limit: 4000 });
    expect(issue?.received).toContain("5000 characters");
    expect(issue?.received.length).toBeLessThan(100);
  });
});

// https://github.com/gsd-build/gsd-2/pull/5164
// https://github.com/langchain-ai/langgraph/issues/6626
describe("questions have identities of their own", () => {
  it("keeps questions of equal text and header apart by id", () => {
    const read = accepted(ask({}, question({ id: "first" }), question({ id: "second" })));
    expect(read.questions.map((one) => one.id)).toEqual(["first", "second"]);
  });

  it("takes constructor as a name like any other", () => {
    const use = { constructor: ["Production"] };
    const read = accepted(ask({ reversible: true, onTimeout: { use } }, question({ id: "constructor" })));
    expect(read.defaults.get("constructor")).toEqual(["Production"]);
    expect(
      accepted(ask({ reversible: true, onTimeout: { use: {} } }, question({ id: "constructor" }))).defaults.size,
    ).toBe(0);
  });

  it.each(["__proto__", "1", "Target", "a-b", "target\n", ""])("refuses %j as an id", (id) => {
    expect(faults(ask({}, question({ id })))).toEqual(["questions[0].id pattern"]);
  });

  it("does not lose a default for __proto__ in silence", () => {
    const onTimeout = JSON.parse('{"use": {"__proto__": ["Production"]}}');
    expect(faults(ask({ reversible: true, onTimeout }))).toEqual(["onTimeout.use.__proto__ unknown_question"]);
  });

  it("refuses an id of more than 64 characters", () => {
    expect(faults(ask({}, question({ id: "a".repeat(65) })))).toEqual(["questions[0].id max"]);
  });
});
