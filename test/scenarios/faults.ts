/**
 * What can go wrong beside a death: the database restarts, is cut off or stands still, the platform is slow, breaks off
 * or talks nonsense, the wall clock jumps. Each fault meets a question before it is shown or after, and is over before
 * the judgement: nothing may be lost for it, and nothing be told that is not so.
 */
import { setTimeout as pass } from "node:timers/promises";
import type { Pooler } from "../../src/testing/pooler.ts";
import type { Postgres } from "../../src/testing/postgres.ts";
import type { Fault } from "../../src/testing/telegram-server.ts";
import { until } from "../../src/testing/until.ts";
import type { Chance } from "./chance.ts";
import type { Deed, How } from "./deed.ts";
import { judge } from "./judge.ts";
import { newDeed } from "./kills.ts";
import type { Ledger } from "./ledger.ts";
import type { Stage } from "./stage.ts";

export interface Scene {
  readonly stage: Stage;
  readonly ledger: Ledger;
  readonly chance: Chance;
  /** Between gateway and server; null on SQLite. */
  readonly pooler: Pooler | null;
  /** The server; null where it is not ours to restart. */
  readonly postgres: Postgres | null;
}

export interface Trouble {
  readonly name: string;
  readonly on: "any" | "postgres";
  /** Needs a server that may be restarted. */
  readonly restarts?: true;
  /** Begins and, when it resolves, is over. */
  strike(scene: Scene): Promise<void>;
}

/** Long enough for attempts to fail in it; all of a kind together are over before anything is sent again after 30 s. */
const WHILE_MS = 2_000;
const SLOW_MS = 4_000;
const PATIENCE_MS = 90_000;
const METHODS = ["sendMessage", "editMessageText", "answerCallbackQuery", "getUpdates"] as const;

function platformPlays(fault: Fault, times: number): Trouble["strike"] {
  return async ({ stage: { platform } }) => {
    for (const method of METHODS) platform.inject(method, fault, times);
    await pass(WHILE_MS);
    platform.heal();
  };
}

const platform = (name: string, fault: Fault, times = 2): Trouble => ({
  name: `platform: ${name}`,
  on: "any",
  strike: platformPlays(fault, times),
});

export const TROUBLES: readonly Trouble[] = [
  platform("cut off before it acts", { connection: "reset" }),
  platform("cut off after it acted", { applied: true, connection: "reset" }, 1),
  platform("half-open", { connection: "hang" }, 1),
  platform("slow", { delayMs: SLOW_MS }, 1),
  platform("too many requests", { status: 429, description: "Too Many Requests", parameters: { retry_after: 1 } }),
  platform("broken inside", { status: 500, description: "Internal Server Error" }),
  platform("no JSON", { raw: "<html>Bad Gateway</html>" }),
  { name: "database: cut", on: "postgres", strike: async ({ pooler }) => pooler?.cut() },
  {
    name: "database: paused",
    on: "postgres",
    async strike({ pooler }) {
      pooler?.pause();
      await pass(WHILE_MS);
      pooler?.resume();
    },
  },
  {
    name: "database: refusing",
    on: "postgres",
    async strike({ pooler }) {
      await pooler?.refuse(true);
      pooler?.cut();
      await pass(WHILE_MS);
      await pooler?.refuse(false);
    },
  },
  {
    name: "database: restarted fast",
    on: "postgres",
    restarts: true,
    strike: async ({ postgres }) => postgres?.restart("fast"),
  },
  {
    name: "database: restarted by a crash",
    on: "postgres",
    restarts: true,
    strike: async ({ postgres }) => postgres?.restart("immediate"),
  },
];

const WAYS: readonly [How, ...How[]] = ["press", "number", "label", "post"];

/**
 * One run: the trouble strikes while one question is on its way and while another is answered. Resolves when it is over,
 * with the judgement to wait for: what it left may take half a minute to prove itself, and others may strike meanwhile.
 */
async function meet(scene: Scene, trouble: Trouble): Promise<{ readonly judged: Promise<void> }> {
  const { stage, ledger, chance } = scene;
  const asked = newDeed({ stage, chance }, chance.pick(WAYS));
  const answered = newDeed({ stage, chance }, chance.pick(WAYS));
  answered.ask();
  await answered.shown();
  await until(`${answered.question} is stored as shown`, () => answered.stands("shown"), PATIENCE_MS);
  const over = trouble.strike(scene);
  asked.ask();
  answered.act();
  await over;
  ledger.count("faults");
  return { judged: judgeBoth(scene, asked, answered) };
}

/** Meets them one after the other; those of the database only when what the platform left is judged. */
export async function meetAll(sceneOf: (trouble: Trouble) => Scene, troubles: readonly Trouble[]): Promise<void> {
  for (const on of ["any", "postgres"] as const) {
    const judged: Promise<void>[] = [];
    for (const trouble of troubles.filter((one) => one.on === on)) {
      judged.push((await meet(sceneOf(trouble), trouble)).judged);
    }
    await Promise.all(judged);
  }
}

async function judgeBoth({ stage, ledger }: Scene, asked: Deed, answered: Deed): Promise<void> {
  await actWhenShown(asked, ledger);
  await Promise.all([asked, answered].map((deed) => judge(stage, deed, ledger)));
  noTickWithout(answered, ledger);
  ledger.count("runs");
}

async function actWhenShown(deed: Deed, ledger: Ledger): Promise<void> {
  try {
    await deed.shown();
    deed.act();
  } catch (error) {
    ledger.wrong("lost", `${deed.question} was never shown: ${error}`);
  }
}

/** A press was told one thing at most, and nothing but that it is recorded. */
function noTickWithout(deed: Deed, ledger: Ledger): void {
  if (deed.plan.how === "press" && deed.notices.some((notice) => !notice.startsWith("Recorded"))) {
    ledger.wrong("lost", `${deed.question} was told ${deed.notices.join("; ")}`);
  }
}
