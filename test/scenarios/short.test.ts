/**
 * The short form: killed without warning at each numbered step, before it took effect on one database and after it on
 * the other, and a handful of faults. What was acknowledged is there, once, by the same deadline, and the agent that
 * comes back gets it. Much of it waits, so it goes on side by side; long.ts repeats all of it and more.
 */
import { afterAll, beforeAll, describe, inject, test } from "vitest";
import { startPooler } from "../../src/testing/pooler.ts";
import { freshDatabase } from "../../src/testing/postgres.ts";
import { chanceOf, seedOf } from "./chance.ts";
import { meetAll, TROUBLES } from "./faults.ts";
import { jumpAnHour } from "./jump.ts";
import { killChain } from "./kills.ts";
import { createLedger } from "./ledger.ts";
import { buildPrograms, type Programs } from "./programs.ts";
import { openStage } from "./stage.ts";
import { POINTS, STEPS } from "./steps.ts";
import { openTrapped } from "./trapped.ts";

const STORES = ["sqlite", "postgres"] as const;
/** Of each the kinds that differ most; the long form has the rest. */
const HANDFUL = {
  sqlite: ["platform: cut off after it acted", "platform: half-open", "platform: broken inside"],
  postgres: ["database: cut", "database: refusing"],
} as const;
/** Which database is killed before the odd steps. */
const ODD_BEFORE = { sqlite: true, postgres: false } as const;
const timeout = 240_000;

let programs: Programs;
const seed = seedOf();

beforeAll(async () => {
  programs = await buildPrograms();
});

afterAll(() => programs.remove());

describe.concurrent(`seed ${seed} (SEED sets it)`, () => {
  test.for(STORES)("killed at every step, on %s", { timeout }, async (kind, { expect }) => {
    const trapped = await openTrapped(kind, { programs, database: () => freshDatabase(inject("postgres")) });
    const ledger = createLedger();
    const points = POINTS.filter(
      ({ step, when }) => (when === "before") === ((step.number % 2 === 1) === ODD_BEFORE[kind]),
    );
    try {
      await killChain({ ...trapped, ledger, chance: chanceOf(seed) }, points);
      expect(ledger.problems).toEqual([]);
      expect(ledger.tally.faults).toBe(STEPS.length);
      expect(trapped.stage.platform.refusals).toEqual([]);
    } finally {
      await trapped.close();
    }
  });

  test.for(STORES)("a handful of faults, on %s", { timeout }, async (kind, { expect }) => {
    const pooler =
      kind === "sqlite" ? null : await startPooler(await freshDatabase(inject("postgres")), { transparent: true });
    const stage = await openStage({ programs, ...(pooler && { databaseUrls: [pooler.url] }) });
    const ledger = createLedger();
    try {
      await stage.node.start();
      const scene = { stage, ledger, chance: chanceOf(seed), pooler, postgres: null };
      const names: readonly string[] = HANDFUL[kind];
      const troubles = TROUBLES.filter(({ name }) => names.includes(name));
      expect(troubles).toHaveLength(names.length);
      await meetAll(() => scene, troubles);
      expect(ledger.problems).toEqual([]);
    } finally {
      await stage.close();
      await pooler?.stop();
    }
  });

  test.for(STORES)("a clock that jumps by an hour, on %s", { timeout }, async (kind, { expect }) => {
    const urls = kind === "sqlite" ? {} : { databaseUrls: [await freshDatabase(inject("postgres"))] };
    const stage = await openStage({ programs, preloads: ["movedClock"], ...urls });
    const ledger = createLedger();
    try {
      await jumpAnHour({ stage, ledger, chance: chanceOf(seed), kind });
      expect(ledger.problems).toEqual([]);
    } finally {
      await stage.close();
    }
  });
});
