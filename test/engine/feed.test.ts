/** Events on one process and on two, and what following them costs. */
import { describe, expect, test } from "vitest";
import type { Store } from "../../src/ports/store.ts";
import { openStore } from "../../src/store/store.ts";
import { AGENT, SILENT } from "../../src/testing/bridge.ts";
import { eventsSuite } from "../../src/testing/events-suite.ts";
import { sharedStore } from "../../src/testing/several-processes.ts";
import { until } from "../../src/testing/until.ts";
import { bridges, question } from "./bridges.ts";
import { heldChannel } from "./held-channel.ts";

const open = bridges();

describe("the events of a process that has its store for itself", () => {
  eventsSuite(async () => {
    const store = await openStore("sqlite::memory:", { log: SILENT });
    return { stores: [store], close: () => store.close() };
  });
});

describe.each([
  ["with hints", true],
  ["without any hint", false],
])("the events of another process, %s", (_, arrive) => {
  eventsSuite(async () => {
    const store = await openStore("sqlite::memory:", { log: SILENT });
    const shared = sharedStore(store);
    shared.hints(arrive);
    return { stores: [shared.open(), shared.open()], close: () => store.close() };
  });
});

describe("following costs", () => {
  interface Read {
    readonly owner: string | null;
    readonly found: number;
  }

  /** Notes every page that is read of the log. */
  function noting(store: Store, reads: Read[]): Store {
    const read: Store["events"]["read"] = async (request) => {
      const page = await store.events.read(request);
      reads.push({ owner: request.owner, found: page.items.length });
      return page;
    };
    return { ...store, events: { ...store.events, read } };
  }

  async function counting() {
    const reads: Read[] = [];
    const bridge = await open({ channels: () => [heldChannel().source], through: (store) => noting(store, reads) });
    return { bridge, reads };
  }

  test("nothing while nobody follows", async () => {
    const { bridge, reads } = await counting();
    for (let n = 0; n < 5; n++) await bridge.engine.asker.ask(AGENT, question("held:1"));
    bridge.clock.skip(5_000);
    await bridge.engine.asker.list(AGENT, {});
    expect(reads).toEqual([]);
  });

  test("memory alone for each of a hundred who may see nothing of what happens", async () => {
    const { bridge, reads } = await counting();
    const leaving = Array.from({ length: 100 }, () => new AbortController());
    const other = { ...AGENT, keyId: "other" };
    const streams = leaving.map(({ signal }) =>
      bridge.engine.events.follow(other, null, signal)[Symbol.asyncIterator]().next(),
    );
    const own = () => reads.filter(({ owner }) => owner === "other").length;
    let earlier = 0;
    await until("all have read everything", () => {
      const quiet = own() >= 100 && own() === earlier;
      earlier = own();
      return quiet;
    });
    for (let n = 0; n < 5; n++) await bridge.engine.asker.ask(AGENT, question("held:1"));
    await until("the loop has seen all five", () => reads.reduce((sum, { found }) => sum + found, 0) >= 5);
    expect(own()).toBe(earlier);
    for (const one of leaving) one.abort();
    expect(new Set((await Promise.all(streams)).map(({ done }) => done))).toEqual(new Set([true]));
  });

  test("one page at a time for one who reads slowly", async () => {
    const { bridge, reads } = await counting();
    const start = await bridge.engine.events.position(null);
    await Promise.all(Array.from({ length: 350 }, () => bridge.engine.asker.ask(AGENT, question("held:1"))));
    const leaving = new AbortController();
    const slow = bridge.engine.events.follow(AGENT, start, leaving.signal)[Symbol.asyncIterator]();
    const pages = () => reads.filter(({ owner }) => owner === AGENT.keyId).map(({ found }) => found);
    await slow.next();
    for (let n = 1; n < 100; n++) await slow.next();
    expect(pages()).toEqual([100]);
    await slow.next();
    expect(pages()).toEqual([100, 100]);
    leaving.abort();
    expect((await slow.next()).done).toBe(true);
  });
});
