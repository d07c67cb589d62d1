/**
 * The contract of what several processes share: leases, who waits where, and the log of events. On a database that one
 * process has for itself the same holds, with nobody to race against.
 */
import { describe, expect, it } from "vitest";
import { channelLease, type Lease, presenceOf } from "../ports/lease.ts";
import type { Store } from "../ports/store.ts";
import { HERE, usingStore } from "./store-driver.ts";
import { copyOf, inquiryOf, settled } from "./store-samples.ts";

const TELEGRAM = channelLease("telegram");

export function machinesSuite(store: () => Store): void {
  describe("leases", () => leaseSuite(store));
  describe("who waits where", () => attendanceSuite(store));
  describe("events", () => eventSuite(store));
}

function leaseSuite(store: () => Store): void {
  const { ask, claim, settle } = usingStore(store);
  const take = (holder: string, now: number, until = now + 100) =>
    store().leases.take({ name: TELEGRAM, holder, until, note: "" }, now);

  it("has one holder until it runs out or is given up, each under the next epoch", async () => {
    const first = await take("one", 1_000);
    expect(first).toEqual({ name: TELEGRAM, holder: "one", epoch: 1_000, until: 1_100, note: "" });
    expect(await take("two", 1_099)).toBeNull();
    expect((await take("two", 1_100))?.epoch).toBe(1_001);
    await store().leases.release({ name: TELEGRAM, holder: "one", epoch: 1_000 });
    expect(await take("one", 1_150)).toBeNull();
    await store().leases.release({ name: TELEGRAM, holder: "two", epoch: 1_001 });
    expect((await take("one", 1_151))?.epoch).toBe(1_002);
  });

  it("is its holder's own to take again, under the next epoch", async () => {
    await take("one", 1_000);
    expect((await take("one", 1_001))?.epoch).toBe(1_001);
  });

  it("is had by one of many who try", async () => {
    const holders = Array.from({ length: 8 }, (_, index) => `process ${index}`);
    const taken = (await Promise.all(holders.map((holder) => take(holder, 1_000)))).filter((lease) => lease !== null);
    expect(taken).toHaveLength(1);
  });

  it("is renewed with others, unless it was given up", async () => {
    const given = (await take("one", 1_000)) as Lease;
    await store().leases.release(given);
    const kept = await store().leases.take({ name: presenceOf("one"), holder: "one", until: 1_100, note: "" }, 1_000);
    const renewed = await store().leases.renew([given, kept as Lease], 2_000);
    expect(renewed.map(({ name, until }) => [name, until])).toEqual([
      [TELEGRAM, 0],
      [presenceOf("one"), 2_000],
    ]);
    expect(await store().leases.renew([], 3_000)).toEqual(renewed);
  });

  it("is not renewed by an older process of the holder's name, nor by a renewal that comes late", async () => {
    const older = (await take("one", 1_000)) as Lease;
    const newer = (await take("one", 1_001)) as Lease;
    const until = async (held: Lease, until: number) => (await store().leases.renew([held], until))[0]?.until;
    expect(await until(older, 2_000)).toBe(1_101);
    expect(await until(newer, 2_000)).toBe(2_000);
    expect(await until(newer, 1_900)).toBe(2_000);
  });

  it("keeps a note, which only its holder changes", async () => {
    const lease = (await take("one", 1_000)) as Lease;
    await store().leases.note(lease, '{"state":"up"}');
    await take("two", 2_000);
    await store().leases.note(lease, "late");
    expect(await store().leases.renew([], 0)).toMatchObject([{ holder: "two", note: "" }]);
  });

  it("lets whoever lost it claim nothing, while what it claimed before is still its to settle", async () => {
    const old = (await take("one", 1_000)) as Lease;
    await ask("inq_1", HERE);
    await ask("inq_2", "telegram:200");
    const [held] = await claim(1_000, { limit: 1, lease: old });
    await take("two", 2_000);
    expect(await claim(2_000, { lease: old })).toEqual([]);
    expect(await settle(held)).toBe(true);
    expect(await claim(2_000)).toHaveLength(1);
  });

  it("of a process that is gone is forgotten with what is pruned, and comes again under a later epoch", async () => {
    const shows = (holder: string, now: number) =>
      store().leases.take({ name: presenceOf(holder), holder, until: now + 100, note: "" }, now);
    const [stopped] = [(await shows("one", 1_000)) as Lease, await shows("two", 1_000), await shows("three", 9_000)];
    const again = (await shows("one", 1_001)) as Lease;
    await store().leases.release(again);
    await take("two", 1_000);
    await store().prune(5_000);
    expect((await store().leases.renew([], 0)).map(({ name }) => name)).toEqual([TELEGRAM, presenceOf("three")]);
    expect((await shows("one", 9_000))?.epoch).toBeGreaterThan(Math.max(stopped.epoch, again.epoch));
  });

  it("takes over the claims of its channel alone", async () => {
    await ask("inq_1", HERE);
    await ask("inq_2", "slack:U1");
    await claim(1_000);
    await store().recover("telegram", 1_001);
    expect((await claim(1_002)).map(({ inquiry, interrupted }) => [inquiry, interrupted])).toEqual([["inq_1", true]]);
  });

  it("tells whether a send may be under way at an address", async () => {
    await ask("inq_1", HERE);
    expect(await store().inFlight(HERE, 1_000)).toBe(false);
    const [held] = await claim(1_000, { leaseMs: 50 });
    expect(await store().inFlight(HERE, 1_001)).toBe(true);
    expect(await store().inFlight(HERE, 1_051)).toBe(false);
    await settle(held);
    expect(await store().inFlight(HERE, 1_001)).toBe(false);
  });
}

function attendanceSuite(store: () => Store): void {
  const live = (holder: string, until: number) =>
    store().leases.take({ name: presenceOf(holder), holder, until, note: "[]" }, 0);

  it("belongs to the process that asked until that one leaves it or dies", async () => {
    await live("one", 5_000);
    await store().commit({ create: [inquiryOf("inq_1")], waiter: "one" });
    expect(await store().attend("inq_1", "two", 4_999)).toBe(false);
    expect(await store().attend("inq_1", "one", 4_999)).toBe(true);
    await store().leave("inq_1", "two");
    expect(await store().attend("inq_1", "two", 4_999)).toBe(false);
    expect(await store().attend("inq_1", "two", 5_000)).toBe(true);
  });

  it("ends with the inquiry, and with all others when its process begins anew", async () => {
    await live("one", 5_000);
    const [over, open, other] = [inquiryOf("inq_1"), inquiryOf("inq_2"), inquiryOf("inq_3")];
    await store().commit({ create: [over, open], waiter: "one" });
    await store().commit({ create: [other], waiter: "three" });
    await live("three", 5_000);
    await store().commit({ update: [{ from: 1, inquiry: settled(over) }] });
    expect(await store().attend("inq_1", "two", 1_000)).toBe(true);
    await store().leave(null, "one");
    expect(await store().attend("inq_2", "two", 1_000)).toBe(true);
    expect(await store().attend("inq_3", "two", 1_000)).toBe(false);
  });

  it("is free where nobody waits, and taken by one of many", async () => {
    const names = Array.from({ length: 8 }, (_, index) => `process ${index}`);
    for (const name of names) await live(name, 5_000);
    await store().commit({ create: [inquiryOf("inq_1")] });
    const taken = await Promise.all(names.map((name) => store().attend("inq_1", name, 1_000)));
    expect(taken.filter(Boolean)).toHaveLength(1);
    await store().leave("inq_1", names[taken.indexOf(true)] ?? "");
    expect(await store().attend("inq_1", "process 0", 1_000)).toBe(true);
  });
}

function eventSuite(store: () => Store): void {
  const { ask, claim, settle } = usingStore(store);
  const everything = { after: null, owner: null, sessions: null, limit: 100 };
  const told = async (request: Partial<Parameters<Store["events"]["read"]>[0]> = {}) =>
    (await store().events.read({ ...everything, ...request })).items.map(({ type, inquiry, at }) => [
      type,
      inquiry,
      at,
    ]);

  it("tells of asking, of the first showing, and of the end, once each and when they happened", async () => {
    const { inquiry } = await ask("inq_1", HERE);
    await ask("inq_2", "telegram:200");
    const rows = await claim(1_100);
    for (const row of rows) await settle(row, { delivery: { state: "shown" }, shownAt: 1_200 });
    await store().commit({ wake: [{ inquiry: "inq_1", at: 1_300 }] });
    const [again] = await claim(1_300);
    await settle(again, { delivery: { state: "shown" }, shownAt: 1_400 });
    await store().commit({ update: [{ from: 1, inquiry: settled(inquiry, { settledAt: 1_500 }) }] });
    const events = await told();
    expect(events.slice(0, 2)).toEqual([
      ["inquiry.created", "inq_1", 1_000],
      ["inquiry.created", "inq_2", 1_000],
    ]);
    expect(new Set(events.slice(2, 4).map(String))).toEqual(
      new Set(["inquiry.delivered,inq_1,1200", "inquiry.delivered,inq_2,1200"]),
    );
    expect(events.slice(4)).toEqual([["inquiry.answered", "inq_1", 1_500]]);
  });

  it("tells of a showing that a press proved, and of what ended as it was asked", async () => {
    const { row } = await ask("inq_1", HERE);
    const adopt = { row, promptKey: (await store().copies("inq_1"))[0]?.delivery.promptKey ?? "", at: 1_700 };
    await store().commit({ adopt: { ...adopt, receipt: { parts: ["1"] } } });
    await store().commit({ adopt: { ...adopt, receipt: { parts: ["2"] } } });
    const lost = inquiryOf("inq_2", { status: "undelivered", reason: "no_surface", settledAt: 1_800 });
    await store().commit({ create: [lost] });
    expect(await told()).toEqual([
      ["inquiry.created", "inq_1", 1_000],
      ["inquiry.delivered", "inq_1", 1_700],
      ["inquiry.created", "inq_2", 1_000],
      ["inquiry.undelivered", "inq_2", 1_800],
    ]);
  });

  it("tells of nothing that was refused, repeated or only half decided", async () => {
    const { inquiry } = await ask("inq_1", HERE);
    await store().commit({ create: [inquiryOf("inq_9", { id: "inq_1" })] });
    await store().commit({ update: [{ from: 1, inquiry: { ...inquiry, version: 2 } }] });
    await store().commit({ update: [{ from: 1, inquiry: settled(inquiry) }] });
    const once = { key: "press", reply: null, at: 1 };
    await store().commit({ once, update: [{ from: 2, inquiry: settled({ ...inquiry, version: 3 }) }] });
    await store().commit({ once, update: [{ from: 2, inquiry: settled({ ...inquiry, version: 3 }) }] });
    expect((await told()).map(([type]) => type)).toEqual(["inquiry.created", "inquiry.answered"]);
  });

  it("is read on from any event, for one owner or for some sessions", async () => {
    const born = [
      inquiryOf("inq_1"),
      inquiryOf("inq_2", { owner: "key_2" }),
      inquiryOf("inq_3", { session: "other" }),
      inquiryOf("inq_4"),
    ];
    for (const inquiry of born) await store().commit({ create: [inquiry] });
    const { items } = await store().events.read(everything);
    for (const [index, { position }] of items.entries()) {
      expect((await told({ after: position })).map(([, inquiry]) => inquiry)).toEqual(
        born.slice(index + 1).map(({ uid }) => uid),
      );
    }
    const uids = async (request: Parameters<typeof told>[0]) => (await told(request)).map(([, inquiry]) => inquiry);
    expect(await uids({ owner: "key_1" })).toEqual(["inq_1", "inq_3", "inq_4"]);
    expect(await uids({ owner: "key_1", sessions: ["other"] })).toEqual(["inq_3"]);
    expect(await uids({ sessions: [] })).toEqual([]);
    expect(await uids({ limit: 2 })).toEqual(["inq_1", "inq_2"]);
  });

  it("ends behind what is committed and before what comes", async () => {
    await store().commit({ create: [inquiryOf("inq_1")] });
    const end = await store().events.end();
    expect(await told({ after: end })).toEqual([]);
    await store().commit({ create: [inquiryOf("inq_2")] });
    expect(await told({ after: end })).toEqual([["inquiry.created", "inq_2", 1_000]]);
  });

  it.each(["", "nonsense", "1", "1.x", "-1.2", "1.2.3", "9999999999999999.1"])(
    "refuses the position %j",
    async (after) => {
      await expect(store().events.read({ ...everything, after })).rejects.toMatchObject({ code: "invalid_request" });
    },
  );

  it("is followed without a gap or a repeat while many write", async () => {
    const seen: string[] = [];
    let after: string | null = null;
    const follow = async () => {
      const { items } = await store().events.read({ ...everything, after, limit: 7 });
      seen.push(...items.map(({ inquiry }) => inquiry));
      after = items.at(-1)?.position ?? after;
    };
    const uids = Array.from({ length: 120 }, (_, index) => `inq_${index}`);
    let writing = true;
    const writers = Array.from({ length: 12 }, async (_, writer) => {
      for (let index = writer; index < uids.length; index += 12) {
        const inquiry = inquiryOf(uids[index] ?? "");
        await store().commit({ create: [inquiry], add: [copyOf(inquiry, `telegram:${writer}`)] });
      }
    });
    const written = Promise.all(writers).then(() => {
      writing = false;
    });
    while (writing) await follow();
    await written;
    while (seen.length < uids.length) await follow();
    await follow();
    expect([...seen].sort()).toEqual([...uids].sort());
  });
}
