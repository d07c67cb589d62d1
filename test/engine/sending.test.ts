/** What the outbox does while a platform is slow: one copy each, and no look for work that cannot begin. */
import { expect, test } from "vitest";
import { AGENT, type Bridge } from "../../src/testing/bridge.ts";
import { skippingClock } from "../../src/testing/skipping-clock.ts";
import { until } from "../../src/testing/until.ts";
import { bridges, question, watched } from "./bridges.ts";
import { heldChannel } from "./held-channel.ts";

const open = bridges();
/** Sends under way at once on one channel. */
const AT_ONCE = 100;

function askEach(bridge: Bridge, count: number) {
  const asks = Array.from({ length: count }, (_, n) => bridge.engine.asker.ask(AGENT, question(`held:${n + 1}`)));
  return Promise.all(asks);
}

test("sends of 18 seconds to twice as many addresses as go at once: each gets one copy, none outlives its lease", async () => {
  const clock = skippingClock();
  const warnings: string[] = [];
  const warn = (_: object, message: string) => void warnings.push(message);
  const channel = heldChannel({}, (sending) => clock.at(clock.now() + 18_000, sending.arrives));
  const log = { debug: () => {}, info: () => {}, warn, error: warn };
  const bridge = await open({ clock, log, channels: () => [channel.source] });
  const asked = await askEach(bridge, 2 * AT_ONCE);
  const shown = async () => {
    const views = await Promise.all(asked.map(({ inquiry }) => bridge.engine.asker.get(AGENT, inquiry.id)));
    return views.filter(({ shownAt }) => shownAt !== undefined).length;
  };
  await until("a full window is under way", () => channel.sendings.length >= AT_ONCE);
  await until("all are shown", async () => {
    clock.skip(1_000);
    return (await shown()) === asked.length;
  });
  expect(new Set(channel.sendings.map(({ to }) => to)).size).toBe(asked.length);
  expect(channel.sendings).toHaveLength(asked.length);
  expect(warnings).toEqual([]);
});

test("200 copies due behind a full window: the store is asked a few times a second, not in a loop", async () => {
  const clock = skippingClock();
  const looks: string[] = [];
  const channel = heldChannel();
  const bridge = await open({
    clock,
    channels: () => [channel.source],
    through: (store) =>
      watched(store, (method, call) => {
        if (method === "claim" || method === "nextDue") looks.push(method);
        return call();
      }),
  });
  const [first] = await askEach(bridge, 200);
  await until("a full window is under way", () => channel.sendings.length === AT_ONCE);
  looks.length = 0;
  for (let turn = 0; turn < 200; turn++) await bridge.engine.asker.get(AGENT, first?.inquiry.id ?? "");
  expect(looks.length).toBeLessThan(20);
  for (let seen = 0; seen < 200; seen++) {
    const sending = await until("another is under way", () => channel.sendings[seen]);
    sending.arrives();
  }
  expect(new Set(channel.sendings.map(({ to }) => to)).size).toBe(200);
});

test("each send that ends makes room for another at once", async () => {
  const clock = skippingClock();
  const still = { ...clock, at: (_: number, wake: () => void) => clock.at(Number.MAX_SAFE_INTEGER, wake) };
  const channel = heldChannel();
  const bridge = await open({ clock: still, channels: () => [channel.source] });
  await askEach(bridge, AT_ONCE + 1);
  await until("a full window is under way", () => channel.sendings.length === AT_ONCE);
  channel.sendings[0]?.arrives();
  await until("the last is under way", () => channel.sendings.length === AT_ONCE + 1);
  for (const sending of channel.sendings) sending.arrives();
});
