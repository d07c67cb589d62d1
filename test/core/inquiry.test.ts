import { describe, expect, it } from "vitest";
import {
  type Author,
  type Entry,
  type Inquiry,
  type InquiryEvent,
  isSettled,
  type Status,
  step,
  TRANSITIONS,
  unanswered,
  type Value,
} from "../../src/core/inquiry.ts";
import type { Question } from "../../src/core/question.ts";

const ANA: Author = { person: "ana", channel: "telegram", address: "telegram:100" };
const BEN: Author = { person: "ben", channel: "web", address: "web:ben" };
const NOW = 5_000;

function question(id: string, over: Partial<Question> = {}): Question {
  const options = ["Staging (Recommended)", "Production", "Local"].map((label) => ({ label, description: null }));
  return {
    id,
    header: id,
    question: `${id}?`,
    options,
    multiSelect: false,
    allowOther: true,
    sensitive: false,
    ...over,
  };
}

function inquiry(over: Partial<Inquiry> = {}): Inquiry {
  return {
    uid: "inq_1",
    owner: "key",
    id: "inq_1",
    session: "main",
    run: null,
    kind: "question",
    task: null,
    questions: [question("target")],
    status: "waiting",
    reason: null,
    version: 3,
    resolutions: new Map(),
    to: [],
    respondents: ["ana"],
    locale: null,
    reversible: false,
    defaults: new Map(),
    callbackUrl: null,
    contentKey: "",
    timeoutSeconds: 900,
    createdAt: 0,
    expiresAt: 900_000,
    shownAt: null,
    settledAt: null,
    settledBy: null,
    ...over,
  };
}

const option = (label: string): Value => ({ kind: "option", label });
const text = (words: string): Value => ({ kind: "text", text: words });
/** In `answer`, a question that is skipped. */
const SKIP = null;
type Answer = Extract<InquiryEvent, { type: "answer" }>;

function answer(entries: Readonly<Record<string, readonly Value[] | null>>, over: Partial<Answer> = {}): Answer {
  const map = new Map(
    Object.entries(entries).map(([id, one]): [string, Entry] => [id, one ? { values: one } : { skip: true }]),
  );
  return { type: "answer", entries: map, by: ANA, ...over };
}

function moved(from: Inquiry, event: InquiryEvent): Inquiry {
  const result = step(from, event, NOW);
  if (!result.ok) throw new Error(result.message);
  return result.inquiry;
}

function refusal(from: Inquiry, event: InquiryEvent) {
  const before = structuredClone(from);
  const result = step(from, event, NOW);
  expect(from).toEqual(before);
  return result.ok ? null : result;
}

const EVENTS: readonly InquiryEvent[] = [
  answer({ target: [option("Production")] }),
  { type: "skip", by: ANA },
  { type: "cancel", reason: "declined", by: ANA },
  { type: "expire", unseen: null },
  { type: "fail", reason: "unreachable" },
];
const ENDS: Readonly<Record<InquiryEvent["type"], Status>> = {
  answer: "answered",
  skip: "cancelled",
  cancel: "cancelled",
  expire: "timed_out",
  fail: "undelivered",
};
const FINAL: readonly Status[] = ["answered", "cancelled", "timed_out", "undelivered"];

describe("the machine", () => {
  it("has five states, and only waiting has exits", () => {
    expect(Object.keys(TRANSITIONS).sort()).toEqual(["waiting", ...FINAL].sort());
    expect(Object.keys(TRANSITIONS.waiting).sort()).toEqual(Object.keys(ENDS).sort());
    for (const status of FINAL) expect(TRANSITIONS[status]).toEqual({});
  });

  it.each(EVENTS.map((event) => [event.type, event] as const))("waiting, %s: settles once", (type, event) => {
    const after = moved(inquiry(), event);
    expect(after).toMatchObject({ status: ENDS[type], version: 4, settledAt: NOW });
    expect(isSettled(after)).toBe(true);
  });

  const closed = FINAL.flatMap((status) => EVENTS.map((event) => [status, event.type, event] as const));
  it.each(closed)("%s, %s: already settled, unchanged", (status, _, event) => {
    expect(refusal(inquiry({ status }), event)).toMatchObject({ code: "already_settled", question: null });
  });
});

describe("an answer", () => {
  const two = () => inquiry({ questions: [question("a"), question("b", { multiSelect: true })] });

  it("records who gave it, where, and the exact label", () => {
    const after = moved(inquiry(), EVENTS[0] as InquiryEvent);
    expect(after.resolutions.get("target")).toEqual({ outcome: "answered", values: [option("Production")], by: ANA });
    expect(after).toMatchObject({ settledBy: ANA, reason: null });
  });

  it("to some of the questions is kept, the rest stays open, the version rises by one", () => {
    const after = moved(two(), answer({ a: [option("Local")] }));
    expect(after).toMatchObject({ status: "waiting", version: 4, settledAt: null });
    expect(unanswered(after).map((one) => one.id)).toEqual(["b"]);
  });

  it("to all at once raises the version by one", () => {
    expect(moved(two(), answer({ a: [option("Local")], b: [] }))).toMatchObject({ status: "answered", version: 4 });
  });

  it("may be none of a multi-select, and stands in option order, text last", () => {
    expect(moved(two(), answer({ b: [] })).resolutions.get("b")).toMatchObject({ outcome: "answered", values: [] });
    const values = [text("mine"), option("Local"), option("Staging (Recommended)")];
    expect(moved(two(), answer({ b: values })).resolutions.get("b")?.values).toEqual([
      option("Staging (Recommended)"),
      option("Local"),
      text("mine"),
    ]);
  });

  it("that comes second to a question is refused, whoever gives it, and nothing of it is kept", () => {
    const once = moved(two(), answer({ a: [option("Local")] }));
    const later = answer({ b: [option("Local")], a: [option("Production")] }, { by: BEN });
    expect(refusal(once, later)).toMatchObject({ code: "already_answered", question: "a" });
  });

  it("with a skip beside it settles as answered", () => {
    expect(moved(two(), answer({ a: [option("Local")], b: SKIP })).status).toBe("answered");
  });

  it("of skips alone settles as cancelled, skipped", () => {
    const after = moved(two(), answer({ a: SKIP, b: SKIP }));
    expect(after).toMatchObject({ status: "cancelled", reason: "skipped", version: 4 });
    expect([...after.resolutions.values()].map((one) => [one.outcome, one.values])).toEqual([
      ["skipped", []],
      ["skipped", []],
    ]);
  });

  it("cannot follow a skip of the same question", () => {
    const skipped = moved(two(), answer({ a: SKIP }));
    expect(refusal(skipped, answer({ a: [option("Local")] }))?.code).toBe("already_answered");
  });

  it.each<[string, Partial<Question>, readonly Value[]]>([
    ["nothing for a single answer", {}, []],
    ["two for a single answer", {}, [option("Local"), option("Production")]],
    ["an option it does not have", {}, [option("Moon")]],
    ["a label without its mark as an option", {}, [option("Staging")]],
    ["blank text", {}, [text(" \n\t")]],
    ["invisible text", {}, [text("\u200B\u2800")]],
    ["the same twice", { multiSelect: true }, [option("Local"), option("Local")]],
    ["the same text twice", { multiSelect: true }, [text("x"), text("x")]],
    ["text to a closed list", { allowOther: false }, [text("elsewhere")]],
    ["the name of an inherited property", {}, [option("constructor")]],
  ])("is refused with %s", (_, over, values) => {
    const closed = inquiry({ questions: [question("target", over)] });
    expect(refusal(closed, answer({ target: values }))).toMatchObject({ code: "invalid_answer", question: "target" });
  });

  it("is refused whole if one part is wrong", () => {
    expect(refusal(two(), answer({ a: [option("Local")], b: [option("Moon")] }))?.question).toBe("b");
  });

  it("is refused for no question, or for one that is not asked", () => {
    expect(refusal(inquiry(), answer({}))).toMatchObject({ code: "invalid_answer", question: null });
    for (const id of ["nope", "constructor"]) {
      expect(refusal(inquiry(), answer({ [id]: [text("x")] }))).toMatchObject({ code: "invalid_answer", question: id });
    }
  });
});

describe("a stale answer", () => {
  const task = { taskId: "t", currentStep: null, stateVersion: 4 };
  const at = (stateVersion: number) => answer({ target: [option("Moon")] }, { stateVersion });

  it("is one given for another state of the task, older or newer", () => {
    for (const version of [3, 5]) expect(refusal(inquiry({ task }), at(version))?.code).toBe("stale");
    expect(refusal(inquiry(), at(4))?.code).toBe("stale");
  });

  it("is found after settled and before invalid", () => {
    expect(refusal(inquiry({ task, status: "answered" }), at(3))?.code).toBe("already_settled");
    expect(refusal(inquiry({ task }), at(3))?.code).toBe("stale");
    expect(refusal(inquiry({ task }), at(4))?.code).toBe("invalid_answer");
  });

  it("has nothing to do with the version of the inquiry", () => {
    const good = answer({ target: [option("Local")] }, { stateVersion: 4 });
    expect(moved(inquiry({ task, version: 9 }), good)).toMatchObject({ status: "answered", version: 10 });
  });
});

describe("skip and cancel", () => {
  const half = () =>
    moved(inquiry({ questions: [question("a"), question("b"), question("c")] }), answer({ a: [option("Local")] }));

  it("skip leaves answers alone: answered if there is one", () => {
    const after = moved(half(), { type: "skip", by: BEN });
    expect(after).toMatchObject({ status: "answered", reason: null, version: 5, settledBy: BEN });
    expect([...after.resolutions.values()].map((one) => [one.outcome, one.by?.person])).toEqual([
      ["answered", "ana"],
      ["skipped", "ben"],
      ["skipped", "ben"],
    ]);
  });

  it("skip without any answer is cancelled, skipped", () => {
    expect(moved(inquiry(), { type: "skip", by: BEN })).toMatchObject({ status: "cancelled", reason: "skipped" });
  });

  it.each(["declined", "aborted", "superseded", "operator"] as const)("cancel keeps its reason: %s", (reason) => {
    const after = moved(half(), { type: "cancel", reason });
    expect(after).toMatchObject({ status: "cancelled", reason, version: 5, settledBy: null });
    expect([...after.resolutions.keys()]).toEqual(["a"]);
  });

  it("a cancel by a person names them", () => {
    expect(moved(inquiry(), { type: "cancel", reason: "declined", by: ANA }).settledBy).toEqual(ANA);
  });
});

describe("the deadline", () => {
  const defaults = new Map([["a", ["Production"]]]);
  const pair = (over: Partial<Inquiry>) => inquiry({ questions: [question("a"), question("b")], defaults, ...over });

  it("puts nothing in without being told to", () => {
    const after = moved(inquiry(), { type: "expire", unseen: null });
    expect(after).toMatchObject({ status: "timed_out", reason: null, resolutions: new Map() });
  });

  it("puts no default in where the step cannot be undone", () => {
    expect(moved(pair({ reversible: false }), { type: "expire", unseen: null }).resolutions.size).toBe(0);
  });

  it("puts defaults in as such, still timed out, by nobody", () => {
    const after = moved(pair({ reversible: true }), { type: "expire", unseen: null });
    expect(after.status).toBe("timed_out");
    expect([...after.resolutions]).toEqual([
      ["a", { outcome: "unanswered", values: [{ kind: "default", label: "Production" }], by: null }],
    ]);
  });

  it("never replaces an answer or a skip by a default", () => {
    for (const entry of [{ a: [option("Local")] }, { a: SKIP }]) {
      const half = moved(pair({ reversible: true }), answer(entry));
      expect(moved(half, { type: "expire", unseen: null }).resolutions).toEqual(half.resolutions);
    }
  });

  it.each(["no_surface", "delivery_unknown", "queued"] as const)(
    "nobody saw it: undelivered, %s, no default",
    (unseen) => {
      const after = moved(pair({ reversible: true }), { type: "expire", unseen });
      expect(after).toMatchObject({ status: "undelivered", reason: unseen, resolutions: new Map() });
    },
  );

  it("is timed out where it was shown or answered in part, whatever became of the copies", () => {
    expect(moved(inquiry({ shownAt: 1 }), { type: "expire", unseen: "queued" }).status).toBe("timed_out");
    const half = moved(pair({}), answer({ b: [option("Local")] }));
    expect(moved(half, { type: "expire", unseen: "no_surface" })).toMatchObject({ status: "timed_out", reason: null });
  });
});

describe("failed delivery", () => {
  it.each(["unreachable", "rate_limited"] as const)("is undelivered at once: %s", (reason) => {
    expect(moved(inquiry(), { type: "fail", reason })).toMatchObject({ status: "undelivered", reason, settledAt: NOW });
  });
});
