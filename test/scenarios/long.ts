/**
 * The long form: every step on both databases killed at again and again, every fault many times over, storms over two
 * nodes. Prints what happens and at the end one table; ends with 1 if anything in it is lost, duplicated, late or open.
 *
 *   node --import tsx test/scenarios/long.ts [--only kills,migrations,faults,jumps,storms] [--store sqlite|postgres]
 *     [--kills 20] [--rounds 6] [--jobs 3] [--seed N] [--source]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startPooler } from "../../src/testing/pooler.ts";
import { type Postgres, startPostgres } from "../../src/testing/postgres.ts";
import { type Chance, chanceOf, seedOf } from "./chance.ts";
import { meetAll, TROUBLES } from "./faults.ts";
import { judge } from "./judge.ts";
import { jumpAnHour } from "./jump.ts";
import { killChain } from "./kills.ts";
import { createLedger, type Ledger, tableOf } from "./ledger.ts";
import { killMigration, killMove } from "./migrations.ts";
import { buildPrograms, type Programs, source } from "./programs.ts";
import { openStage } from "./stage.ts";
import { POINTS } from "./steps.ts";
import { type Blow, storm } from "./storm.ts";
import { takeOver } from "./takeover.ts";
import type { Snare } from "./trap.ts";
import { openTrapped, type StoreKind } from "./trapped.ts";

const PARTS = ["kills", "migrations", "faults", "jumps", "storms"] as const;
const TAKEOVER_MS = 10_000;
const BLOWS: readonly [Blow, ...Blow[]] = ["SIGKILL", "SIGKILL", "SIGTERM", "SIGSTOP"];
/** Blows of one storm, and storms. */
const STORM = { blows: 10, storms: 4 } as const;

const { values: options } = parseArgs({
  options: {
    only: { type: "string", default: PARTS.join() },
    store: { type: "string", default: "sqlite,postgres" },
    kills: { type: "string", default: "20" },
    rounds: { type: "string", default: "6" },
    jobs: { type: "string", default: "3" },
    seed: { type: "string", default: String(seedOf()) },
    source: { type: "boolean", default: false },
  },
});
const stores = options.store.split(",") as StoreKind[];
const started = performance.now();
/** By store and step, in the order in which they came. */
const ledgers = new Map<string, Ledger>();
const takeovers: number[] = [];

interface Job {
  readonly name: string;
  run(chance: Chance): Promise<void>;
}

let programs: Programs = source;
let postgres: Postgres;

function say(words: string): void {
  const seconds = ((performance.now() - started) / 1_000).toFixed(0).padStart(5);
  process.stdout.write(`${seconds} s  ${words}\n`);
}

function ledgerOf(kind: StoreKind, step: string): Ledger {
  const name = `${kind}\t${step}`;
  const ledger = ledgers.get(name) ?? createLedger((problem) => say(`${kind}, ${step}: ${problem}`));
  ledgers.set(name, ledger);
  return ledger;
}

/** Half of a step's kills come before it, half after. */
function killJobs(kind: StoreKind): Job[] {
  return Array.from({ length: Math.ceil(Number(options.kills) / 2) }, (_, round) => ({
    name: `${kind}, kills, round ${round + 1}`,
    async run(chance) {
      const trapped = await openTrapped(kind, { programs, database: () => postgres.database() });
      try {
        const of = ledgerOf.bind(null, kind);
        const stepOf = ({ step }: (typeof POINTS)[number]) => of(`${step.number} ${step.stage}: ${step.name}`);
        await killChain({ ...trapped, chance, ledger: of("nobody answers"), ledgerOf: stepOf }, POINTS);
      } finally {
        await trapped.close();
      }
    },
  }));
}

function migrationJobs(kind: StoreKind): Job[] {
  const nth = POINTS.length;
  const update: Snare[] = [1, 2, 3, 4].flatMap((at) => [
    { work: "schema", when: "before", nth: at },
    { work: "schema", when: "after", nth: at },
  ]);
  const move: Snare[] = [
    { work: "create", when: "before", nth: 1 },
    { work: "create", when: "after", nth: 1 },
  ];
  const times = Math.ceil(Number(options.kills) / update.length);
  const job = (name: string, snare: Snare, run: typeof killMigration): Job => ({
    name: `${kind}, ${name}, ${snare.when} ${snare.work} ${snare.nth}`,
    async run() {
      const trapped = await openTrapped(kind, { programs, database: () => postgres.database() });
      try {
        await run(trapped, snare, ledgerOf(kind, `${nth / 2 + (name === "update" ? 1 : 2)} migrate: ${name}`));
      } finally {
        await trapped.close();
      }
    },
  });
  const moved: typeof killMigration = async (trapped, snare, ledger) => {
    const folder = mkdtempSync(join(tmpdir(), "askgate-source-"));
    const from = kind === "postgres" ? `sqlite:${join(folder, "source.db")}` : await postgres.database();
    await killMove(trapped, from, snare, ledger).finally(() => rmSync(folder, { recursive: true, force: true }));
  };
  return Array.from({ length: times }).flatMap(() => [
    ...update.map((snare) => job("update", snare, killMigration)),
    ...[...move, ...move, ...move].map((snare) => job("move", snare, moved)),
  ]);
}

function faultJobs(kind: StoreKind): Job[] {
  return Array.from({ length: Number(options.rounds) }, (_, round) => ({
    name: `${kind}, faults, round ${round + 1}`,
    async run(chance) {
      const server = kind === "postgres" ? await startPostgres() : null;
      const pooler = server && (await startPooler(await server.database(), { transparent: true }));
      const stage = await openStage({ programs, ...(pooler && { databaseUrls: [pooler.url] }) });
      try {
        await stage.node.start();
        const troubles = TROUBLES.filter(({ on }) => on === "any" || on === kind);
        await meetAll((trouble) => {
          say(`${kind}, round ${round + 1}: ${trouble.name}`);
          return { stage, chance, pooler, postgres: server, ledger: ledgerOf(kind, trouble.name) };
        }, troubles);
      } finally {
        await stage.close();
        await pooler?.stop();
        await server?.stop();
      }
    },
  }));
}

function jumpJobs(kind: StoreKind): Job[] {
  return [1, 2].map((round) => ({
    name: `${kind}, clock, round ${round}`,
    async run(chance) {
      const urls = kind === "postgres" ? { databaseUrls: [await postgres.database()] } : {};
      const stage = await openStage({ programs, preloads: ["movedClock"], ...urls });
      await jumpAnHour({ stage, chance, kind, ledger: ledgerOf(kind, "clock: an hour ahead") }).finally(() =>
        stage.close(),
      );
    },
  }));
}

function stormJobs(kind: StoreKind): Job[] {
  if (kind === "sqlite") return [];
  return Array.from({ length: STORM.storms }, (_, round) => ({
    name: `${kind}, storm ${round + 1}`,
    async run(chance) {
      const url = await postgres.database();
      const stage = await openStage({ programs, databaseUrls: [url, url] });
      const ledger = ledgerOf(kind, "two nodes under load");
      try {
        const blows = Array.from({ length: STORM.blows }, () => chance.pick(BLOWS));
        await storm({ stage, ledger, chance, say: (words) => say(`storm ${round + 1}: ${words}`) }, blows);
        await measureTakeOver(stage, chance, ledger);
      } finally {
        await stage.close();
      }
    },
  }));
}

async function measureTakeOver(stage: Parameters<typeof takeOver>[0], chance: Chance, ledger: Ledger): Promise<void> {
  const { ms, deed, killed } = await takeOver(stage, chance);
  takeovers.push(ms);
  ledger.count("faults");
  say(`taken over in ${Math.round(ms)} ms`);
  if (ms > TAKEOVER_MS) ledger.wrong("late", `the other node took ${Math.round(ms)} ms to take over`);
  await killed.start();
  deed.act();
  await judge(stage, deed, ledger);
}

const JOBS: Readonly<Record<(typeof PARTS)[number], (kind: StoreKind) => Job[]>> = {
  storms: stormJobs,
  faults: faultJobs,
  jumps: jumpJobs,
  kills: killJobs,
  migrations: migrationJobs,
};

async function work(jobs: Job[], chance: Chance): Promise<void> {
  for (let job = jobs.shift(); job; job = jobs.shift()) {
    const { name } = job;
    say(`begins: ${name} (${jobs.length} after it)`);
    await job.run(chanceOf(chance.below(2 ** 31))).catch((error: unknown) => {
      const [kind, step = "part"] = name.split(", ");
      ledgerOf(kind as StoreKind, step).wrong(
        "lost",
        `${name} broke off: ${error instanceof Error ? error.stack : error}`,
      );
    });
    say(`is over: ${name}`);
  }
}

const chance = chanceOf(Number(options.seed));
say(`seed ${options.seed}`);
if (!options.source) programs = await buildPrograms();
postgres = await startPostgres();
try {
  const parts = Object.entries(JOBS).filter(([part]) => options.only.split(",").includes(part));
  const jobs = parts.flatMap(([, jobsOf]) => stores.flatMap(jobsOf));
  await Promise.all(Array.from({ length: Number(options.jobs) }, () => work(jobs, chance)));
} finally {
  await postgres.stop();
  programs.remove();
}
process.stdout.write(`\n${tableOf(ledgers)}\n`);
if (takeovers.length > 0)
  process.stdout.write(`take-overs: ${takeovers.map((ms) => `${Math.round(ms)} ms`).join(", ")}\n`);
process.stdout.write(`seed ${options.seed}, ${Math.round((performance.now() - started) / 1_000)} s\n`);
process.exitCode = [...ledgers.values()].some(({ problems }) => problems.length > 0) ? 1 : 0;
