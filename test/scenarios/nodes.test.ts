/**
 * Two gateways on one PostgreSQL: whoever dies, the other goes on, and what arrives at one wakes the agent at the other.
 */
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { freshDatabase } from "../../src/testing/postgres.ts";
import { chanceOf, seedOf } from "./chance.ts";
import { judge } from "./judge.ts";
import { newDeed } from "./kills.ts";
import { createLedger } from "./ledger.ts";
import { buildPrograms, type Programs } from "./programs.ts";
import { openStage, type Stage } from "./stage.ts";
import { storm } from "./storm.ts";
import { takeOver } from "./takeover.ts";

const TAKEOVER_MS = 10_000;

let programs: Programs;
const seed = seedOf();
const chance = chanceOf(seed);

beforeAll(async () => {
  programs = await buildPrograms();
});

afterAll(() => programs.remove());

async function withTwo(play: (stage: Stage) => Promise<void>): Promise<void> {
  const url = await freshDatabase(inject("postgres"));
  const stage = await openStage({ programs, databaseUrls: [url, url] });
  try {
    await play(stage);
  } finally {
    await stage.close();
  }
}

test(
  "killed holder: the other shows a new question within ten seconds, and the waiter elsewhere is woken",
  () =>
    withTwo(async (stage) => {
      for (const node of stage.nodes) await node.start();
      const ledger = createLedger();
      const { ms, deed, killed } = await takeOver(stage, chance);
      expect(ms).toBeLessThanOrEqual(TAKEOVER_MS);
      await killed.start();
      const { agent } = killed;
      const other = stage.nodes.find((node) => node !== killed) ?? stage.node;
      const waiting = newDeed({ stage, chance }, "press", 600, { agent, operator: other.operator });
      waiting.ask();
      await waiting.shown();
      for (const one of [deed, waiting]) one.act();
      await Promise.all([judge(stage, deed, ledger), judge(stage, waiting, ledger)]);
      expect(ledger.problems).toEqual([]);
    }),
  90_000,
);

test(
  `killed and frozen under load (SEED=${seed})`,
  () =>
    withTwo(async (stage) => {
      const ledger = createLedger();
      await storm({ stage, ledger, chance }, ["SIGKILL", "SIGSTOP"]);
      expect(ledger.problems).toEqual([]);
      expect(stage.platform.refusals).toEqual([]);
    }),
  120_000,
);
