/** Several processes on one database, as children of this one. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Figures, Order } from "./node.ts";

export interface Fleet {
  /** The same order for each process; resolves when all have done it. */
  all(order: Order): Promise<readonly Figures[]>;
  first(order: Order): Promise<Figures>;
  stop(): Promise<void>;
}

export async function startFleet(url: string, size: number, desks: number): Promise<Fleet> {
  const nodes: ChildProcess[] = [];
  for (let index = 0; index < size; index += 1) {
    const child = fork(new URL("./node.ts", import.meta.url), [url, `node ${index}`, String(desks)]);
    nodes.push(child);
    await reply(child);
  }
  const all = (order: Order) => Promise.all(nodes.map((node) => tell(node, order)));
  return {
    all,
    first: (order) => tell(nodes[0] as ChildProcess, order),
    async stop() {
      const gone = nodes.map((node) => once(node, "exit"));
      await all({ order: "stop" });
      await Promise.all(gone);
    },
  };
}

function tell(node: ChildProcess, order: Order): Promise<Figures> {
  const done = reply(node);
  node.send(order);
  return done;
}

async function reply(node: ChildProcess): Promise<Figures> {
  const answered = new AbortController();
  const { signal } = answered;
  const gone = once(node, "exit", { signal }).then(([code]) =>
    Promise.reject(new Error(`a process ended with ${code}`)),
  );
  gone.catch(() => {});
  const [message] = (await Promise.race([once(node, "message", { signal }), gone])) as [Answer];
  answered.abort();
  if (message.figures === undefined) throw new Error(message.fault);
  return message.figures;
}

interface Answer {
  readonly figures?: Figures;
  readonly fault?: string;
}

/** Waits until every process serves as many desks as any other, one more or less. */
export async function settle(fleet: Fleet, size: number, desks: number): Promise<void> {
  const [least, most] = [Math.floor(desks / size), Math.ceil(desks / size)];
  for (let tries = 0; tries < 60; tries += 1) {
    const held = (await fleet.all({ order: "held" })).map((figures) => figures.desks ?? 0);
    if (held.every((count) => count >= least && count <= most)) return;
    await new Promise((done) => setTimeout(done, 500));
  }
  throw new Error("the desks were not shared out");
}

export interface Together {
  readonly perSecond: number;
  /** Without what the processes send while nothing happens. */
  readonly statementsPerCycle: number;
  readonly commitsPerCycle: number;
  readonly residentMb: number;
}

/** All processes at work at once. */
export async function together(fleet: Fleet, inFlight: number, seconds: number): Promise<Together> {
  const resting = await fleet.all({ order: "idle", seconds: 3 });
  const idlePerSecond = sum(resting.map((one) => one.statements / one.seconds));
  await fleet.all({ order: "run", inFlight, seconds: 2 });
  const working = await fleet.all({ order: "run", inFlight, seconds });
  const cycles = sum(working.map((one) => one.cycles));
  const took = Math.max(...working.map((one) => one.seconds));
  return {
    perSecond: sum(working.map((one) => one.cycles / one.seconds)),
    statementsPerCycle: (sum(working.map((one) => one.statements)) - idlePerSecond * took) / cycles,
    commitsPerCycle: sum(working.map((one) => one.commits)) / cycles,
    residentMb: Math.max(...working.map((one) => one.residentMb)),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
