/**
 * Random schedules of everything that can happen to inquiries and their copies, on the real engine and real stores,
 * against the reference and the rules. What breaks is printed with its seed, as small as it could be made.
 */
import { inject, test } from "vitest";
import { freshDatabase } from "../../src/testing/postgres.ts";
import { inFile, inMemory, postgresAt } from "./databases.ts";
import { type Search, searchFor, smallest } from "./search.ts";

const SEED = Number(process.env.MODEL_SEED ?? 20_260_101);
const PATIENCE_MS = 120_000;

const DATABASES: readonly (readonly [string, number, Search["database"]])[] = [
  ["SQLite in memory", 1_000, inMemory],
  ["a SQLite file", 100, inFile],
  ["PostgreSQL", 80, async () => postgresAt(await freshDatabase(inject("postgres")), async () => {})],
];

test.each(DATABASES)(
  "on %s, %i schedules keep every rule",
  async (name, schedules, database) => {
    const search = { database, seed: SEED, schedules, together: 100, rounds: 8 };
    const { tally, violation } = await searchFor(search);
    console.log(JSON.stringify({ store: name, seed: SEED, ...tally, violations: violation ? 1 : 0 }));
    if (violation) throw new Error(await told(violation, search));
  },
  PATIENCE_MS,
);

async function told(violation: Parameters<typeof smallest>[0], search: Search): Promise<string> {
  const { beats, schedules } = await smallest(violation, search);
  const acts = schedules.length === 1 ? schedules[0] : schedules[violation.slot];
  const rounds = beats.map((beat, round) => `  ${JSON.stringify(acts?.[round])} then ${JSON.stringify(beat)}`);
  return [`seed ${violation.seed}, schedule ${violation.slot}: ${violation.message}`, ...rounds].join("\n");
}
