/**
 * What the store costs: `node --import tsx test/bench/store.ts [FOLDER]`. A cycle is one inquiry's whole life: asked with a copy and a deadline,
 * claimed, shown, answered, claimed, closed, collected. FOLDER is on the disk to measure, by default the system's.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Inquiry } from "../../src/core/inquiry.ts";
import type { NewOutboxRow } from "../../src/ports/store.ts";
import { type DurableStore, openStore } from "../../src/store/store.ts";
import { workersPartOf } from "../../src/testing/store-driver.ts";
import { copyOf, inquiryOf, silent } from "../../src/testing/store-samples.ts";
import { flushesPerSecond } from "./disk.ts";

const LEASE_MS = 30_000;
const IN_FLIGHT = 200;

let serial = 0;
let now = Date.now();

function asked(address: string): { inquiry: Inquiry; copy: NewOutboxRow; deadline: NewOutboxRow } {
  serial += 1;
  now += 1;
  const inquiry = inquiryOf(`inq_${serial}`, {
    createdAt: now,
    expiresAt: now + 900_000,
    contentKey: `content ${serial}`,
  });
  const deadline = {
    id: `end_${serial}`,
    lane: "deadline",
    inquiry: inquiry.uid,
    dueAt: inquiry.expiresAt,
    delivery: null,
  } as const;
  return { inquiry, copy: copyOf(inquiry, address, { dueAt: now }), deadline };
}

async function ask(store: DurableStore, address: string): Promise<Inquiry> {
  const { inquiry, copy, deadline } = asked(address);
  await store.commit({ create: [inquiry], add: [copy, deadline] });
  return inquiry;
}

async function show(store: DurableStore, state: "shown" | "closed", limit: number): Promise<number> {
  const rows = await store.claim({ lane: "delivery", channel: "bench", limit, now, leaseMs: LEASE_MS });
  await Promise.all(
    rows.map((row) => {
      if (row.delivery === null) throw new Error("a delivery row without a delivery");
      const delivery = {
        ...workersPartOf(row.delivery),
        state,
        digest: `${state} ${row.id}`,
        receipt: { parts: [row.id] },
      };
      return store.settle({ row: row.id, epoch: row.epoch, dueAt: null, attempts: 0, delivery, shownAt: now });
    }),
  );
  return rows.length;
}

async function answer(store: DurableStore, inquiry: Inquiry): Promise<void> {
  now += 1;
  const by = { person: "ana", channel: "bench", address: "bench:1" };
  const values = [{ kind: "option", label: "Staging" }] as const;
  const resolutions = new Map([["target", { outcome: "answered", values, by } as const]]);
  const settled: Inquiry = { ...inquiry, status: "answered", version: 2, resolutions, settledAt: now, settledBy: by };
  await store.commit({
    once: { key: `press ${inquiry.uid}`, reply: { notice: "ok", say: null }, at: now },
    update: [{ from: 1, inquiry: settled }],
    wake: [{ inquiry: inquiry.uid, at: now }],
  });
}

/** Asks, shows, answers, closes and collects as many inquiries as there are addresses, side by side. */
async function round(store: DurableStore, addresses: readonly string[]): Promise<void> {
  const inquiries = await Promise.all(addresses.map((address) => ask(store, address)));
  for (let shown = 0; shown < addresses.length; ) shown += await show(store, "shown", 64);
  await Promise.all(inquiries.map((inquiry) => answer(store, inquiry)));
  for (let closed = 0; closed < addresses.length; ) closed += await show(store, "closed", 64);
  await Promise.all(inquiries.map((inquiry) => store.collect(inquiry.uid, now)));
}

/** Fills the store with inquiries that were shown and wait. */
async function fill(store: DurableStore, count: number, address: (index: number) => string): Promise<void> {
  const at = { state: "shown" } as const;
  for (let done = 0; done < count; ) {
    const some = Array.from({ length: Math.min(500, count - done) }, (_, index) => {
      const { inquiry, copy, deadline } = asked(address(done + index));
      const delivery = copy.delivery && { ...copy.delivery, ...at };
      return { inquiry, rows: [{ ...copy, dueAt: null, delivery }, deadline] };
    });
    await Promise.all(some.map(({ inquiry, rows }) => store.commit({ create: [inquiry], add: rows })));
    done += some.length;
  }
}

async function withStore<T>(folder: string, use: (store: DurableStore) => Promise<T>): Promise<T> {
  const inside = mkdtempSync(join(folder, "askgate-bench-"));
  const store = await openStore(`sqlite:${join(inside, "bench.db")}`, { log: silent });
  try {
    return await use(store);
  } finally {
    await store.close();
    rmSync(inside, { recursive: true });
  }
}

/** Median milliseconds of a lone cycle in each store; they take turns, so that a busy machine is unfair to none. */
async function cycleMs(stores: readonly DurableStore[], address: string): Promise<readonly number[]> {
  const times = stores.map((): number[] => []);
  for (let turn = 0; turn < 400; turn += 1) {
    for (const [index, store] of stores.entries()) {
      const start = performance.now();
      await round(store, [address]);
      times[index]?.push(performance.now() - start);
    }
  }
  return times.map((some) => some.sort((a, b) => a - b)[200] ?? Number.NaN);
}

async function throughput(store: DurableStore) {
  const addresses = Array.from({ length: IN_FLIGHT }, (_, index) => `bench:${index}`);
  for (let warm = 0; warm < 3; warm += 1) await round(store, addresses);
  const before = store.stats().commits;
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  const rounds = 20;
  for (let index = 0; index < rounds; index += 1) await round(store, addresses);
  const cycles = rounds * IN_FLIGHT;
  const perSecond = (cycles * 1_000) / (performance.now() - start);
  const { user, system } = process.cpuUsage(cpuBefore);
  return { perSecond, cpuMs: (user + system) / 1_000 / cycles, commits: (store.stats().commits - before) / cycles };
}

async function main(folder: string): Promise<void> {
  console.log(`disk: ${flushesPerSecond(folder)} flushes/s`);
  const { perSecond, cpuMs, commits } = await withStore(folder, throughput);
  const cost = `${cpuMs.toFixed(2)} ms of CPU and ${commits.toFixed(3)} commits each`;
  console.log(`${IN_FLIGHT} in flight: ${perSecond.toFixed(0)} cycles/s, ${cost}`);
  const spread = (index: number) => `bench:waiting-${index}`;
  await withStore(folder, (few) =>
    withStore(folder, (many) =>
      withStore(folder, async (crowd) => {
        await fill(few, 100, spread);
        await fill(many, 100_000, spread);
        await fill(crowd, 100_000, () => "bench:1");
        const [alone = Number.NaN, ...others] = await cycleMs([few, many, crowd], "bench:1");
        const [beside, behind] = others.map((ms) => `${ms.toFixed(2)} ms, ${(ms / alone).toFixed(2)} x`);
        console.log(`a lone cycle with 100 waiting: ${alone.toFixed(2)} ms`);
        console.log(`with 100,000 at as many addresses: ${beside}; at its own address: ${behind}`);
      }),
    ),
  );
}

await main(process.argv[2] ?? tmpdir());
