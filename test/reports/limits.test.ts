/** Limits of the platform: how fast it takes messages, and how it says that it was too fast. */
import { describe, expect, test } from "vitest";
import type { InquiryView } from "../../src/ports/asker.ts";
import { until } from "../../src/testing/until.ts";
import { GROUP_OF_BOTH, one } from "./asks.ts";
import { ANA, BEN, GROUP, type Stage, stages } from "./stage.ts";

const stage = stages();
const DEPLOY = one("Deploy where?", ["Staging", "Production"], { timeoutSeconds: 120 });

function tooMany(seconds?: number) {
  return {
    status: 429,
    description: "Too Many Requests",
    ...(seconds !== undefined && { parameters: { retry_after: seconds } }),
  };
}

function sends(on: Stage, chat: number) {
  return on.telegram.calls("sendMessage").filter(({ body }) => body.chat_id === chat);
}

// https://github.com/flathunters/flathunter/issues/88
// https://github.com/TelegramBots/Telegram.Bot/issues/178
// https://github.com/rubenlagus/TelegramBots/issues/238
describe("too many requests", () => {
  test.each([
    ["the wait it names", 34],
    ["a wait of its own where it names none", undefined],
  ])("one retry no earlier than %s; other chats go on; no second prompt", async (_, seconds) => {
    const on = await stage();
    on.telegram.inject("sendMessage", tooMany(seconds));
    const asked = on.clock.now();
    const { id } = await on.ask(DEPLOY);
    await on.delayed(id);
    const other = await on.ask({ ...one("Meanwhile?", ["A", "B"]), to: [`telegram:${BEN}`], respondents: ["ben"] });
    await until("the other chat is served", () => on.copyIn(other.id, BEN));
    expect(sends(on, ANA)).toHaveLength(1);
    const wait = (seconds ?? 5) * 1000;
    on.clock.skip(asked + wait - 1_500 - on.clock.now());
    const third = await on.ask({ ...one("Still?", ["A", "B"]), to: [`telegram:${BEN}`], respondents: ["ben"] });
    await until("the other chat is served again", () => on.copyIn(third.id, BEN));
    expect(sends(on, ANA)).toHaveLength(1);
    on.clock.skip(2_500);
    await on.shownIn(id, ANA);
    expect(sends(on, ANA).map(({ status }) => status)).toEqual([429, 200]);
    const view = await on.get(id);
    expect(view.timeoutSeconds).toBe(120);
    expect(Date.parse(view.expiresAt) - Date.parse(view.createdAt)).toBe(120_000);
  });

  test("a wait longer than the question lives: undelivered at once", async () => {
    const on = await stage();
    on.telegram.inject("sendMessage", tooMany(500));
    const { id } = await on.ask(DEPLOY);
    const view = await on.over(id);
    expect(view).toMatchObject({
      status: "undelivered",
      reason: "rate_limited",
      deliveries: [{ reason: "rate_limited" }],
    });
    expect(Date.parse(view.expiresAt)).toBeGreaterThan(on.clock.now() + 100_000);
  });

  test("so is a new question to that chat, without another attempt; a longer-lived one waits and is shown", async () => {
    const on = await stage();
    on.telegram.inject("sendMessage", tooMany(500));
    await on.over((await on.ask(DEPLOY)).id);
    const doomed = await on.ask(one("Too late?", ["A", "B"], { timeoutSeconds: 60 }));
    const patient = await on.ask(one("In time?", ["A", "B"], { timeoutSeconds: 900 }));
    expect(await on.over(doomed.id)).toMatchObject({ status: "undelivered", reason: "rate_limited" });
    expect(sends(on, ANA)).toHaveLength(1);
    expect((await on.get(patient.id)).status).toBe("waiting");
    on.clock.skip(501_000);
    await on.shownIn(patient.id, ANA);
    expect(sends(on, ANA)).toHaveLength(2);
  });

  test("one chat must wait too long, another takes it: delivered", async () => {
    const on = await stage();
    on.telegram.inject("sendMessage", tooMany(500));
    await on.over((await on.ask(DEPLOY)).id);
    const both = { to: [`telegram:${ANA}`, `telegram:${BEN}`], respondents: ["ana", "ben"] };
    const { id } = await on.shown({ ...DEPLOY, ...both }, BEN);
    await until("the other failed", async () => (await on.get(id)).deliveries.some(({ state }) => state === "failed"));
    expect((await on.get(id)).status).toBe("waiting");
  });

  test("on the closing edit: made after the wait, once", async () => {
    const on = await stage();
    const { id, message } = await on.shown(DEPLOY);
    on.telegram.inject("editMessageText", tooMany(20));
    await on.ana.presses(message.id, "1. Staging").answered;
    expect((await on.closed(id, ANA)).text).toContain("Answered by");
    expect(on.telegram.calls("editMessageText").map(({ status }) => status)).toEqual([429, 200]);
  });

  test("a person hammering a button of an answered question: every press is acknowledged, one edit is made", async () => {
    const on = await stage();
    const { id, message } = await on.shown(DEPLOY);
    const presses = Array.from({ length: 40 }, (_, n) =>
      on.ana.presses(message.id, n % 2 === 0 ? "1. Staging" : "Skip"),
    );
    const toasts = await Promise.all(presses.map(({ answered }) => answered));
    expect(toasts.filter((toast) => toast?.startsWith("Recorded"))).toHaveLength(1);
    expect(toasts.filter((toast) => toast?.startsWith("Already answered by"))).toHaveLength(39);
    await on.closed(id, ANA);
    expect(on.telegram.calls("editMessageText")).toHaveLength(1);
    expect((await on.get(id)).version).toBe(2);
  });
});

test("a burst of questions to one chat and to a group keeps the platform's pace and loses none", async () => {
  const on = await stage({ enforcePace: true });
  const asked: InquiryView[] = [];
  for (let n = 0; n < 3; n++) {
    asked.push(await on.ask(one(`Alone ${n}?`, ["A", "B"])));
    asked.push(await on.ask({ ...one(`Group ${n}?`, ["A", "B"]), ...GROUP_OF_BOTH }));
  }
  await until("all are shown", async () => {
    on.clock.skip(100);
    const views = await Promise.all(asked.map(({ id }) => on.get(id)));
    return views.every(({ shownAt }) => shownAt !== undefined);
  });
  expect(on.telegram.messages(ANA)).toHaveLength(3);
  expect(on.telegram.messages(GROUP)).toHaveLength(3);
});

describe("a closing edit that fails", () => {
  test.each([
    ["500", { status: 500 }],
    ["a cut connection", { connection: "reset" as const }],
    ["an answer that is no JSON", { raw: "<html>" }],
  ])("with %s is made again until it stands", async (_, fault) => {
    const on = await stage();
    const { id, message } = await on.shown(DEPLOY);
    on.telegram.inject("editMessageText", fault, 4);
    await on.ana.presses(message.id, "1. Staging").answered;
    expect((await on.closed(id, ANA)).keyboard).toBeNull();
    expect(on.telegram.messages(ANA)).toHaveLength(1);
  });

  test("is made after a restart", async () => {
    const on = await stage({ durable: true });
    const { id, message } = await on.shown(DEPLOY);
    on.telegram.inject("editMessageText", { status: 502 }, 2);
    await on.ana.presses(message.id, "1. Staging").answered;
    await until("it failed", () => {
      on.clock.skip(500);
      return on.telegram.calls("editMessageText").some(({ status }) => status === 502);
    });
    on.kill();
    expect(on.telegram.messages(ANA)[0]?.keyboard).not.toBeNull();
    await on.start();
    expect((await on.closed(id, ANA)).text).toMatch(/Answered by .?ana/);
  });

  test("does not keep the answer from the agent", async () => {
    const on = await stage();
    const { id, message } = await on.shown(DEPLOY);
    on.telegram.inject("editMessageText", { status: 403, description: "Forbidden: bot was blocked by the user" }, 50);
    await on.ana.presses(message.id, "1. Staging").answered;
    expect(await on.over(id)).toMatchObject({ status: "answered" });
    await until("it is given up", async () => {
      on.clock.skip(1_000);
      return (await on.copies(id))[0]?.delivery.state === "closed";
    });
    expect(on.telegram.calls("editMessageText")).toHaveLength(1);
  });
});
