/** Several processes on one store: who holds a channel, how it changes hands, and what that means for questions. */
import { describe, expect, test } from "vitest";
import type { InboundEvent } from "../../src/ports/channel.ts";
import { AGENT, OPERATOR } from "../../src/testing/bridge.ts";
import { until } from "../../src/testing/until.ts";
import { question } from "./bridges.ts";
import { type House, houses, type Process } from "./processes.ts";

const open = houses();
const BOTH = { channels: ["held", "other"] } as const;

async function ask(process: Process, to = "held:1", more: object = {}): Promise<string> {
  return (await process.engine.asker.ask(AGENT, question(to, more))).inquiry.id;
}

const view = (process: Process, id: string) => process.engine.asker.get(OPERATOR, id);
/** Ana's answer at `held:1`. */
const writes = (at: number): InboundEvent => ({
  ...{ kind: "text", eventId: "e1", text: "2", at, message: "w1", replyTo: null, mentioned: false, content: "text" },
  ...{ actor: "held:1", actorName: "Ana", address: "held:1", direct: true },
});

const stateOf = async (process: Process, id: string) => (await view(process, id)).deliveries[0]?.state;

/** Milliseconds by the house's clock until it comes to pass. */
async function took({ clock, fast }: House, what: string, look: () => boolean | Promise<boolean>): Promise<number> {
  const from = clock.now();
  await fast(what, look);
  return clock.now() - from;
}

describe("a channel changes hands", () => {
  test("its holder dies: another takes it over within 10 s and goes on with what was under way", async () => {
    const house = await open();
    const one = await house.start("one");
    const two = await house.start("two");
    expect([one.channel.listening(), two.channel.listening()]).toEqual([true, false]);
    const id = await ask(two);
    await until("one sends it", () => one.channel.sendings.length === 1);
    one.die();
    expect(await took(house, "two listens", two.channel.listening)).toBeLessThanOrEqual(10_000);
    await house.fast("it may have arrived", async () => (await stateOf(two, id)) === "unknown");
    const sending = await house.fast("two sends it once its time is over", () => two.channel.sendings[0]);
    sending.arrives();
    await until("it is shown", async () => (await stateOf(two, id)) === "shown");
    expect(two.channel.sendings).toHaveLength(1);
  });

  test("its holder stops: another has it at once, with nothing left in doubt", async () => {
    const house = await open();
    const one = await house.start("one");
    const two = await house.start("two");
    const first = await ask(one);
    (await until("one sends it", () => one.channel.sendings[0])).arrives();
    const from = house.clock.now();
    await one.engine.stop();
    await until("two listens", two.channel.listening);
    expect(house.clock.now() - from).toBeLessThan(2_500);
    expect(await stateOf(two, first)).toBe("shown");
    const second = await ask(two, "held:2");
    (await until("two sends it", () => two.channel.sendings[0])).arrives();
    await until("it is shown", async () => (await stateOf(two, second)) === "shown");
    expect(one.complaints).toEqual([]);
    expect(two.complaints).toEqual([]);
  });

  test("a stop while sends wait for their turn: they go out elsewhere, each once, with no doubt about them", async () => {
    const house = await open();
    const one = await house.start("one", { pace: 1 });
    const two = await house.start("two");
    const ids = await Promise.all([1, 2, 3].map((n) => ask(one, `held:${n}`)));
    (await until("one sends the first", () => one.channel.sendings[0])).arrives();
    await one.engine.stop();
    await until("two sends the others", () => two.channel.sendings.length === 3 - one.channel.sendings.length);
    for (const sending of two.channel.sendings) sending.arrives();
    for (const id of ids) await until("it is shown", async () => (await stateOf(two, id)) === "shown");
    const sent = [...one.channel.sendings, ...two.channel.sendings].map(({ to }) => to);
    expect(sent.sort()).toEqual(["held:1", "held:2", "held:3"]);
  });

  test("two channels and a second process: each comes to hold one, and the first has both again when it is alone", async () => {
    const house = await open();
    const one = await house.start("one", BOTH);
    expect([one.channel.listening(), one.other.listening()]).toEqual([true, true]);
    const two = await house.start("two", BOTH);
    await house.fast("two listens to one of them", () => two.channel.listening() || two.other.listening());
    const shared = () => [one.channel, one.other, two.channel, two.other].map((channel) => channel.listening());
    expect(shared().filter((listening) => listening)).toHaveLength(2);
    const moved = two.other.listening() ? "other" : "held";
    const id = await ask(one, `${moved}:1`);
    const hand = moved === "other" ? two.other : two.channel;
    (await until("two sends what one was asked", () => hand.sendings[0])).arrives();
    await until("it is shown", async () => (await stateOf(one, id)) === "shown");
    await house.pass(20_000);
    expect([one.channel, one.other].filter((channel) => channel.listening())).toHaveLength(1);
    await two.engine.stop();
    await house.fast("one has both", () => one.channel.listening() && one.other.listening());
  });

  test("its holder starts again under its name: it has the channel back at once, and its older self takes it no more", async () => {
    const house = await open();
    const before = await house.start("one");
    const resume = before.pause();
    const after = await house.start("one");
    expect(after.channel.listening()).toBe(true);
    resume();
    await house.fast("the older one has noticed", () => !before.channel.listening());
    await house.pass(20_000);
    expect([before.channel.begun(), after.channel.begun()]).toEqual([1, 1]);
    expect(before.complaints.filter((one) => one.includes("the name of this one"))).toHaveLength(1);
  });

  test("one of two that have one name dies: the other, which stood down for it, takes over", async () => {
    const house = await open();
    const older = await house.start("one");
    const newer = await house.start("one");
    await house.fast("the older one has stood down", () => !older.channel.listening());
    newer.die();
    expect(await took(house, "the older one listens", older.channel.listening)).toBeLessThanOrEqual(10_000);
  });

  test("its holder dies and starts again without the channel: another takes it over", async () => {
    const house = await open();
    (await house.start("one", BOTH)).die();
    await house.start("one");
    const two = await house.start("two", { channels: ["other"] });
    await house.fast("two listens", two.other.listening);
  });
});

describe("its holder pauses, and another takes the channel over meanwhile", () => {
  async function paused(house: House, pause = (process: Process) => process.pause()) {
    const one = await house.start("one", { pace: 1 });
    const two = await house.start("two");
    const ids = await Promise.all([ask(one, "held:1"), ask(one, "held:2")]);
    await until("one sends the first", () => one.channel.sendings.length === 1);
    const resume = pause(one);
    await house.fast("two holds it", () => two.holds());
    await house.fast("both are in doubt", async () => {
      const states = await Promise.all(ids.map((id) => stateOf(two, id)));
      return states.every((state) => state === "unknown");
    });
    await until("the turn of the second has come", () => one.waiting().includes("inquiry"));
    return { one, two, ids, resume };
  }

  test("what it had under way is settled by it no more, what it had claimed is not sent, and it listens no more", async () => {
    const house = await open();
    const { one, two, ids, resume } = await paused(house);
    one.channel.sendings[0]?.arrives({ parts: ["late"] });
    resume();
    await until("it has noticed", () => !one.channel.listening());
    await until("its settlement is refused", () => one.complaints.includes("another worker has settled this copy"));
    await house.fast("two sends the second", () => two.channel.sendings.some(({ to }) => to === "held:2"));
    expect(await stateOf(two, ids[0] as string)).not.toBe("shown");
    expect(one.channel.sendings).toHaveLength(1);
  });

  test("what is asked then is sent by the new holder alone", async () => {
    const house = await open();
    const { one, two, resume } = await paused(house);
    resume();
    const id = await ask(one, "held:3");
    const sending = await until("two sends it", () => two.channel.sendings.find(({ to }) => to === "held:3"));
    sending.arrives();
    await until("it is shown", async () => (await stateOf(one, id)) === "shown");
    expect(one.channel.sendings.map(({ to }) => to)).not.toContain("held:3");
  });

  test("its clock stood still with it, and by that its leases stand: what it had claimed is not sent", async () => {
    const house = await open();
    const { one, two, resume } = await paused(house, (process) => process.sleep());
    resume();
    await until("it has noticed", () => !one.channel.listening());
    await house.fast("two sends the second", () => two.channel.sendings.some(({ to }) => to === "held:2"));
    expect(one.channel.sendings).toHaveLength(1);
  });

  test("it finds its leases run out but untouched: it goes on as if nothing had been", async () => {
    const house = await open();
    const one = await house.start("one");
    house.clock.skip(3_600_000);
    const id = await ask(one);
    (await until("it is sent", () => one.channel.sendings[0])).arrives();
    await until("it is shown", async () => (await stateOf(one, id)) === "shown");
    expect(one.channel.begun()).toBe(1);
    expect(one.complaints).toEqual([]);
  });
});

describe("the leases cannot be renewed", () => {
  /** Ends the calls without an answer, as a driver does in the end. */
  const hung: ((error: Error) => void)[] = [];

  test.each([
    ["the store fails", () => Promise.reject(new Error("connection refused"))],
    ["the store gives no answer", () => new Promise<never>((_, reject) => void hung.push(reject))],
  ])("%s: after 5 s it listens no more, and later again", async (_, fault) => {
    const house = await open();
    const one = await house.start("one");
    one.through(fault);
    const ms = await took(house, "it listens no more", () => !one.channel.listening());
    expect(ms).toBeGreaterThan(3_000);
    expect(ms).toBeLessThan(8_000);
    one.through((call) => call());
    for (const reject of hung.splice(0)) reject(new Error("no answer"));
    await house.fast("it listens again", one.channel.listening);
    const id = await ask(one);
    (await house.fast("it is sent", () => one.channel.sendings[0])).arrives();
    await house.fast("it is shown", async () => (await stateOf(one, id)) === "shown");
    expect(one.channel.begun()).toBe(2);
  });

  test("for less than that: nothing is interrupted", async () => {
    const house = await open();
    const one = await house.start("one");
    one.through((call, method) => (method === "leases.renew" ? Promise.reject(new Error("busy")) : call()));
    await house.fast("it was noticed", () => one.complaints.length > 0);
    one.through((call) => call());
    const id = await ask(one);
    (await until("it is sent", () => one.channel.sendings[0])).arrives();
    await until("it is shown", async () => (await stateOf(one, id)) === "shown");
    expect(one.channel.begun()).toBe(1);
  });
});

test("a channel that cannot be recovered when it is taken is tried again", async () => {
  const house = await open();
  const one = await house.start("one");
  const two = await house.start("two");
  two.through((call, method) => (method === "recover" ? Promise.reject(new Error("disk I/O error")) : call()));
  await one.engine.stop();
  await house.fast("two has tried", () => two.complaints.length > 1);
  expect(two.channel.listening()).toBe(false);
  two.through((call) => call());
  await house.fast("two listens", two.channel.listening);
});

test("a channel that cannot be recovered keeps no deadline from passing for longer than a minute", async () => {
  const house = await open();
  const one = await house.start("one");
  await house.fast("it is up", async () => (await one.engine.health.health()).channels.held?.state === "up");
  one.die();
  const two = await house.start("two");
  two.through((call, method) => (method === "recover" ? Promise.reject(new Error("disk I/O error")) : call()));
  await house.fast("two has tried", () => two.complaints.length > 1);
  const id = await ask(two, "held:1", { timeoutSeconds: 30 });
  const over = async () => (await view(two, id)).status !== "waiting";
  expect(await took(house, "it is over", over)).toBeLessThan(75_000);
});

test("every process shows how its holder finds the channel", async () => {
  const house = await open();
  const one = await house.start("one");
  const two = await house.start("two");
  const seen = async () => (await two.engine.health.health()).channels.held;
  await house.fast("it is up", async () => (await seen())?.state === "up");
  const since = new Date(house.clock.now()).toISOString();
  one.channel.report("conflict", "somebody else polls this bot");
  const conflict = await house.fast("it is told", async () => {
    const health = await seen();
    return health?.state === "conflict" && health;
  });
  expect(conflict.reason).toBe("somebody else polls this bot");
  expect(conflict.since >= since).toBe(true);
  expect((await one.engine.health.health()).channels.held).toEqual(conflict);
});

describe("a deadline passes while nobody holds the channel", () => {
  const SECONDS = 30;
  async function vacant() {
    const house = await open();
    const one = await house.start("one");
    const two = await house.start("two", { behind: true });
    const id = await ask(two, "held:1", { timeoutSeconds: SECONDS });
    (await until("it is sent", () => one.channel.sendings[0])).arrives();
    await until("it is shown", async () => (await stateOf(two, id)) === "shown");
    const due = Date.parse((await view(two, id)).expiresAt);
    await house.fast("it is nearly over", () => house.clock.now() > due - 4_000);
    one.die();
    await house.fast("it is over time", () => house.clock.now() > due);
    return { house, two, id, due };
  }

  test("an answer read late by the one that takes over counts", async () => {
    const { house, two, id, due } = await vacant();
    await house.fast("two listens", two.channel.listening);
    await house.fast("it reads the backlog", () => house.clock.now() > due + 12_000);
    expect((await view(two, id)).status).toBe("waiting");
    await two.channel.happens(writes(due - 1_000));
    expect(await view(two, id)).toMatchObject({ status: "answered", answers: { q: ["Production"] } });
  });

  test("it has timed out once the backlog is read", async () => {
    const { house, two, id } = await vacant();
    await house.fast("two listens", two.channel.listening);
    expect((await view(two, id)).status).toBe("waiting");
    two.channel.report("up");
    await house.fast("it is over", async () => (await view(two, id)).status === "timed_out");
  });

  test("it has timed out a minute after it fell behind, whatever the platform does", async () => {
    const { house, two, id } = await vacant();
    await house.fast("two listens", two.channel.listening);
    house.clock.skip(45_000);
    const over = async () => (await view(two, id)).status === "timed_out";
    const ms = await took(house, "it is over", over);
    expect(ms).toBeGreaterThan(5_000);
    expect(ms).toBeLessThan(15_000);
  });
});

test("what is asked and answered elsewhere costs a process without the channel no statement", async () => {
  const house = await open();
  const one = await house.start("one");
  const two = await house.start("two");
  const asked: string[] = [];
  two.through((call, method) => {
    asked.push(method);
    return call();
  });
  for (let n = 1; n <= 20; n++) {
    const id = await ask(one, `held:${n}`);
    (await until("it is sent", () => one.channel.sendings[n - 1])).arrives();
    await until("it is shown", async () => (await stateOf(one, id)) === "shown");
    await one.engine.asker.answer(OPERATOR, id, { answers: { q: ["Staging"] } });
  }
  const polls = new Set(["leases.renew", "claim", "nextDue", "events.read"]);
  expect(asked.filter((method) => !polls.has(method))).toEqual([]);
  const count = (one: string) => asked.filter((method) => method === one).length;
  expect(count("claim")).toBeLessThanOrEqual(count("leases.renew") + 2);
});

test("an answer that comes to a process without the channel waits for the receipt of what it answers", async () => {
  const house = await open();
  const one = await house.start("one");
  const two = await house.start("two");
  const id = await ask(two);
  const sending = await until("it is under way", () => one.channel.sendings[0]);
  const looks: string[] = [];
  two.through((call, method) => {
    looks.push(method);
    return call();
  });
  const reply = two.channel.happens(writes(house.clock.now()));
  await until("it looks again", () => looks.filter((method) => method === "inFlight").length > 1);
  expect((await view(two, id)).status).toBe("waiting");
  sending.arrives();
  await reply;
  expect(await view(two, id)).toMatchObject({ status: "answered", answers: { q: ["Production"] } });
});
