/** Killed in the middle of bringing a database up to date, at each of its statements: nothing is half done. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { freshDatabase } from "../../src/testing/postgres.ts";
import { createLedger } from "./ledger.ts";
import { killMigration, killMove, layFirst } from "./migrations.ts";
import { buildPrograms, type Programs } from "./programs.ts";
import { openTrapped, type Trapped } from "./trapped.ts";

let programs: Programs;

beforeAll(async () => {
  programs = await buildPrograms();
});

afterAll(() => programs.remove());

async function withTrapped(kind: "sqlite" | "postgres", play: (trapped: Trapped) => Promise<void>): Promise<void> {
  const trapped = await openTrapped(kind, { programs, database: () => freshDatabase(inject("postgres")) });
  try {
    await play(trapped);
  } finally {
    await trapped.close();
  }
}

describe.each(["sqlite", "postgres"] as const)("an older database on %s", (kind) => {
  test.each([
    ["before", 2],
    ["after", 4],
  ] as const)(
    "killed %s change %i of its tables: the open question is answered once",
    (when, nth) =>
      withTrapped(kind, async (trapped) => {
        const ledger = createLedger();
        await killMigration(trapped, { work: "schema", when, nth }, ledger);
        expect(ledger.problems).toEqual([]);
      }),
    60_000,
  );
});

describe.each(["sqlite", "postgres"] as const)("everything moved to %s", (kind) => {
  test.each(["before", "after"] as const)(
    "killed %s it is kept: the open question is answered once",
    (when) =>
      withTrapped(kind, async (trapped) => {
        const ledger = createLedger();
        const file = `sqlite:${join(trapped.stage.node.folder, "source.db")}`;
        const source = kind === "postgres" ? file : await freshDatabase(inject("postgres"));
        await killMove(trapped, source, { work: "create", when, nth: 1 }, ledger);
        expect(ledger.problems).toEqual([]);
      }),
    60_000,
  );
});

test(
  "the changes counted above are all there are",
  () =>
    withTrapped("sqlite", async (trapped) => {
      await layFirst(trapped.stage.databaseUrl);
      await trapped.stage.node.start();
      expect(trapped.noted().works.filter((work) => work === "schema")).toHaveLength(4);
    }),
  60_000,
);
