/** The deadline and the process that slept through it: whatever was said in time counts, and nothing else does. */
import { describe, expect, test } from "vitest";
import { until } from "../../src/testing/until.ts";
import { one } from "./asks.ts";
import { ANA, type Asked, type Stage, stages } from "./stage.ts";

const stage = stages();
const DEPLOY = one("Deploy where?", ["Staging", "Production"], { timeoutSeconds: 60 });

type Deed = (on: Stage, asked: Asked) => unknown;
const DEEDS: readonly (readonly [string, Deed])[] = [
  ["a press", ({ ana }, { message }) => ana.presses(message.id, "2. Production")],
  ["a number", ({ ana }) => ana.says(ANA, "2")],
  ["a reply", ({ ana }, { message }) => ana.says(ANA, "production", { replyTo: message.id })],
];

/** Shown, then killed, then asleep until the deadline is over. */
async function overslept(deed: Deed | null): Promise<{ on: Stage; asked: Asked }> {
  const on = await stage({ durable: true });
  const asked = await on.shown(DEPLOY);
  on.kill();
  deed?.(on, asked);
  on.clock.skip(120_000);
  return { on, asked };
}

async function stillOpen(on: Stage, id: string): Promise<void> {
  expect(await on.get(id)).toMatchObject({ status: "waiting", version: 1 });
}

describe("a deadline that passed while the process was down", () => {
  test.each(DEEDS)("%s made before is taken", async (_, deed) => {
    const { on, asked } = await overslept(deed);
    await on.start();
    expect(await on.over(asked.id)).toMatchObject({ status: "answered", version: 2, answers: { q: ["Production"] } });
    expect((await on.closed(asked.id, ANA)).text).toContain("Answered by");
  });

  test.each(DEEDS)("%s read late, while the platform could not be reached, is taken too", async (_, deed) => {
    const { on, asked } = await overslept(deed);
    on.telegram.inject("getUpdates", { status: 502, description: "Bad Gateway" }, 1_000);
    await on.start();
    for (let second = 0; second < 50; second++) {
      on.clock.skip(1_000);
      await on.get(asked.id);
    }
    await stillOpen(on, asked.id);
    on.telegram.heal();
    await until("it is over", async () => {
      on.clock.skip(100);
      return (await on.get(asked.id)).status !== "waiting";
    });
    expect(await on.get(asked.id)).toMatchObject({ status: "answered", answers: { q: ["Production"] } });
  });

  test("a press in the first ten seconds after the start is taken, though it comes after the deadline", async () => {
    const { on, asked } = await overslept(null);
    await on.start();
    await until(
      "the backlog is read",
      async () => (await on.bridge().engine.health.health()).channels.telegram?.state === "up",
    );
    on.clock.skip(8_000);
    expect(await on.ana.presses(asked.message.id, "2. Production").answered).toContain("Recorded");
    expect(await on.over(asked.id)).toMatchObject({ status: "answered" });
  });

  test("without any it times out once ten seconds are over and the backlog is read", async () => {
    const { on, asked } = await overslept(null);
    await on.start();
    await until(
      "the backlog is read",
      async () => (await on.bridge().engine.health.health()).channels.telegram?.state === "up",
    );
    await stillOpen(on, asked.id);
    on.clock.skip(11_000);
    expect(await on.over(asked.id)).toMatchObject({ status: "timed_out", version: 2 });
    expect((await on.closed(asked.id, ANA)).text).toContain("Time is up");
  });

  test("a platform that cannot be reached holds it up for a minute, no longer", async () => {
    const { on, asked } = await overslept(null);
    on.telegram.inject("getUpdates", { status: 502, description: "Bad Gateway" }, 1_000);
    await on.start();
    on.clock.skip(55_000);
    await stillOpen(on, asked.id);
    on.clock.skip(6_000);
    expect(await on.over(asked.id)).toMatchObject({ status: "timed_out" });
  });

  test("never shown when the process died: undelivered, not timed out", async () => {
    const on = await stage({ durable: true });
    on.telegram.inject("sendMessage", { status: 429, parameters: { retry_after: 30 } });
    const { id } = await on.ask(DEPLOY);
    await on.delayed(id);
    on.kill();
    on.clock.skip(120_000);
    await on.start();
    on.clock.skip(11_000);
    const view = await on.over(id);
    expect(view.status).toBe(view.shownAt === undefined ? "undelivered" : "timed_out");
  });
});

describe("a deadline that passes while it runs", () => {
  test("counts from the ask, to the second, and the result says how long it was", async () => {
    const on = await stage();
    const { id } = await on.shown(DEPLOY);
    const { expiresAt, createdAt, timeoutSeconds } = await on.get(id);
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(timeoutSeconds * 1_000);
    on.clock.skip(61_000);
    const view = await on.over(id);
    expect(view).toMatchObject({ status: "timed_out", version: 2, timeoutSeconds: 60 });
    expect(Date.parse(view.settledAt ?? "")).toBeGreaterThanOrEqual(Date.parse(expiresAt));
  });

  test.each(DEEDS)("%s at the very moment either counts or is told that it is over, never both", async (_, deed) => {
    const on = await stage();
    const asked = await on.shown(DEPLOY);
    deed(on, asked);
    on.clock.skip(61_000);
    const view = await on.over(asked.id);
    await on.quiet();
    expect(await on.get(asked.id)).toMatchObject({ status: view.status, version: 2 });
    expect(["answered", "timed_out"]).toContain(view.status);
    expect(view.answers !== undefined).toBe(view.status === "answered");
  });
});
