/** How the Telegram channel shows prompts: real client library, real HTTP, a server that keeps the platform's rules. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bounded } from "../adapters/telegram/api.ts";
import { telegram } from "../adapters/telegram.ts";
import type { DeliveryError, Receipt } from "../src/core/delivery.ts";
import type { FittedPrompt } from "../src/core/fit.ts";
import { recordingHost } from "../src/testing/recording-host.ts";
import type { Fault } from "../src/testing/telegram-server.ts";
import { type Bot, prompt, startBot } from "./fixtures/telegram-bot.ts";

const ANA = 100;
const HOME = "telegram:100";
const FORUM = -1_001_000_000_007;
const KEY = "AAAAAAAAAAAAAAAA";
let bot: Bot;

beforeEach(async () => {
  bot = await startBot();
  bot.server.user(ANA, "Ana");
  bot.server.group(FORUM, { topics: [7] });
});

afterEach(async () => {
  expect(bot.server.refusals).toEqual([]);
  expect(bot.logged.join()).not.toContain("loopback-token");
  await bot.end();
});

const send = (what: FittedPrompt, to = HOME, partial: Receipt | null = null) =>
  bot.channel.send(to, what, { key: KEY, partial });
const texts = (chat = ANA) => bot.server.messages(chat).map(({ text }) => text);
const keyboards = () => bot.server.messages(ANA).map((message) => bot.server.buttons(message));

async function failure(work: Promise<unknown>): Promise<DeliveryError> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason as DeliveryError,
  );
  expect(error).toMatchObject({ name: "DeliveryError" });
  expect(String(error)).not.toContain("loopback-token");
  return error as DeliveryError;
}

describe("settings of the channel", () => {
  it("take any API root, with or without a last slash", async () => {
    for (const end of ["", "/", "//"]) {
      const settings = telegram.config.parse({ token: bot.server.token, apiRoot: bot.server.url + end });
      const channel = await telegram.open(settings, recordingHost());
      await channel.say(HOME, `by ${end}`, null);
    }
    expect(texts()).toEqual(["by ", "by /", "by //"]);
  });

  it.each([{}, { token: "a b" }, { token: "1:a", apiRoot: "ftp://a" }, { token: "1:a", colour: 1 }])(
    "refuse %o",
    (given) => {
      expect(telegram.config.safeParse(given).success).toBe(false);
    },
  );

  it("never repeat the token in a refusal", () => {
    expect(String(telegram.config.safeParse({ token: "123:sec ret" }).error)).not.toContain("sec ret");
  });
});

describe("a prompt", () => {
  it("goes out as plain text, its styles as entities counted in UTF-16", async () => {
    await send({
      ...prompt([]),
      parts: [
        [
          { text: "😀 ", style: "plain" },
          { text: "Où?", style: "bold" },
          { text: " <b>*_`", style: "plain" },
          { text: "👩‍👩‍👧", style: "italic" },
          { text: "@ops a@b", style: "code" },
        ],
      ],
    });

    expect(bot.server.messages(ANA)).toMatchObject([
      {
        text: "😀 Où? <b>*_`👩‍👩‍👧@ops a@b",
        entities: [
          { type: "bold", offset: 3, length: 3 },
          { type: "italic", offset: 13, length: 8 },
          { type: "code", offset: 21, length: 8 },
        ],
      },
    ]);
    expect(bot.server.calls("sendMessage")[0]?.body).toMatchObject({ link_preview_options: { is_disabled: true } });
  });

  it("mentions nobody, and leaves mail addresses alone", async () => {
    await send(prompt(["ask @ops or (@dev_team) at ana@example.org, 3 @ 5"]));
    expect(texts()).toEqual(["ask ＠ops or (＠dev_team) at ana@example.org, 3 @ 5"]);
  });

  it("fills a message to the platform's last character", async () => {
    await send(prompt(["😀".repeat(4096), "x".repeat(4096)]));
    expect(bot.server.messages(ANA)).toHaveLength(2);
  });

  it("keeps styles past the hundredth plain", async () => {
    const bold = Array.from({ length: 101 }, () => ({ text: "x", style: "bold" }) as const);
    await send({ ...prompt([]), parts: [bold] });
    expect(bot.server.messages(ANA)[0]?.entities).toHaveLength(100);
  });

  it("comes in parts, in order, with the keyboard on the last", async () => {
    const receipt = await send(prompt(["one", "two", "three"], [["Yes 1.y", "No 1.n"], ["Skip 1.s"]]));

    expect(texts()).toEqual(["one", "two", "three"]);
    expect(keyboards()).toEqual([[], [], [["Yes", "No"], ["Skip"]]]);
    const shown = bot.server.messages(ANA);
    expect(receipt).toEqual({ parts: shown.map(({ id }) => String(id)), postedAt: (shown[0]?.date ?? 0) * 1000 });
  });

  it.each([
    [`telegram:${FORUM}/7`, 7],
    [`telegram:${FORUM}`, null],
    [`telegram:${FORUM}/1`, null],
  ])("sent to %s stands in topic %s", async (address, topic) => {
    await send(prompt(["Hello"]), address);
    expect(bot.server.messages(FORUM)).toMatchObject([{ text: "Hello", topic }]);
  });

  it.each(["telegram:", "telegram:ana", "telegram:1/2/3", "slack:1", "telegram:0"])(
    "never goes to %s",
    async (address) => {
      expect(await failure(send(prompt(["Hello"]), address))).toMatchObject({ reason: "gone", sent: "no" });
      expect(bot.server.log).toEqual([]);
    },
  );
});

describe("a failed send", () => {
  const bad = (description: string, parameters?: Record<string, number>): Fault => ({
    status: 400,
    description: `Bad Request: ${description}`,
    ...(parameters ? { parameters } : {}),
  });
  const CASES: readonly (readonly [string, Fault, object])[] = [
    [
      "429",
      { status: 429, parameters: { retry_after: 7 } },
      { reason: "rate-limited", sent: "no", retryAfterMs: 7000 },
    ],
    ["429 without a wait", { status: 429 }, { reason: "rate-limited", sent: "no", retryAfterMs: null }],
    ["blocked", { status: 403, description: "Forbidden: bot was blocked by the user" }, { reason: "gone", sent: "no" }],
    ["kicked", { status: 403, description: "Forbidden: bot was kicked" }, { reason: "gone", sent: "no" }],
    ["unknown chat", bad("chat not found"), { reason: "gone", sent: "no" }],
    ["unknown peer", bad("PEER_ID_INVALID"), { reason: "gone", sent: "no" }],
    ["closed topic", bad("TOPIC_CLOSED"), { reason: "gone", sent: "no" }],
    [
      "upgraded",
      bad("upgraded", { migrate_to_chat_id: -1005 }),
      { reason: "moved", sent: "no", movedTo: "telegram:-1005" },
    ],
    ["no right", bad("not enough rights to send text messages"), { reason: "unauthorized", sent: "no" }],
    ["refused content", bad("can't parse entities"), { reason: "rejected", sent: "no" }],
    ["bad token", { status: 401 }, { reason: "unauthorized", sent: "no" }],
    ["malformed token", { status: 404 }, { reason: "unauthorized", sent: "no" }],
    ["500", { status: 500, applied: true }, { reason: "unreachable", sent: "unknown" }],
    ["502 by a proxy", { status: 502 }, { reason: "unreachable", sent: "unknown" }],
    ["reset", { connection: "reset", applied: true }, { reason: "unreachable", sent: "unknown" }],
    ["no JSON", { raw: "<html>", applied: true }, { reason: "unreachable", sent: "unknown" }],
    ["no object", { raw: "null", applied: true }, { reason: "unreachable", sent: "unknown" }],
    ["no message id", { raw: '{"ok":true,"result":{}}' }, { reason: "unreachable", sent: "unknown" }],
  ];

  it.each(CASES)("says what it means: %s", async (_, fault, expected) => {
    bot.server.inject("sendMessage", fault);
    expect(await failure(send(prompt(["Hello"])))).toMatchObject({ ...expected, partial: null });
  });

  it("was not sent where nobody listens", async () => {
    await bot.server.close();
    expect(await failure(send(prompt(["Hello"])))).toMatchObject({ reason: "unreachable", sent: "no" });
  });

  it("reports the parts that stand, and resumes after them", async () => {
    bot.server.inject("sendMessage", {}, 1);
    bot.server.inject("sendMessage", { status: 429, parameters: { retry_after: 2 } });
    const question = prompt(["one", "two"], [["Yes 1.y"]]);
    const error = await failure(send(question));
    expect(error).toMatchObject({
      reason: "rate-limited",
      retryAfterMs: 2000,
      partial: { parts: [expect.any(String)] },
    });

    const receipt = await send(question, HOME, error.partial);
    expect(texts()).toEqual(["one", "two"]);
    expect(receipt.parts).toHaveLength(2);
  });

  it("resumed with a prompt that became shorter leaves nothing of the old one", async () => {
    bot.server.inject("sendMessage", {}, 2);
    bot.server.inject("sendMessage", { status: 500 });
    const error = await failure(send(prompt(["one", "two", "three"], [["Yes 1.y"]])));
    await send(prompt(["short"], [["No 1.n"]]), HOME, error.partial);
    expect(texts()).toEqual(["short"]);
    expect(keyboards()).toEqual([[["No"]]]);
  });

  it("ends with the channel, its fate unknown", async () => {
    bot.server.inject("sendMessage", { connection: "hang" });
    const failed = failure(send(prompt(["Hello"])));
    await bot.server.waitFor(() => bot.server.calls("sendMessage")[0]);
    await bot.channel.close();
    expect(await failed).toMatchObject({ reason: "unreachable", sent: "unknown" });
  });

  it("is bounded in time", async () => {
    const work = (signal: AbortSignal) => new Promise((_, reject) => signal.addEventListener("abort", reject));
    await expect(bounded(new AbortController().signal, 5, work)).rejects.toMatchObject({ type: "abort" });
  });
});

describe("an edit", () => {
  it("changes text and keyboard in place", async () => {
    const receipt = await send(prompt(["Where?"], [["Yes 1.y"]]));
    expect(await bot.channel.edit(HOME, receipt, prompt(["Answered"]))).toEqual(receipt);
    expect(texts()).toEqual(["Answered"]);
    expect(keyboards()).toEqual([[]]);
  });

  it("to the same content is a success", async () => {
    const same = prompt(["one", "two"], [["Yes 1.y"]]);
    const receipt = await send(same);
    expect(await bot.channel.edit(HOME, receipt, same)).toEqual(receipt);
  });

  it("to fewer parts removes the rest, and what is gone already is no fault", async () => {
    const receipt = await send(prompt(["one", "two", "three"], [["Yes 1.y"]]));
    bot.server.user(ANA).removes(Number(receipt.parts[2]));
    const after = await bot.channel.edit(HOME, receipt, prompt(["Which?"], [["No 1.n"]]));
    expect(after.parts).toEqual(receipt.parts.slice(0, 1));
    expect(texts()).toEqual(["Which?"]);
    expect(keyboards()).toEqual([[["No"]]]);
  });

  it("blanks what can no longer be removed", async () => {
    const receipt = await send(prompt(["one", "two"], [["Yes 1.y"]]));
    bot.server.inject("deleteMessage", {
      status: 400,
      description: "Bad Request: message can't be deleted for everyone",
    });
    await bot.channel.edit(HOME, receipt, prompt(["Answered"]));
    expect(texts()).toEqual(["Answered", "·"]);
    expect(keyboards()).toEqual([[], []]);
  });

  it("to more parts sends them after, the only keyboard on the last", async () => {
    const receipt = await send(prompt(["one"], [["Yes 1.y"]]));
    const after = await bot.channel.edit(HOME, receipt, prompt(["1", "2", "3"], [["No 1.n"]]));
    expect(texts()).toEqual(["1", "2", "3"]);
    expect(keyboards()).toEqual([[], [], [["No"]]]);
    expect(after.parts).toHaveLength(3);
  });

  it("of a removed message says that it is gone", async () => {
    const receipt = await send(prompt(["one"]));
    bot.server.user(ANA).removes(Number(receipt.parts[0]));
    expect(await failure(bot.channel.edit(HOME, receipt, prompt(["two"])))).toMatchObject({
      reason: "gone",
      sent: "no",
    });
  });

  it("that broke midway says what stands now", async () => {
    const receipt = await send(prompt(["one"]));
    bot.server.inject("sendMessage", {});
    bot.server.inject("sendMessage", { status: 500 });
    const error = await failure(bot.channel.edit(HOME, receipt, prompt(["1", "2", "3"])));
    expect(error.partial?.parts).toHaveLength(2);
    await bot.channel.edit(HOME, error.partial ?? receipt, prompt(["1", "2", "3"]));
    expect(texts()).toEqual(["1", "2", "3"]);
  });
});

describe("many sends at once", () => {
  it("warn of no leak", async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error) => void warnings.push(name);
    process.on("warning", note);
    await Promise.all(Array.from({ length: 20 }, (_, index) => send(prompt([`${index}`]))));
    process.off("warning", note);
    expect(warnings).toEqual([]);
    expect(bot.server.messages(ANA)).toHaveLength(20);
  });
});

describe("words of Askgate's own", () => {
  it("reply to a message, and stand alone once it is gone", async () => {
    const ana = bot.server.user(ANA);
    const message = ana.says(ANA, "Hello");
    await bot.channel.say(HOME, "Noted", String(message));
    ana.removes(message);
    await bot.channel.say(HOME, "Still noted", String(message));
    expect(bot.server.messages(ANA)).toMatchObject([
      { text: "Noted", replyTo: message },
      { text: "Still noted", replyTo: null },
    ]);
  });
});
