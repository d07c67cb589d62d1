/** Moving everything between databases: all of it arrives, in its order, and works on; else nothing does. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import type { Store } from "../src/ports/store.ts";
import { type MoveProgress, moveDatabase } from "../src/store/move.ts";
import { openDatabase, openStore } from "../src/store/store.ts";
import { freshDatabase } from "../src/testing/postgres.ts";
import { usingStore } from "../src/testing/store-driver.ts";
import { copyOf, inquiryOf, settled, silent, timerOf } from "../src/testing/store-samples.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const folder = mkdtempSync(join(tmpdir(), "askgate-move-"));
afterAll(() => rmSync(folder, { recursive: true }));

const file = async () => `sqlite:${join(mkdtempSync(join(folder, "one-")), "askgate.db")}`;
const server = () => freshDatabase(inject("postgres"));
const TABLES = ["inquiry", "address", "outbox", "message", "task", "once", "access_key", "pairing"] as const;
const MORE = ["identity", "moved_address", "event"] as const;

async function withStore<T>(url: string, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(url, { log: silent });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

type Row = Readonly<Record<string, unknown>>;

/** Every row of every table, in one order whatever the database sorts by. */
async function contentOf(url: string): Promise<Record<string, readonly Row[]>> {
  const { db } = await openDatabase(url, { log: silent });
  const content: Record<string, readonly Row[]> = {};
  for (const table of [...TABLES, ...MORE]) {
    const { rows } = await sql<Row>`select * from ${sql.table(table)}`.execute(db);
    const keyed = rows.map((row) => [JSON.stringify(Object.entries(row).sort()), row] as const);
    content[table] = keyed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  }
  await db.destroy();
  return content;
}

const move = (from: string, to: string, progress: (at: MoveProgress) => void = () => {}) =>
  moveDatabase({ from, to, log: silent, progress });

/** Some of everything, and more inquiries than one batch holds. */
async function fill(store: Store): Promise<void> {
  const { claim, settle } = usingStore(() => store);
  const numbers = (length: number, from: number) => Array.from({ length }, (_, index) => from + index);
  await Promise.all(
    numbers(22, 0).map((part) => {
      const task = { taskId: `task ${part}`, currentStep: "build", stateVersion: part };
      const create = numbers(50, part * 50).map((index) =>
        inquiryOf(`inq_${index}`, { task, createdAt: 1_000 + index, run: index % 2 ? "run" : null }),
      );
      return store.commit({
        once: { key: `once ${part}`, reply: { "Größe\u0007": ["✓", null] }, at: part },
        create,
        add: create.flatMap((one, at) => [copyOf(one, `telegram:${at}`), timerOf(one, "deadline", 901_000)]),
        task: { owner: "key_1", from: null, to: task },
        ...(part % 4 === 0 && { waiter: "one" }),
      });
    }),
  );
  for (const held of await claim(5_000, { channel: "telegram" })) {
    const delivery = { state: "shown" as const, digest: "d", receipt: { parts: [`7${held.id}`, `8${held.id}`] } };
    await settle(held, { shownAt: 5_001, delivery });
  }
  for (const index of [3, 4, 5]) {
    const task = { taskId: "task 0", currentStep: "build", stateVersion: 0 };
    const after = settled(inquiryOf(`inq_${index}`, { task, createdAt: 1_000 + index }));
    await store.commit({ update: [{ from: 1, inquiry: after }], wake: [{ inquiry: after.uid, at: 6_000 }] });
  }
  const { access } = store;
  const key = { scope: "agent", sessions: ["deploys"], kind: "cron", createdAt: 1, revokedAt: null } as const;
  await access.addKey({ ...key, id: "key_1", hash: "h1" });
  await access.addPairing({ hash: "h2", channel: "telegram", person: "ana", expiresAt: 9, failures: 0 });
  await access.addPairing({ hash: "h3", channel: "telegram", person: "ben", expiresAt: 9e15, failures: 1 });
  const attempt = { channel: "telegram", identity: "telegram:7", maxFailures: 5, now: 1 };
  expect(await access.pair({ ...attempt, hash: "h2" })).toBe("ana");
  await access.moveAddress("telegram:-1", "telegram:-1001", 5);
}

const unheld = (content: Record<string, readonly Row[]>): Record<string, readonly Row[] | undefined> => ({
  ...content,
  inquiry: content.inquiry?.map((row) => ({ ...row, waited_by: null })),
});

describe.each([
  ["SQLite", "PostgreSQL", file, server],
  ["PostgreSQL", "SQLite", server, file],
  ["SQLite", "SQLite", file, file],
  ["PostgreSQL", "PostgreSQL", server, server],
])("from %s to %s", (source, target, fromNew, toNew) => {
  let filled: string;
  beforeAll(async () => {
    filled = await fromNew();
    await withStore(filled, fill);
  });

  it("everything arrives as it was, in batches that are told, and the source keeps it", async () => {
    const [from, to] = [filled, await toNew()];
    const before = await contentOf(from);
    const told: MoveProgress[] = [];
    const moved = await move(from, to, (at) => told.push(at));
    const after = await contentOf(to);
    const { event: _, ...rest } = unheld(after);
    const { event: __, ...wanted } = unheld(before);
    for (const row of Object.values(wanted)) expect(row?.length).toBeGreaterThan(0);
    expect(rest).toEqual(wanted);
    expect(after.inquiry).toEqual(unheld(after).inquiry);
    expect(await contentOf(from)).toEqual(before);
    const counts = Object.entries(before).map(([table, rows]) => ({ table, rows: rows.length }));
    expect(moved).toHaveLength(counts.length);
    expect(moved).toEqual(expect.arrayContaining(counts));
    expect(told.filter(({ table }) => table === "inquiry").map(({ rows }) => rows)).toEqual([1_000, 1_100]);
    expect(told.every(({ rows, total }) => rows <= total)).toBe(true);
  });

  it("events keep their order, and what happens later stands behind them", async () => {
    const [from, to] = [filled, await toNew()];
    const all = { owner: null, sessions: null, limit: 5_000 };
    const happened = (events: readonly { type: string; at: number; inquiry: string }[]) =>
      events.map(({ type, at, inquiry }) => `${type} ${at} ${inquiry}`);
    const { before, middle } = await withStore(from, async (store) => {
      const { items } = await store.events.read({ ...all, after: null });
      return { before: items, middle: items[600]?.position ?? "" };
    });
    expect(before.length).toBeGreaterThan(1_100);
    await move(from, to);
    await withStore(to, async (store) => {
      await store.commit({ create: [inquiryOf("later")] });
      const { items } = await store.events.read({ ...all, after: null });
      expect(happened(items)).toEqual([...happened(before), "inquiry.created 1000 later"]);
      expect(new Set(items.map(({ position }) => position)).size).toBe(items.length);
      if (source === "PostgreSQL" && target === "PostgreSQL") return;
      const resumed = await store.events.read({ ...all, after: middle });
      const rest = [...happened(before.slice(601)), "inquiry.created 1000 later"];
      expect(happened(resumed.items).slice(-rest.length)).toEqual(rest);
      if (source === "SQLite") expect(resumed.items).toHaveLength(rest.length);
    });
  });

  it("a copy that was being sent comes due at the end of its claim, as an interrupted one, and a key still opens", async () => {
    const [from, to] = [await fromNew(), await toNew()];
    const claimed = { lane: "delivery", channel: "telegram", limit: 10, leaseMs: 30_000 } as const;
    await withStore(from, async (store) => {
      await usingStore(() => store).ask("held", "telegram:1");
      expect(await store.claim({ ...claimed, now: 2_000 })).toHaveLength(1);
    });
    await move(from, to);
    await withStore(to, async (store) => {
      expect(await store.claim({ ...claimed, now: 31_999 })).toEqual([]);
      const [row] = await store.claim({ ...claimed, now: 32_000 });
      expect(row).toMatchObject({ inquiry: "held", interrupted: true, epoch: 2 });
      expect(await store.attend("held", "another", 32_000)).toBe(true);
    });
  });

  it("nothing is moved while a gateway runs on either, and it is named", async () => {
    const [from, to] = [await fromNew(), await toNew()];
    const until = Date.now() + 60_000;
    const lease = { name: "process:0a1b", holder: "0a1b", until, note: "{}" };
    await withStore(from, async (store) => {
      await usingStore(() => store).ask("open", "telegram:1");
      const held = await store.leases.take(lease, 1);
      await expect(move(from, to)).rejects.toThrow(refusedBy(from, "from"));
      if (held) await store.leases.release(held);
    });
    await withStore(to, async (store) => {
      const held = await store.leases.take(lease, 1);
      await expect(move(from, to)).rejects.toThrow(refusedBy(to, "to"));
      // On a file the lease of a gateway that was killed stands for ever and tells nothing.
      if (held && !to.startsWith("sqlite:")) await store.leases.release(held);
      expect(await store.inquiry("open")).toBeNull();
    });
    await move(from, to);
    await withStore(to, async (store) => expect(await store.inquiry("open")).not.toBeNull());
  });

  it("nothing is moved over what is there, which is named and counted", async () => {
    const [from, to] = [await fromNew(), await toNew()];
    await withStore(from, (store) => usingStore(() => store).ask("open", "telegram:1"));
    await withStore(to, (store) => store.commit({ once: { key: "k", reply: null, at: 1 } }));
    await expect(move(from, to)).rejects.toThrow(/is not empty: once has 1 rows\. Name an empty one/);
    await withStore(to, async (store) => expect(await store.inquiry("open")).toBeNull());
  });
});

/** A file is refused for being open in another process, a server for the leases of the processes that live. */
function refusedBy(url: string, side: string): RegExp {
  if (url.startsWith("sqlite:")) return /cannot be used: another process holds it\. To mend it, end that process\./;
  return new RegExp(`runs on the database to move ${side} \\(process 0a1b\\)\\. Stop it first`);
}

it("what the target cannot store leaves it empty, says which table, and can be moved once it is mended", async () => {
  const [from, to] = [await file(), await server()];
  await withStore(from, async (store) => {
    await fill(store);
    await store.commit({
      task: { owner: "key\u0000", from: null, to: { taskId: "t", currentStep: null, stateVersion: 1 } },
    });
  });
  await expect(move(from, to)).rejects.toThrow(/A row of task cannot be stored there, so nothing was moved: /);
  for (const rows of Object.values(await contentOf(to))) expect(rows).toEqual([]);
  const { db } = await openDatabase(from, { log: silent });
  await sql`delete from task where task_id = 't'`.execute(db);
  await db.destroy();
  await move(from, to);
});

it("refuses what cannot be moved before it opens anything", async () => {
  const from = await file();
  await expect(move(from, await file())).rejects.toThrow(/There is no database .*askgate\.db to move from/);
  await expect(move(from, from)).rejects.toThrow(/are the same one/);
  await expect(move("sqlite::memory:", from)).rejects.toThrow(/in memory ends with its process/);
  await expect(move("postgres://nobody@127.0.0.1:1/none", from)).rejects.toThrow(
    /cannot be used: it cannot be reached/,
  );
});
