/** The entry field beside a prompt in Telegram: for whom it opens, when it is replaced, and that it mentions nobody else. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EntryField, FittedPrompt } from "../src/core/fit.ts";
import { type Bot, prompt, startBot } from "./fixtures/telegram-bot.ts";

const [ANA, BEN] = [100, 101];
const HOME = "telegram:100";
const TEAM = -5;
const KEY = "AAAAAAAAAAAAAAAA";
let bot: Bot;

beforeEach(async () => {
  bot = await startBot();
  bot.server.user(ANA, "Ana");
  bot.server.group(TEAM);
});

afterEach(async () => {
  expect(bot.server.refusals).toEqual([]);
  await bot.end();
});

const send = (what: FittedPrompt, to = HOME) => bot.channel.send(to, what, { key: KEY, partial: null });
const texts = (chat = ANA) => bot.server.messages(chat).map(({ text }) => text);
const fields = (chat: number) => bot.server.messages(chat).filter(({ forceReply }) => forceReply !== null);

describe("an entry field", () => {
  const open = prompt(["Where?"], [["Back 1.b"]], "Your answer");

  it("opens beside the prompt as a forced reply to it, once", async () => {
    const receipt = await send(prompt(["Where?"], [["Other 1.o"]]));
    const opened = await bot.channel.edit(HOME, receipt, open);
    const [question, entry] = bot.server.messages(ANA);
    expect(entry).toMatchObject({ text: "Write your answer", replyTo: question?.id });
    expect(entry?.forceReply).toMatchObject({ force_reply: true, input_field_placeholder: "Your answer" });
    expect(opened).toEqual({ ...receipt, entry: String(entry?.id) });
    expect(await bot.channel.edit(HOME, opened, open)).toEqual(opened);
    expect(bot.server.messages(ANA)).toHaveLength(2);
  });

  it("closes when the prompt no longer asks for text, even if it was removed", async () => {
    const opened = await send(open);
    const { entry, ...closed } = opened;
    expect(entry).toBeDefined();
    expect(await bot.channel.edit(HOME, opened, prompt(["Where?"]))).toEqual(closed);
    expect(texts()).toEqual(["Where?"]);

    const again = await bot.channel.edit(HOME, closed, open);
    bot.server.user(ANA).removes(Number(again.entry));
    expect(await bot.channel.edit(HOME, again, prompt(["Where?"]))).toEqual(closed);
  });

  it("has a placeholder of at most 64 characters, or none", async () => {
    await send(prompt(["Where?"], [], "😀".repeat(80)));
    await send(prompt(["Where?"], [], " "));
    const forced = bot.server.messages(ANA).flatMap(({ forceReply }) => (forceReply ? [forceReply] : []));
    expect(forced.map((markup) => markup.input_field_placeholder)).toEqual(["😀".repeat(64), undefined]);
  });

  it("is done without where the platform refuses it", async () => {
    bot.server.inject("sendMessage", {});
    bot.server.inject("sendMessage", { status: 400, description: "Bad Request: refused" });
    expect(await send(open)).not.toHaveProperty("entry");
    expect(texts()).toEqual(["Where?"]);
  });
});

describe("an entry field in a group", () => {
  const GROUP = `telegram:${TEAM}`;
  const asking = (entry: Partial<EntryField>): FittedPrompt => ({
    ...prompt(["Where?"], [["Back 1.b"]]),
    entry: { placeholder: "Your answer", text: "Write your answer", ...entry },
  });
  const ana = { identity: `telegram:${ANA}`, name: "Ana" };
  const ben = { identity: `telegram:${BEN}`, name: "@ben_b" };

  it("opens for the one it names, and mentions nobody its text does", async () => {
    await send(asking({ text: "Write to @victim_bob", only: ana }), GROUP);
    const [field] = fields(TEAM);
    expect(field?.text).toBe("Ana: Write to ＠victim_bob");
    expect(field?.entities).toEqual([
      { type: "text_mention", offset: 0, length: 3, user: { id: ANA, is_bot: false, first_name: "Ana" } },
    ]);
    expect(field?.forceReply).toMatchObject({ selective: true });
  });

  it("is replaced when it is somebody else's turn, or another question's", async () => {
    const first = await send(asking({ only: ana }), GROUP);
    const second = await bot.channel.edit(GROUP, first, asking({ only: ben }));
    expect(fields(TEAM).map(({ text }) => text)).toEqual(["＠ben_b: Write your answer"]);
    const third = await bot.channel.edit(GROUP, second, asking({ text: "And when?", only: ben }));
    expect(fields(TEAM).map(({ id, text }) => [String(id), text])).toEqual([[third.entry, "＠ben_b: And when?"]]);
  });

  it("stays for the same one, also after a restart", async () => {
    const opened = await send(asking({ only: ana }), GROUP);
    expect(await bot.channel.edit(GROUP, opened, asking({ only: ana }))).toEqual(opened);
    bot = await bot.again();
    expect(await bot.channel.edit(GROUP, opened, asking({ only: ana }))).toEqual(opened);
    expect(fields(TEAM)).toHaveLength(1);
  });
});
