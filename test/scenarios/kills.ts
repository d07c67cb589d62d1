/**
 * A chain of kills: the gateway that comes back after one is the one killed at the next. Each kill has a question of its
 * own, which goes on over the kill to its end; what is left of earlier ones goes on beside it.
 */
import { until } from "../../src/testing/until.ts";
import type { Chance } from "./chance.ts";
import { createDeed, type Deed, type How } from "./deed.ts";
import { inspect, judge } from "./judge.ts";
import type { Ledger } from "./ledger.ts";
import type { Node, Stage } from "./stage.ts";
import { nameOf, type Point, type Step } from "./steps.ts";
import type { Snare } from "./trap.ts";

const PATIENCE_MS = 60_000;

export interface Chain {
  readonly stage: Stage;
  readonly ledger: Ledger;
  /** Where a point is counted; default: `ledger`. */
  readonly ledgerOf?: (point: Point) => Ledger;
  readonly chance: Chance;
  /** Sets the trap in the database, inside the gateway or in front of the server. */
  readonly snareDatabase: (snare: Snare | null) => Promise<void>;
  /** Tells what happens. */
  readonly say?: (words: string) => void;
}

let deeds = 0;

/** Kills once at each point, in order; resolves when every question is over and judged. */
export async function killChain(chain: Chain, points: readonly Point[]): Promise<void> {
  const { stage, ledger, ledgerOf = () => ledger } = chain;
  await stage.node.start();
  const judged: Promise<void>[] = [];
  const open = new Set<Deed>();
  const follow = (deed: Deed, into: Ledger) => {
    open.add(deed);
    const judgement = judge(stage, deed, into).finally(() => open.delete(deed));
    judged.push(judgement);
    return judgement;
  };
  const silence = newDeed(chain, "nobody", 30);
  silence.ask();
  await stored(silence);
  open.add(silence);
  for (const point of points) {
    const deed = newDeed(chain, howFor(chain.chance, point.step));
    chain.say?.(`${nameOf(point)}: ${deed.question} ${deed.plan.how}`);
    const at = { ...chain, ledger: ledgerOf(point) };
    await killAt(at, point, deed, [...open, deed]);
    at.ledger.count("runs");
    const judgement = follow(deed, at.ledger);
    // A send in doubt is left to itself for half a minute.
    if (!deed.unsure) await judgement;
  }
  // Each start gives it new grace: while the kills go on it may not end.
  await follow(silence, ledger);
  await Promise.all(judged);
}

/** @param at whom the agent and the operator call; default: the first node */
export function newDeed(
  { stage, chance }: Pick<Chain, "stage" | "chance">,
  how: How,
  timeoutSeconds = 600,
  at: Pick<Node, "agent" | "operator"> = stage.node,
): Deed {
  const { agent, operator } = at;
  const plan = { number: ++deeds, how, choice: chance.below(3), named: chance.yes(), timeoutSeconds, agent, operator };
  return createDeed(stage, plan);
}

function howFor(chance: Chance, { by }: Step): How {
  return chance.pick(by ?? ["press", "number", "label", "post"]);
}

/** Resolves once a gateway runs again. */
async function killAt(chain: Chain, point: Point, deed: Deed, open: readonly Deed[]): Promise<void> {
  const { stage, chance, ledger } = chain;
  const { node, platform } = stage;
  const gateway = node.gateway();
  const atOnce = chance.yes();
  if (point.step.during === "acting") {
    deed.ask();
    await stored(deed);
    await setTrap(chain, point);
    deed.act();
  } else {
    await setTrap(chain, point);
    deed.ask();
    if (atOnce) actWhenShown(chain, deed);
  }
  await until(`killed at ${nameOf(point)}`, () => gateway.process.signalCode !== null, PATIENCE_MS);
  node.ended();
  ledger.count("faults");
  platform.heal();
  await inspect(stage, open, ledger);
  await node.start();
  if (!deed.acted() && !atOnce) actWhenShown(chain, deed);
}

/** It stands before the person and the gateway knows. */
async function stored(deed: Deed): Promise<void> {
  await deed.shown();
  await until(`${deed.question} is stored as shown`, () => deed.stands("shown"), PATIENCE_MS);
}

function actWhenShown({ ledger }: Chain, deed: Deed): void {
  deed.shown().then(
    () => deed.act(),
    (error: unknown) => ledger.wrong("lost", `${deed.question} was never shown: ${error}`),
  );
}

/** Sets the trap of the point; where the gateway does not end itself, it is killed when the trap springs. */
async function setTrap({ stage, snareDatabase, ledger }: Chain, { step, when }: Point): Promise<void> {
  const { node, platform } = stage;
  const kill = () => node.gateway().signal("SIGKILL");
  const { at } = step;
  if ("database" in at) return snareDatabase({ work: at.database, when, nth: 1 });
  if ("line" in at) return node.lines[at.line].arm({ ...at, when }, kill);
  const before = platform.calls(at.platform).length;
  platform.inject(at.platform, { connection: "hang", applied: when === "after" });
  platform
    .waitFor(() => platform.calls(at.platform).length > before, PATIENCE_MS)
    .then(kill, (error: unknown) => {
      ledger.wrong("lost", `${at.platform} was never called: ${error}`);
    });
}
