/**
 * Several nodes on one database under load: agents ask and people answer at all of them, while nodes are killed, stopped
 * in order, or frozen for longer than their leases last.
 */
import { setTimeout as pass } from "node:timers/promises";
import type { Chance } from "./chance.ts";
import type { Deed, How } from "./deed.ts";
import { judge } from "./judge.ts";
import { newDeed } from "./kills.ts";
import type { Ledger } from "./ledger.ts";
import type { Node, Stage } from "./stage.ts";

export type Blow = "SIGKILL" | "SIGTERM" | "SIGSTOP";

export interface Storm {
  readonly stage: Stage;
  readonly ledger: Ledger;
  readonly chance: Chance;
  readonly say?: (words: string) => void;
}

/** Longer than a lease lasts without its holder. */
const FROZEN_MS = 8_000;
/** Questions open at a time. */
const AT_ONCE = 8;
const WAYS: readonly [How, ...How[]] = ["press", "press", "number", "label", "post"];

/** Strikes once for each blow, one node at a time; resolves when every question is over and judged. */
export async function storm(on: Storm, blows: readonly Blow[]): Promise<void> {
  const { stage, ledger, chance, say = () => {} } = on;
  for (const node of stage.nodes) await node.start();
  const load = openLoad(on);
  for (const blow of blows) {
    const node = pickNode(on);
    await load.goesOn();
    say(`${blow} at ${node.name}`);
    await strike(node, blow, chance);
    ledger.count("faults");
  }
  await load.ends();
  ledger.count("runs");
}

function pickNode({ stage, chance }: Storm): Node {
  return stage.nodes[chance.below(stage.nodes.length)] ?? stage.node;
}

async function strike(node: Node, blow: Blow, chance: Chance): Promise<void> {
  const gateway = node.gateway();
  gateway.signal(blow);
  if (blow === "SIGSTOP") {
    await pass(FROZEN_MS);
    gateway.signal("SIGCONT");
    return;
  }
  await gateway.gone;
  node.ended();
  // How long a supervisor takes to start it again: now at once, now longer than the other needs to take over.
  await pass(chance.below(2) * chance.below(9_000));
  await node.start();
}

interface Load {
  /** Resolves once some more questions were asked. */
  goesOn(): Promise<void>;
  /** Asks no more; resolves when all are judged. */
  ends(): Promise<void>;
}

function openLoad(on: Storm): Load {
  const { stage, ledger, chance } = on;
  let [asked, stopping] = [0, false];
  const one = async (): Promise<void> => {
    while (!stopping) {
      const deed = newDeed({ stage, chance }, chance.pick(WAYS), 600, {
        agent: pickNode(on).agent,
        operator: pickNode(on).operator,
      });
      asked += 1;
      await live(on, deed, ledger);
    }
  };
  const lanes = Array.from({ length: AT_ONCE }, one);
  return {
    async goesOn() {
      const before = asked;
      while (asked < before + AT_ONCE) await pass(5);
    },
    async ends() {
      stopping = true;
      await Promise.all(lanes);
    },
  };
}

async function live({ stage }: Storm, deed: Deed, ledger: Ledger): Promise<void> {
  deed.ask();
  try {
    await deed.shown();
  } catch (error) {
    ledger.wrong("lost", `${deed.question} was never shown: ${error}`);
    return;
  }
  deed.act();
  await judge(stage, deed, ledger);
}
