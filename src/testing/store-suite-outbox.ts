/** The contract of the outbox: what comes due by a commit, how copies are found, who is next in line. */
import { expect, it } from "vitest";
import type { Store } from "../ports/store.ts";
import { HERE, usingStore } from "./store-driver.ts";
import { copyOf, inquiryOf, settled, timerOf } from "./store-samples.ts";

export function outboxSuite(store: () => Store): void {
  const { ask, claim, settle, copy, next } = usingStore(store);
  it("makes live copies of a waiting inquiry due with their attempts at 0, and leaves the others alone", async () => {
    const states = ["pending", "unknown", "shown", "queued", "absent", "failed", "closed"] as const;
    const inquiry = inquiryOf("inq_1");
    const rows = states.map((state) => copyOf(inquiry, `telegram:${state}`, { state, dueAt: null }));
    await store().commit({ create: [inquiry], add: [...rows, timerOf(inquiry, "deadline", 901_000)] });
    await store().commit({ wake: [{ inquiry: "inq_1", at: 5_000 }] });
    expect((await claim(5_000)).map((row) => row.delivery?.state).sort()).toEqual(["pending", "shown", "unknown"]);
    expect(await store().nextDue("deadline")).toBe(901_000);
  });

  it("makes also queued and absent copies of a settled inquiry due, and drops its deadline", async () => {
    const inquiry = inquiryOf("inq_1");
    const rows = (["queued", "absent", "shown"] as const).map((state) =>
      copyOf(inquiry, `web:${state}`, { state, dueAt: null }),
    );
    await store().commit({
      create: [inquiry],
      add: [...rows, timerOf(inquiry, "deadline", 9), timerOf(inquiry, "callback", 7)],
    });
    await store().commit({ update: [{ from: 1, inquiry: settled(inquiry) }], wake: [{ inquiry: "inq_1", at: 5_000 }] });
    expect(await claim(5_000)).toHaveLength(3);
    expect(await store().nextDue("deadline")).toBeNull();
    expect(await store().nextDue("callback")).toBe(7);
  });

  it("keeps a later due moment from hiding an earlier one", async () => {
    const { row } = await ask("inq_1", HERE, { state: "shown", dueAt: 2_000 });
    await store().commit({ wake: [{ inquiry: "inq_1", at: 5_000 }] });
    expect((await copy(row)).dueAt).toBe(2_000);
    expect(await next()).toBe(2_000);
  });

  it("finds a copy by its prompt key and by any native message of its receipt, in any topic of the chat", async () => {
    const { row, inquiry } = await ask("inq_1", "telegram:-100/7");
    const [held] = await claim(1_000);
    await settle(held, { delivery: { state: "shown", receipt: { parts: ["11", "12"], entry: "13" } } });
    for (const message of ["11", "12", "13"]) {
      expect((await store().copyByMessage("telegram:-100", message))?.row.id).toBe(row);
    }
    expect(await store().copyByMessage("telegram:-200", "11")).toBeNull();
    expect((await store().copyByKey(`key of ${row}`))?.inquiry.uid).toBe(inquiry.uid);
    expect(await store().copyByKey("unknown")).toBeNull();
    await store().commit({ wake: [{ inquiry: "inq_1", at: 2_000 }] });
    const [again] = await claim(2_000);
    await settle(again, { delivery: { state: "shown", promptKey: "new key", receipt: { parts: ["12", "14"] } } });
    expect(await store().copyByMessage("telegram:-100", "11")).toBeNull();
    expect((await store().copyByMessage("telegram:-100", "14"))?.row.id).toBe(row);
    expect(await store().copyByKey(`key of ${row}`)).toBeNull();
    expect((await store().copyByKey("new key"))?.row.delivery.receipt).toEqual({ parts: ["12", "14"] });
  });

  it("lists open copies of waiting inquiries at an address, newest first", async () => {
    await ask("shown", HERE, { state: "shown" }, { createdAt: 1 });
    await ask("approval", HERE, { state: "shown" }, { createdAt: 3, kind: "approval" });
    await ask("unknown", HERE, { state: "unknown" }, { createdAt: 2 });
    await ask("pending", HERE, {}, { createdAt: 4 });
    await ask("elsewhere", "telegram:200", { state: "shown" });
    const { inquiry } = await ask("over", HERE, { state: "shown" }, { createdAt: 5 });
    await store().commit({ update: [{ from: 1, inquiry: settled(inquiry) }] });
    const open = async (limit: number) => (await store().openCopies(HERE, limit, 0)).map((one) => one.inquiry.uid);
    expect(await open(10)).toEqual(["approval", "unknown", "shown"]);
    expect(await open(2)).toEqual(["approval", "unknown"]);
  });
}

export function doubtSuite(store: () => Store): void {
  const { ask, claim, settle } = usingStore(store);
  const open = async (doubtful: number) => (await store().openCopies(HERE, 10, doubtful)).map((one) => one.inquiry.uid);

  it("counts a pending copy as open once its claim ends by the moment of doubt, until it is settled", async () => {
    await ask("inq_1", HERE);
    expect(await open(9_000)).toEqual([]);
    const [held] = await claim(1_000);
    const until = (await store().nextDue("delivery", "telegram")) ?? 0;
    expect(await open(until - 1)).toEqual([]);
    expect(await open(until)).toEqual(["inq_1"]);
    await settle(held, { dueAt: 5_000 });
    expect(await open(until)).toEqual([]);
  });

  it("counts a copy as open that was left claimed when its channel was taken over", async () => {
    await ask("inq_1", HERE);
    await claim(1_000);
    await store().recover("telegram", 1_001);
    expect(await open(1_000)).toEqual([]);
    expect(await open(1_001)).toEqual(["inq_1"]);
  });

  it("counts a copy as open that was claimed anew after an interruption, until that claim is settled", async () => {
    await ask("inq_1", HERE);
    await claim(1_000);
    await store().recover("telegram", 1_001);
    const [held] = await claim(1_001);
    expect(await open(1_001)).toEqual(["inq_1"]);
    await settle(held, { dueAt: 1_002 });
    expect(await open(1_002)).toEqual([]);
    await claim(1_002);
    expect(await open(1_002)).toEqual([]);
  });
}

export function lineSuite(store: () => Store): void {
  const { ask, claim, settle, copy, next } = usingStore(store);
  const SEAT = "terminal:ana";
  const inLine = { inLine: true } as const;
  const stateOf = async (row: string) => (await copy(row)).delivery.state;

  it("queues a copy behind one that is pending, unknown or shown, of those that take turns alone", async () => {
    for (const state of ["pending", "unknown", "shown", "absent", "failed", "closed"] as const) {
      const seat = `terminal:${state}`;
      await ask(`before ${state}`, seat, { state });
      const { row } = await ask(`after ${state}`, seat, inLine);
      const waits = state === "pending" || state === "unknown" || state === "shown";
      expect(await copy(row)).toMatchObject(waits ? { dueAt: null, delivery: { state: "queued" } } : { dueAt: 1_000 });
    }
    const { row } = await ask("beside", "terminal:shown");
    expect(await stateOf(row)).toBe("pending");
  });

  it("lets one of many racing copies to the front", async () => {
    const rows = await Promise.all(Array.from({ length: 10 }, (_, index) => ask(`inq_${index}`, SEAT, inLine)));
    const states = await Promise.all(rows.map(({ row }) => stateOf(row)));
    expect(states.filter((state) => state === "pending")).toHaveLength(1);
    expect(states.filter((state) => state === "queued")).toHaveLength(9);
  });

  it("queues copies of one commit behind each other", async () => {
    const inquiries = [inquiryOf("inq_1"), inquiryOf("inq_2")];
    const add = inquiries.map((inquiry) => copyOf(inquiry, SEAT, inLine));
    await store().commit({ create: inquiries, add });
    expect(await Promise.all(add.map(({ id }) => stateOf(id)))).toEqual(["pending", "queued"]);
  });

  it("lets the next in line in when the place is free: approvals first, then the oldest", async () => {
    const { inquiry, row: front } = await ask("front", SEAT, { state: "shown", dueAt: null });
    const { row: young } = await ask("young", SEAT, inLine, { createdAt: 3_000 });
    const { row: old } = await ask("old", SEAT, { state: "absent", dueAt: null }, { createdAt: 2_000 });
    const { row: approval } = await ask("approval", SEAT, inLine, { createdAt: 4_000, kind: "approval" });
    const over = await ask("over", SEAT, inLine, { createdAt: 500, kind: "approval" });
    await store().commit({ update: [{ from: 1, inquiry: settled(over.inquiry) }] });
    await store().ready(SEAT, 5_000);
    expect(await next()).toBeNull();
    await store().commit({ update: [{ from: 1, inquiry: settled(inquiry) }] });
    await store().ready(SEAT, 5_000);
    await store().ready(SEAT, 5_000);
    expect(await Promise.all([young, old, approval, front].map(stateOf))).toEqual([
      "queued",
      "absent",
      "pending",
      "shown",
    ]);
    expect((await claim(5_000)).map((row) => row.id)).toEqual([approval]);
    await store().commit({ update: [{ from: 1, inquiry: settled(inquiryOf("approval", { kind: "approval" })) }] });
    await store().ready(SEAT, 5_001);
    expect(await Promise.all([young, old].map(stateOf))).toEqual(["queued", "pending"]);
  });

  it("draws anew what is shown when the surface opens, and lets an absent copy in", async () => {
    const { row } = await ask("inq_1", SEAT, { state: "shown", digest: "drawn", dueAt: null });
    await store().reopen(SEAT, 5_000);
    expect(await copy(row)).toMatchObject({ dueAt: 5_000, delivery: { state: "shown", digest: null } });
    const { row: away } = await ask("inq_2", "web:ana", { state: "absent", dueAt: null });
    await store().reopen("web:ana", 5_000);
    expect(await copy(away)).toMatchObject({ dueAt: 5_000, delivery: { state: "pending" } });
  });

  it("tries again when the surface opened while a send was finding it closed, and draws anew what was in flight", async () => {
    const found = { absent: { state: "pending" }, shown: { state: "shown", digest: null } } as const;
    for (const state of ["absent", "shown"] as const) {
      const seat = `web:${state}`;
      const { row } = await ask(state, seat);
      const [held] = await claim(1_000);
      await store().reopen(seat, 1_500);
      await settle(held, { dueAt: null, delivery: { state, digest: "drawn" } });
      expect(await copy(row)).toMatchObject({ dueAt: 1_500, delivery: found[state] });
    }
  });
}
