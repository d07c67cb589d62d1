/** How the Telegram channel comes back from every fault of the line, and how fast it stops. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { skippingClock } from "../src/testing/skipping-clock.ts";
import type { Fault } from "../src/testing/telegram-server.ts";
import { until } from "../src/testing/until.ts";
import { type Bot, startBot } from "./fixtures/telegram-bot.ts";

const ANA = 100;
let bot: Bot;

beforeEach(async () => {
  bot = await startBot();
  bot.server.user(ANA, "Ana");
});

afterEach(async () => {
  expect(bot.server.refusals).toEqual([]);
  expect([...bot.logged, ...bot.reports].join()).not.toContain("loopback-token");
  await bot.end();
});

/** Cuts the poll that is being held, so that the faults asked for meet the next ones. */
const interrupt = () => bot.server.push({ message: { chat: { id: ANA }, pinned_message: {} } });
const states = () => bot.reports.map((report) => report.split(" ")[0]);
const backUp = () => until("it is up again", () => states().lastIndexOf("up") > 0 && states().at(-1) === "up");

describe("the line to Telegram", () => {
  const FAULTS: readonly (readonly [string, Fault, number, string, readonly number[]])[] = [
    ["server faults", { status: 502 }, 7, "down", [1, 2, 4, 5, 5, 5, 5]],
    ["resets", { connection: "reset" }, 2, "down", [1, 2]],
    ["pages that are no JSON", { raw: "<html>" }, 2, "down", [1, 2]],
    ["answers that are no list", { raw: '{"ok":true,"result":{}}' }, 2, "down", [1, 2]],
    ["a rate limit", { status: 429, parameters: { retry_after: 17 } }, 1, "down", [17]],
    ["another poller", { status: 409, description: "Conflict: other getUpdates request" }, 3, "conflict", [3, 3, 3]],
    ["a revoked token", { status: 401, description: "Unauthorized" }, 2, "unauthorized", [60, 60]],
    ["a malformed token", { status: 404, description: "Not Found" }, 1, "unauthorized", [60]],
  ];

  it.each(FAULTS)("comes back after %s", async (_, fault, times, state, seconds) => {
    await bot.listen();
    bot.server.inject("getUpdates", fault, times);
    interrupt();
    await backUp();
    expect(states()).toEqual(["up", ...Array(times).fill(state), "up"]);
    const waits = bot.waits.map((ms) => Math.round(ms / 1000));
    expect(waits.filter((wait) => wait > 0)).toEqual(seconds);

    bot.server.user(ANA).says(ANA, "still there?");
    await until("it is heard", () => bot.events.length === 1);
  });

  it("is taken back from a second poller", async () => {
    await bot.listen();
    const url = `${bot.server.url}/bot${bot.server.token}/getUpdates`;
    expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(200);
    await backUp();
    expect(states()).toEqual(["up", "conflict", "up"]);
  });

  it("is tried until the bot can be asked who it is", async () => {
    bot.server.inject("getMe", { status: 401, description: "Unauthorized" });
    bot.server.inject("getMe", { raw: '{"ok":true,"result":{"id":1}}' });
    bot.server.inject("deleteWebhook", { status: 500 });
    await bot.listen();
    expect(states()).toEqual(["unauthorized", "down", "down", "up"]);
  });

  it("is freed of a webhook set earlier", async () => {
    const set = { method: "POST", body: JSON.stringify({ url: "https://a.example/hook" }) };
    await fetch(`${bot.server.url}/bot${bot.server.token}/setWebhook`, set);
    await bot.listen();
    expect(bot.reports).toEqual(["up"]);
  });

  it("hears update ids that start anew after a long silence", async () => {
    await bot.listen();
    bot.server.user(ANA).says(ANA, "high");
    await bot.server.waitFor(() => bot.server.unconfirmed().length === 0);
    bot.server.inject("getUpdates", { raw: '{"ok":true,"result":[]}' });
    interrupt();
    await bot.server.waitFor(() => bot.server.unconfirmed().length === 0);
    const low = { message_id: 1, date: 1, chat: { id: ANA, type: "private" }, from: { id: ANA }, text: "low" };
    bot.server.push({ update_id: 17, message: low });
    await until("it is heard", () => bot.events.some((event) => event.eventId.endsWith(":17")));
  });
});

describe("stopping", () => {
  const stopped = async () => {
    const start = performance.now();
    await bot.stop();
    return performance.now() - start;
  };

  it("takes no time while a poll is held", async () => {
    await bot.listen();
    expect(await stopped()).toBeLessThan(200);
  });

  it("takes no time during a back-off", async () => {
    await bot.end();
    bot = await startBot({ clock: skippingClock() });
    await bot.listen();
    bot.server.inject("getUpdates", { status: 500 });
    interrupt();
    await until("it is down", () => states().at(-1) === "down");
    expect(await stopped()).toBeLessThan(200);
  });

  it("takes no time while a call hangs, and waits for what the host is keeping", async () => {
    let keep = () => {};
    bot.take = () => new Promise((done) => (keep = () => done({ notice: "Kept", say: "Kept" })));
    bot.server.inject("answerCallbackQuery", { connection: "hang" });
    await bot.listen();
    bot.server.user(ANA).says(ANA, "2");
    await until("it is heard", () => bot.events.length === 1);
    let drained = false;
    const done = bot.stop().then(() => (drained = true));
    await bot.server.waitFor(() => bot.server.calls("getUpdates").every(({ status }) => status !== null));
    expect(drained).toBe(false);
    keep();
    await done;
  });
});
