/**
 * The table of steps held against recorded cycles: what a gateway does with its database and with the platform from the
 * call to the closed copy is in the table, and nothing is in the table that it does not do.
 */
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { freshDatabase } from "../../src/testing/postgres.ts";
import { chanceOf } from "./chance.ts";
import type { How } from "./deed.ts";
import { judge } from "./judge.ts";
import { newDeed } from "./kills.ts";
import { createLedger } from "./ledger.ts";
import { buildPrograms, type Programs } from "./programs.ts";
import { STEPS } from "./steps.ts";
import { openTrapped } from "./trapped.ts";

/** What a gateway does beside any cycle: the schema, the log's era and claims of the dead at its start, its leases, who waits here. */
const BESIDE = ["schema", "migration", "era", "recover", "lease", "attend", "prune"];
/** What the platform is asked at a start. */
const STARTING = ["getMe", "deleteWebhook", "setMyCommands"];

let programs: Programs;

beforeAll(async () => {
  programs = await buildPrograms();
});

afterAll(() => programs.remove());

describe.each(["sqlite", "postgres"] as const)("on %s", (kind) => {
  test("every step of a cycle is in the table, and every step of the table is in a cycle", async () => {
    const trapped = await openTrapped(kind, { programs, database: () => freshDatabase(inject("postgres")) });
    const { stage } = trapped;
    try {
      await stage.node.start();
      const ledger = createLedger();
      for (const how of ["press", "number", "post"] satisfies How[]) {
        const deed = newDeed({ stage, chance: chanceOf(1) }, how);
        deed.ask();
        await deed.shown();
        deed.act();
        await judge(stage, deed, ledger);
      }
      expect(ledger.problems).toEqual([]);
      const places = STEPS.map(({ at }) => at);
      const works = places.flatMap((at) => ("database" in at ? [at.database] : []));
      const methods = places.flatMap((at) => ("platform" in at ? [at.platform] : []));
      const { works: done, others } = trapped.noted();
      expect(others).toEqual([]);
      expect(new Set(done.filter((work) => !BESIDE.includes(work)))).toEqual(new Set(works));
      const called = stage.platform.log.map(({ method }) => method).filter((method) => !STARTING.includes(method));
      expect(new Set(called)).toEqual(new Set(methods));
    } finally {
      await trapped.close();
    }
  }, 60_000);
});
