/** Whether a question arrived, and what follows when it did not or nobody can tell. */
import { describe, expect, test } from "vitest";
import type { Fault } from "../../src/testing/telegram-server.ts";
import { until } from "../../src/testing/until.ts";
import { one, question, several } from "./asks.ts";
import { ANA, BEN, type Stage, stages } from "./stage.ts";

const stage = stages();
const DEPLOY = one("Deploy where?", ["Staging", "Production"]);
const BOTH = { to: [`telegram:${ANA}`, `telegram:${BEN}`], respondents: ["ana", "ben"] };
const LOST: Fault = { applied: true, connection: "reset" };

const BLOCKED: Fault = { status: 403, description: "Forbidden: bot was blocked by the user" };
const NO_CHAT: Fault = { status: 400, description: "Bad Request: chat not found" };

/** The delivery of Ana's copy, once it is in that state. */
function delivery(on: Stage, id: string, state: string, passMs = 100) {
  return until(`the copy is ${state}`, async () => {
    const found = (await on.get(id)).deliveries.find(({ address }) => address === `telegram:${ANA}`);
    if (found?.state === state) return found;
    on.clock.skip(passMs);
    return null;
  });
}

// https://github.com/openclaw/openclaw/issues/138540
// https://github.com/openclaw/openclaw/issues/137395
// https://github.com/openclaw/openclaw/pull/130200
describe("every kind of question reaches the chat or says that it did not", () => {
  const single = question("Which one?", ["A", "B"], "single");
  const many = several("Which ones?", ["C", "D", "E"], "many");
  const free = { id: "free", header: "Free", question: "Why?", options: [] };
  const kinds: readonly (readonly [string, readonly object[]])[] = [
    ["one of one choice", [single]],
    ["one of several choices", [many]],
    ["one of free text", [free]],
    ["two questions", [single, many]],
    ["three of mixed kind", [single, many, free]],
  ];
  test.each(kinds)("%s: shown, and complete in words", async (_, questions) => {
    const on = await stage();
    const { id, message } = await on.shown({ questions });
    for (const { question: text, options } of questions as { question: string; options: { label: string }[] }[]) {
      expect(message.text).toContain(text);
      for (const { label } of options) expect(message.text).toContain(label);
    }
    if (message.keyboard === null) expect(message.text).not.toMatch(/\b(press|tap|click)/i);
    expect((await on.get(id)).deliveries).toMatchObject([{ channel: "telegram", state: "shown" }]);
  });

  test.each(kinds)("%s: undelivered at once, long before the deadline, when no chat takes it", async (_, questions) => {
    const on = await stage();
    on.telegram.inject("sendMessage", BLOCKED);
    const { id } = await on.ask({ questions });
    const view = await on.over(id);
    expect(view).toMatchObject({
      status: "undelivered",
      reason: "unreachable",
      deliveries: [{ state: "failed", reason: "gone" }],
    });
    expect(Date.parse(view.expiresAt) - on.clock.now()).toBeGreaterThan(800_000);
    expect(view.shownAt).toBeUndefined();
  });

  test("to a channel that is off: undelivered before the call returns", async () => {
    const on = await stage();
    const view = await on.ask({ ...DEPLOY, to: ["discord:1"] });
    expect(view).toMatchObject({
      status: "undelivered",
      reason: "unreachable",
      deliveries: [{ reason: "channel_off" }],
    });
  });
});

// https://github.com/GameFeeder/GameFeeder/issues/201
// https://github.com/botman/driver-telegram/issues/89
describe("what is refused for good is not tried again", () => {
  test.each([
    ["blocked by the person", BLOCKED, "gone"],
    ["no such chat", NO_CHAT, "gone"],
    ["deactivated", { status: 403, description: "Forbidden: user is deactivated" }, "gone"],
    ["removed from the group", { status: 403, description: "Forbidden: bot was kicked from the group chat" }, "gone"],
    ["never started", { status: 403, description: "Forbidden: bot can't initiate conversation with a user" }, "gone"],
    [
      "no right to write",
      { status: 400, description: "Bad Request: not enough rights to send text messages to the chat" },
      "unauthorized",
    ],
    ["a bad token", { status: 401, description: "Unauthorized" }, "unauthorized"],
    ["a topic that was closed", { status: 400, description: "Bad Request: TOPIC_CLOSED" }, "gone"],
    ["a topic that is gone", { status: 400, description: "Bad Request: message thread not found" }, "gone"],
  ])("%s: one attempt, undelivered, and the next question is sent all the same", async (_, fault: Fault, reason) => {
    const on = await stage();
    on.telegram.inject("sendMessage", fault);
    const { id } = await on.ask(DEPLOY);
    expect(await on.over(id)).toMatchObject({ status: "undelivered", deliveries: [{ state: "failed", reason }] });
    on.clock.skip(60_000);
    await on.shown(one("And now?", ["A", "B"]));
    expect(on.telegram.calls("sendMessage")).toHaveLength(2);
  });

  test("one chat of two is lost: the other decides, and nobody calls it undelivered", async () => {
    const on = await stage();
    on.ben.blocks();
    const { id, message } = await on.shown({ ...DEPLOY, ...BOTH });
    await until("Ben's copy failed", async () => (await on.get(id)).deliveries.some(({ state }) => state === "failed"));
    await on.ana.presses(message.id, "1. Staging").answered;
    expect(await on.over(id)).toMatchObject({ status: "answered" });
  });

  test("both are lost: undelivered", async () => {
    const on = await stage();
    on.ana.blocks();
    on.ben.blocks();
    const { id } = await on.ask({ ...DEPLOY, ...BOTH });
    expect(await on.over(id)).toMatchObject({ status: "undelivered", reason: "unreachable", version: 2 });
  });
});

// https://github.com/NousResearch/hermes-agent/issues/112684
// https://github.com/NousResearch/hermes-agent/pull/112701
// https://github.com/NousResearch/hermes-agent/pull/90988
describe("a send of unknown fate", () => {
  const fates: readonly (readonly [string, Fault])[] = [
    ["posted, its answer lost", LOST],
    ["posted, then answered with 500", { applied: true, status: 500, description: "Internal Server Error" }],
    ["posted, then answered with 502 and no JSON", { applied: true, status: 502, description: "Bad Gateway" }],
  ];
  test.each(fates)("%s: a press on the unseen copy counts, and it stays the only one", async (_, fault) => {
    const on = await stage();
    on.telegram.inject("sendMessage", fault);
    const { id } = await on.ask(DEPLOY);
    await delivery(on, id, "unknown");
    const [message] = on.telegram.messages(ANA);
    expect(await on.ana.presses(message?.id ?? 0, "2. Production").answered).toContain("Recorded");
    const view = await on.over(id);
    expect(view).toMatchObject({ status: "answered", version: 2, answers: { q: ["Production"] } });
    expect(view.shownAt).toBeDefined();
    expect((await on.closed(id, ANA)).text).toContain("Answered by");
    on.clock.skip(60_000);
    await on.shown(one("Next?", ["A", "B"]));
    expect(on.telegram.messages(ANA)).toHaveLength(2);
  });

  test.each(fates)("%s: repeated once, and only the newer copy can be answered", async (_, fault) => {
    const on = await stage();
    on.telegram.inject("sendMessage", fault);
    const { id } = await on.ask(DEPLOY);
    await delivery(on, id, "unknown");
    await delivery(on, id, "shown", 1_000);
    const [unseen, second, ...more] = on.telegram.messages(ANA);
    expect(more).toEqual([]);
    expect(await on.ana.presses(unseen?.id ?? 0, "1. Staging").answered).toContain("no longer works");
    expect((await on.get(id)).version).toBe(1);
    expect(await on.ana.presses(second?.id ?? 0, "2. Production").answered).toContain("Recorded");
    expect(await on.over(id)).toMatchObject({ version: 2, answers: { q: ["Production"] } });
  });

  test("never confirmed: undelivered as unknown at the deadline, never timed out, and sent twice at most", async () => {
    const on = await stage();
    on.telegram.inject("sendMessage", { connection: "reset" }, 100);
    const { id } = await on.ask(DEPLOY);
    const last = await until("nothing more will be sent", async () => {
      on.clock.skip(5_000);
      const [found] = (await on.get(id)).deliveries;
      return found?.reason === "delivery_unknown" && found;
    });
    expect(last.state).toBe("unknown");
    on.clock.skip(900_000);
    expect(await on.over(id)).toMatchObject({ status: "undelivered", reason: "delivery_unknown" });
    expect(on.telegram.calls("sendMessage")).toHaveLength(2);
  });

  test("answered in words while nobody knows whether it arrived: counted", async () => {
    const on = await stage();
    on.telegram.inject("sendMessage", LOST);
    const { id } = await on.ask(DEPLOY);
    await delivery(on, id, "unknown");
    on.ana.says(ANA, "2");
    expect(await on.over(id)).toMatchObject({ status: "answered", answers: { q: ["Production"] } });
  });

  test("killed while sending: never two copies that can be answered", async () => {
    const on = await stage({ durable: true });
    on.telegram.inject("sendMessage", { applied: true, connection: "hang" });
    const { id } = await on.ask(DEPLOY);
    const posted = await on.telegram.waitFor(() => on.telegram.messages(ANA)[0]);
    on.kill();
    on.telegram.heal();
    await on.start();
    await delivery(on, id, "shown", 1_000);
    expect(on.telegram.messages(ANA)).toHaveLength(2);
    expect(await on.ana.presses(posted.id, "1. Staging").answered).toContain("no longer works");
    expect(await on.ana.presses(on.telegram.messages(ANA)[1]?.id ?? 0, "2. Production").answered).toContain("Recorded");
    expect(await on.over(id)).toMatchObject({ version: 2, answers: { q: ["Production"] } });
  });
});

describe("what the deadline calls it", () => {
  test("timed out when a copy was shown, although another never arrived", async () => {
    const on = await stage();
    on.ben.blocks();
    const { id } = await on.shown({ ...DEPLOY, ...BOTH });
    on.clock.skip(901_000);
    const view = await on.over(id);
    expect(view).toMatchObject({ status: "timed_out" });
    expect(view.reason).toBeUndefined();
    expect((await on.closed(id, ANA)).text).toContain("Time is up");
  });

  test("undelivered as queued when it still waited for its turn", async () => {
    const on = await stage();
    on.telegram.inject("sendMessage", { status: 429, parameters: { retry_after: 20 } });
    const first = await on.ask({ ...DEPLOY, timeoutSeconds: 30 });
    await on.delayed(first.id);
    const second = await on.ask(one("Before it?", ["A", "B"], { timeoutSeconds: 300 }));
    on.telegram.inject("sendMessage", { connection: "hang" });
    on.clock.skip(21_000);
    await on.telegram.waitFor(() => on.telegram.calls("sendMessage")[1]);
    on.clock.skip(10_000);
    expect(await on.over(first.id)).toMatchObject({ status: "undelivered", reason: "queued" });
    expect((await on.get(second.id)).status).toBe("waiting");
  });

  test("undelivered without a surface when there is nowhere to show it", async () => {
    const on = await stage({
      directory: { people: new Map([["ana", { name: "ana", identities: [], roles: ["owner"], locale: null }]]) },
    });
    expect(await on.ask(DEPLOY)).toMatchObject({ status: "undelivered", reason: "no_surface", deliveries: [] });
  });
});

describe("a message the person deleted", () => {
  test("is shown again when it changes, and answers as before", async () => {
    const on = await stage();
    const { id, message } = await on.shown({
      questions: [question("One?", ["A", "B"], "one"), question("Two?", ["C", "D"], "two")],
    });
    on.ana.removes(message.id);
    on.ana.says(ANA, "1: 2");
    const again = await until("it is shown again", async () => {
      on.clock.skip(200);
      return on.copyIn(id, ANA);
    });
    expect(again.id).toBeGreaterThan(message.id);
    await on.ana.presses(again.id, "1. C").answered;
    expect(await on.over(id)).toMatchObject({ answers: { one: ["B"], two: ["C"] }, version: 3 });
  });

  test("keeps nobody from answering in words", async () => {
    const on = await stage();
    const { id, message } = await on.shown(DEPLOY);
    on.ana.removes(message.id);
    on.ana.says(ANA, "2");
    expect(await on.over(id)).toMatchObject({ status: "answered", answers: { q: ["Production"] } });
    await until("nothing is left to do", async () => {
      on.clock.skip(200);
      return (await on.copies(id))[0]?.delivery.state === "closed";
    });
    expect(on.telegram.messages(ANA)).toEqual([]);
  });
});
