/**
 * The spine's figures on SQLite. One process holds the engine, the SQLite store and the terminal channel as they ship; agents call the asker port,
 * people sit at inboxes that answer every prompt at once. Nothing is durable in memory: each ask, showing, answer and
 * closing is committed to the disk whose flush rate stands in the first line.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { terminal } from "../../adapters/terminal.ts";
import { createClock, entropy } from "../../src/clock.ts";
import { channelSource, createEngine } from "../../src/engine/engine.ts";
import type { Caller } from "../../src/ports/asker.ts";
import { openStore } from "../../src/store/store.ts";
import { SILENT } from "../../src/testing/bridge.ts";
import { silentMeter } from "../../src/testing/silent-meter.ts";
import { type Person, sit } from "./inbox.ts";
import { startOn } from "./start.ts";

const AGENT: Caller = { keyId: "agent", scope: "agent", sessions: [], kind: "main" };
const IN_FLIGHT = 200;
/** People who never open an inbox: what waits, waits for them. */
const IDLE = 100;
const SEATS = Array.from({ length: IN_FLIGHT }, (_, index) => `seat${index}`);
const DIRECTORY = {
  people: new Map(
    [...SEATS, ...Array.from({ length: IDLE }, (_, index) => `idle${index}`)].map((name) => [
      name,
      { name, identities: [], roles: name === "seat0" ? ["owner"] : [], locale: "en" },
    ]),
  ),
  sessions: new Map(),
  admit: new Map(),
};

function question(person: string) {
  const options = [{ label: "Staging" }, { label: "Production" }];
  return {
    questions: [{ id: "target", header: "Deploy", question: "Where do I deploy?", options }],
    respondents: [person],
    timeoutSeconds: 3_600,
  };
}

async function openHouse(folder: string) {
  const store = await openStore(`sqlite:${join(folder, "bench.db")}`, { log: SILENT });
  const config = { operator: async () => true, person: (name: string | null) => name };
  const engine = await createEngine({
    store,
    clock: createClock(),
    entropy,
    log: SILENT,
    meter: silentMeter,
    process: "one",
    settings: { locale: "en", directory: DIRECTORY, fixedKeys: [] },
    channels: () => [channelSource(terminal, config)],
  });
  await engine.start();
  const handler = engine.mounts.get("terminal")?.handle;
  if (!handler) throw new Error("the terminal mounted nothing");
  let open = true;
  const close = async () => {
    if (!open) return;
    open = false;
    await engine.stop();
    await store.close();
  };
  return { engine, store, handler, close };
}

type House = Awaited<ReturnType<typeof openHouse>>;

async function withHouse<T>(disk: string, work: (house: House, folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(disk, "askgate-spine-"));
  const house = await openHouse(folder);
  try {
    return await work(house, folder);
  } finally {
    await house.close();
    rmSync(folder, { recursive: true });
  }
}

const median = (times: readonly number[]) => [...times].sort((a, b) => a - b)[times.length >> 1] ?? Number.NaN;

/** One cycle after another with one person: the two latencies, in milliseconds. */
async function latencies({ engine, handler }: House, cycles: number) {
  const person = await sit("seat0", handler);
  const shown: number[] = [];
  const returned: number[] = [];
  for (let index = 0; index < cycles; index += 1) {
    const asked = performance.now();
    let answered = 0;
    person.onPrompt = (at) => {
      if (answered === 0) shown.push(at - asked);
    };
    person.onAnswer = (at) => {
      answered = at;
    };
    const result = await engine.asker.askUser(AGENT, question("seat0"), { signal: new AbortController().signal });
    returned.push(performance.now() - answered);
    await engine.asker.collect(AGENT, result.inquiry_id);
  }
  person.leave();
  return { shown: median(shown), returned: median(returned) };
}

/** All seats at once, each asked again as soon as its answer returned. */
async function throughput({ engine, store, handler }: House, cycles: number) {
  const people: Person[] = await Promise.all(SEATS.map((name) => sit(name, handler)));
  const round = async (each: number) => {
    await Promise.all(
      SEATS.map(async (name) => {
        for (let index = 0; index < each; index += 1) {
          const result = await engine.asker.askUser(AGENT, question(name), { signal: new AbortController().signal });
          if (result.status !== "answered") throw new Error(`a cycle ended ${result.status}`);
          await engine.asker.collect(AGENT, result.inquiry_id);
        }
      }),
    );
  };
  await round(3);
  const each = Math.ceil(cycles / IN_FLIGHT);
  const commits = store.stats().commits;
  const start = performance.now();
  await round(each);
  const seconds = (performance.now() - start) / 1_000;
  for (const person of people) person.leave();
  const done = each * IN_FLIGHT;
  return { perSecond: done / seconds, commits: (store.stats().commits - commits) / done };
}

/** Asks people who are not there. */
async function fill({ engine }: House, count: number): Promise<void> {
  const batch = 1_000;
  for (let done = 0; done < count; done += batch) {
    const asks = Array.from({ length: Math.min(batch, count - done) }, (_, index) =>
      engine.asker.ask(AGENT, question(`idle${(done + index) % IDLE}`)),
    );
    await Promise.all(asks);
  }
}

async function crowded(disk: string, few: number, say: (line: string) => void): Promise<void> {
  await withHouse(disk, async (house, folder) => {
    const start = performance.now();
    await fill(house, 100_000);
    const seconds = (performance.now() - start) / 1_000;
    const resident = process.memoryUsage.rss() / 2 ** 20;
    say(`100,000 asked in ${seconds.toFixed(1)} s: ${resident.toFixed(0)} MB resident`);
    const many = await throughput(house, 6_000);
    const cost = `${(few / many.perSecond).toFixed(2)} x the cost`;
    say(`${IN_FLIGHT} in flight, 100,000 waiting: ${many.perSecond.toFixed(0)} cycles/s, ${cost}`);
    await house.close();
    const people = Object.fromEntries([...DIRECTORY.people.values()].map(({ name, roles }) => [name, { roles }]));
    const { readyMs, residentMb } = await startOn(folder, { people });
    say(`npm start on the 100,000: ready after ${readyMs.toFixed(0)} ms, ${residentMb.toFixed(0)} MB resident`);
  });
}

export async function spine(disk: string, flushes: number, say: (line: string) => void): Promise<void> {
  const commitMs = 1_000 / flushes;
  const allowed = Math.max(10, 4 * commitMs);
  const { shown, returned } = await withHouse(disk, (house) => latencies(house, 300));
  const limit = `(allowed ${allowed.toFixed(1)})`;
  say(`ask -> shown p50 ${shown.toFixed(2)} ms, answer -> waiter returns p50 ${returned.toFixed(2)} ms ${limit}`);
  const few = await withHouse(disk, async (house) => {
    await fill(house, 100);
    return throughput(house, 6_000);
  });
  const rate = `${few.perSecond.toFixed(0)} cycles/s, ${few.commits.toFixed(3)} commits/cycle`;
  say(`${IN_FLIGHT} in flight, 100 waiting: ${rate}`);
  await crowded(disk, few.perSecond, say);
  const empty = mkdtempSync(join(disk, "askgate-spine-"));
  const { readyMs, residentMb } = await startOn(empty, {});
  say(`npm start on an empty folder: ready after ${readyMs.toFixed(0)} ms, ${residentMb.toFixed(0)} MB resident`);
  rmSync(empty, { recursive: true });
}
