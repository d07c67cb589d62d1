/** The contract of claims: who may have what and when, and what a settlement may not undo. */
import { expect, it } from "vitest";
import type { OutboxRow, Store } from "../ports/store.ts";
import { HERE, LEASE_MS, usingStore } from "./store-driver.ts";
import { copyOf, inquiryOf, settled, timerOf } from "./store-samples.ts";

export function claimSuite(store: () => Store): void {
  const { ask, claim, settle, next } = usingStore(store);

  it("hands a due row to one of many claimers, once", async () => {
    for (let index = 0; index < 20; index += 1) await ask(`inq_${index}`, `telegram:${index}`);
    const claims = await Promise.all(Array.from({ length: 8 }, () => claim(1_000, { limit: 5 })));
    const ids = claims.flat().map((row) => row.id);
    expect(ids).toHaveLength(20);
    expect(new Set(ids).size).toBe(20);
  });

  it("keeps the lanes apart", async () => {
    const inquiry = inquiryOf("inq_1");
    const timers = [timerOf(inquiry, "deadline", 10), timerOf(inquiry, "callback", 20)];
    await store().commit({ create: [inquiry], add: [copyOf(inquiry, HERE, { dueAt: 30 }), ...timers] });
    const claimed = async (lane: OutboxRow["lane"], now: number) =>
      (await store().claim({ lane, limit: 9, now, leaseMs: LEASE_MS })).map((row) => row.lane);
    expect(await claimed("deadline", 9)).toEqual([]);
    expect(await claimed("deadline", 50)).toEqual(["deadline"]);
    expect(await claimed("callback", 50)).toEqual(["callback"]);
    expect(await claimed("delivery", 50)).toEqual(["delivery"]);
  });

  it("claims of one channel alone", async () => {
    await ask("inq_1", "telegram:1", { dueAt: 500 });
    await ask("inq_2", "discord:1", { dueAt: 400 });
    expect(await store().nextDue("delivery", "telegram")).toBe(500);
    expect(await store().nextDue("delivery")).toBe(400);
    expect((await claim(1_000, { channel: "telegram" })).map((row) => row.inquiry)).toEqual(["inq_1"]);
    expect(await store().nextDue("delivery", "slack")).toBeNull();
  });

  it("has one copy of an address in flight, and the next one due when that is settled", async () => {
    await ask("inq_1", HERE, { dueAt: 100 });
    await ask("inq_2", HERE, { dueAt: 200 });
    const [first, ...none] = await claim(1_000);
    expect([first?.inquiry, none]).toEqual(["inq_1", []]);
    expect(await claim(1_000)).toEqual([]);
    expect(await next()).toBe(1_000 + LEASE_MS);
    await settle(first);
    expect(await next()).toBe(200);
    expect((await claim(1_000))[0]?.inquiry).toBe("inq_2");
  });

  it("lets nothing that is asked or woken meanwhile past the copy in flight", async () => {
    await ask("inq_1", HERE);
    const [held] = await claim(1_000);
    await ask("inq_2", HERE, { dueAt: 500 });
    await store().commit({ wake: [{ inquiry: "inq_1", at: 1_100 }] });
    expect(await claim(1_200)).toEqual([]);
    expect(await next()).toBe(1_000 + LEASE_MS);
    await settle(held);
    expect((await claim(1_200)).map((row) => row.inquiry)).toEqual(["inq_2"]);
  });

  it("claims again what was never settled, says that it was interrupted, and refuses the late holder", async () => {
    await ask("inq_1", HERE);
    const [lost] = await claim(1_000);
    expect([lost?.epoch, lost?.interrupted]).toEqual([1, false]);
    expect(await claim(1_000 + LEASE_MS - 1)).toEqual([]);
    const [held] = await claim(1_000 + LEASE_MS);
    expect([held?.epoch, held?.interrupted]).toEqual([2, true]);
    expect(await settle(lost, { dueAt: 5 })).toBe(false);
    expect(await settle(held, { dueAt: 90_000 })).toBe(true);
    const [later] = await claim(90_000);
    expect([later?.epoch, later?.interrupted]).toEqual([3, false]);
  });

  it("ends the claims of a process that is gone", async () => {
    await ask("inq_1", HERE);
    await claim(1_000);
    await store().recover("telegram", 1_001);
    expect(await next()).toBe(1_001);
    expect((await claim(1_001))[0]).toMatchObject({ epoch: 2, interrupted: true });
  });

  it("leaves an address alone until its wait is over", async () => {
    await ask("inq_1", HERE);
    await ask("inq_2", HERE);
    await ask("inq_3", "telegram:200", { dueAt: 1_500 });
    const [held] = await claim(1_000);
    await settle(held, { notBefore: 9_000 });
    expect((await claim(2_000)).map((row) => row.inquiry)).toEqual(["inq_3"]);
    expect(await next(HERE)).toBe(9_000);
    expect(await claim(9_000)).toMatchObject([{ inquiry: "inq_2", notBefore: null }]);
  });

  it("hands out at once what would not live to see the end of its address's wait", async () => {
    await ask("inq_1", HERE);
    const [held] = await claim(1_000);
    await settle(held, { notBefore: 50_000, dueAt: null });
    await ask("long", HERE, { dueAt: 1_500 }, { expiresAt: 50_001 });
    await ask("short", HERE, { dueAt: 1_600 }, { expiresAt: 50_000 });
    expect(await next()).toBe(1_600);
    expect(await claim(2_000)).toMatchObject([{ inquiry: "short", notBefore: 50_000 }]);
    expect(await next()).toBe(2_000 + LEASE_MS);
  });

  it("keeps the longer of two waits", async () => {
    await ask("inq_1", HERE);
    const [held] = await claim(1_000);
    await settle(held, { notBefore: 50_000, dueAt: 3_000 });
    await settle(held, { notBefore: 10_000, dueAt: 3_000 });
    expect(await next()).toBe(50_000);
  });

  it("makes what is settled wait with its address, however short it lived", async () => {
    const { inquiry } = await ask("inq_1", HERE, { state: "shown" }, { expiresAt: 5_000 });
    const [held] = await claim(1_000);
    await settle(held, { notBefore: 50_000, dueAt: null });
    await store().commit({ update: [{ from: 1, inquiry: settled(inquiry) }], wake: [{ inquiry: "inq_1", at: 2_000 }] });
    expect(await next()).toBe(50_000);
    expect(await claim(2_000)).toEqual([]);
  });

  it("claims exactly when nextDue says so, whatever happened before", async () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const held: OutboxRow[] = [];
    const settleFirst = async (now: number) => {
      const row = held.shift();
      const wait = random(2) === 0 ? {} : { notBefore: now + random(9_000) };
      if (row) await settle(row, { dueAt: random(2) === 0 ? null : now + random(5_000), ...wait });
    };
    const askSomewhere = (now: number, step: number) => {
      const due = { dueAt: now + random(4_000) - 2_000 };
      return ask(`inq_${step}`, `telegram:${random(4)}`, due, { expiresAt: now + random(20_000) });
    };
    const wakeSome = (now: number) => store().commit({ wake: [{ inquiry: `inq_${random(30)}`, at: now }] });
    const recover = (now: number) => store().recover("telegram", now);
    const acts = [askSomewhere, askSomewhere, wakeSome, recover, settleFirst, settleFirst];
    for (let step = 0, now = 1_000; step < 200; step += 1, now += random(3_000)) {
      await acts[random(acts.length)]?.(now, step);
      const due = await next();
      const claimed = await claim(now, { limit: 1, leaseMs: 5_000 });
      expect([step, claimed.length]).toEqual([step, due !== null && due <= now ? 1 : 0]);
      held.push(...claimed);
    }
  });
}

export function settlementSuite(store: () => Store): void {
  const { ask, claim, settle, copy, next } = usingStore(store);

  it("never loses a wake that comes while the row is in flight", async () => {
    const { row } = await ask("inq_1", HERE);
    const [held] = await claim(1_000);
    await store().commit({ wake: [{ inquiry: "inq_1", at: 1_500 }] });
    expect(await claim(1_500)).toEqual([]);
    await settle(held, { dueAt: null, attempts: 4, delivery: { state: "shown", digest: "old" } });
    expect(await copy(row)).toMatchObject({ dueAt: 1_500, attempts: 0, delivery: { state: "shown", digest: "old" } });
    const [again] = await claim(1_500);
    await settle(again, { dueAt: null, attempts: 4 });
    expect(await copy(row)).toMatchObject({ dueAt: null, attempts: 4 });
    expect(await next()).toBeNull();
  });

  it("never loses a wake that comes after the lease, before the late settlement", async () => {
    const { row } = await ask("inq_1", HERE);
    const [held] = await claim(1_000);
    const late = 1_000 + LEASE_MS + 5;
    await store().commit({ wake: [{ inquiry: "inq_1", at: late }] });
    expect(await settle(held, { dueAt: null })).toBe(true);
    expect((await copy(row)).dueAt).toBe(late);
  });

  it("never loses a wake between two settlements of one claim", async () => {
    const { row } = await ask("inq_1", HERE);
    const [held] = await claim(1_000);
    await settle(held, { dueAt: null });
    await store().commit({ wake: [{ inquiry: "inq_1", at: 1_500 }] });
    await settle(held, { dueAt: null });
    expect((await copy(row)).dueAt).toBe(1_500);
  });

  it("counts a wake as seen by whoever claims after it", async () => {
    const { row } = await ask("inq_1", HERE);
    await claim(1_000);
    await store().commit({ wake: [{ inquiry: "inq_1", at: 1_500 }] });
    const [held] = await claim(1_000 + LEASE_MS);
    await settle(held, { dueAt: null });
    expect((await copy(row)).dueAt).toBeNull();
  });

  it("keeps an entry mode set in flight, and the row due", async () => {
    const { row } = await ask("inq_1", HERE, { state: "shown" });
    const [held] = await claim(1_000);
    const entry = { question: 0, person: "ana" };
    await store().commit({ entry: { row, entry, at: 1_500 } });
    await settle(held, { dueAt: null, delivery: { state: "shown", digest: "old" } });
    expect(await copy(row)).toMatchObject({ dueAt: 1_500, delivery: { entry, digest: "old" } });
    await store().commit({ entry: { row, entry: null, at: 1_400 } });
    expect(await copy(row)).toMatchObject({ dueAt: 1_400, delivery: { entry: null } });
  });

  it("keeps a receipt adopted in flight when the send's fate stayed unknown, and takes the send's own if it has one", async () => {
    const fates = [
      { state: "unknown", receipt: null },
      { state: "unknown", receipt: { parts: ["76"] } },
      { state: "shown", receipt: { parts: ["77", "78"] } },
    ] as const;
    for (const [index, { state, receipt }] of fates.entries()) {
      const uid = `inq_${index}`;
      const { row } = await ask(uid, `telegram:${uid}`);
      const [held] = await claim(1_000);
      await store().commit({ adopt: { row, promptKey: `key of ${row}`, receipt: { parts: ["77"] }, at: 1_500 } });
      await settle(held, { dueAt: 40_000, delivery: { state, receipt, unknownUntil: 40_000 } });
      const standing = state === "shown" ? receipt : { parts: [...(receipt?.parts ?? []), "77"] };
      const kept = { dueAt: 1_500, delivery: { state: "shown", receipt: standing } };
      expect(await copy(row)).toMatchObject(kept);
      expect((await store().copyByMessage(`telegram:${uid}`, "77"))?.row.id).toBe(row);
      expect((await store().inquiry(uid))?.shownAt).toBe(1_500);
    }
  });

  it("adopts a receipt only under the copy's own key and where there is none", async () => {
    const states = { pending: true, unknown: true, failed: true, closed: true, queued: false, absent: false };
    for (const [state, adopted] of Object.entries(states)) {
      const { row } = await ask(state, `telegram:${state}`, { state: state as keyof typeof states, dueAt: null });
      const adopt = { row, promptKey: `key of ${row}`, receipt: { parts: [`at ${state}`] }, at: 1_500 };
      await store().commit({ adopt: { ...adopt, promptKey: "another" } });
      expect((await copy(row)).delivery.receipt).toBeNull();
      await store().commit({ adopt });
      expect((await copy(row)).delivery.state).toBe(adopted ? "shown" : state);
      await store().commit({ adopt: { ...adopt, receipt: { parts: ["other"] } } });
      expect((await copy(row)).delivery.receipt).toEqual(adopted ? adopt.receipt : null);
    }
  });

  it("lets a lost message go although the copy was woken meanwhile", async () => {
    const { row } = await ask("inq_1", HERE, { state: "shown", receipt: { parts: ["1"] } });
    const [held] = await claim(1_000);
    await store().commit({ wake: [{ inquiry: "inq_1", at: 1_500 }] });
    await settle(held, { delivery: { state: "pending", receipt: null } });
    expect(await copy(row)).toMatchObject({ delivery: { state: "pending", receipt: null } });
  });

  it("keeps the first confirmed showing", async () => {
    await ask("inq_1", HERE);
    for (const shownAt of [1_200, 1_300]) {
      const [held] = await claim(1_000);
      await settle(held, { shownAt, dueAt: 1_000 });
    }
    expect((await store().inquiry("inq_1"))?.shownAt).toBe(1_200);
  });

  it("removes a finished timer", async () => {
    const inquiry = inquiryOf("inq_1");
    await store().commit({ create: [inquiry], add: [timerOf(inquiry, "deadline", 10)] });
    const [held] = await store().claim({ lane: "deadline", limit: 1, now: 10, leaseMs: LEASE_MS });
    expect(await settle(held, { remove: true })).toBe(true);
    expect(await settle(held, { remove: true })).toBe(false);
    expect(await store().nextDue("deadline")).toBeNull();
  });
}
