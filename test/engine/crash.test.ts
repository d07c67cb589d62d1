/** What a crash or a stop leaves behind, and what the next start makes of it. */
import { expect, test } from "vitest";
import { DeliveryError } from "../../src/core/delivery.ts";
import type { InboundEvent } from "../../src/ports/channel.ts";
import type { Settlement } from "../../src/ports/store.ts";
import { AGENT, openBridge } from "../../src/testing/bridge.ts";
import { skippingClock } from "../../src/testing/skipping-clock.ts";
import { until } from "../../src/testing/until.ts";
import { ANA, stages } from "../reports/stage.ts";
import { bridges, ended, files, question, watched } from "./bridges.ts";
import { heldChannel } from "./held-channel.ts";

const open = bridges();
const file = files();
const stage = stages();
const NEVER = new Promise<never>(() => {});

const HERE = {
  people: new Map([["ana", { name: "ana", identities: ["held:1"], roles: ["owner"], locale: "en" }]]),
};

/** What Ana types where she is alone with the bot. */
function words(text: string, at: number): InboundEvent {
  const where = { actor: "held:1", actorName: "Ana", address: "held:1", direct: true, eventId: `typed ${text}`, at };
  return { ...where, kind: "text", text, message: "t1", replyTo: null, mentioned: false, content: "text" };
}

test.each([
  ["gone", "unreachable"],
  ["unauthorized", "unreachable"],
  ["rejected", "unreachable"],
] as const)(
  "a crash right after the last copy failed as %s: undelivered at once after the restart",
  async (why, reason) => {
    const url = file();
    const clock = skippingClock();
    const channel = heldChannel({}, ({ fails }) => fails(new DeliveryError(why, { sent: "no" })));
    const channels = () => [channel.source];
    let dead = false;
    const bridge = await openBridge({
      ...{ url, clock, channels },
      through: (store) =>
        watched(store, async (method, call, [given]) => {
          if (dead) return NEVER;
          const result = await call();
          if (method === "settle" && (given as Settlement).delivery?.state === "failed") dead = true;
          return dead ? NEVER : result;
        }),
    });
    const { inquiry } = await bridge.engine.asker.ask(AGENT, question("held:1"));
    await until("the process is dead", () => dead);
    await bridge.store.close();
    const again = await open({ url, clock, channels });
    const view = await until("it is over", async () => {
      const now = await again.engine.asker.get(AGENT, inquiry.id);
      return now.status !== "waiting" && now;
    });
    expect(view).toMatchObject({ status: "undelivered", reason, deliveries: [{ state: "failed" }] });
  },
);

test("a stop ends while a send hangs, though words wait for it; the next start leaves the copy to prove itself", async () => {
  const on = await stage({ durable: true });
  on.telegram.inject("sendMessage", { applied: true, connection: "hang" });
  const { id } = await on.ask(question(`telegram:${ANA}`));
  const seen = await until("the send hangs, but she sees it", () => on.telegram.messages(ANA)[0]);
  on.ana.says(ANA, "2");
  await until("her words were fetched", () => on.telegram.calls("getUpdates").some(({ status }) => status === 200));
  await ended(on.bridge(), on.bridge().engine.stop());
  expect(on.telegram.calls("sendMessage")).toHaveLength(1);
  await on.start();
  expect(await on.over(id)).toMatchObject({ status: "answered", answers: { q: ["Production"] } });
  expect(await on.ana.presses(seen.id, "1. Staging").answered).toContain("Already answered");
  await on.closed(id, ANA);
});

test("a claim that a dead process held counts as interrupted: nothing is sent before the unseen copy had its time", async () => {
  const url = file();
  const clock = skippingClock();
  let dead = false;
  const before = heldChannel();
  const bridge = await openBridge({
    ...{ url, clock, channels: () => [before.source] },
    through: (store) => watched(store, (_, call) => (dead ? NEVER : call())),
  });
  const { inquiry } = await bridge.engine.asker.ask(AGENT, question("held:1"));
  await until("the send is under way", () => before.sendings.length === 1);
  dead = true;
  await bridge.store.close();
  const after = heldChannel();
  const again = await open({ url, clock, channels: () => [after.source] });
  const copy = () => again.engine.asker.get(AGENT, inquiry.id).then(({ deliveries }) => deliveries[0]);
  await until("it may have arrived", async () => (await copy())?.state === "unknown");
  expect(await copy()).toMatchObject({ reason: "unconfirmed" });
  expect(after.sendings).toHaveLength(0);
  clock.skip(30_000);
  const sending = await until("it is sent once more", () => after.sendings[0]);
  sending.arrives();
  await until("it is shown", async () => (await copy())?.state === "shown");
  expect(after.sendings).toHaveLength(1);
});

test("words typed after a crash between a send and its receipt answer what may be there, and are echoed in words", async () => {
  const url = file();
  const clock = skippingClock();
  let dead = false;
  const before = heldChannel();
  const bridge = await openBridge({
    ...{ url, clock, channels: () => [before.source] },
    through: (store) => watched(store, (_, call) => (dead ? NEVER : call())),
  });
  const { inquiry } = await bridge.engine.asker.ask(AGENT, question("held:1"));
  await until("the send is under way", () => before.sendings.length === 1);
  dead = true;
  await bridge.store.close();
  const after = heldChannel();
  // The words come before the outbox has looked at what was left.
  const again = await open({
    ...{ url, clock, channels: () => [after.source], directory: HERE },
    through: (store) => watched(store, (method, call) => (method === "claim" ? Promise.resolve([]) : call())),
  });
  const reply = await after.happens(words("2", clock.now()));
  expect(reply.say).toBe("Recorded: Production");
  expect(await again.engine.asker.get(AGENT, inquiry.id)).toMatchObject({
    status: "answered",
    answers: { q: ["Production"] },
  });
  expect(after.sendings).toHaveLength(0);
});

test("a store that fails after a send keeps the receipt once it works again: words wait for that, and nothing is sent twice", async () => {
  const clock = skippingClock();
  const channel = heldChannel();
  let faults = 0;
  let works = false;
  const bridge = await open({
    ...{ clock, channels: () => [channel.source], directory: HERE },
    through: (store) =>
      watched(store, (method, call) => {
        if (works || method !== "settle") return call();
        faults += 1;
        return Promise.reject(new Error("disk I/O error"));
      }),
  });
  const { inquiry } = await bridge.engine.asker.ask(AGENT, question("held:1"));
  (await until("it is sent", () => channel.sendings[0])).arrives();
  await until("the store fails", () => faults > 0);
  const answered = channel.happens(words("2", clock.now()));
  works = true;
  await until("it is kept", async () => {
    clock.skip(250);
    return (await bridge.engine.asker.get(AGENT, inquiry.id)).deliveries[0]?.state === "shown";
  });
  expect((await answered).say).toBeNull();
  await until("the prompt echoes it", () => channel.edits.length === 1);
  expect(channel.sendings).toHaveLength(1);
});
