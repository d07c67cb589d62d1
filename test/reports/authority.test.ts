/** Authority comes from who acts and where, never from what they hold. What does not count changes nothing. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { GROUP_OF_ANA, GROUP_OF_BOTH, one } from "./asks.ts";
import { ANA, BEN, GROUP, type Message, type Stage, stages } from "./stage.ts";

const stage = stages();
const DEPLOY = one("Deploy where?", ["Staging", "Production"]);
const OTHER_GROUP = -2002;

/** The payload of the button that reads so. */
function payload(message: Message, label: string): string {
  const button = message.keyboard?.inline_keyboard.flat().find(({ text }) => text.includes(label));
  return button?.callback_data ?? "";
}

/** A press as the platform reports it, in every detail of our choosing. */
function nativePress(message: Message, data: string, change: object = {}): object {
  return {
    id: `forged-${Math.abs(message.chat)}`,
    from: { id: ANA, is_bot: false, first_name: "Ana" },
    chat_instance: "1",
    data,
    message: { message_id: message.id, date: message.date, chat: { id: message.chat, type: "group", title: "Team" } },
    ...change,
  };
}

/** Everything that was to come has come, the inquiry is as it was, and the person it asks can still answer it. */
async function untouched(on: Stage, id: string, message: Message): Promise<void> {
  await on.quiet();
  expect(await on.get(id)).toMatchObject({ status: "waiting", version: 1 });
  expect(await on.ana.presses(message.id, "1. Staging").answered).toContain("Recorded");
  expect(await on.over(id)).toMatchObject({ version: 2, answers: { q: ["Staging"] }, details: [{ by: "ana" }] });
}

// https://github.com/zeroclaw-labs/zeroclaw/pull/9838
// https://github.com/openclaw/openclaw/pull/55112
describe("in a group only the person it asks counts", () => {
  const strangers: readonly (readonly [string, (on: Stage, message: Message) => Promise<string | null>, RegExp])[] = [
    ["a colleague's press", ({ ben }, { id }) => ben.presses(id, "2. Production").answered, /for somebody else/],
    ["a colleague's Skip", ({ ben }, { id }) => ben.presses(id, "Skip").answered, /for somebody else/],
    ["a colleague's Other", ({ ben }, { id }) => ben.presses(id, "Other").answered, /for somebody else/],
    ["a stranger's press", ({ eve }, { id }) => eve.presses(id, "2. Production").answered, /for somebody else/],
  ];
  test.each(strangers)("%s changes nothing and is told privately", async (_, act, told) => {
    const on = await stage();
    const { id, message } = await on.shown({ ...DEPLOY, ...GROUP_OF_ANA }, GROUP);
    expect(await act(on, message)).toMatch(told);
    expect(on.telegram.messages(GROUP)).toHaveLength(1);
    await untouched(on, id, message);
  });

  const words: readonly (readonly [string, (on: Stage, message: Message) => unknown])[] = [
    ["a colleague's bare number", ({ ben }) => ben.says(GROUP, "1")],
    ["a colleague's reply", ({ ben }, { id }) => ben.says(GROUP, "1", { replyTo: id })],
    ["a stranger's reply", ({ eve }, { id }) => eve.says(GROUP, "1", { replyTo: id })],
    ["a stranger's mention", ({ eve }) => eve.says(GROUP, "@askgate_bot 1")],
    ["a stranger's cancel", ({ eve }, { id }) => eve.says(GROUP, "cancel", { replyTo: id })],
    ["a stranger's /skip", ({ eve }, { id }) => eve.says(GROUP, "/skip", { replyTo: id })],
    ["an anonymous admin's reply", ({ ana }, { id }) => ana.says(GROUP, "1", { replyTo: id, anonymously: true })],
    ["a voice note in reply", ({ eve }, { id }) => eve.sends(GROUP, "voice", { replyTo: id })],
    ["her own bare number: no reply, no mention", ({ ana }) => ana.says(GROUP, "2")],
    ["her own bare words", ({ ana }) => ana.says(GROUP, "production, I think")],
  ];
  test.each(words)("%s changes nothing, and the group is not disturbed", async (_, act) => {
    const on = await stage();
    const { id, message } = await on.shown({ ...DEPLOY, ...GROUP_OF_ANA }, GROUP);
    act(on, message);
    await untouched(on, id, message);
    expect(on.telegram.messages(GROUP)).toHaveLength(1);
  });

  test.each([
    ["replies", (on: Stage, id: number) => on.ana.says(GROUP, "2", { replyTo: id })],
    ["mentions the bot", (on: Stage) => on.ana.says(GROUP, "@askgate_bot 2")],
    ["mentions the bot at the end", (on: Stage) => on.ana.says(GROUP, "production @askgate_bot")],
  ])("her own words count where she %s", async (_, act) => {
    const on = await stage();
    const { id, message } = await on.shown({ ...DEPLOY, ...GROUP_OF_ANA }, GROUP);
    act(on, message.id);
    expect(await on.over(id)).toMatchObject({ answers: { q: ["Production"] }, details: [{ by: "ana" }] });
  });

  test("after her Other her next words count, a colleague's between them do not", async () => {
    const on = await stage();
    const { id, message } = await on.shown({ ...DEPLOY, ...GROUP_OF_BOTH }, GROUP);
    await on.ana.presses(message.id, "Other").answered;
    on.ben.says(GROUP, "let us have lunch");
    on.ana.says(GROUP, "the old server");
    expect(await on.over(id)).toMatchObject({ answers: { q: ["the old server"] }, details: [{ by: "ana" }] });
  });

  test("a person whom the group does not admit changes nothing there although the question asks them", async () => {
    const on = await stage();
    on.telegram.group(OTHER_GROUP);
    const there = { to: [`telegram:${OTHER_GROUP}`, `telegram:${ANA}`], respondents: ["ana"] };
    const { id, message } = await on.shown({ ...DEPLOY, ...there });
    const copy = await on.shownIn(id, OTHER_GROUP);
    expect(await on.ana.presses(copy.id, "2. Production").answered).toContain("in this group");
    on.ana.says(OTHER_GROUP, "2", { replyTo: copy.id });
    await untouched(on, id, message);
  });
});

describe("holding a button is no authority", () => {
  const forgeries: readonly (readonly [string, (message: Message) => object])[] = [
    ["an anonymous admin", (m) => nativePress(m, payload(m, "Production"), { from: { id: 1087968824, is_bot: true } })],
    ["nobody", (m) => nativePress(m, payload(m, "Production"), { from: undefined })],
    ["an inline message without a place", (m) => nativePress(m, payload(m, "Production"), { message: undefined })],
    ["no payload", (m) => nativePress(m, payload(m, "Production"), { data: undefined })],
    ["the same payload in another chat", (m) => nativePress({ ...m, chat: ANA }, payload(m, "Production"))],
    ["an option that is not there", (m) => nativePress(m, payload(m, "Production").replace(/1$/, "3"))],
    ["a question that is not there", (m) => nativePress(m, payload(m, "Production").replace(/\.0\.1$/, ".1.1"))],
  ];
  test.each(forgeries)("a press with %s changes nothing", async (_, forge) => {
    const on = await stage();
    const { id, message } = await on.shown({ ...DEPLOY, ...GROUP_OF_ANA }, GROUP);
    on.telegram.push({ callback_query: forge(message) });
    await untouched(on, id, message);
  });

  test("no payload but the ones we wrote moves anything", async () => {
    const on = await stage();
    const { id, message } = await on.shown(DEPLOY);
    const own = payload(message, "Production");
    const near = fc.tuple(fc.nat(own.length - 1), fc.constantFrom(..."0123456789abcXYZ._-")).map(([at, sign]) => {
      return own.slice(0, at) + sign + own.slice(at + 1);
    });
    const forged = fc.oneof(
      near,
      fc.string({ minLength: 1, maxLength: 16 }),
      fc.constantFrom("1", "1..0.1", "skip", "__proto__"),
    );
    const ours = new Set(message.keyboard?.inline_keyboard.flat().map((button) => button.callback_data));
    ours.add(own.replace(/1$/, "b"));
    await fc.assert(
      fc.asyncProperty(forged, async (data) => {
        fc.pre(!ours.has(data) && data.trim() !== "");
        expect(await on.ana.presses(message.id, data).answered).toBe(
          "This button no longer works. Please use the newest message.",
        );
      }),
      { numRuns: 40 },
    );
    await untouched(on, id, message);
  });

  test("a button of a question that is over changes neither that one nor the open one", async () => {
    const on = await stage();
    const first = await on.shown(one("First?", ["A", "B"]));
    const old = payload(first.message, "A");
    await on.ana.presses(first.message.id, "2. B").answered;
    const second = await on.shown(DEPLOY);
    expect(await on.ana.presses(second.message.id, old).answered).toMatch(/^Already answered by .*ana/);
    expect((await on.get(first.id)).version).toBe(2);
    await untouched(on, second.id, second.message);
  });

  test("a press in one person's chat on the copy of another's changes nothing", async () => {
    const on = await stage();
    const { id, message } = await on.shown({
      ...DEPLOY,
      to: [`telegram:${ANA}`, `telegram:${BEN}`],
      respondents: ["ana"],
    });
    const bens = await on.shownIn(id, BEN);
    expect(await on.ben.presses(bens.id, "2. Production").answered).toContain("somebody else");
    expect(await on.ben.presses(bens.id, payload(message, "Production")).answered).toContain("no longer works");
    on.ben.says(BEN, "2");
    on.ben.says(BEN, "2", { replyTo: bens.id });
    await untouched(on, id, message);
  });
});
