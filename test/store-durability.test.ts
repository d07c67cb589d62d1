/** What is acknowledged survives a kill, whole; what several processes do at once to one file does not collide. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, expect, it } from "vitest";
import { openStore } from "../src/store/store.ts";
import { silent } from "../src/testing/store-samples.ts";

const ROUNDS = 5;
const folder = mkdtempSync(join(tmpdir(), "askgate-durability-"));
const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
});
afterAll(() => rmSync(folder, { recursive: true }));

it(`loses no acknowledged commit and keeps none by halves in ${ROUNDS} kills`, { timeout: 120_000 }, async () => {
  const file = join(folder, "killed.db");
  const acknowledged: string[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const uids = await untilAcknowledged(startWriter(file, `round${round}`), 25 + round * 7);
    acknowledged.push(...uids);
    const store = await openStore(`sqlite:${file}`, { log: silent });
    for (const uid of uids) expect(await store.inquiry(uid), uid).not.toBeNull();
    await store.close();
  }
  await expectWhole(file, acknowledged);
});

it("brings a new database up to date once although several processes open it at the same moment", {
  timeout: 60_000,
}, async () => {
  const file = join(folder, "raced.db");
  const writers = Array.from({ length: 3 }, (_, index) => startWriter(file, `writer${index}`));
  const here = openStore(`sqlite:${file}`, { log: silent });
  const acknowledged = (await Promise.all(writers.map((writer) => untilAcknowledged(writer, 10)))).flat();
  await (await here).close();
  await expectWhole(file, acknowledged);
});

it("answers what this version cannot open with the setting to change", async () => {
  const opening = openStore("mysql://secret@example.org", { log: silent });
  await expect(opening).rejects.toThrow(/ASKGATE_DATABASE_URL must be "sqlite:PATH".*scheme "mysql"/);
  await expect(opening).rejects.not.toThrow(/secret/);
});

it("commits what is queued when it closes, and refuses the rest", async () => {
  const store = await openStore(`sqlite:${join(folder, "closed.db")}`, { log: silent });
  const last = store.access.moveAddress("telegram:1", "telegram:2", 1);
  await store.close();
  await last;
  await expect(store.access.moveAddress("telegram:3", "telegram:4", 1)).rejects.toThrow(/closed/);
});

it("shares commits among callers of one tick", async () => {
  const store = await openStore(`sqlite:${join(folder, "shared.db")}`, { log: silent });
  const writes = Array.from({ length: 200 }, (_, index) =>
    store.access.moveAddress(`telegram:${index}`, "telegram:x", 1),
  );
  await Promise.all(writes);
  expect(store.stats().commits).toBe(1);
  await store.close();
});

function startWriter(file: string, prefix: string): ChildProcess {
  const script = join(import.meta.dirname, "fixtures", "store-writer.ts");
  const child = spawn(process.execPath, ["--import", "tsx", script, file, prefix], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.add(child);
  return child;
}

/** Kills the writer in mid-write after that many acknowledgements; everything it said until it died. */
async function untilAcknowledged(child: ChildProcess, count: number): Promise<readonly string[]> {
  const uids: string[] = [];
  const exited = once(child, "exit");
  if (child.stdout === null) throw new Error("the writer has no output");
  for await (const line of createInterface({ input: child.stdout })) {
    if (line !== "open") uids.push(line);
    if (uids.length === count) child.kill("SIGKILL");
  }
  await exited;
  running.delete(child);
  expect(uids.length).toBeGreaterThanOrEqual(count);
  return uids;
}

/** Every stored inquiry has its copy, key and deadline, or was settled by the commit that created its successor. */
async function expectWhole(file: string, acknowledged: readonly string[]): Promise<void> {
  const store = await openStore(`sqlite:${file}`, { log: silent });
  const request = { owner: null, sessions: null, status: null, session: null, cursor: null, limit: 100_000 };
  const { items } = await store.list(request);
  const stored = new Map(items.map((item) => [item.uid, item]));
  for (const uid of acknowledged) expect(stored.has(uid), uid).toBe(true);
  for (const uid of stored.keys()) {
    const [, lane = "", index = ""] = /^(.*-)(\d+)$/.exec(uid) ?? [];
    const successor = stored.has(`${lane}${Number(index) + 1}`);
    expect(stored.get(uid)?.status, uid).toBe(successor ? "answered" : "waiting");
    expect(await store.replyOf(`key of ${uid}`), uid).toBe(uid);
    expect(await store.copies(uid), uid).toHaveLength(1);
  }
  const deadlines = await store.claim({ lane: "deadline", limit: 100_000, now: 901_000, leaseMs: 1 });
  const waiting = items.filter((item) => item.status === "waiting").map((item) => item.uid);
  expect(deadlines.map((row) => row.inquiry).sort()).toEqual(waiting.sort());
  await store.close();
}
