/** In what order the Telegram channel hands updates over, what it confirms when, and whom a slow or poisoned one holds up. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { InboundEvent } from "../src/ports/channel.ts";
import { systemClock } from "../src/testing/recording-host.ts";
import { type SkippingClock, skippingClock } from "../src/testing/skipping-clock.ts";
import { timed, until } from "../src/testing/until.ts";
import { type Bot, NOTHING, prompt, startBot } from "./fixtures/telegram-bot.ts";

const [ANA, BEN] = [100, 101];
let bot: Bot;
/** Ends what the host is keeping for Ana, oldest first. */
let held: (() => void)[];

beforeEach(async () => {
  held = [];
  bot = await startBot({ clock: systemClock });
});

afterEach(async () => {
  for (const release of held) release();
  expect(bot.server.refusals).toEqual([]);
  await bot.end();
});

const said = (event: InboundEvent) => (event.kind === "text" ? event.text : event.kind);
const heard = () => bot.events.map(said);
const events = (count: number) => until(`${count} events arrive`, () => bot.events.length === count);
const polls = () => bot.server.calls("getUpdates").length;
const settled = () => bot.server.waitFor(() => bot.server.unconfirmed().length === 0);
const says = (person: number, ...texts: readonly string[]) => {
  for (const text of texts) bot.server.user(person).says(person, text);
};

/** Takes no event of Ana's before it is released. */
function holdAna(): void {
  bot.take = async (event) => {
    if (event.address === `telegram:${ANA}`) await new Promise<void>((release) => held.push(release));
    return NOTHING;
  };
}

/** Cannot keep what `fails` names; the result is what was kept, in order. */
function refuse(fails: (text: string) => boolean): string[] {
  const kept: string[] = [];
  bot.take = async (event) => {
    if (fails(said(event))) throw new Error("not to be stored");
    kept.push(said(event));
    return NOTHING;
  };
  return kept;
}

async function startOn(clock: SkippingClock): Promise<void> {
  await bot.end();
  bot = await startBot({ clock });
}

/** Lets time pass until something is so. */
function passing<T>(clock: SkippingClock, what: string, look: () => T): Promise<unknown> {
  return until(what, () => {
    clock.skip(5_000);
    return look();
  });
}

describe("a slow chat", () => {
  it("holds up no other: a press there is heard and acknowledged meanwhile", async () => {
    holdAna();
    const ben = bot.server.user(BEN);
    await bot.listen();
    await bot.channel.send(`telegram:${BEN}`, prompt(["Where?"], [["Yes 1.y"]]), { key: "A", partial: null });
    const shown = bot.server.messages(BEN)[0]?.id ?? 0;
    says(ANA, "slow");
    await events(1);
    expect(await ben.presses(shown, "Yes").answered).toBe(null);
    expect(heard()).toEqual(["slow", "press"]);
    expect(bot.server.unconfirmed()).toHaveLength(2);
    held[0]?.();
    await settled();
    expect(heard()).toEqual(["slow", "press"]);
  });

  it("keeps its own order, also over several polls", async () => {
    holdAna();
    await bot.listen();
    says(ANA, "one");
    await events(1);
    says(ANA, "two", "three");
    says(BEN, "meanwhile");
    await events(2);
    for (const count of [3, 4]) {
      held.shift()?.();
      await events(count);
    }
    held.shift()?.();
    await settled();
    expect(heard()).toEqual(["one", "meanwhile", "two", "three"]);
  });

  it("is polled past at growing intervals, and what comes again is not handed over again", async () => {
    await bot.end();
    bot = await startBot();
    holdAna();
    await bot.listen();
    const before = polls();
    says(ANA, "slow");
    await until("it was polled past", () => bot.waits.length >= 6);
    expect(bot.waits.slice(0, 6).map((ms) => Math.round(ms / 10) * 10)).toEqual([50, 100, 200, 400, 400, 400]);
    expect(polls() - before).toBeLessThanOrEqual(bot.waits.length);
    held[0]?.();
    await bot.server.waitFor(
      () => bot.server.unconfirmed().length === 0 && bot.server.calls("getUpdates").at(-1)?.status === null,
    );
    expect(heard()).toEqual(["slow"]);
  });

  it("costs one poll and no time where it is not that slow", async () => {
    await bot.end();
    bot = await startBot({ clock: { now: () => Date.now(), steadySince: () => 0, at: () => () => {} } });
    await bot.listen();
    const before = polls();
    says(ANA, "quick");
    await settled();
    expect(polls()).toBe(before + 1);
  });

  it("lets no more pile up behind it than the platform shows at once", async () => {
    holdAna();
    says(ANA, "slow");
    for (let person = 1; person < 150; person++) says(1000 + person, `${person}`);
    const up = bot.listen();
    await events(100);
    expect(bot.server.unconfirmed()).toHaveLength(150);
    held[0]?.();
    await up;
    expect(new Set(heard()).size).toBe(150);
    expect(bot.events).toHaveLength(150);
  });

  it("is waited for before the channel is up, where it was in the backlog", async () => {
    holdAna();
    says(ANA, "slow");
    const up = bot.listen();
    await events(1);
    says(BEN, "meanwhile");
    await events(2);
    expect(bot.reports).toEqual([]);
    says(ANA, "later");
    held.shift()?.();
    await events(3);
    await until("it is up, whatever came since", () => bot.reports.includes("up"));
    held.shift()?.();
    await up;
    expect(bot.reports).toEqual(["up"]);
  });
});

describe("an update", () => {
  it("is confirmed only once the host has it, and tried again until then", async () => {
    let refusals = 2;
    const clock = skippingClock();
    await startOn(clock);
    const kept = refuse(() => refusals-- > 0);
    await bot.listen();
    says(ANA, "2");
    await passing(clock, "it is confirmed", () => bot.server.unconfirmed().length === 0);
    expect(bot.events.map(({ eventId }) => eventId)).toEqual(Array(3).fill(bot.events[0]?.eventId));
    expect(kept).toEqual(["2"]);
    expect(bot.waits.map((ms) => Math.round(ms / 1000)).filter((seconds) => seconds > 0)).toEqual([1, 2]);
  });

  it("that failed holds up its own chat and no other", async () => {
    const clock = skippingClock();
    await startOn(clock);
    let away = true;
    const kept = refuse((text) => away && text === "one");
    says(ANA, "one");
    says(BEN, "two");
    says(ANA, "three");
    const up = bot.listen();
    await until("the other chat is heard", () => kept.includes("two"));
    says(BEN, "four");
    await passing(clock, "it is heard again", () => kept.includes("four"));
    expect(kept).toEqual(["two", "four"]);
    away = false;
    await passing(clock, "all is confirmed", () => bot.server.unconfirmed().length === 0);
    await up;
    expect(kept).toEqual(["two", "four", "one", "three"]);
  });

  it("outlives a process that ends in the middle, with everything after it", async () => {
    await bot.listen();
    const kept = refuse((text) => text === "one");
    says(ANA, "one", "two");
    says(BEN, "three");
    await until("the other chat is heard", () => kept.includes("three"));
    const [first] = bot.events;
    expect(bot.server.unconfirmed()).toHaveLength(3);
    bot = await bot.again();
    await bot.listen();
    expect(heard().sort()).toEqual(["one", "three", "two"]);
    expect(bot.events[0]).toEqual(first);
    expect(heard().indexOf("one")).toBeLessThan(heard().indexOf("two"));
  });

  it("of the backlog is read before the channel is up", async () => {
    for (let index = 0; index < 250; index++) says(1000 + index, "2");
    await bot.listen();
    expect(bot.backlog).toBe(250);
    expect(new Set(bot.events.map(({ eventId }) => eventId)).size).toBe(250);
    expect(bot.events).toHaveLength(250);
  });
});

describe("an update that can never be kept", () => {
  const dropped = () => bot.logged.filter((line) => line.includes("was dropped"));
  let clock: SkippingClock;

  beforeEach(async () => {
    clock = skippingClock();
    await startOn(clock);
  });

  it("is let go after ten attempts over a minute, so that its chat is heard", async () => {
    const kept = refuse((text) => text === "poison");
    const begun = clock.now();
    says(ANA, "poison", "after", "more");
    const up = bot.listen();
    await passing(clock, "all is confirmed", () => bot.server.unconfirmed().length === 0);
    await up;
    expect(clock.now() - begun).toBeGreaterThan(60_000);
    expect(kept).toEqual(["after", "more"]);
    expect(heard().indexOf("after")).toBeGreaterThanOrEqual(10);
    expect(dropped()).toHaveLength(1);
  });

  it("is let go when another chat shows that the host works", async () => {
    await bot.listen();
    const kept = refuse((text) => text === "poison");
    says(ANA, "poison");
    await passing(clock, "it was tried often", () => heard().length > 15);
    expect(dropped()).toEqual([]);
    says(BEN, "hello");
    await passing(clock, "all is confirmed", () => bot.server.unconfirmed().length === 0);
    expect(kept).toEqual(["hello"]);
    expect(dropped()).toHaveLength(1);
  });

  it("is told from a store that is away for long: then nothing is lost, and order kept", async () => {
    await bot.listen();
    let away = true;
    const kept = refuse(() => away);
    says(ANA, "one", "two");
    says(BEN, "three");
    await passing(clock, "all were tried often", () => heard().filter((text) => text === "one").length > 20);
    away = false;
    await passing(clock, "all is confirmed", () => bot.server.unconfirmed().length === 0);
    expect([...kept].sort()).toEqual(["one", "three", "two"]);
    expect(kept.indexOf("one")).toBeLessThan(kept.indexOf("two"));
    expect(dropped()).toEqual([]);
  });
});

describe("stopping", () => {
  it("takes no time while an update waits to be tried again", async () => {
    await bot.listen();
    refuse(() => true);
    says(ANA, "2");
    await events(1);
    expect(await timed(bot.stop())).toBeLessThan(200);
  });

  it("waits for what the host is keeping, and hands over nothing more", async () => {
    holdAna();
    await bot.listen();
    says(ANA, "one", "two");
    await events(1);
    let drained = false;
    const done = bot.stop().then(() => (drained = true));
    await bot.server.waitFor(() => bot.server.calls("getUpdates").every(({ status }) => status !== null));
    expect(drained).toBe(false);
    held[0]?.();
    await done;
    expect(heard()).toEqual(["one"]);
  });

  it("before the platform confirmed what is done hands it over once, when it listens again", async () => {
    await bot.listen();
    const before = polls();
    bot.server.inject("getUpdates", { connection: "hang" });
    says(ANA, "one");
    await bot.server.waitFor(() => polls() === before + 1);
    expect(heard()).toEqual(["one"]);
    await bot.stop();
    expect(bot.server.unconfirmed()).toHaveLength(1);
    says(ANA, "two");
    await bot.listen();
    await settled();
    expect(heard()).toEqual(["one", "two"]);
  });
});
