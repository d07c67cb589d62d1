/**
 * The figures of several processes: SQLite with one, PostgreSQL with one, two and four; with little and much waiting;
 * on a slow database; behind a long history; in one long run. `--history` loads a million settled inquiries, which takes minutes.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { startPooler } from "../../src/testing/pooler.ts";
import { type Postgres, startPostgres } from "../../src/testing/postgres.ts";
import { settle, startFleet, type Together, together } from "./fleet.ts";
import { loadHistory } from "./history.ts";

const DESKS = 4;
const SECONDS = 8;
/** Agents at once, shared out to the nodes so that what is batched is the same; on a slow database so many at each. */
const IN_FLIGHT = 100;
/** The run that shows whether memory grows. */
const LONG = { rounds: 6, seconds: 20 } as const;
const MUCH = 100_000;
const HISTORY = 1_000_000;
/** What stands for a database on another machine, per statement. */
const SLOW_MS = 5;

export type Row = Readonly<Record<string, string | number>>;

interface Setting {
  readonly store: string;
  readonly nodes: number;
  readonly waiting: number;
  readonly history: number;
  readonly delayMs: number;
}

export async function machines(disk: string, history: boolean, say: (row: Row) => void): Promise<void> {
  await onFile(disk, { history: 0 }, say);
  if (history) await onFile(disk, { history: HISTORY }, say);
  const server = await startPostgres();
  try {
    for (const nodes of [1, 2, 4]) await onServer(server, { nodes, waiting: 100, history: 0, delayMs: 0 }, say);
    await onServer(server, { nodes: 2, waiting: MUCH, history: 0, delayMs: 0 }, say);
    if (history) await onServer(server, { nodes: 1, waiting: 100, history: HISTORY, delayMs: 0 }, say);
    for (const nodes of [1, 2]) await onServer(server, { nodes, waiting: 100, history: 0, delayMs: SLOW_MS }, say);
  } finally {
    await server.stop();
  }
  await endurance(disk, say);
}

async function onFile(disk: string, { history }: { readonly history: number }, say: (row: Row) => void): Promise<void> {
  const folder = mkdtempSync(join(disk, "askgate-machines-"));
  const url = `sqlite:${join(folder, "bench.db")}`;
  await loadHistory(url, history, told);
  await measure(url, { store: "SQLite", nodes: 1, waiting: 100, history, delayMs: 0 }, say);
  rmSync(folder, { recursive: true });
}

async function onServer(server: Postgres, setting: Omit<Setting, "store">, say: (row: Row) => void): Promise<void> {
  const url = await server.database();
  if (setting.history > 0) await loadHistory(url, setting.history, told);
  const slow = setting.delayMs > 0 ? await startPooler(url, { delayMs: setting.delayMs, transparent: true }) : null;
  await measure(slow?.url ?? url, { store: "PostgreSQL", ...setting }, say);
  await slow?.stop();
}

async function measure(url: string, setting: Setting, say: (row: Row) => void): Promise<void> {
  const fleet = await startFleet(url, setting.nodes, DESKS);
  try {
    await settle(fleet, setting.nodes, DESKS);
    await fleet.first({ order: "fill", count: setting.waiting });
    const lone = await fleet.first({ order: "one by one", cycles: setting.delayMs > 0 ? 10 : 200 });
    const inFlight = setting.delayMs > 0 ? IN_FLIGHT : IN_FLIGHT / setting.nodes;
    const busy = await together(fleet, inFlight, SECONDS);
    say({
      ...setting,
      inFlight: inFlight * setting.nodes,
      ...shownIn(busy),
      askToShownMs: round(lone.shown ?? 0),
      answerToWaiterMs: round(lone.returned ?? 0),
    });
  } finally {
    await fleet.stop();
  }
}

/** Resident memory after each round of a long run. */
async function endurance(disk: string, say: (row: Row) => void): Promise<void> {
  const folder = mkdtempSync(join(disk, "askgate-machines-"));
  const fleet = await startFleet(`sqlite:${join(folder, "bench.db")}`, 1, DESKS);
  try {
    let cycles = 0;
    for (let round = 1; round <= LONG.rounds; round += 1) {
      const ran = await fleet.first({ order: "run", inFlight: IN_FLIGHT, seconds: LONG.seconds });
      cycles += ran.cycles;
      say({ longRun: `SQLite, after ${round * LONG.seconds} s`, cycles, residentMb: Math.round(ran.residentMb) });
    }
  } finally {
    await fleet.stop();
    rmSync(folder, { recursive: true });
  }
}

function shownIn({ perSecond, statementsPerCycle, commitsPerCycle, residentMb }: Together): Row {
  return {
    cyclesPerSecond: round(perSecond, 1),
    statementsPerCycle: round(statementsPerCycle),
    commitsPerCycle: round(commitsPerCycle),
    residentMb: round(residentMb, 0),
  };
}

function round(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}

function told(done: number): void {
  process.stderr.write(`history: ${done.toLocaleString("en")} loaded\n`);
}
