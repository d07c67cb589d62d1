/**
 * The contract of the store port: every promise of ports/store.ts, for any implementation.
 * `open` gives an empty store of its own for each test.
 */
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Author, Inquiry, Resolution } from "../core/inquiry.ts";
import type { Commit, Store } from "../ports/store.ts";
import { copyOf, inquiryOf, settled, timerOf } from "./store-samples.ts";
import { accessSuite } from "./store-suite-access.ts";
import { claimSuite, settlementSuite } from "./store-suite-claims.ts";
import { everything, lookupSuite } from "./store-suite-lookups.ts";
import { machinesSuite } from "./store-suite-machines.ts";
import { doubtSuite, lineSuite, outboxSuite } from "./store-suite-outbox.ts";
import { raceSuite } from "./store-suite-races.ts";

const by: Author = { person: "ana", channel: "telegram", address: "telegram:100" };

export function storeSuite(name: string, open: () => Promise<Store>): void {
  describe(`store: ${name}`, () => {
    let store: Store;
    beforeEach(async () => {
      store = await open();
    });
    afterEach(() => store.close());

    describe("commits", () => commitSuite(() => store));
    describe("lookups", () => lookupSuite(() => store));
    describe("outbox", () => outboxSuite(() => store));
    describe("copies in doubt", () => doubtSuite(() => store));
    describe("line", () => lineSuite(() => store));
    describe("claims", () => claimSuite(() => store));
    describe("settlements", () => settlementSuite(() => store));
    describe("access", () => accessSuite(() => store));
    describe("several processes", () => machinesSuite(() => store));
    describe("races", () => raceSuite(() => [store]));
  });
}

function commitSuite(store: () => Store): void {
  it("gives an inquiry back exactly as it was stored", async () => {
    const answer: Resolution = { outcome: "answered", values: [{ kind: "text", text: "both \u{1f680}\n\0" }], by };
    const inquiry = inquiryOf("inq_1", {
      id: "mine",
      run: "run_1",
      task: { taskId: "task_1", currentStep: null, stateVersion: 0 },
      resolutions: new Map([
        ["__proto__", answer],
        ["constructor", { outcome: "skipped", values: [], by: null }],
      ]),
      defaults: new Map([
        ["__proto__", ["Staging"]],
        ["toString", []],
      ]),
      to: ["telegram:100"],
      locale: "fa",
      reversible: true,
      callbackUrl: "https://example.org/hook",
    });
    await store().commit({ create: [inquiry] });
    expect(await store().inquiry("inq_1")).toEqual(inquiry);
  });

  it("refuses a second inquiry of the same owner and id, and nobody else's", async () => {
    await store().commit({ create: [inquiryOf("inq_1", { id: "same" })] });
    const again = inquiryOf("inq_2", { id: "same" });
    expect(await store().commit({ create: [again], add: [copyOf(again, "web:ana")] })).toEqual({ outcome: "exists" });
    expect(await store().inquiry("inq_2")).toBeNull();
    expect(await store().copies("inq_2")).toEqual([]);
    const other = inquiryOf("inq_3", { id: "same", owner: "key_2" });
    expect(await store().commit({ create: [other] })).toEqual({ outcome: "done" });
  });

  it("lets exactly one of 20 racing commits of one version win", async () => {
    const inquiry = inquiryOf("inq_1");
    await store().commit({ create: [inquiry] });
    const race = (index: number) => {
      const winner = { ...by, person: `person ${index}` };
      return store().commit({
        once: { key: `press ${index}`, reply: index, at: 2_000 },
        update: [{ from: 1, inquiry: settled(inquiry, { settledBy: winner }) }],
      });
    };
    const results = await Promise.all(Array.from({ length: 20 }, (_, index) => race(index)));
    const winners = results.flatMap((result, index) => (result.outcome === "done" ? [index] : []));
    expect(winners).toHaveLength(1);
    expect((await store().inquiry("inq_1"))?.settledBy?.person).toBe(`person ${winners[0]}`);
    const replies = await Promise.all(results.map((_, index) => store().replyOf(`press ${index}`)));
    expect(replies.filter((reply) => reply !== null)).toEqual(winners);
  });

  it("changes nothing under a key used before, and repeats the first reply before any other check", async () => {
    const inquiry = inquiryOf("inq_1");
    const reply = { notice: "ok", say: null };
    await store().commit({ once: { key: "press", reply, at: 1 }, create: [inquiry] });
    const repeated: Commit = { once: { key: "press", reply: "other", at: 2 }, create: [inquiry, inquiryOf("inq_2")] };
    expect(await store().commit(repeated)).toEqual({ outcome: "repeat", reply });
    expect(await store().inquiry("inq_2")).toBeNull();
    expect(await store().replyOf("press")).toEqual(reply);
    expect(await store().replyOf("unknown")).toBeNull();
  });

  it("gives racing repeats of one key one effect and one reply", async () => {
    const commits = Array.from({ length: 10 }, (_, index) =>
      store().commit({ once: { key: "event", reply: index, at: 1 }, create: [inquiryOf(`inq_${index}`)] }),
    );
    const results = await Promise.all(commits);
    expect(results.filter((result) => result.outcome === "done")).toHaveLength(1);
    const reply = await store().replyOf("event");
    for (const result of results) if (result.outcome !== "done") expect(result).toEqual({ outcome: "repeat", reply });
    expect((await store().list(everything)).items.map((item) => item.uid)).toEqual([`inq_${reply}`]);
  });

  const conflicts: [string, (first: Inquiry, second: Inquiry) => Commit][] = [
    ["one of two versions is old", (first, second) => ({ update: [next(first, 1), next(second, 7)] })],
    ["the inquiry does not exist", () => ({ update: [next(inquiryOf("inq_9"), 1)] })],
    ["the task has moved on", (first) => ({ update: [next(first, 1)], task: task(1, 3) })],
    ["the task exists already", (first) => ({ update: [next(first, 1)], task: { ...task(1, 3), from: null } })],
    [
      "a showing was confirmed",
      (first, second) => ({ update: [next(first, 1), { ...next(second, 1), unlessShown: true }] }),
    ],
  ];
  it.each(conflicts)("writes nothing, not even the key, when %s", async (_, conflicting) => {
    const [first, second] = [inquiryOf("inq_1"), inquiryOf("inq_2", { shownAt: 1_500 })];
    await store().commit({ create: [first, second], task: { ...task(0, 2), from: null } });
    const change = { ...conflicting(first, second), add: [timerOf(first, "callback", 5)] };
    const once = { key: "press", reply: 1, at: 1 };
    expect(await store().commit({ once, create: [inquiryOf("inq_3")], ...change })).toEqual({ outcome: "conflict" });
    expect(await store().inquiry("inq_1")).toEqual(first);
    expect(await store().inquiry("inq_2")).toEqual(second);
    expect(await store().inquiry("inq_3")).toBeNull();
    expect(await store().replyOf("press")).toBeNull();
    expect(await store().nextDue("callback")).toBeNull();
    expect(await store().task("key_1", "task_1")).toEqual(task(0, 2).to);
  });

  it("refuses to update what is settled, even under its own version", async () => {
    const over = settled(inquiryOf("inq_1"));
    await store().commit({ create: [over] });
    expect(await store().commit({ update: [next(over, over.version)] })).toEqual({ outcome: "conflict" });
  });

  it("moves a task on from exactly the state it is in", async () => {
    expect(await store().task("key_1", "task_1")).toBeNull();
    const from = { taskId: "task_1", currentStep: "plan", stateVersion: 1 };
    const to = { taskId: "task_1", currentStep: "build", stateVersion: 1 };
    expect((await store().commit({ task: { owner: "key_1", from: null, to: from } })).outcome).toBe("done");
    expect((await store().commit({ task: { owner: "key_1", from: to, to } })).outcome).toBe("conflict");
    expect((await store().commit({ task: { owner: "key_1", from, to } })).outcome).toBe("done");
    expect(await store().task("key_1", "task_1")).toEqual(to);
    expect(await store().task("key_2", "task_1")).toBeNull();
  });

  it("keeps a showing recorded between the read and the update", async () => {
    const inquiry = inquiryOf("inq_1");
    await store().commit({ create: [inquiry], add: [copyOf(inquiry, "telegram:100")] });
    const [row] = await store().claim({ lane: "delivery", limit: 1, now: 1_000, leaseMs: 100 });
    await store().settle({ row: row?.id ?? "", epoch: 1, dueAt: null, attempts: 0, shownAt: 1_700 });
    expect((await store().commit({ update: [next(inquiry, 1)] })).outcome).toBe("done");
    expect((await store().inquiry("inq_1"))?.shownAt).toBe(1_700);
  });

  it("lets a commit that breaks fail alone among those of its tick", async () => {
    const orphan = timerOf(inquiryOf("inq_unknown"), "deadline", 5);
    const commits = [
      store().commit({ create: [inquiryOf("inq_1")] }),
      store().commit({ create: [inquiryOf("inq_2")], add: [orphan] }),
      store().commit({ create: [inquiryOf("inq_3")] }),
    ];
    const outcomes = await Promise.allSettled(commits);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    const uids = (await store().list(everything)).items.map((item) => item.uid);
    expect(uids.sort()).toEqual(["inq_1", "inq_3"]);
  });

  it("refuses a state that the core does not know", async () => {
    const impossible = inquiryOf("inq_1", { settledAt: 5 });
    await expect(store().commit({ create: [impossible] })).rejects.toThrow();
    expect(await store().inquiry("inq_1")).toBeNull();
  });

  it("shows a reader either nothing or all of a commit", async () => {
    const writing = store().commit({ create: Array.from({ length: 50 }, (_, index) => inquiryOf(`inq_${index}`)) });
    const seen = new Set<number>();
    for (let done = false; !done; ) {
      const { items } = await store().list(everything);
      seen.add(items.length);
      await setImmediate();
      done = items.length > 0;
    }
    await writing;
    expect([...seen].filter((count) => count !== 0)).toEqual([50]);
  });
}

function next(inquiry: Inquiry, from: number): { from: number; inquiry: Inquiry } {
  return { from, inquiry: { ...inquiry, version: from + 1 } };
}

function task(from: number, to: number) {
  const state = (stateVersion: number) => ({ taskId: "task_1", currentStep: null, stateVersion });
  return { owner: "key_1", from: state(from), to: state(to) };
}
