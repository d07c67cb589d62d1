/**
 * One process of several on a database, told what to do by its parent: started with a URL, a name and the number of
 * desks; answers each order with its figures.
 */
import { createClock, entropy } from "../../src/clock.ts";
import { channelSource, createEngine } from "../../src/engine/engine.ts";
import type { Caller } from "../../src/ports/asker.ts";
import { openStore } from "../../src/store/store.ts";
import { SILENT } from "../../src/testing/bridge.ts";
import { silentMeter } from "../../src/testing/silent-meter.ts";
import { deskModule, peopleAt } from "./desk.ts";

export type Order =
  | { readonly order: "held" }
  | { readonly order: "run"; readonly inFlight: number; readonly seconds: number }
  | { readonly order: "idle"; readonly seconds: number }
  | { readonly order: "one by one"; readonly cycles: number }
  | { readonly order: "fill"; readonly count: number }
  | { readonly order: "stop" };

export interface Figures {
  readonly cycles: number;
  readonly seconds: number;
  readonly statements: number;
  readonly commits: number;
  readonly residentMb: number;
  /** Milliseconds, medians. */
  readonly shown?: number;
  readonly returned?: number;
  /** Desks this process serves. */
  readonly desks?: number;
}

const AGENT: Caller = { keyId: "agent", scope: "agent", sessions: [], kind: "main" };
const SEATS = 200;
/** Desks nobody ever opens: what waits, waits there. */
const ABSENT = "elsewhere";

function question(person: string, to: readonly string[] = []) {
  const options = [{ label: "Staging" }, { label: "Production" }];
  const asked = { id: "target", header: "Deploy", question: "Where do I deploy?", options };
  return { questions: [asked], respondents: [person], timeoutSeconds: 3_600, to };
}

export async function openNode(url: string, name: string, desks: number) {
  const names = Array.from({ length: desks }, (_, index) => `desk${index}`);
  const people = names.flatMap((desk) => peopleAt(desk, SEATS));
  const store = await openStore(url, { log: SILENT });
  const marks = { shown: 0, answered: 0 };
  const config = {
    onShown(at: number) {
      marks.shown = at;
    },
    onAnswered(at: number) {
      marks.answered = at;
    },
  };
  const engine = await createEngine({
    store,
    clock: createClock(),
    entropy,
    log: SILENT,
    meter: silentMeter,
    process: name,
    settings: {
      locale: "en",
      directory: { people: new Map(people.map((one) => [one.name, one])), sessions: new Map(), admit: new Map() },
      fixedKeys: [],
    },
    channels: () => names.map((desk) => channelSource(deskModule(desk), config)),
  });
  await engine.start();
  return { store, engine, people: people.map((one) => one.name), names, marks };
}

type Node = Awaited<ReturnType<typeof openNode>>;

async function cycle({ engine }: Node, person: string): Promise<void> {
  const result = await engine.asker.askUser(AGENT, question(person), { signal: new AbortController().signal });
  if (result.status !== "answered") throw new Error(`a cycle ended ${JSON.stringify(result)}`);
  await engine.asker.collect(AGENT, result.inquiry_id);
}

async function measured(node: Node, work: () => Promise<number>): Promise<Figures> {
  const before = node.store.stats();
  const start = performance.now();
  const cycles = await work();
  const seconds = (performance.now() - start) / 1_000;
  const { statements, commits } = node.store.stats();
  const residentMb = process.memoryUsage.rss() / 2 ** 20;
  return {
    cycles,
    seconds,
    statements: statements - before.statements,
    commits: commits - before.commits,
    residentMb,
  };
}

/** So many agents at once, each asking somebody else at another desk as soon as its answer returned. */
async function run(node: Node, inFlight: number, seconds: number): Promise<number> {
  const until = performance.now() + seconds * 1_000;
  let cycles = 0;
  const agent = async (index: number) => {
    for (let turn = index; performance.now() < until; turn += inFlight) {
      const desk = node.names[turn % node.names.length] ?? "";
      await cycle(node, `${desk}-${index % SEATS}`);
      cycles += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, (_, index) => agent(index)));
  return cycles;
}

const median = (times: readonly number[]) => [...times].sort((a, b) => a - b)[times.length >> 1] ?? Number.NaN;

async function oneByOne(node: Node, cycles: number): Promise<{ shown: number; returned: number }> {
  const shown: number[] = [];
  const returned: number[] = [];
  for (let index = 0; index < cycles; index += 1) {
    const asked = performance.now();
    await cycle(node, node.people[0] ?? "");
    shown.push(node.marks.shown - asked);
    returned.push(performance.now() - node.marks.answered);
  }
  return { shown: median(shown), returned: median(returned) };
}

async function fill({ engine, people }: Node, count: number): Promise<number> {
  const batch = 500;
  for (let done = 0; done < count; done += batch) {
    const asks = Array.from({ length: Math.min(batch, count - done) }, (_, index) =>
      engine.asker.ask(AGENT, question(people[0] ?? "", [`${ABSENT}:${(done + index) % 100}`])),
    );
    await Promise.all(asks);
  }
  return count;
}

async function obey(node: Node, order: Order): Promise<Figures> {
  switch (order.order) {
    case "held": {
      const { channels } = await node.engine.health.health();
      const leases = await node.store.leases.renew([], 0);
      const mine = leases.filter(
        ({ holder, name, until }) => holder === process.argv[3] && name.startsWith("channel:") && until > 0,
      );
      return { ...(await measured(node, async () => Object.keys(channels).length)), desks: mine.length };
    }
    case "run":
      return measured(node, () => run(node, order.inFlight, order.seconds));
    case "idle":
      return measured(node, async () => {
        await new Promise((done) => setTimeout(done, order.seconds * 1_000));
        return 0;
      });
    case "one by one": {
      let times = { shown: 0, returned: 0 };
      const figures = await measured(node, async () => {
        times = await oneByOne(node, order.cycles);
        return order.cycles;
      });
      return { ...figures, ...times };
    }
    case "fill":
      return measured(node, () => fill(node, order.count));
    case "stop":
      await node.engine.stop();
      await node.store.close();
      return { cycles: 0, seconds: 0, statements: 0, commits: 0, residentMb: 0 };
  }
}

if (process.send !== undefined) {
  const [, , url = "", name = "", desks = "1"] = process.argv;
  const node = await openNode(url, name, Number(desks));
  process.on("message", (order: Order) => {
    obey(node, order).then(
      (figures) => {
        process.send?.({ figures });
        if (order.order === "stop") process.disconnect();
      },
      (error: unknown) => process.send?.({ fault: String(error instanceof Error ? error.stack : error) }),
    );
  });
  process.send({ figures: { cycles: 0, seconds: 0, statements: 0, commits: 0, residentMb: 0 } });
}
