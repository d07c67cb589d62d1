/** A prompt of several messages whose sending breaks in the middle: one answerable copy, and nothing left behind. */
import { expect, test } from "vitest";
import { DeliveryError } from "../../src/core/delivery.ts";
import { AGENT } from "../../src/testing/bridge.ts";
import { until } from "../../src/testing/until.ts";
import { ANA, type Stage, stages } from "../reports/stage.ts";
import { bridges, question } from "./bridges.ts";
import { heldChannel } from "./held-channel.ts";

const open = bridges();
const stage = stages();
const LONG = {
  questions: [
    {
      id: "q",
      header: "Long",
      question: "word ".repeat(790).trim(),
      options: [
        { label: "Staging", description: "x".repeat(480) },
        { label: "Production", description: "y".repeat(480) },
      ],
    },
  ],
};

const withButtons = (on: Stage) => on.telegram.messages(ANA).filter((message) => message.keyboard !== null);

async function receiptOf(on: Stage, id: string) {
  return (await on.copies(id))[0]?.delivery.receipt?.parts ?? [];
}

test("a press on the last part while its send is under way, which then breaks: both parts are known and close", async () => {
  const on = await stage();
  on.telegram.inject("sendMessage", {});
  on.telegram.inject("sendMessage", { applied: true, connection: "hang" });
  const { id } = await on.ask(LONG);
  const last = await until("the last part stands", () => withButtons(on)[0]);
  const parts = on.telegram.messages(ANA).map((message) => String(message.id));
  expect(parts).toHaveLength(2);
  await on.ana.presses(last.id, "Other").answered;
  on.telegram.heal();
  await until("both parts are known", async () => {
    on.clock.skip(200);
    return (await receiptOf(on, id)).length === 2;
  });
  expect(await receiptOf(on, id)).toEqual(parts);
  await until("the entry field is open", () => {
    on.clock.skip(200);
    return on.telegram.messages(ANA).some((message) => message.forceReply !== null);
  });
  expect(withButtons(on).map((message) => message.id)).toEqual([last.id]);
  on.ana.says(ANA, "the canary machines");
  expect(await on.over(id)).toMatchObject({ answers: { q: ["the canary machines"] } });
  await on.closed(id, ANA);
  expect(withButtons(on)).toEqual([]);
  expect(await receiptOf(on, id)).toEqual(parts.slice(0, 1));
});

test("the buttons are refused after the first part arrived: the plain form goes on from it, nothing stands alone", async () => {
  const on = await stage();
  on.telegram.inject("sendMessage", {});
  on.telegram.inject("sendMessage", { status: 400, description: "Bad Request: BUTTON_DATA_INVALID" });
  const { id } = await on.ask(LONG);
  await on.shownIn(id, ANA);
  const standing = on.telegram.messages(ANA).map((message) => String(message.id));
  expect(await receiptOf(on, id)).toEqual(standing);
  expect(withButtons(on)).toEqual([]);
  on.ana.says(ANA, "2");
  expect(await on.over(id)).toMatchObject({ answers: { q: ["Production"] } });
  await until("every message that still stands belongs to the copy", async () => {
    on.clock.skip(200);
    const copy = (await on.copies(id))[0]?.delivery;
    const now = on.telegram.messages(ANA).map((message) => String(message.id));
    return copy?.state === "closed" && now.join() === copy.receipt?.parts.join();
  });
});

test("what arrived of a form that is refused is edited into the plain one, never sent again", async () => {
  const channel = heldChannel();
  const bridge = await open({ channels: () => [channel.source] });
  const { inquiry } = await bridge.engine.asker.ask(AGENT, question("held:1"));
  const sending = await until("it is under way", () => channel.sendings[0]);
  sending.fails(new DeliveryError("rejected", { sent: "no", partial: { parts: ["m1"] } }));
  await until("it is shown", async () => (await bridge.engine.asker.get(AGENT, inquiry.id)).shownAt);
  expect(channel.edits).toMatchObject([{ at: { parts: ["m1"] }, prompt: { form: "text", open: true } }]);
  expect(channel.sendings).toHaveLength(1);
});

test("what arrived of a prompt that is over meanwhile is edited, never continued", async () => {
  const channel = heldChannel();
  const bridge = await open({ channels: () => [channel.source] });
  const { inquiry } = await bridge.engine.asker.ask(AGENT, question("held:1"));
  const sending = await until("it is under way", () => channel.sendings[0]);
  sending.fails(new DeliveryError("rate-limited", { sent: "no", retryAfterMs: 20_000, partial: { parts: ["m1"] } }));
  await bridge.engine.asker.cancel(AGENT, inquiry.id);
  await until("the copy is closed", async () => {
    bridge.clock.skip(1_000);
    return (await bridge.engine.asker.get(AGENT, inquiry.id)).deliveries[0]?.state === "closed";
  });
  expect(channel.edits).toMatchObject([{ at: { parts: ["m1"] }, prompt: { open: false } }]);
  expect(channel.sendings).toHaveLength(1);
});

test("the agent stops asking after the first part arrived: that part says so", async () => {
  const on = await stage();
  on.telegram.inject("sendMessage", {});
  on.telegram.inject("sendMessage", { status: 429, parameters: { retry_after: 20 } });
  const { id } = await on.ask(LONG);
  await on.delayed(id);
  await on.bridge().engine.asker.cancel(AGENT, id);
  await until("the copy is closed", async () => {
    on.clock.skip(1_000);
    return (await on.copies(id))[0]?.delivery.state === "closed";
  });
  expect(on.telegram.messages(ANA).map((message) => message.text)).toEqual([
    expect.stringContaining("The agent stopped asking"),
  ]);
});
