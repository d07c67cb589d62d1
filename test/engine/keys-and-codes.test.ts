/** Who may administer, who a linked account is, and what is forgotten in time. */
import { describe, expect, test } from "vitest";
import { sha256 } from "../../src/core/digest.ts";
import type { Caller } from "../../src/ports/asker.ts";
import type { InboundEvent } from "../../src/ports/channel.ts";
import { type Bridge, OPERATOR, PEOPLE } from "../../src/testing/bridge.ts";
import { MUTE } from "../../src/testing/hostile-channel.ts";
import { skippingClock } from "../../src/testing/skipping-clock.ts";
import { until } from "../../src/testing/until.ts";
import { bridges, files, question } from "./bridges.ts";
import { heldChannel } from "./held-channel.ts";

const open = bridges();
const file = files();
const DAY_MS = 24 * 3_600_000;

test.each([
  ["an operator key of one session", { ...OPERATOR, sessions: ["support"] }],
  ["an agent key", { ...OPERATOR, scope: "agent" }],
] satisfies [string, Caller][])("%s neither makes, lists nor revokes keys, and links no account", async (_, caller) => {
  const { engine } = await open({ channels: () => [heldChannel().source] });
  const { access } = engine;
  const { id } = await access.addKey(OPERATOR, { scope: "operator" });
  expect(access.mayAdminister(caller)).toBe(false);
  const forbidden = { code: "forbidden" };
  await expect(access.addKey(caller, { scope: "agent" })).rejects.toMatchObject(forbidden);
  await expect(access.keys(caller)).rejects.toMatchObject(forbidden);
  await expect(access.revokeKey(caller, id)).rejects.toMatchObject(forbidden);
  await expect(access.pair(caller, "held", null)).rejects.toMatchObject(forbidden);
  expect((await access.keys(OPERATOR)).map((key) => [key.id, key.revokedAt])).toEqual([[id, undefined]]);
});

test("a subagent's key moves its own task, though it may ask nobody", async () => {
  const { engine } = await open({ channels: () => [heldChannel().source] });
  const subagent: Caller = { keyId: "sub", scope: "agent", sessions: [], kind: "subagent" };
  expect(await engine.asker.moveTask(subagent, "t", { stateVersion: 3 })).toMatchObject({ stateVersion: 3 });
  await expect(engine.asker.ask(subagent, question("held:1"))).rejects.toMatchObject({ code: "main_session_only" });
});

describe("an account linked to ana", () => {
  const listedUnderBen = {
    people: new Map([...PEOPLE.people].map(([name, person]) => [name, name === "ben" ? withHeld(person) : person])),
  };

  function withHeld(person: typeof PEOPLE.people extends ReadonlyMap<string, infer P> ? P : never) {
    return { ...person, identities: [...person.identities, "held:7"] };
  }

  const writes = (text: string, eventId: string, at: number): InboundEvent => ({
    ...{ kind: "text", eventId, text, at, message: eventId, replyTo: null, mentioned: false, content: "text" },
    ...{ actor: "held:7", actorName: "Seven", address: "held:7", direct: true },
  });

  async function linked(bridge: Bridge, happens: (event: InboundEvent) => Promise<{ say: string | null }>) {
    const { code } = await bridge.engine.access.pair(OPERATOR, "held", "ana");
    const { say } = await happens(writes(code, "e1", bridge.clock.now()));
    expect(say).toContain("ana");
  }

  test("is ana, also after a restart; listed under ben in the settings since, it is ben", async () => {
    const url = file();
    const channel = heldChannel();
    const channels = () => [channel.source];
    const first = await open({ url, channels });
    await linked(first, channel.happens);
    const again = await open({ url, channels });
    expect((await channel.happens(writes("/start", "e2", again.clock.now()))).say).toContain("ana");
    const changed = await open({ url, channels, directory: listedUnderBen });
    expect((await channel.happens(writes("/start", "e3", changed.clock.now()))).say).toContain("ben");
  });
});

describe("a pairing code", () => {
  test("is not made for a surface or a channel that is off", async () => {
    const surface = heldChannel({ ...MUTE, attendance: "when open" });
    const { engine } = await open({ channels: () => [surface.source] });
    await expect(engine.access.pair(OPERATOR, "held", null)).rejects.toMatchObject({ code: "not_found" });
    await expect(engine.access.pair(OPERATOR, "telegram", null)).rejects.toMatchObject({ code: "not_found" });
  });

  test("that expired is pruned once it is a week old", async () => {
    const bridge = await open({ channels: () => [heldChannel().source] });
    const { access } = bridge.store;
    // A code of the same hash is refused while the old one is kept.
    const kept = { hash: sha256("kept"), channel: "held", person: "ana", failures: 0 };
    const again = () => access.addPairing({ ...kept, expiresAt: bridge.clock.now() + 1 });
    await again();
    await expect(again()).rejects.toThrow();
    await until("it is pruned", () => {
      bridge.clock.skip(DAY_MS);
      return again().then(
        () => true,
        () => false,
      );
    });
  });
});

describe("what is kept against repeats", () => {
  const replyOf = (bridge: Bridge) => async (key: string) => (await bridge.store.replyOf(key)) !== null;

  async function keep(bridge: Bridge) {
    const now = bridge.clock.now();
    await bridge.store.commit({ once: { key: "old", reply: "r", at: now - 8 * DAY_MS } });
    await bridge.store.commit({ once: { key: "recent", reply: "r", at: now - 6 * DAY_MS } });
  }

  test("is forgotten after a week, at the start and once a day", async () => {
    const url = file();
    const clock = skippingClock();
    const first = await open({ url, clock });
    await keep(first);
    const bridge = await open({ url, clock });
    const kept = replyOf(bridge);
    await until("the old one is forgotten", async () => !(await kept("old")));
    expect(await kept("recent")).toBe(true);
    clock.skip(DAY_MS / 2);
    expect(await kept("recent")).toBe(true);
    clock.skip(DAY_MS);
    await until("the recent one has become old", async () => !(await kept("recent")));
  });
});
