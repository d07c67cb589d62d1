/** Topics, groups that become supergroups, and one question in several chats. */
import { describe, expect, test } from "vitest";
import { OPERATOR } from "../../src/testing/bridge.ts";
import { until } from "../../src/testing/until.ts";
import { GROUP_OF_ANA, GROUP_OF_BOTH, one } from "./asks.ts";
import { ANA, BEN, GROUP, type Stage, stages } from "./stage.ts";

const stage = stages();
const DEPLOY = one("Deploy where?", ["Staging", "Production"]);
const FORUM = -1_001_000_000_009;
const ADMIT = { admit: new Map([[`telegram:${FORUM}`, ["ana", "ben"]]]) };
const IN_TOPIC = { to: [`telegram:${FORUM}/7`], respondents: ["ana"] };

// https://github.com/NousResearch/hermes-agent/issues/28153
// https://github.com/openclaw/openclaw/issues/81874
describe("a question in one topic of a forum", () => {
  async function asked() {
    const on = await stage({ directory: ADMIT });
    on.telegram.group(FORUM, { topics: [7, 9] });
    return { on, ...(await on.shown({ ...DEPLOY, ...IN_TOPIC }, FORUM)) };
  }

  test.each([
    ["a reply in the topic", (on: Stage, id: number) => on.ana.says(FORUM, "2", { topic: 7, replyTo: id })],
    ["a reply that carries no thread", (on: Stage, id: number) => on.ana.says(FORUM, "2", { replyTo: id })],
    ["a mention in the topic", (on: Stage) => on.ana.says(FORUM, "@askgate_bot 2", { topic: 7 })],
    ["a press", (on: Stage, id: number) => on.ana.presses(id, "2. Production")],
  ])("%s answers it, and every word of it stays in that topic", async (_, act) => {
    const { on, id, message } = await asked();
    act(on, message.id);
    expect(await on.over(id)).toMatchObject({ answers: { q: ["Production"] } });
    expect((await on.closed(id, FORUM)).topic).toBe(7);
    expect(on.telegram.messages(FORUM).map(({ topic }) => topic)).toEqual([7]);
  });

  test.each([
    ["a mention in another topic", (on: Stage) => on.ana.says(FORUM, "@askgate_bot 2", { topic: 9 })],
    ["a mention in General", (on: Stage) => on.ana.says(FORUM, "@askgate_bot 2")],
    ["a bare number in another topic", (on: Stage) => on.ana.says(FORUM, "2", { topic: 9 })],
    ["a bare number in General", (on: Stage) => on.ana.says(FORUM, "2")],
  ])("%s does not", async (_, act) => {
    const { on, id, message } = await asked();
    act(on);
    await on.quiet();
    expect(await on.get(id)).toMatchObject({ status: "waiting", version: 1 });
    await on.ana.presses(message.id, "1. Staging").answered;
    expect(await on.over(id)).toMatchObject({ version: 2, answers: { q: ["Staging"] } });
  });

  test("its hints and its entry field stay in the topic", async () => {
    const { on, id, message } = await asked();
    on.ana.says(FORUM, "9", { topic: 7, replyTo: message.id });
    const hint = await on.telegram.waitFor(() =>
      on.telegram.messages(FORUM).find(({ text }) => text.startsWith("That is not")),
    );
    expect(hint.topic).toBe(7);
    await on.ana.presses(message.id, "Other").answered;
    const field = await until("the entry field opens", () => {
      on.clock.skip(1_000);
      return on.telegram.messages(FORUM).find(({ forceReply }) => forceReply !== null);
    });
    expect(field.topic).toBe(7);
    on.ana.says(FORUM, "the old server", { replyTo: field.id, topic: 7 });
    expect(await on.over(id)).toMatchObject({ answers: { q: ["the old server"] } });
  });
});

describe("a group that becomes a supergroup", () => {
  const SUPER = -1_001_000_000_001;

  test("keeps its open question, whom it admits, and where it is routed", async () => {
    const on = await stage({ durable: true });
    const first = await on.shown({ ...DEPLOY, ...GROUP_OF_ANA }, GROUP);
    on.telegram.upgrade(GROUP, SUPER);
    await on.quiet();
    const moved = await until("the new group shows it", () => {
      on.clock.skip(1_000);
      return on.telegram.messages(SUPER).at(-1);
    });
    expect(await on.eve.presses(moved.id, "2. Production").answered).toContain("somebody else");
    expect(await on.ana.presses(moved.id, "1. Staging").answered).toContain("Recorded");
    expect(await on.over(first.id)).toMatchObject({ version: 2, answers: { q: ["Staging"] } });
    // Named by its old id, as in the settings; and still after a start.
    on.kill();
    await on.start();
    const second = await on.ask({ ...one("And now?", ["A", "B"]), ...GROUP_OF_BOTH });
    const copy = await until("the new group shows the next one", () => {
      on.clock.skip(1_000);
      return on.telegram.messages(SUPER).find(({ text }) => text.includes("And now?"));
    });
    on.ben.says(SUPER, "2", { replyTo: copy.id });
    expect(await on.over(second.id)).toMatchObject({ answers: { q: ["B"] }, details: [{ by: "ben" }] });
  });

  test("is found by a send that is refused, without the platform's notice", async () => {
    const on = await stage();
    on.telegram.upgrade(GROUP, SUPER);
    await on.quiet();
    const { id } = await on.ask({ ...DEPLOY, ...GROUP_OF_ANA });
    const copy = await until("the new group shows it", () => on.telegram.messages(SUPER).at(-1));
    on.ana.says(SUPER, "1", { replyTo: copy.id });
    expect(await on.over(id)).toMatchObject({ answers: { q: ["Staging"] } });
  });
});

describe("two people with two chats", () => {
  const BOTH = { to: [`telegram:${ANA}`, `telegram:${BEN}`], respondents: ["ana", "ben"] };

  test("both copies close, naming who answered and where", async () => {
    const on = await stage();
    const { id, message } = await on.shown({ ...DEPLOY, ...BOTH });
    await on.ana.presses(message.id, "2. Production").answered;
    for (const chat of [ANA, BEN]) {
      const copy = await on.closed(id, chat);
      expect(copy.keyboard).toBeNull();
      expect(copy.text).toMatch(/Answered by .?ana.? in Telegram: .?Production/);
    }
  });

  test.each([
    ["typed", (on: Stage) => on.ben.says(BEN, "my secret plan")],
    [
      "typed after Other",
      async (on: Stage, id: number) => {
        await on.ben.presses(id, "Other").answered;
        on.ben.says(BEN, "my secret plan");
      },
    ],
  ])("words %s in one chat are shown in that chat alone", async (_, act) => {
    const on = await stage();
    const { id } = await on.shown({ ...DEPLOY, ...BOTH });
    const bens = await on.shownIn(id, BEN);
    await act(on, bens.id);
    expect(await on.over(id)).toMatchObject({ answers: { q: ["my secret plan"] } });
    expect((await on.closed(id, BEN)).text).toContain("my secret plan");
    const anas = await on.closed(id, ANA);
    expect(anas.text).toMatch(/Answered by .?ben.? in Telegram\./);
    expect(JSON.stringify(on.telegram.messages(ANA))).not.toContain("secret");
    expect(await on.ana.presses(anas.id, "x").answered).not.toContain("secret");
  });

  test("an answer from outside says so in every chat", async () => {
    const on = await stage();
    const { id } = await on.shown({ ...DEPLOY, ...BOTH });
    await on.bridge().engine.asker.answer(OPERATOR, id, { answers: { q: ["Staging"] } });
    for (const chat of [ANA, BEN])
      expect((await on.closed(id, chat)).text).toMatch(/Answered by .?operator.? .*Staging/);
  });
});
