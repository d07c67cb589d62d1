/**
 * The wall clock jumps ahead by an hour while questions wait. On SQLite the gateway goes by it: what was due meanwhile
 * gets the grace of a start, in which an answer still counts. On PostgreSQL it goes by the database and nothing happens.
 */
import { until } from "../../src/testing/until.ts";
import type { Chance } from "./chance.ts";
import { judge } from "./judge.ts";
import { newDeed } from "./kills.ts";
import type { Ledger } from "./ledger.ts";
import type { Stage } from "./stage.ts";
import type { StoreKind } from "./trapped.ts";

const LIFE_SECONDS = 600;
const GRACE_MS = 10_000;
/** A jump is noticed within a second, and a deadline met within another. */
const LATE_MS = 2_000;

export interface Jump {
  readonly stage: Stage;
  readonly ledger: Ledger;
  readonly chance: Chance;
  readonly kind: StoreKind;
}

/** The stage's gateways have the preload `movedClock`. */
export async function jumpAnHour(on: Jump): Promise<void> {
  const { stage, ledger } = on;
  await stage.node.start();
  const answered = newDeed(on, "press", LIFE_SECONDS);
  const silent = newDeed(on, "nobody", LIFE_SECONDS);
  for (const deed of [answered, silent]) {
    deed.ask();
    await deed.shown();
    await until(`${deed.question} is stored as shown`, () => deed.stands("shown"), 60_000);
  }
  stage.node.gateway().signal("SIGUSR2");
  const since = performance.now();
  answered.act();
  await judge(stage, answered, ledger);
  ledger.count("faults");
  if (on.kind === "sqlite") await expires(on, silent.result(), since);
  else await waitsOn(on, silent.question);
  ledger.count("runs");
}

async function expires({ ledger }: Jump, result: Promise<{ readonly status: string }>, since: number): Promise<void> {
  const { status } = await result;
  ledger.count("inquiries");
  const took = performance.now() - since;
  if (status !== "no_answer") ledger.wrong("lost", `nobody answered, and the agent got ${status}`);
  if (took < GRACE_MS)
    ledger.wrong("late", `a deadline within the jump was met ${Math.round(took)} ms after it, within the grace`);
  if (took > GRACE_MS + LATE_MS)
    ledger.wrong("late", `a deadline within the jump was met ${Math.round(took)} ms after it`);
}

/** What is asked after the jump has the deadline of the database's clock, and what waited waits. */
async function waitsOn(on: Jump, question: string): Promise<void> {
  const { stage, ledger } = on;
  const later = newDeed(on, "press", LIFE_SECONDS);
  later.ask();
  await later.shown();
  const expiresIn = Date.parse((await later.look())?.expiresAt ?? "") - Date.now();
  if (!(expiresIn <= LIFE_SECONDS * 1_000)) ledger.wrong("late", `a deadline of 600 s is ${expiresIn} ms away`);
  later.act();
  await judge(stage, later, ledger);
  const { items } = await stage.node.operator.list({ status: "waiting" });
  if (!items.some(({ questions }) => questions[0]?.question === question)) {
    ledger.wrong("late", `${question} ended although the database's clock did not jump`);
  }
}
