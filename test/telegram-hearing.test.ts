/** What the Telegram channel hears, confirms and survives: real client library, real HTTP, real long polls. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readUpdate } from "../adapters/telegram/inbound.ts";
import type { InboundEvent } from "../src/ports/channel.ts";
import type { Message, TelegramUser } from "../src/testing/telegram-server.ts";
import { until } from "../src/testing/until.ts";
import { type Bot, NOTHING, prompt, startBot } from "./fixtures/telegram-bot.ts";

const ANA = 100;
const TEAM = -5;
const SUPER = -1_001_000_000_005;
const FORUM = -1_001_000_000_007;
let bot: Bot;
let ana: TelegramUser;

beforeEach(async () => begin(await startBot()));

afterEach(async () => {
  expect(bot.server.refusals).toEqual([]);
  expect([...bot.logged, ...bot.reports].join()).not.toContain("loopback-token");
  await bot.end();
});

function begin(started: Bot): void {
  bot = started;
  ana = bot.server.user(ANA, "Ana");
  bot.server.group(TEAM);
  bot.server.group(SUPER);
  bot.server.group(FORUM, { topics: [7] });
}

async function ask(chat: number, topic?: number): Promise<Message> {
  const place = topic === undefined ? "" : `/${topic}`;
  const question = prompt(["Where?"], [["Staging 1.AAAAAAAAAAAAAAAA.0.0"]]);
  await bot.channel.send(`telegram:${chat}${place}`, question, { key: "A", partial: null });
  const shown = bot.server.messages(chat).at(-1);
  if (!shown) throw new Error("nothing was shown");
  return shown;
}

/** The event that follows the deed. */
async function heard(deed: () => unknown): Promise<InboundEvent> {
  const before = bot.events.length;
  deed();
  return until("the event arrives", () => bot.events[before]);
}

const events = (count: number) => until(`${count} events arrive`, () => bot.events.length === count);
const settled = () => bot.server.waitFor(() => bot.server.unconfirmed().length === 0);

describe("a press", () => {
  it("arrives with its payload, its message and who did it", async () => {
    await bot.listen();
    const shown = await ask(ANA);
    expect(await heard(() => ana.presses(shown.id, "Staging"))).toEqual({
      ...{ channel: "telegram", kind: "press", eventId: expect.stringMatching(/^123456:\d+$/), at: expect.any(Number) },
      ...{ actor: "telegram:100", actorName: "Ana", address: "telegram:100", direct: true },
      ...{ control: "1.AAAAAAAAAAAAAAAA.0.0", message: String(shown.id) },
    });
  });

  it("in a topic of a forum arrives from that topic", async () => {
    await bot.listen();
    const shown = await ask(FORUM, 7);
    const event = await heard(() => ana.presses(shown.id, "Staging"));
    expect(event).toMatchObject({ address: `telegram:${FORUM}/7`, direct: false });
  });

  it("is acknowledged with the notice, only after the host has it", async () => {
    let commit = () => {};
    bot.take = () => new Promise((done) => (commit = () => done({ ...NOTHING, notice: "Recorded" })));
    await bot.listen();
    const shown = await ask(ANA);
    const press = ana.presses(shown.id, "Staging");
    await events(1);
    expect(bot.server.calls("answerCallbackQuery")).toEqual([]);

    commit();
    expect(await press.answered).toBe("Recorded");
    expect(bot.server.calls("answerCallbackQuery")[0]?.body).toMatchObject({ show_alert: false });
  });

  it("is acknowledged without words where there is no notice", async () => {
    await bot.listen();
    expect(await ana.presses((await ask(ANA)).id, "Staging").answered).toBe(null);
  });

  it("shows no more of a notice than a toast holds", async () => {
    bot.take = async () => ({ ...NOTHING, notice: "😀".repeat(300) });
    await bot.listen();
    expect(await ana.presses((await ask(ANA)).id, "Staging").answered).toBe(`${"😀".repeat(199)}…`);
  });

  it("acknowledged too late does no harm", async () => {
    await bot.listen();
    const shown = await ask(ANA);
    bot.server.inject("answerCallbackQuery", { status: 400, description: "Bad Request: query is too old" });
    await heard(() => ana.presses(shown.id, "Staging"));
    await settled();
    expect(await ana.presses(shown.id, "Staging").answered).toBe(null);
    expect(bot.reports).toEqual(["up"]);
  });

  it("on a message the platform no longer knows still arrives; on none it is let go", async () => {
    await bot.listen();
    const query = { id: "9", from: { id: ANA, is_bot: false, first_name: "Ana" }, chat_instance: "1", data: "1.x" };
    const forgotten = { message_id: 5, date: 0, chat: { id: ANA, type: "private" } };
    bot.server.push({ callback_query: { ...query, inline_message_id: "i" } });
    bot.server.push({ callback_query: { ...query, data: undefined, game_short_name: "g", message: forgotten } });
    expect(await heard(() => bot.server.push({ callback_query: { ...query, message: forgotten } }))).toMatchObject({
      ...{ kind: "press", message: "5", address: "telegram:100", direct: true, control: "1.x" },
    });
    await bot.server.waitFor(() => bot.server.calls("answerCallbackQuery").length === 3);
    expect(bot.events).toHaveLength(1);
  });
});

describe("a message", () => {
  it("in a private chat arrives with its words and its time", async () => {
    await bot.listen();
    let id = 0;
    const event = await heard(() => (id = ana.says(ANA, "¿Dónde? 😀")));
    expect(event).toMatchObject({
      ...{ kind: "text", text: "¿Dónde? 😀", message: String(id), replyTo: null, mentioned: false, content: "text" },
      ...{ actor: "telegram:100", address: "telegram:100", direct: true },
    });
    expect(Date.now() - event.at).toBeLessThan(60_000);
  });

  it("replies to ours or to nobody's", async () => {
    await bot.listen();
    const shown = await ask(SUPER);
    const hers = ana.says(SUPER, "between us");
    const event = await heard(() => ana.says(SUPER, "2", { replyTo: shown.id }));
    expect(event).toMatchObject({ text: "between us", replyTo: null, direct: false });
    await settled();
    ana.says(SUPER, "3", { replyTo: hers });
    await events(3);
    expect(bot.events.slice(1)).toMatchObject([
      { text: "2", replyTo: String(shown.id), address: `telegram:${SUPER}` },
      { text: "3", replyTo: null, address: `telegram:${SUPER}` },
    ]);
  });

  it.each([
    ["@askgate_bot 2", "2", true],
    ["@Askgate_Bot, 2", "2", true],
    ["2 @askgate_bot", "2", true],
    ["ask @askgate_bot about it", "ask @askgate_bot about it", true],
    ["@somebody 2", "@somebody 2", false],
    ["/skip@askgate_bot", "/skip", true],
    ["/start@ASKGATE_BOT ABCD-1234", "/start ABCD-1234", true],
    ["/start ABCD-1234", "/start ABCD-1234", false],
  ])("that says %j is heard as %j, addressed to us: %s", async (said, text, mentioned) => {
    await bot.listen();
    expect(await heard(() => ana.says(TEAM, said))).toMatchObject({ text, mentioned });
  });

  it("that names us by a link instead of a username is addressed to us", async () => {
    await bot.listen();
    const entities = [{ type: "text_mention", offset: 0, length: 7, user: { id: bot.server.bot.id, is_bot: true } }];
    const event = await heard(() => ana.says(TEAM, "Askgate 2", { extra: { entities } }));
    expect(event).toMatchObject({ text: "2", mentioned: true });
  });

  it("without words carries no answer; a caption is words", async () => {
    await bot.listen();
    for (const kind of ["voice", "sticker", "photo"] as const) {
      expect(await heard(() => ana.sends(ANA, kind))).toMatchObject({ content: "media", text: "" });
    }
    const event = await heard(() => ana.sends(ANA, "photo", { caption: "2" }));
    expect(event).toMatchObject({ content: "text", text: "2" });
  });

  it("by somebody who hides behind the group is nobody's", async () => {
    await bot.listen();
    const event = await heard(() => ana.says(SUPER, "2", { anonymously: true }));
    expect(event).toMatchObject({ actor: null, text: "2" });
  });

  it("in a topic comes from there, and does not reply to the topic's own notice", async () => {
    await bot.listen();
    const notice = { message_id: 7, date: 1, chat: { id: FORUM, type: "supergroup" }, from: { id: bot.server.bot.id } };
    const extra = { reply_to_message: { ...notice, forum_topic_created: { name: "Ops" } } };
    const event = await heard(() => ana.says(FORUM, "2", { topic: 7, extra }));
    expect(event).toMatchObject({ address: `telegram:${FORUM}/7`, replyTo: null });
  });

  it("is not heard when it is an edit, another bot's, another bot's command, or the platform's own", async () => {
    await bot.listen();
    const other = { id: 77, is_bot: true, first_name: "Other" };
    const native = { message_id: 8, date: 1, chat: { id: TEAM, type: "group" } };
    ana.says(TEAM, "/skip@other_bot");
    bot.server.push({ message: { ...native, from: other, text: "2" } });
    bot.server.push({ message: { ...native, from: { id: ANA, first_name: "Ana" }, new_chat_title: "Team" } });
    bot.server.push({ message: { text: "a shape nobody knows" } });
    const event = await heard(() => ana.rewrites(ana.says(ANA, "first"), "second"));
    expect(event).toMatchObject({ text: "first" });
    await settled();
    expect(bot.events).toHaveLength(1);
    expect(readUpdate({ update_id: 1 }, { id: 1, username: "a" }, 0)).toEqual({ event: null, query: null });
  });

  it("is answered in the chat, as a reply, with what the host says", async () => {
    bot.take = async () => ({ ...NOTHING, say: "Which one?" });
    await bot.listen();
    const id = ana.says(FORUM, "2", { topic: 7 });
    const said = await bot.server.waitFor(() => bot.server.messages(FORUM)[0]);
    expect(said).toMatchObject({ text: "Which one?", replyTo: id, topic: 7 });
  });

  it("that the group was upgraded names both addresses", async () => {
    await bot.listen();
    const event = await heard(() => bot.server.upgrade(TEAM, SUPER));
    expect(event).toMatchObject({ kind: "moved", address: `telegram:${TEAM}`, to: `telegram:${SUPER}`, actor: null });
    await settled();
    expect(bot.events).toHaveLength(1);
  });
});
