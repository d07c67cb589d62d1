/** The contract of lookups: what is found, in which order, by whom. */
import { expect, it } from "vitest";
import type { Inquiry } from "../core/inquiry.ts";
import type { Store } from "../ports/store.ts";
import { inquiryOf, settled } from "./store-samples.ts";

export function lookupSuite(store: () => Store): void {
  it("finds an inquiry by the caller's id and by its own, within the owner or across all", async () => {
    const inquiries = [
      inquiryOf("inq_1", { id: "same", createdAt: 1 }),
      inquiryOf("inq_2", { id: "same", createdAt: 3, owner: "key_2" }),
      inquiryOf("inq_3", { id: "same", createdAt: 2, owner: "key_3" }),
    ];
    await store().commit({ create: inquiries });
    const found = async (id: string, owner: string | null) => uidsOf(await store().inquiriesById(id, owner));
    expect(await found("same", "key_1")).toEqual(["inq_1"]);
    expect(await found("same", null)).toEqual(["inq_2", "inq_3"]);
    expect(await found("inq_1", "key_1")).toEqual(["inq_1"]);
    expect(await found("inq_1", "key_2")).toEqual([]);
    expect(await found("nothing", null)).toEqual([]);
  });

  it("finds beside it the inquiry whose own id somebody else chose for theirs", async () => {
    const create = [
      inquiryOf("inq_1", { id: "mine", createdAt: 1 }),
      inquiryOf("inq_2", { id: "inq_1", createdAt: 2 }),
      inquiryOf("inq_3", { id: "inq_1", createdAt: 3, owner: "key_2" }),
    ];
    await store().commit({ create });
    const found = async (owner: string | null) => uidsOf(await store().inquiriesById("inq_1", owner));
    expect(await found("key_1")).toEqual(["inq_2", "inq_1"]);
    expect(await found("key_2")).toEqual(["inq_3"]);
    expect(await found(null)).toEqual(["inq_3", "inq_2"]);
  });

  it("fails the look at a damaged inquiry alone among those of its tick", async () => {
    await store().commit({ create: [inquiryOf("inq_1"), inquiryOf("inq_2", { questions: "damaged" as never })] });
    const looks = ["inq_1", "inq_2", "inq_1"].map((uid) => store().inquiry(uid));
    const outcomes = await Promise.allSettled(looks);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  it("lists newest first, page by page, each exactly once though more arrive meanwhile", async () => {
    const created = Array.from({ length: 7 }, (_, index) =>
      inquiryOf(`inq_${index}`, { createdAt: 1_000 + (index >> 1) }),
    );
    await store().commit({ create: created });
    const seen: string[] = [];
    for (let cursor: string | null = null; ; ) {
      const page: Awaited<ReturnType<Store["list"]>> = await store().list({ ...everything, limit: 3, cursor });
      seen.push(...uidsOf(page.items));
      await store().commit({ create: [inquiryOf(`inq_later_${seen.length}`, { createdAt: 9_000 })] });
      if (page.next === null) break;
      cursor = page.next;
    }
    expect(seen).toEqual(uidsOf(created).reverse());
    expect(await store().list({ ...everything, cursor: "no such" })).toEqual({ items: [], next: null });
  });

  it("lists what the caller may see and asked for", async () => {
    const create = [
      inquiryOf("inq_1", { session: "main" }),
      inquiryOf("inq_2", { session: "other" }),
      inquiryOf("inq_3", { session: "main", owner: "key_2" }),
      settled(inquiryOf("inq_4", { session: "main" })),
    ];
    await store().commit({ create });
    const listed = async (request: Partial<Parameters<Store["list"]>[0]>) =>
      uidsOf((await store().list({ ...everything, ...request })).items).sort();
    expect(await listed({ owner: "key_2" })).toEqual(["inq_3"]);
    expect(await listed({ sessions: ["other", "third"] })).toEqual(["inq_2"]);
    expect(await listed({ sessions: [] })).toEqual([]);
    expect(await listed({ session: "main", owner: "key_1" })).toEqual(["inq_1", "inq_4"]);
    expect(await listed({ sessions: ["other"], session: "main", status: "waiting" })).toEqual([]);
    expect(await listed({ status: "waiting", owner: "key_1", session: "main" })).toEqual(["inq_1"]);
    expect(await listed({ status: "answered" })).toEqual(["inq_4"]);
  });

  it("offers the same question to attach to while it waits, or was settled lately and not collected", async () => {
    const create = [
      inquiryOf("waiting", { createdAt: 1 }),
      settled(inquiryOf("fresh", { createdAt: 2 }), { settledAt: 500 }),
      settled(inquiryOf("early", { createdAt: 3 }), { settledAt: 499 }),
      settled(inquiryOf("cancelled", { createdAt: 4 }), { settledAt: 500, status: "cancelled", reason: "aborted" }),
      settled(inquiryOf("collected", { createdAt: 5 }), { settledAt: 500 }),
      inquiryOf("other content", { contentKey: "other" }),
      inquiryOf("other run", { run: "run_1" }),
      inquiryOf("other session", { session: "other" }),
      inquiryOf("other owner", { owner: "key_2" }),
      inquiryOf("other task", { task: { taskId: "task_1", currentStep: null, stateVersion: 1 } }),
    ];
    await store().commit({ create });
    await store().collect("collected", 600);
    const request = {
      owner: "key_1",
      session: "main",
      run: null,
      taskId: null,
      contentKey: "content",
      settledSince: 500,
    };
    expect(uidsOf(await store().attachable(request))).toEqual(["fresh", "waiting"]);
    expect(uidsOf(await store().attachable({ ...request, run: "run_1" }))).toEqual(["other run"]);
    expect(uidsOf(await store().attachable({ ...request, taskId: "task_1" }))).toEqual(["other task"]);
  });

  it("finds what waits of a task and of a run", async () => {
    const task = { taskId: "task_1", currentStep: null, stateVersion: 1 };
    const create = [
      inquiryOf("inq_1", { task, run: "run_1" }),
      settled(inquiryOf("inq_2", { task, run: "run_1" })),
      inquiryOf("inq_3", { task, run: "run_1", owner: "key_2" }),
      inquiryOf("inq_4"),
    ];
    await store().commit({ create });
    expect(uidsOf(await store().waitingOfTask("key_1", "task_1"))).toEqual(["inq_1"]);
    expect(uidsOf(await store().waitingOfRun("key_2", "run_1"))).toEqual(["inq_3"]);
    expect(uidsOf(await store().waitingOfRun(null, "run_1")).sort()).toEqual(["inq_1", "inq_3"]);
  });
}

/** A list request that leaves nothing out. */
export const everything = {
  owner: null,
  sessions: null,
  status: null,
  session: null,
  cursor: null,
  limit: 100,
} as const;

function uidsOf(inquiries: readonly Inquiry[]): string[] {
  return inquiries.map((inquiry) => inquiry.uid);
}
