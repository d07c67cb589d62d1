/** The rules are worth what they catch: every planted fault is found within a bounded number of schedules. */
import { expect, test } from "vitest";
import { inMemory } from "./databases.ts";
import { FAULTS } from "./faults.ts";
import { searchFor } from "./search.ts";

const SEED = 20_260_101;
const SCHEDULES = 300;

test.each(FAULTS)("$name: caught", async ({ planted, caughtBy }) => {
  const { violation } = await searchFor({
    database: inMemory,
    planted: () => planted,
    ...{ seed: SEED, schedules: SCHEDULES, together: 25, rounds: 8 },
  });
  expect(caughtBy).toContain(violation?.rule);
});
