/**
 * The long run: `node --import tsx test/model/long.ts [schedules] [seed] [memory|file|postgres URL]`, or from the
 * environment MODEL_SCHEDULES, MODEL_SEED and MODEL_STORE. Prints how far it has come, and what broke with its seed.
 */
import { inFile, inMemory, onPostgres } from "./databases.ts";
import { type Search, searchFor, smallest } from "./search.ts";

const [schedules = process.env.MODEL_SCHEDULES ?? "100000", givenSeed, store = process.env.MODEL_STORE ?? "memory"] =
  process.argv.slice(2);
const seed = Number(givenSeed ?? process.env.MODEL_SEED ?? Date.now() % 2 ** 31);
const EVERY_MS = 10_000;

function databaseOf(name: string): Search["database"] {
  if (name === "memory") return inMemory;
  return name === "file" ? inFile : onPostgres(name);
}

let told = 0;
const began = performance.now();
const search: Search = {
  database: databaseOf(store),
  ...{ seed, schedules: Number(schedules), together: 100, rounds: 8 },
  progress(tally) {
    if (performance.now() - told < EVERY_MS) return;
    told = performance.now();
    console.log(JSON.stringify({ store, seed, ...tally, seconds: Math.round((told - began) / 1_000) }));
  },
};
const { tally, violation } = await searchFor(search);
const seconds = Math.round((performance.now() - began) / 1_000);
console.log(JSON.stringify({ store, seed, ...tally, seconds, violations: violation ? 1 : 0 }));
if (violation) {
  const { beats, schedules: left } = await smallest(violation, search);
  console.error(`seed ${violation.seed}, schedule ${violation.slot}: ${violation.message}`);
  for (const [round, beat] of beats.entries()) {
    console.error(JSON.stringify(left[left.length === 1 ? 0 : violation.slot]?.[round]), JSON.stringify(beat));
  }
  process.exitCode = 1;
}
