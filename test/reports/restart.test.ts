/** The process ends at the worst moment and starts again on the same store. */
import { describe, expect, test } from "vitest";
import { AGENT } from "../../src/testing/bridge.ts";
import { until } from "../../src/testing/until.ts";
import { one, question } from "./asks.ts";
import { ANA, type Stage, stages } from "./stage.ts";

const stage = stages();
const DEPLOY = one("Deploy where?", ["Staging", "Production"]);
const PRESS = "2. Production";

// https://github.com/NousResearch/hermes-agent/issues/32762
// https://github.com/openclaw/openclaw/issues/30772
describe("killed between the question and the answer", () => {
  const answers: readonly (readonly [string, (on: Stage, message: number) => unknown])[] = [
    ["pressed", ({ ana }, message) => ana.presses(message, PRESS)],
    ["typed as a number", ({ ana }) => ana.says(ANA, "2")],
    ["typed as a label", ({ ana }) => ana.says(ANA, "production")],
    ["sent as a reply", ({ ana }, message) => ana.says(ANA, "2.", { replyTo: message })],
  ];
  test.each(answers)("an answer %s afterwards counts, by the deadline of before", async (_, act) => {
    const on = await stage({ durable: true });
    const { id, message } = await on.shown(DEPLOY);
    const before = await on.get(id);
    on.kill();
    await on.start();
    act(on, message.id);
    const after = await on.over(id);
    expect(after).toMatchObject({ status: "answered", answers: { q: ["Production"] }, expiresAt: before.expiresAt });
    expect((await on.closed(id, ANA)).text).toContain("Answered by");
    expect(on.telegram.messages(ANA)).toHaveLength(1);
  });

  test.each(answers)("an answer %s while it was down counts", async (_, act) => {
    const on = await stage({ durable: true });
    const { id, message } = await on.shown(DEPLOY);
    on.kill();
    act(on, message.id);
    await on.start();
    expect(await on.over(id)).toMatchObject({ status: "answered", version: 2, answers: { q: ["Production"] } });
  });

  test("killed between the recorded press and the return to the agent: the same call gets the answer", async () => {
    const on = await stage({ durable: true });
    const { message, id } = await on.shown({ ...DEPLOY, task: { taskId: "t1", stateVersion: 1 } });
    const signal = new AbortController().signal;
    const input = { ...DEPLOY, task: { taskId: "t1", stateVersion: 1 } };
    void on.bridge().engine.asker.askUser(AGENT, input, { signal });
    on.killAtNextCommit();
    on.ana.presses(message.id, PRESS);
    await until("the press is recorded", async () => (await on.bridge().store.inquiriesById(id, null))[0]?.settledAt);
    expect(on.telegram.messages(ANA)[0]?.keyboard).not.toBeNull();
    await on.start();
    const result = await on.bridge().engine.asker.askUser(AGENT, input, { signal });
    expect(result).toMatchObject({ status: "answered", inquiry_id: id, answers: { answers: { q: ["Production"] } } });
    expect((await on.closed(id, ANA)).text).toContain("Answered by");
  });

  test("killed before the press is recorded: nothing claims that it was, and it counts after the start", async () => {
    const on = await stage({ durable: true });
    const { id, message } = await on.shown(DEPLOY);
    on.kill();
    const { answered } = on.ana.presses(message.id, PRESS);
    expect(on.telegram.messages(ANA)[0]?.text).not.toContain("Answered");
    expect(on.telegram.calls("answerCallbackQuery")).toEqual([]);
    await on.start();
    expect(await answered).toContain("Recorded");
    expect((await on.over(id)).version).toBe(2);
  });

  test("Other on a question that ended meanwhile opens no entry", async () => {
    const on = await stage({ durable: true });
    const { id, message } = await on.shown(DEPLOY);
    on.kill();
    on.clock.skip(901_000);
    await on.start();
    on.clock.skip(11_000);
    await on.over(id);
    const payload = message.keyboard?.inline_keyboard.flat().find(({ text }) => text === "Other")?.callback_data ?? "";
    expect(await on.ana.presses(message.id, payload).answered).toBe("This question is closed already.");
    await on.closed(id, ANA);
    expect(on.telegram.messages(ANA).map((one) => one.forceReply)).toEqual([null]);
  });
});

// https://github.com/openclaw/openclaw/issues/739
// https://github.com/openclaw/openclaw/issues/122886
// https://github.com/anthropics/claude-plugins-official/issues/3938
// https://github.com/openclaw/openclaw/pull/30802
describe("updates that come again", () => {
  test("a batch half handled when the process died has each effect exactly once", async () => {
    const on = await stage({ durable: true });
    const [first, second, third] = [
      await on.shown(one("First?", ["A1", "B1"])),
      await on.shown(one("Second?", ["A2", "B2"])),
      await on.shown(one("Third?", ["A3", "B3"])),
    ];
    on.killAtNextCommit();
    on.ana.presses(first.message.id, "1. A1");
    on.ana.says(ANA, "2", { replyTo: second.message.id });
    on.ana.presses(third.message.id, "2. B3");
    await until(
      "the first is recorded",
      async () => (await on.bridge().store.inquiriesById(first.id, null))[0]?.settledAt,
    );
    expect(on.telegram.unconfirmed()).toHaveLength(3);
    await on.start();
    expect(await on.over(first.id)).toMatchObject({ version: 2, answers: { q: ["A1"] } });
    expect(await on.over(second.id)).toMatchObject({ version: 2, answers: { q: ["B2"] } });
    expect(await on.over(third.id)).toMatchObject({ version: 2, answers: { q: ["B3"] } });
    await on.quiet();
  });

  const deeds: readonly (readonly [string, (on: Stage, message: number) => unknown, string | null])[] = [
    ["a press", ({ ana }, message) => ana.presses(message, "1. Yes"), null],
    ["a typed answer", ({ ana }, message) => ana.says(ANA, "1", { replyTo: message }), null],
    ["a skip", ({ ana }, message) => ana.presses(message, "Skip"), null],
    ["a cancel word", ({ ana }, message) => ana.says(ANA, "cancel", { replyTo: message }), null],
  ];
  test.each(deeds)("%s delivered twice has one effect and gets the first reply again", async (_, act) => {
    const on = await stage({ durable: true });
    const { id, message } = await on.shown(one("Sure?", ["Yes", "No"]));
    on.killAtNextCommit();
    const deed = act(on, message.id) as { answered?: Promise<string | null> };
    const settled = await until(
      "it is over",
      async () => (await on.bridge().store.inquiriesById(id, null))[0]?.settledAt,
    );
    await on.start();
    await on.quiet();
    const view = await on.get(id);
    expect(view.version).toBe(2);
    expect(Date.parse(view.settledAt ?? "")).toBe(settled);
    if (deed.answered !== undefined) expect(await deed.answered).toMatch(/^(Recorded: .*Yes|Skipped)/);
    await on.closed(id, ANA);
    expect(on.telegram.messages(ANA)).toHaveLength(1);
  });

  test("half of an answer to several questions delivered twice is told once more and counts once", async () => {
    const on = await stage({ durable: true });
    const { id } = await on.shown({
      questions: [question("One?", ["A", "B"], "one"), question("Two?", ["C", "D"], "two")],
    });
    on.killAtNextCommit();
    on.ana.says(ANA, "1: 2");
    await until("half is recorded", async () => (await on.bridge().store.inquiriesById(id, null))[0]?.version === 2);
    await on.start();
    await until("it is told", () => on.telegram.messages(ANA).some(({ text }) => text.startsWith("Recorded")));
    await on.quiet();
    expect((await on.get(id)).version).toBe(2);
  });

  test("an update of another bot on the same data is no repeat, though it has the same number", async () => {
    const on = await stage({ durable: true });
    const first = await on.shown(one("First?", ["A", "B"]));
    on.ana.presses(first.message.id, "1. A");
    const [used] = on.telegram.unconfirmed();
    await on.over(first.id);
    on.kill();
    on.telegram.inject("getMe", {
      raw: JSON.stringify({ ok: true, result: { id: 999, is_bot: true, username: "new_bot" } }),
    });
    await on.start();
    const { id, message } = await on.shown(one("Second?", ["C", "D"]));
    const button = message.keyboard?.inline_keyboard.flat()[1];
    const place = { message_id: message.id, date: message.date, chat: { id: ANA, type: "private" } };
    const query = {
      id: "1",
      from: { id: ANA, is_bot: false, first_name: "Ana" },
      data: button?.callback_data,
      message: place,
    };
    on.telegram.push({ update_id: used, callback_query: query });
    expect(await on.over(id)).toMatchObject({ answers: { q: ["D"] } });
  });
});
