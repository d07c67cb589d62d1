/** Calls that wait while several processes work on one store: who attaches to what, and what wakes whom. */
import { describe, expect, test } from "vitest";
import { entropy } from "../../src/clock.ts";
import { createAddresses } from "../../src/engine/addresses.ts";
import { createKeyring } from "../../src/engine/keyring.ts";
import { type DurableStore, openStore } from "../../src/store/store.ts";
import { AGENT, type Bridge, OPERATOR, PEOPLE, SILENT } from "../../src/testing/bridge.ts";
import { type SharedStore, sharedStore } from "../../src/testing/several-processes.ts";
import { skippingClock } from "../../src/testing/skipping-clock.ts";
import { until } from "../../src/testing/until.ts";
import { bridges, ended, question, watched } from "./bridges.ts";
import { heldChannel } from "./held-channel.ts";

const open = bridges();
const SAME = question("held:1");
const STAGING = { answers: { q: ["Staging"] } };

interface House {
  readonly store: DurableStore;
  readonly shared: SharedStore;
  readonly a: Bridge;
  readonly b: Bridge;
  /** Names of the store's methods as they are called, by process. */
  readonly calls: Readonly<Record<"a" | "b", string[]>>;
}

/** Two processes, `a` and `b`, on one store; hints are lost unless asked for. */
async function house({ hints = false } = {}): Promise<House> {
  const store = await openStore("sqlite::memory:", { log: SILENT });
  const shared = sharedStore(store);
  shared.hints(hints);
  const clock = skippingClock();
  const calls = { a: [] as string[], b: [] as string[] };
  const process = (name: "a" | "b") =>
    open({
      ...{ store, clock, process: name, channels: () => [heldChannel().source] },
      through: () =>
        watched(shared.open(), (method, call) => {
          calls[name].push(method);
          return call();
        }),
    });
  return { store, shared, calls, a: await process("a"), b: await process("b") };
}

function call({ engine }: Bridge, input: object = SAME) {
  const leaving = new AbortController();
  let asked = (_: string) => {};
  const id = new Promise<string>((known) => {
    asked = known;
  });
  const result = engine.asker.askUser(AGENT, input, { signal: leaving.signal, onAsked: asked });
  result.catch(() => {});
  return {
    result,
    id,
    async leave() {
      leaving.abort();
      await result;
    },
  };
}

/** Moves time on until the promise has settled: what is looked for once a second is found. */
async function meanwhile<T>({ a }: House, promise: Promise<T>): Promise<T> {
  const done = promise.then(() => true);
  await until("it comes", () => {
    a.clock.skip(200);
    return Promise.race([done, Promise.resolve(false)]);
  });
  return promise;
}

describe("the answer given at one process wakes the caller at the other", () => {
  test.each([
    ["by a hint", true],
    ["by the log of events, when every hint is lost", false],
  ])("%s", async (_, hints) => {
    const here = await house({ hints });
    const waiting = call(here.a);
    await here.b.engine.asker.answer(OPERATOR, await waiting.id, STAGING);
    const result = await (hints ? waiting.result : meanwhile(here, waiting.result));
    expect(result).toMatchObject({ status: "answered", answers: STAGING });
  });

  test("also when the answer comes while the question is being stored, before the log was first looked at", async () => {
    const here = await house();
    const calls = [];
    for (let n = 0; n < 10; n++) calls.push(call(here.a, question("held:1", { id: `q${n}` })));
    for (const one of calls) await here.b.engine.asker.answer(OPERATOR, await one.id, STAGING);
    for (const one of calls) expect(await meanwhile(here, one.result)).toMatchObject({ status: "answered" });
  });

  test("and a wait by GET", async () => {
    const here = await house();
    const { inquiry } = await here.a.engine.asker.ask(AGENT, SAME);
    const { signal } = new AbortController();
    const waiting = here.a.engine.asker.get(AGENT, inquiry.id, { waitMs: 50_000, signal });
    await here.b.engine.asker.cancel(OPERATOR, inquiry.id);
    expect((await meanwhile(here, waiting)).status).toBe("cancelled");
  });

  test("at the price of one reload; a hint about what nobody waits for costs nothing", async () => {
    const here = await house({ hints: true });
    const waiting = call(here.b);
    await here.a.engine.asker.answer(OPERATOR, await waiting.id, STAGING);
    await waiting.result;
    const { inquiry: other } = await here.a.engine.asker.ask(AGENT, question("held:2"));
    await here.a.engine.asker.answer(OPERATOR, other.id, STAGING);
    expect(here.calls.b.filter((method) => method === "inquiry")).toEqual(["inquiry"]);
  });
});

describe("the same call at two processes", () => {
  test("while the first waits: each has a question of its own", async () => {
    const here = await house();
    const [one, two] = [call(here.a), call(here.b)];
    expect(await one.id).not.toBe(await two.id);
    await Promise.all([one.leave(), two.leave()]);
  });

  test("in the same moment, for one that nobody waits for: one gets it, the other asks anew", async () => {
    const here = await house();
    for (let round = 0; round < 10; round++) {
      const left = call(here.a, question("held:1", { run: `r${round}` }));
      await left.id;
      await left.leave();
      const both = [
        call(here.a, question("held:1", { run: `r${round}` })),
        call(here.b, question("held:1", { run: `r${round}` })),
      ];
      const ids = await Promise.all(both.map(({ id }) => id));
      expect(new Set(ids).size).toBe(2);
      await Promise.all(both.map((one) => one.leave()));
    }
  });

  test("by its id: both wait for one question, and both have its answer", async () => {
    const here = await house();
    const named = question("held:1", { id: "deploy" });
    const calls = [call(here.a, named), call(here.b, named)];
    expect(await Promise.all(calls.map(({ id }) => id))).toEqual(["deploy", "deploy"]);
    await here.b.engine.asker.answer(OPERATOR, "deploy", STAGING);
    for (const one of calls) expect((await meanwhile(here, one.result)).status).toBe("answered");
  });
});

describe("who lost its connection to one process", () => {
  test("finds its question through the other", async () => {
    const here = await house();
    const cut = call(here.a);
    const id = await cut.id;
    await cut.leave();
    const again = call(here.b);
    expect(await again.id).toBe(id);
    await here.a.engine.asker.answer(OPERATOR, id, STAGING);
    expect(await meanwhile(here, again.result)).toMatchObject({ status: "answered", inquiry_id: id });
  });

  test("finds its answer there, when it came meanwhile", async () => {
    const here = await house();
    const cut = call(here.a);
    const id = await cut.id;
    await cut.leave();
    await here.a.engine.asker.answer(OPERATOR, id, STAGING);
    expect(await call(here.b).result).toMatchObject({ status: "answered", inquiry_id: id });
  });

  test("finds it through the other also after that process died", async () => {
    const here = await house();
    const cut = call(here.a);
    const id = await cut.id;
    const refused = cut.result.catch((error: unknown) => error);
    await ended(here.a, here.a.engine.stop());
    expect(await refused).toMatchObject({ code: "unavailable" });
    const again = call(here.b);
    expect(await again.id).toBe(id);
    await again.leave();
  });

  test("finds an answer that reached a caller nobody hears any more, in time", async () => {
    const here = await house();
    const lost = call(here.a);
    const id = await lost.id;
    await here.a.engine.asker.answer(OPERATOR, id, STAGING);
    expect((await lost.result).status).toBe("answered");
    const again = call(here.b);
    expect(await again.id).toBe(id);
    expect((await again.result).status).toBe("answered");
  });
});

describe("the ordinary path asks the store nothing more", () => {
  test("a question that is asked, answered and collected: neither attend nor leave", async () => {
    const here = await house({ hints: true });
    const atTheStart = here.calls.a.length;
    const waiting = call(here.a);
    const id = await waiting.id;
    await here.a.engine.asker.answer(OPERATOR, id, STAGING);
    await waiting.result;
    await here.a.engine.asker.collect(AGENT, id);
    expect(here.calls.a.slice(atTheStart).filter((method) => method === "attend" || method === "leave")).toEqual([]);
  });

  test("a store that one process has for itself is never asked who waits", async () => {
    const calls: string[] = [];
    const bridge = await open({
      channels: () => [heldChannel().source],
      through: (store) =>
        watched(store, (method, work) => {
          calls.push(method);
          return work();
        }),
    });
    const cut = call(bridge);
    await cut.id;
    await cut.leave();
    const again = call(bridge);
    expect(await again.id).toBe(await cut.id);
    await again.leave();
    expect(calls.filter((method) => method === "attend" || method === "leave")).toEqual([]);
  });
});

test("a wait that cannot be given up is logged and delays nobody", async () => {
  const store = await openStore("sqlite::memory:", { log: SILENT });
  const warned: string[] = [];
  const bridge = await open({
    ...{ store, process: "a", channels: () => [heldChannel().source] },
    log: { ...SILENT, warn: (_, message) => void warned.push(message) },
    through: () =>
      watched(sharedStore(store).open(), (method, work) =>
        method === "leave" ? Promise.reject(new Error("the database is away")) : work(),
      ),
  });
  const cut = call(bridge);
  await cut.id;
  await cut.leave();
  await until("it is logged", () => warned.includes("a wait that ended could not be given up"));
  const again = call(bridge);
  expect(await again.id).toBe(await cut.id);
  await again.leave();
});

describe("what is changed about access in one process holds in the other", () => {
  test("a key is known at once, when every hint is lost", async () => {
    const { a, b } = await house();
    const { key, id } = await a.engine.access.addKey(OPERATOR, { scope: "agent" });
    expect(await b.engine.access.authenticate(key)).toMatchObject({ keyId: id });
  });

  test("a key is known also while strange keys are tried all the time", async () => {
    const here = await house();
    const tried = Array.from({ length: 20 }, (_, n) => here.b.engine.access.authenticate(`ag_${n}`));
    const { key, id } = await here.a.engine.access.addKey(OPERATOR, { scope: "agent" });
    const known = here.b.engine.access.authenticate(key);
    expect(await meanwhile(here, known)).toMatchObject({ keyId: id });
    expect(new Set(await Promise.all(tried))).toEqual(new Set([null]));
  });

  test.each([
    ["at once by a hint", true],
    ["within 5 s without one", false],
  ])("a revoked key is refused: %s", async (_, hints) => {
    const { a, b } = await house({ hints });
    const { key, id } = await a.engine.access.addKey(OPERATOR, { scope: "agent" });
    expect(await b.engine.access.authenticate(key)).not.toBeNull();
    const since = b.clock.now();
    await a.engine.access.revokeKey(OPERATOR, id);
    expect(await a.engine.access.authenticate(key)).toBeNull();
    await until("it is refused", async () => {
      if (!hints) b.clock.skip(200);
      return (await b.engine.access.authenticate(key)) === null;
    });
    expect(b.clock.now() - since).toBeLessThan(hints ? 2_000 : 8_000);
  });

  test("strange keys make the store be read at most once a second", async () => {
    const store = await openStore("sqlite::memory:", { log: SILENT });
    const shared = sharedStore(store).open();
    let reads = 0;
    const keys = () => {
      reads += 1;
      return shared.access.keys();
    };
    const bridge = await open({ store, through: () => ({ ...shared, access: { ...shared.access, keys } }) });
    const before = reads;
    const tried = Array.from({ length: 100 }, (_, n) => bridge.engine.access.authenticate(`ag_${n}`));
    await Promise.all(tried);
    expect(reads - before).toBe(1);
  });

  test("an account linked in one is known in the other", async () => {
    const here = await house();
    expect(here.b.engine.access.paired("held")).toBe(false);
    await here.store.access.addPairing({ hash: "h", channel: "held", person: "ana", expiresAt: 9e15, failures: 0 });
    const attempt = { hash: "h", channel: "held", identity: "held:7", maxFailures: 5, now: here.a.clock.now() };
    await here.store.access.pair(attempt);
    await until("it is known", () => {
      here.b.clock.skip(500);
      return here.b.engine.access.paired("held");
    });
  });

  test("a key that is revoked while keys are being read is refused from then on", async () => {
    const store = await openStore("sqlite::memory:", { log: SILENT });
    const started: (() => void)[] = [];
    let slow = false;
    const keys = async () => {
      const found = await store.access.keys();
      if (slow) await new Promise<void>((go) => void started.push(go));
      return found;
    };
    const keyring = await createKeyring({
      ...{ store: { ...store, access: { ...store.access, keys } }, clock: skippingClock(), entropy },
      settings: { locale: "en", directory: PEOPLE, fixedKeys: [] },
    });
    const { key, id } = await keyring.add({ scope: "agent" });
    slow = true;
    const reading = keyring.refresh();
    await until("the keys have been read", () => started.length === 1);
    const revoking = keyring.revoke(id);
    await until("the key is revoked", async () => (await store.access.keys())[0]?.revokedAt !== null);
    slow = false;
    started[0]?.();
    await Promise.all([reading, revoking]);
    expect(await keyring.callerOf(key)).toBeNull();
    await store.close();
  });

  test("a chat renamed twice in one is known in the other by its first name, and sent to by its last", async () => {
    const store = await openStore("sqlite::memory:", { log: SILENT });
    const [a, b] = [await createAddresses(store.access), await createAddresses(store.access)];
    await a.move("held:1", "held:2", 1);
    await a.move("held:2/7", "held:3", 2);
    await b.refresh();
    for (const addresses of [a, b]) {
      expect(["held:1/7", "held:2", "held:3"].map(addresses.current)).toEqual(["held:3/7", "held:3", "held:3"]);
      const known = ["held:1", "held:2", "held:3/7", "held:9"].map(addresses.known);
      expect(known).toEqual(["held:1", "held:1", "held:1/7", "held:9"]);
    }
    await store.close();
  });
});

test("words that come just after another process ended the question are told so", async () => {
  const ana = { name: "ana", identities: ["held:1"], roles: ["owner"], locale: "en" };
  const channel = heldChannel({ attendance: "always" }, (sending) => sending.arrives());
  const store = await openStore("sqlite::memory:", { log: SILENT });
  const shared = sharedStore(store);
  const clock = skippingClock();
  const process = (name: string, source = channel.source) =>
    open({
      ...{ store, clock, process: name, through: () => shared.open(), channels: () => [source] },
      directory: { people: new Map([["ana", ana]]) },
    });
  const [a, b] = [await process("a"), await process("b", heldChannel().source)];
  const { inquiry } = await a.engine.asker.ask(AGENT, SAME);
  await until("it is shown", async () => (await a.engine.asker.get(AGENT, inquiry.id)).shownAt);
  await b.engine.asker.answer(OPERATOR, inquiry.id, STAGING);
  await until("its copy is closed", () => {
    clock.skip(200);
    return channel.edits.length > 0;
  });
  const words = {
    kind: "text",
    text: "Production",
    message: "w",
    replyTo: null,
    mentioned: false,
    content: "text",
  } as const;
  const who = { eventId: "e", actor: "held:1", actorName: "Ana", address: "held:1", direct: true };
  const { say } = await channel.happens({ ...words, ...who, at: clock.now() });
  expect(say).toBe("Already answered by operator: Staging");
});
