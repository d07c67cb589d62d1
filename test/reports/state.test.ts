/** How questions end, what is kept on the way, and what comes too late. */
import { describe, expect, test } from "vitest";
import { AskgateError } from "../../src/core/errors.ts";
import type { ToolResult } from "../../src/ports/asker.ts";
import { AGENT, OPERATOR } from "../../src/testing/bridge.ts";
import { until } from "../../src/testing/until.ts";
import { one, question, several } from "./asks.ts";
import { ANA, type Asked, type Stage, stages } from "./stage.ts";

const stage = stages();
const DELETE = one("Delete it?", ["No (Recommended)", "Yes"]);

/** What the bot said in reply to a message. */
function answerTo(on: Stage, message: number) {
  return on.telegram.waitFor(() => on.telegram.messages(ANA).find(({ replyTo }) => replyTo === message));
}

// https://github.com/anthropics/claude-code/issues/73037
// https://github.com/openai/codex/issues/28969
// https://github.com/kirodotdev/KiroCrew/issues/10231
// https://github.com/kurrent-io/kcap-cli/issues/732
describe("a program can tell every ending from every other", () => {
  const endings: readonly (readonly [string, (on: Stage, asked: Asked) => unknown, Partial<ToolResult>])[] = [
    ["the deadline", ({ clock }) => clock.skip(901_000), { status: "no_answer", reason: "timed_out" }],
    [
      "her cancel word",
      ({ ana }) => ana.says(ANA, "cancel"),
      { status: "no_answer", reason: "cancelled", cause: "declined" },
    ],
    [
      "her /cancel",
      ({ ana }) => ana.says(ANA, "/cancel"),
      { status: "no_answer", reason: "cancelled", cause: "declined" },
    ],
    ["her Skip", ({ ana }, { message }) => ana.presses(message.id, "Skip"), { status: "no_answer", reason: "skipped" }],
    ["her /skip", ({ ana }) => ana.says(ANA, "/skip"), { status: "no_answer", reason: "skipped" }],
    ["a chosen No", ({ ana }, { message }) => ana.presses(message.id, "1. No"), { status: "answered" }],
    [
      "the agent's cancel",
      ({ bridge }, { id }) => bridge().engine.asker.cancel(AGENT, id),
      { status: "no_answer", reason: "cancelled", cause: "aborted" },
    ],
    [
      "the operator's cancel",
      ({ bridge }, { id }) => bridge().engine.asker.cancel(OPERATOR, id),
      { status: "no_answer", reason: "cancelled", cause: "operator" },
    ],
    [
      "the run's abort",
      ({ bridge }) => bridge().engine.asker.abortRun(AGENT, "r1"),
      { status: "no_answer", reason: "cancelled", cause: "aborted" },
    ],
    [
      "the task moving on",
      ({ bridge }) => bridge().engine.asker.moveTask(AGENT, "t1", { stateVersion: 2 }),
      { status: "no_answer", reason: "superseded" },
    ],
  ];
  test.each(endings)("%s", async (_, end, expected) => {
    const on = await stage();
    const input = { ...DELETE, run: "r1", task: { taskId: "t1", stateVersion: 1 }, id: "ask-1" };
    const result = on.bridge().engine.asker.askUser(AGENT, input, { signal: new AbortController().signal });
    const asked = await on.shown(input);
    await end(on, asked);
    expect(await result).toMatchObject(expected);
    if (expected.status === "answered")
      expect(await result).toMatchObject({ answers: { answers: { q: ["No (Recommended)"] } } });
    else expect(JSON.stringify(await result)).not.toMatch(/Recommended|Yes|proceed|judg/i);
    const copy = await on.closed(asked.id, ANA);
    expect(copy.keyboard).toBeNull();
    expect(copy.text).toContain("Delete it?");
  });

  test("failed delivery", async () => {
    const on = await stage();
    on.ana.blocks();
    const result = await on.bridge().engine.asker.askUser(AGENT, DELETE, { signal: new AbortController().signal });
    expect(result).toMatchObject({ status: "no_answer", reason: "undelivered", cause: "unreachable" });
    expect(JSON.stringify(result)).not.toMatch(/Recommended|Yes/);
  });
});

// https://github.com/phuryn/grok-build-vscode/issues/160
describe("what comes after the end changes nothing and gets one clear notice", () => {
  const ends: readonly (readonly [string, (on: Stage, id: string) => unknown])[] = [
    ["its deadline", ({ clock }) => clock.skip(901_000)],
    ["its cancellation", ({ bridge }, id) => bridge().engine.asker.cancel(AGENT, id)],
  ];
  const deeds: readonly (readonly [string, (on: Stage, asked: Asked) => number])[] = [
    ["a typed number", ({ ana }) => ana.says(ANA, "1")],
    ["typed words", ({ ana }) => ana.says(ANA, "rather not")],
    ["a reply to it", ({ ana }, { message }) => ana.says(ANA, "1", { replyTo: message.id })],
    ["a cancel word", ({ ana }, { message }) => ana.says(ANA, "cancel", { replyTo: message.id })],
  ];
  const late = ends.flatMap(([when, end]) => deeds.map(([what, deed]) => [what, when, deed, end] as const));
  test.each(late)("%s after %s", async (_what, _when, deed, end) => {
    const on = await stage();
    const asked = await on.shown(DELETE);
    await end(on, asked.id);
    const before = await on.over(asked.id);
    const mine = deed(on, asked);
    expect((await answerTo(on, mine)).text).toBe("This question is closed already.");
    await on.quiet();
    expect(await on.get(asked.id)).toMatchObject({ status: before.status, version: before.version });
    expect((await on.closed(asked.id, ANA)).keyboard).toBeNull();
    expect(on.telegram.messages(ANA)).toHaveLength(2);
  });

  test.each(ends)("a press after %s: a toast, and no message", async (_, end) => {
    const on = await stage();
    const { id, message } = await on.shown(DELETE);
    await end(on, id);
    await on.over(id);
    const payload = message.keyboard?.inline_keyboard.flat()[0]?.callback_data ?? "";
    expect(await on.ana.presses(message.id, payload).answered).toBe("This question is closed already.");
    expect((await on.closed(id, ANA)).keyboard).toBeNull();
    expect(on.telegram.messages(ANA)).toHaveLength(1);
  });

  test.each([
    ["a bare number", (on: Stage) => on.ana.says(ANA, "2")],
    ["bare words", (on: Stage) => on.ana.says(ANA, "rather not")],
    ["a reply", (on: Stage, { message }: Asked) => on.ana.says(ANA, "1", { replyTo: message.id })],
    [
      "a press",
      (on: Stage, { message }: Asked) =>
        on.ana.presses(message.id, message.keyboard?.inline_keyboard.flat()[0]?.callback_data ?? ""),
    ],
  ])("%s meant for it does not answer the question that is still open", async (_, deed) => {
    const on = await stage();
    const first = await on.shown({ ...DELETE, timeoutSeconds: 30 });
    const second = await on.shown(one("Keep the log?", ["Keep", "Drop"]));
    on.clock.skip(31_000);
    await on.over(first.id);
    deed(on, first);
    await on.quiet();
    expect(await on.get(second.id)).toMatchObject({ status: "waiting", version: 1 });
    on.clock.skip(61_000);
    on.ana.says(ANA, "2");
    expect(await on.over(second.id)).toMatchObject({ answers: { q: ["Drop"] } });
  });
});

// https://github.com/topcheer/ggcode/pull/1990
// https://github.com/runvendo/vendo/pull/1268
describe("two questions open in one chat", () => {
  test.each(["2.", "2", "yes", "no idea", "skip", "cancel"])(
    "a bare “%s” settles neither; one hint says how to say which",
    async (text) => {
      const on = await stage();
      const asked = [
        await on.shown(one("First?", ["A", "B"], { task: { taskId: "t1", stateVersion: 1 } })),
        await on.shown(one("Second?", ["C", "D"], { task: { taskId: "t2", stateVersion: 1 } })),
      ];
      const mine = on.ana.says(ANA, text);
      expect((await answerTo(on, mine)).text).toMatch(/reply to the one you mean/i);
      await on.quiet();
      for (const { id } of asked) expect(await on.get(id)).toMatchObject({ status: "waiting", version: 1 });
      expect(on.telegram.messages(ANA)).toHaveLength(3);
    },
  );

  test("a reply answers exactly the one it replies to; then a bare number answers the one left", async () => {
    const on = await stage();
    const first = await on.shown(one("First?", ["A", "B"]));
    const second = await on.shown(one("Second?", ["C", "D"]));
    on.ana.says(ANA, "2", { replyTo: first.message.id });
    expect(await on.over(first.id)).toMatchObject({ answers: { q: ["B"] } });
    expect((await on.get(second.id)).version).toBe(1);
    on.ana.says(ANA, "2");
    expect(await on.over(second.id)).toMatchObject({ answers: { q: ["D"] } });
  });
});

// https://github.com/gsd-build/gsd-2/pull/5164
// https://github.com/pingdotgg/t3code/pull/2404
// https://github.com/langchain-ai/langgraph/issues/6626
describe("questions have identities of their own", () => {
  test("equal texts and headers in one call keep their own answers, whatever their ids", async () => {
    const on = await stage();
    const ids = ["constructor", "has_own_property", "q1"];
    const { id } = await on.shown({ questions: ids.map((name) => question("Which?", ["A", "B"], name)) });
    on.ana.says(ANA, "1: 1\n2: 2\n3: other words");
    const view = await on.over(id);
    expect(Object.entries(view.answers ?? {})).toEqual([
      ["constructor", ["A"]],
      ["has_own_property", ["B"]],
      ["q1", ["other words"]],
    ]);
    expect(view.details?.map((detail) => detail.id)).toEqual(ids);
  });

  test.each(["__proto__", "1", "Q", "a-b", ""])("the id “%s” is refused and nothing is sent", async (name) => {
    const on = await stage();
    const failure = await on
      .ask({ questions: [question("Which?", ["A", "B"], name)] })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(AskgateError);
    expect((failure as AskgateError).issues[0]).toMatchObject({ path: "questions[0].id", rule: "pattern" });
    expect(on.telegram.calls("sendMessage")).toEqual([]);
  });

  test("two equal calls at once in one step are two questions; each answer reaches the call that asked", async () => {
    const on = await stage();
    const input = one("Which?", ["A", "B"], { task: { taskId: "t", stateVersion: 1 } });
    const signal = new AbortController().signal;
    const ids: string[] = [];
    const results = [0, 1].map(() =>
      on.bridge().engine.asker.askUser(AGENT, input, { signal, onAsked: (id) => void ids.push(id) }),
    );
    await until("both are asked", () => ids.length === 2);
    expect(new Set(ids).size).toBe(2);
    for (const [index, id] of ids.entries()) {
      const copy = await until("it is shown", () => {
        on.clock.skip(200);
        return on.copyIn(id, ANA);
      });
      await on.ana.presses(copy.id, ["1. A", "2. B"][index] ?? "").answered;
    }
    const byId = new Map((await Promise.all(results)).map((result) => [result.inquiry_id, result]));
    expect(ids.map((id) => byId.get(id))).toMatchObject([
      { answers: { answers: { q: ["A"] } } },
      { answers: { answers: { q: ["B"] } } },
    ]);
  });
});

describe("several questions are answered bit by bit", () => {
  const THREE = {
    questions: [
      question("One?", ["A", "B"], "one"),
      several("Two?", ["C", "D"], "two"),
      question("Three?", ["E", "F"], "three"),
    ],
  };

  test("what was said is kept and shown, and only the rest is asked", async () => {
    const on = await stage();
    const { id } = await on.shown(THREE);
    const mine = on.ana.says(ANA, "1: 2\n2: 9");
    expect((await answerTo(on, mine)).text).toMatch(/Recorded: .*Still open/);
    const partly = await until("the copy shows it", async () => {
      on.clock.skip(200);
      const copy = await on.copyIn(id, ANA);
      return copy?.text.includes("Answered by") && copy;
    });
    expect(partly.text).not.toMatch(/\. .?A\b/);
    expect(await on.get(id)).toMatchObject({ status: "waiting", version: 2 });
    on.ana.says(ANA, "1: 1\n2: none\n3: skip", { replyTo: partly.id });
    await on.quiet();
    const view = await on.get(id);
    expect(view.details?.find((detail) => detail.id === "one")?.values).toEqual([{ kind: "option", label: "B" }]);
  });

  test.each([
    ["the deadline", (on: Stage) => on.clock.skip(901_000), "timed_out"],
    ["a cancel word", (on: Stage) => on.ana.says(ANA, "cancel"), "cancelled"],
  ])("%s keeps them in the details, as no answer", async (_, end, status) => {
    const on = await stage();
    const { id } = await on.shown(THREE);
    on.ana.says(ANA, "1: 2");
    await until("half is recorded", async () => (await on.get(id)).version === 2);
    end(on);
    const view = await on.over(id);
    expect(view).toMatchObject({ status, version: 3 });
    expect(view.answers).toBeUndefined();
    expect(view.details?.map(({ outcome }) => outcome)).toEqual(["answered", "unanswered", "unanswered"]);
  });

  test("skipping the rest answers with what there is", async () => {
    const on = await stage();
    const { id } = await on.shown(THREE);
    on.ana.says(ANA, "1: 2");
    await until("half is recorded", async () => (await on.get(id)).version === 2);
    on.ana.says(ANA, "skip");
    const view = await on.over(id);
    expect(view).toMatchObject({ status: "answered", answers: { one: ["B"] } });
    expect(view.details?.map(({ outcome }) => outcome)).toEqual(["answered", "skipped", "skipped"]);
  });
});
