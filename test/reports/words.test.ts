/** What people send in place of a press: words, nothing at all, and their own text after Other. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { until } from "../../src/testing/until.ts";
import { GROUP_OF_ANA, one, question, several } from "./asks.ts";
import { ANA, BEN, GROUP, type Message, type Stage, stages } from "./stage.ts";

const stage = stages();
const BATCH = { questions: [{ ...question("How many at once?", ["10", "100"], "batch_size"), header: "Batch" }] };

/** The entry field, once it stands. */
function entryField(on: Stage, chat = ANA): Promise<Message> {
  return until("the entry field opens", () => {
    on.clock.skip(200);
    return on.telegram.messages(chat).find(({ forceReply }) => forceReply !== null);
  });
}

// https://github.com/NousResearch/hermes-agent/issues/52998
// https://github.com/NousResearch/hermes-agent/issues/56739
// https://github.com/discord/discord-api-docs/issues/5395
describe("a message without words is no answer", () => {
  const wordless: readonly (readonly [string, (on: Stage, message: number) => number])[] = [
    ["a voice note", ({ ana }) => ana.sends(ANA, "voice")],
    ["a voice note in reply", ({ ana }, replyTo) => ana.sends(ANA, "voice", { replyTo })],
    ["a sticker", ({ ana }) => ana.sends(ANA, "sticker")],
    ["a photo without a caption", ({ ana }) => ana.sends(ANA, "photo")],
    [
      "a document with a file name",
      ({ ana }) => ana.sends(ANA, "voice", { extra: { document: { file_name: "voice_0001.ogg" } } }),
    ],
    ["spaces", ({ ana }) => ana.says(ANA, "   ")],
    ["a zero-width space", ({ ana }) => ana.says(ANA, "\u200b")],
    ["a byte order mark", ({ ana }) => ana.says(ANA, "\ufeff")],
    ["a Hangul filler", ({ ana }) => ana.says(ANA, "\u3164")],
    ["joiners and marks of direction", ({ ana }) => ana.says(ANA, "\u200d\u2060\u202e\u200f")],
    ["a zero-width space in reply", ({ ana }, replyTo) => ana.says(ANA, "\u200b", { replyTo })],
  ];
  test.each(wordless)("%s: unchanged, told once, and the next word counts", async (_, send) => {
    const on = await stage();
    const { id, message } = await on.shown(BATCH);
    const mine = send(on, message.id);
    const told = await on.telegram.waitFor(() => on.telegram.messages(ANA).find(({ replyTo }) => replyTo === mine));
    expect(told.text).toMatch(/only read text|found no answer/);
    await on.quiet();
    expect(await on.get(id)).toMatchObject({ status: "waiting", version: 1 });
    expect(on.telegram.messages(ANA)).toHaveLength(2);
    on.ana.says(ANA, "100");
    expect(await on.over(id)).toMatchObject({ answers: { batch_size: ["100"] } });
  });

  test("after Other neither", async () => {
    const on = await stage();
    const { id, message } = await on.shown(BATCH);
    await on.ana.presses(message.id, "Other").answered;
    const field = await entryField(on);
    on.ana.says(ANA, "\u200b", { replyTo: field.id });
    on.ana.sends(ANA, "voice", { replyTo: field.id });
    await on.telegram.waitFor(() => on.telegram.messages(ANA).length === 4);
    await on.quiet();
    expect((await on.get(id)).version).toBe(1);
    on.ana.says(ANA, "about fifty", { replyTo: field.id });
    expect(await on.over(id)).toMatchObject({ answers: { batch_size: ["about fifty"] } });
  });

  test("a caption is words", async () => {
    const on = await stage();
    const { id } = await on.shown(BATCH);
    on.ana.sends(ANA, "photo", { caption: "100" });
    expect(await on.over(id)).toMatchObject({ answers: { batch_size: ["100"] } });
  });
});

// https://github.com/openclaw/openclaw/issues/126834
describe("no answer has to name its question", () => {
  test.each([
    ["free text", (on: Stage) => on.ana.says(ANA, "about fifty"), "about fifty"],
    ["a number", (on: Stage) => on.ana.says(ANA, "100"), "100"],
    ["a letter", (on: Stage) => on.ana.says(ANA, "b"), "100"],
    ["a press", (on: Stage, id: number) => on.ana.presses(id, "B. 100"), "100"],
    ["a reply", (on: Stage, id: number) => on.ana.says(ANA, "A", { replyTo: id }), "10"],
  ])("%s reaches the only one", async (_, send, answer) => {
    const on = await stage();
    const { id, message } = await on.shown(BATCH);
    send(on, message.id);
    expect(await on.over(id)).toMatchObject({ answers: { batch_size: [answer] } });
  });

  test.each(["/status", "/stop", "/start", "/help", "/deploy 2", "/skip@other_bot"])(
    "the command %s is no answer",
    async (text) => {
      const on = await stage();
      const { id } = await on.shown(BATCH);
      on.ana.says(ANA, text);
      await on.quiet();
      expect(await on.get(id)).toMatchObject({ status: "waiting", version: 1 });
      on.clock.skip(901_000);
      expect(await on.over(id)).toMatchObject({ status: "timed_out" });
    },
  );

  test("an edited message is none either", async () => {
    const on = await stage();
    const first = await on.shown(one("First?", ["A", "B"]));
    const mine = on.ana.says(ANA, "1");
    await on.over(first.id);
    const { id } = await on.shown(BATCH);
    on.ana.rewrites(mine, "2");
    await on.quiet();
    expect((await on.get(id)).version).toBe(1);
  });
});

describe("Other opens free text", () => {
  test("with an entry field, kept word for word, whatever it looks like", async () => {
    const on = await stage();
    const texts = fc.oneof(
      fc.constantFrom("2", "A", "skip", "1: 2", "<b>&amp;</b>", "سایر", "2. Production"),
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }),
    );
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        fc.pre(
          /\p{L}|\p{N}/u.test(text) &&
            !/^(\/|\s*(cancel|stop)\s*$)/i.test(text) &&
            !/[\ud800-\udfff](?![\udc00-\udfff])/.test(text),
        );
        const { id, message } = await on.shown(one("Where?", ["Here", "There"]));
        await on.ana.presses(message.id, "Other").answered;
        const field = await entryField(on);
        on.ana.says(ANA, text, { replyTo: field.id });
        expect((await on.over(id)).answers).toEqual({ q: [text.trim()] });
        await on.closed(id, ANA);
        expect(on.telegram.messages(ANA).every(({ forceReply }) => forceReply === null)).toBe(true);
      }),
      { numRuns: 12 },
    );
  });

  test("Back closes it, the options stand again, and a number is a number again", async () => {
    const on = await stage();
    const { id, message } = await on.shown(one("Where?", ["Here", "There"]));
    expect(on.telegram.buttons(message).flat()).toEqual(["1. Here", "2. There", "Other", "Skip"]);
    await on.ana.presses(message.id, "Other").answered;
    await entryField(on);
    const writing = await until("Back is there", () =>
      on.telegram.messages(ANA).find((one) => on.telegram.buttons(one).flat().includes("Back")),
    );
    expect(on.telegram.buttons(writing).flat()).toEqual(["1. Here", "2. There", "Back", "Skip"]);
    await on.ana.presses(writing.id, "Back").answered;
    await until("the entry field is gone", () => {
      on.clock.skip(200);
      return (
        on.telegram.messages(ANA).length === 1 &&
        on.telegram
          .buttons(on.telegram.messages(ANA)[0] as Message)
          .flat()
          .includes("Other")
      );
    });
    on.ana.says(ANA, "2");
    expect(await on.over(id)).toMatchObject({ answers: { q: ["There"] } });
  });

  test("the options still count while it is open", async () => {
    const on = await stage();
    const { id, message } = await on.shown(one("Where?", ["Here", "There"]));
    await on.ana.presses(message.id, "Other").answered;
    await entryField(on);
    await on.ana.presses(message.id, "2. There").answered;
    expect(await on.over(id)).toMatchObject({ answers: { q: ["There"] } });
    await on.closed(id, ANA);
    expect(on.telegram.messages(ANA)).toHaveLength(1);
  });

  test("with two questions open the next words go to the one whose Other was pressed", async () => {
    const on = await stage();
    const first = await on.shown(one("First?", ["A", "B"]));
    const second = await on.shown(one("Second?", ["C", "D"]));
    await on.ana.presses(first.message.id, "Other").answered;
    await entryField(on);
    on.ana.says(ANA, "my own words");
    expect(await on.over(first.id)).toMatchObject({ answers: { q: ["my own words"] } });
    expect((await on.get(second.id)).version).toBe(1);
  });

  test.each([
    ["in a direct chat", ANA, {}],
    ["in a group", GROUP, GROUP_OF_ANA],
  ])("%s, words written when the question ended meanwhile answer no other one", async (_, chat, to) => {
    const on = await stage();
    const first = await on.shown({ ...one("First?", ["A", "B"], { timeoutSeconds: 30 }), ...to }, chat);
    const second = await on.shown({ ...one("Second?", ["C", "D"]), ...to }, chat);
    await on.ana.presses(first.message.id, "Other").answered;
    await entryField(on, chat);
    on.clock.skip(31_000);
    await on.over(first.id);
    await on.closed(first.id, chat);
    const mine = on.ana.says(chat, "my own words");
    const told = await on.telegram.waitFor(() => on.telegram.messages(chat).find(({ replyTo }) => replyTo === mine));
    expect(told.text).toBe("This question is closed already.");
    expect(await on.get(second.id)).toMatchObject({ status: "waiting", version: 1 });
  });
});

// https://github.com/humanlayer/humanlayer/pull/957
describe("words that were being written to a question", () => {
  const BOTH = { to: [`telegram:${ANA}`, `telegram:${BEN}`], respondents: ["ana", "ben"] };

  test("that another person answered meanwhile are told so, once", async () => {
    const on = await stage();
    const { id, message } = await on.shown({ ...one("Where?", ["Here", "There"]), ...BOTH });
    const bens = await on.shownIn(id, BEN);
    await on.ana.presses(message.id, "Other").answered;
    await entryField(on);
    await on.ben.presses(bens.id, "2. There").answered;
    await on.closed(id, ANA);
    const mine = on.ana.says(ANA, "somewhere else");
    const told = await on.telegram.waitFor(() => on.telegram.messages(ANA).find(({ replyTo }) => replyTo === mine));
    expect(told.text).toMatch(/^Already answered by .?ben.?: .?There/);
    expect(await on.get(id)).toMatchObject({ version: 2, answers: { q: ["There"] } });
  });

  test("that she answered by a button after all are about something else", async () => {
    const on = await stage();
    const first = await on.shown(one("First?", ["A", "B"]));
    await on.ana.presses(first.message.id, "Other").answered;
    await entryField(on);
    await on.ana.presses(first.message.id, "1. A").answered;
    await on.closed(first.id, ANA);
    const second = await on.shown(one("Second?", ["C", "D"]));
    on.ana.says(ANA, "my own words");
    expect(await on.over(second.id)).toMatchObject({ answers: { q: ["my own words"] } });
  });
});

describe("an authored option that means Other", () => {
  const others = ["Other", " other ", "OTHER...", "Sonstiges", "Otra", "سایر"];
  test.each(others)("“%s” gives way to the one that opens free text", async (label) => {
    const on = await stage();
    const { id, message } = await on.shown(one("Where?", ["Here", label, "There"]));
    expect(on.telegram.buttons(message).flat()).toEqual(["1. Here", "2. There", "Other", "Skip"]);
    await on.ana.presses(message.id, "Other").answered;
    const field = await entryField(on);
    on.ana.says(ANA, "nowhere", { replyTo: field.id });
    expect(await on.over(id)).toMatchObject({ answers: { q: ["nowhere"] } });
  });

  test.each(others)("“%s” as the only second option is refused with a reason, and nothing is sent", async (label) => {
    const on = await stage();
    await expect(on.ask(one("Where?", ["Here", label]))).rejects.toMatchObject({ code: "invalid_inquiry" });
    await expect(on.ask({ questions: [several("Where?", ["Here", label])] })).rejects.toThrow(/option/i);
    expect(on.telegram.calls("sendMessage")).toEqual([]);
  });

  test.each(["Something else", "Another one", "Others first", "None"])("“%s” is left alone", async (label) => {
    const on = await stage();
    const { id, message } = await on.shown(one("Where?", ["Here", label]));
    await on.ana.presses(message.id, `2. ${label}`).answered;
    expect(await on.over(id)).toMatchObject({ answers: { q: [label] } });
  });
});
