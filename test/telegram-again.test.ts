/**
 * Updates that come a second time: after a death in the middle of a batch, and when the channel listens again. The host
 * keeps events as the store does: each once, under its id.
 *
 * https://github.com/openclaw/openclaw/issues/739 https://github.com/anthropics/claude-plugins-official/issues/3938
 */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { InboundEvent, Reply } from "../src/ports/channel.ts";
import { systemClock } from "../src/testing/recording-host.ts";
import { until } from "../src/testing/until.ts";
import { type Bot, NOTHING, prompt, startBot } from "./fixtures/telegram-bot.ts";

const ANA = 100;
const said = (event: InboundEvent) => (event.kind === "press" ? event.control : event.kind === "text" && event.text);

describe.each([
  ["polled", false],
  ["pushed", true],
])("updates that are %s", (_, webhook) => {
  let bot: Bot;
  let kept: Map<string, Reply>;
  let effects: unknown[];

  beforeEach(async () => {
    [kept, effects] = [new Map(), []];
    bot = await startBot({ webhook, clock: systemClock });
    bot.server.user(ANA, "Ana");
    bot.take = keep;
  });

  afterEach(async () => {
    expect(bot.server.refusals).toEqual([]);
    await bot.end();
  });

  async function keep(event: InboundEvent): Promise<Reply> {
    const known = kept.get(event.eventId);
    if (known) return known;
    effects.push(said(event));
    kept.set(event.eventId, NOTHING);
    return NOTHING;
  }

  async function ask(): Promise<readonly number[]> {
    for (const [key, control] of [
      ["A", "1.a"],
      ["B", "1.b"],
    ] as const) {
      await bot.channel.send(`telegram:${ANA}`, prompt(["Where?"], [[`Yes ${control}`]]), { key, partial: null });
    }
    return bot.server.messages(ANA).map(({ id }) => id);
  }

  function press(first: number, second: number): void {
    const ana = bot.server.user(ANA);
    ana.presses(first, "Yes");
    ana.says(ANA, "a text");
    ana.presses(second, "Yes");
  }

  async function batch(): Promise<void> {
    const [first = 0, second = 0] = await ask();
    press(first, second);
  }

  const settled = () => bot.server.waitFor(() => bot.server.unconfirmed().length === 0);

  async function dies(): Promise<void> {
    bot = await bot.crash();
    bot.take = keep;
    await bot.listen();
    await settled();
  }

  it("have their effect once when the process dies after the first of a batch was handled", async () => {
    await batch();
    bot.take = async (event) => {
      if (effects.length > 0) return new Promise(() => {});
      return keep(event);
    };
    bot.listen().catch(() => {});
    await until("the first is handled", () => effects.length === 1);
    await dies();
    expect(new Set(effects)).toEqual(new Set(["1.a", "a text", "1.b"]));
    expect(effects).toHaveLength(3);
    expect(effects.indexOf("1.a")).toBeLessThan(effects.indexOf("1.b"));
  });

  it("have their effect once when the process dies between the commit and the confirmation", async () => {
    await batch();
    bot.take = async (event) => {
      await keep(event);
      return new Promise(() => {});
    };
    bot.listen().catch(() => {});
    await until("the first is committed", () => effects.length > 0);
    await dies();
    expect([...effects].sort()).toEqual(["1.a", "1.b", "a text"]);
  });

  it("are not lost when they came while no process was there", async () => {
    const [first = 0, second = 0] = await ask();
    await bot.listen();
    await bot.stop();
    await bot.channel.close();
    press(first, second);
    bot = await bot.again();
    bot.take = keep;
    await bot.listen();
    await settled();
    expect([...effects].sort()).toEqual(["1.a", "1.b", "a text"]);
  });

  it("are neither lost nor handed over twice when the channel listens again, and it says again that it is up", async () => {
    const texts: string[] = [];
    for (let life = 1; life <= 4; life++) {
      await bot.listen();
      expect(bot.reports).toEqual(Array(life).fill("up"));
      for (const turn of ["a", "b"]) {
        texts.push(`${life}${turn}`);
        bot.server.user(ANA).says(ANA, `${life}${turn}`);
        if (turn === "a") await until("it is heard", () => bot.events.length === texts.length);
      }
      await bot.stop();
    }
    await bot.listen();
    await settled();
    expect(bot.events.map(said)).toEqual(texts);
  });

  it("are handed over once when listening ends while the host is keeping them", async () => {
    let release = () => {};
    bot.take = async (event) => {
      await new Promise<void>((done) => (release = done));
      return keep(event);
    };
    await bot.listen();
    bot.server.user(ANA).says(ANA, "slow");
    await until("it is with the host", () => bot.events.length === 1);
    const stopped = bot.stop();
    release();
    await stopped;
    bot.server.user(ANA).says(ANA, "next");
    const up = bot.listen();
    await until("the next is with the host", () => bot.events.length === 2);
    release();
    await up;
    await settled();
    expect(bot.events.map(said)).toEqual(["slow", "next"]);
    expect(bot.reports).toEqual(["up", "up"]);
  });
});
