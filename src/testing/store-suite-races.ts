/**
 * The contract of a store under many hands: whatever comes at the same moment, and from however many processes, what one
 * commit was promised no other takes away. `stores` are several of one database, or one several times.
 */
import { expect, it } from "vitest";
import type { Inquiry } from "../core/inquiry.ts";
import type { CommitResult, Store } from "../ports/store.ts";
import { HERE, LEASE_MS } from "./store-driver.ts";
import { copyOf, inquiryOf, settled } from "./store-samples.ts";

const MANY = 24;

export function raceSuite(stores: () => readonly Store[]): void {
  /** One call for each of many, spread over the stores. */
  const all = <R>(call: (store: Store, index: number) => Promise<R>) =>
    Promise.all(Array.from({ length: MANY }, (_, index) => call(stores()[index % stores().length] as Store, index)));
  const one = () => stores()[0] as Store;
  const outcomes = (results: readonly CommitResult[]) => results.map(({ outcome }) => outcome).sort();
  const alone = (outcome: string) => ["done", ...Array.from({ length: MANY - 1 }, () => outcome)].sort();

  it("lets one of many answers win", async () => {
    const inquiry = inquiryOf("inq_1");
    await one().commit({ create: [inquiry], add: [copyOf(inquiry, HERE), copyOf(inquiry, "telegram:200")] });
    const results = await all((store, index) =>
      store.commit({
        once: { key: `press ${index}`, reply: index, at: 1 },
        update: [{ from: 1, inquiry: settled(inquiry, { settledAt: 2_000 + index }) }],
        wake: [{ inquiry: "inq_1", at: 2_000 }],
      }),
    );
    expect(outcomes(results)).toEqual(alone("conflict"));
    const winner = results.findIndex(({ outcome }) => outcome === "done");
    expect((await one().inquiry("inq_1"))?.settledAt).toBe(2_000 + winner);
    const replies = await all((store, index) => store.replyOf(`press ${index}`));
    expect(replies).toEqual(replies.map((_, index) => (index === winner ? index : null)));
  });

  it("makes what is done once happen once, and gives the others its reply", async () => {
    const results = await all((store, index) =>
      store.commit({ once: { key: "same", reply: { by: index }, at: 1 }, create: [inquiryOf(`inq_${index}`)] }),
    );
    const winner = results.findIndex(({ outcome }) => outcome === "done");
    const others = results.filter((_, index) => index !== winner);
    expect(others).toEqual(others.map(() => ({ outcome: "repeat", reply: { by: winner } })));
    const stored = await all((store, index) => store.inquiry(`inq_${index}`));
    expect(stored.map((inquiry) => inquiry !== null)).toEqual(stored.map((_, index) => index === winner));
  });

  it("gives an id to one of many", async () => {
    const results = await all((store, index) => store.commit({ create: [inquiryOf(`inq_${index}`, { id: "same" })] }));
    expect(outcomes(results)).toEqual(alone("exists"));
  });

  it("lets one of many begin a task, and one move it on", async () => {
    const to = (index: number) => ({ taskId: "task_1", currentStep: `step ${index}`, stateVersion: 1 });
    const begun = await all((store, index) => store.commit({ task: { owner: "key_1", from: null, to: to(index) } }));
    expect(outcomes(begun)).toEqual(alone("conflict"));
    const from = await one().task("key_1", "task_1");
    const moved = await all((store, index) =>
      store.commit({ task: { owner: "key_1", from, to: { ...to(index), stateVersion: 2 + index } } }),
    );
    expect(outcomes(moved)).toEqual(alone("conflict"));
  });

  it("does not take an inquiry for lost that was shown at the same moment", async () => {
    for (let round = 0; round < 10; round += 1) {
      const inquiry = inquiryOf(`inq_${round}`);
      await one().commit({ create: [inquiry], add: [copyOf(inquiry, `telegram:${round}`)] });
      const [row] = await one().claim({ lane: "delivery", limit: 1, now: 1_000, leaseMs: LEASE_MS });
      const lost: Inquiry = { ...inquiry, version: 2, status: "undelivered", reason: "unreachable", settledAt: 1_500 };
      const [, given] = await Promise.all([
        one().settle({ row: row?.id ?? "", epoch: row?.epoch ?? 0, dueAt: null, attempts: 0, shownAt: 1_400 }),
        stores()
          .at(-1)
          ?.commit({ update: [{ from: 1, inquiry: lost, unlessShown: true }] }),
      ]);
      const { status, shownAt } = (await one().inquiry(inquiry.uid)) as Inquiry;
      expect([given?.outcome, status]).toEqual(
        given?.outcome === "done" ? ["done", "undelivered"] : ["conflict", "waiting"],
      );
      expect(shownAt).toBe(1_400);
    }
  });

  it("hands each row to one of many claimers, one of an address at a time", async () => {
    for (let index = 0; index < 60; index += 1) {
      const inquiry = inquiryOf(`inq_${index}`);
      await one().commit({ create: [inquiry], add: [copyOf(inquiry, `telegram:${index % 20}`)] });
    }
    const claims = await all((store) => store.claim({ lane: "delivery", limit: 4, now: 1_000, leaseMs: LEASE_MS }));
    const rows = claims.flat();
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    expect(new Set(rows.map(({ delivery }) => delivery?.address)).size).toBe(rows.length);
    expect(rows).toHaveLength(20);
  });

  it("puts one in front of the line, whoever asks, ends and moves on at the same moment", async () => {
    const asked = await all(async (store, index) => {
      const inquiry = inquiryOf(`inq_${index}`, { createdAt: 1_000 + index });
      await store.commit({ create: [inquiry], add: [copyOf(inquiry, "terminal:ana", { inLine: true })] });
      return inquiry;
    });
    const inFront = async () => {
      const copies = await Promise.all(asked.map(({ uid }) => one().copies(uid)));
      return copies.flat().filter(({ delivery }) => delivery.state === "pending").length;
    };
    expect(await inFront()).toBe(1);
    await all(async (store, index) => {
      const inquiry = asked[index] as Inquiry;
      const end = { update: [{ from: 1, inquiry: settled(inquiry) }], wake: [{ inquiry: inquiry.uid, at: 2_000 }] };
      if (index % 2 === 0) await store.commit(end);
      await store.ready("terminal:ana", 2_000);
    });
    const waiting = asked.filter((_, index) => index % 2 === 1);
    const copies = (await Promise.all(waiting.map(({ uid }) => one().copies(uid)))).flat();
    expect(copies.filter(({ delivery }) => delivery.state === "pending")).toHaveLength(1);
  });

  it("forgets no copy that came due while others of its address were settled", async () => {
    for (let round = 0; round < 4; round += 1) {
      const asked = Array.from({ length: MANY }, (_, index) => inquiryOf(`inq_${round}_${index}`));
      await one().commit({ create: asked, add: asked.map((inquiry) => copyOf(inquiry, HERE)) });
      const work = async (store: Store, index: number) => {
        const [row] = await store.claim({ lane: "delivery", limit: 1, now: 1_000, leaseMs: LEASE_MS });
        if (row) await store.settle({ row: row.id, epoch: row.epoch, dueAt: null, attempts: 0 });
        const late = inquiryOf(`inq_${round}_${index}_late`);
        await store.commit({ create: [late], add: [copyOf(late, HERE)] });
        await store.commit({ wake: [{ inquiry: `inq_${round}_${index}`, at: 1_000 }] });
      };
      await all(work);
      const rest = async () => one().claim({ lane: "delivery", limit: 100, now: 1_000, leaseMs: LEASE_MS });
      for (let rows = await rest(); rows.length > 0; rows = await rest()) {
        for (const row of rows) await one().settle({ row: row.id, epoch: row.epoch, dueAt: null, attempts: 0 });
      }
      expect(await one().nextDue("delivery", "telegram")).toBeNull();
    }
  });

  it("comes to an end when everything touches the same addresses in every order", async () => {
    const places = ["telegram:1", "telegram:2", "telegram:3"];
    const inquiries = Array.from({ length: MANY }, (_, index) => inquiryOf(`inq_${index}`));
    for (const [index, inquiry] of inquiries.entries()) {
      const turned = [...places.slice(index % 3), ...places.slice(0, index % 3)];
      await one().commit({ create: [inquiry], add: turned.map((place) => copyOf(inquiry, place)) });
    }
    await Promise.all([
      all((store, index) => {
        const inquiry = inquiries[index] as Inquiry;
        return store.commit({
          update: [{ from: 1, inquiry: settled(inquiry) }],
          wake: [{ inquiry: inquiry.uid, at: 1 }],
        });
      }),
      all(async (store, index) => {
        for (const row of await store.claim({ lane: "delivery", limit: 2, now: 5_000, leaseMs: LEASE_MS })) {
          await store.settle({ row: row.id, epoch: row.epoch, dueAt: null, attempts: 0, shownAt: 5_000 + index });
        }
      }),
      all((store, index) => store.reopen(places[index % 3] ?? "", 6_000)),
    ]);
    const stored = await Promise.all(inquiries.map(({ uid }) => one().inquiry(uid)));
    expect(stored.every((inquiry) => inquiry?.status === "answered")).toBe(true);
  });
}
