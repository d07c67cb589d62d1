/**
 * Several processes on one store: engines that share nothing else, each of which can be made to die or to pause, as a
 * power cut or a stopped machine would. To every process the same channels, with a hand of its own on each.
 */
import { afterEach } from "vitest";
import type { ChannelHost, ChannelState } from "../../src/ports/channel.ts";
import { channelLease } from "../../src/ports/lease.ts";
import type { Log } from "../../src/ports/log.ts";
import { type DurableStore, openStore } from "../../src/store/store.ts";
import { type Bridge, openBridge, PEOPLE, SILENT } from "../../src/testing/bridge.ts";
import { type SkippingClock, skippingClock } from "../../src/testing/skipping-clock.ts";
import { until } from "../../src/testing/until.ts";
import { type HeldChannel, heldChannel } from "./held-channel.ts";

/** Milliseconds the clock may need to run ahead, a minute at most, on a busy machine. */
const PATIENCE_MS = 15_000;
/** The owner, at `held:1`. */
const ANA = { name: "ana", identities: ["held:1"], roles: ["owner"], locale: "en" };

type Call = () => Promise<unknown>;

export interface HandChannel extends HeldChannel {
  /** Whether it listens now. */
  listening(): boolean;
  /** How often it began to listen. */
  begun(): number;
  report(state: ChannelState, reason?: string): void;
}

export interface Process extends Bridge {
  readonly channel: HandChannel;
  /** The channel named `other`, in houses of two. */
  readonly other: HandChannel;
  /** Warnings and errors it logged. */
  readonly complaints: readonly string[];
  /** What becomes of its calls of the store from now on. */
  through(gate: (call: Call, method: string) => Promise<unknown>): void;
  /** Nothing it asks of the store comes back any more. */
  die(): void;
  dead(): boolean;
  /** Its calls wait until the result is called. */
  pause(): () => void;
  /** As a pause, and its clock stands still: that it slept is all it knows then. */
  sleep(): () => void;
  /** What it has asked of the store since it paused. */
  waiting(): readonly string[];
  /** Whether the store knows it as the one that holds the channel. */
  holds(name?: string): Promise<boolean>;
}

export interface ProcessOptions {
  readonly channels?: readonly ("held" | "other")[];
  /** A channel that says it is up only when the test does. */
  readonly behind?: boolean;
  readonly pace?: number;
}

export interface House {
  readonly store: DurableStore;
  readonly clock: SkippingClock;
  start(process: string, options?: ProcessOptions): Promise<Process>;
  /** Lets that much time pass, as fast. */
  pass(ms: number): Promise<void>;
  /** Waits for it, letting the clock run some twenty times as fast. */
  fast<T>(what: string, look: () => T | Promise<T>): Promise<Exclude<T, null | undefined | false>>;
}

/** Opens houses that are taken down after their test. To be called once, at the top of a test file. */
export function houses(): () => Promise<House> {
  const undo: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step();
  });
  return async () => {
    const store = { ...(await openStore("sqlite::memory:", { log: SILENT })), shared: true };
    undo.push(() => store.close());
    const clock = skippingClock();
    const fast: House["fast"] = (what, look) =>
      until(
        what,
        () => {
          clock.skip(100);
          return look();
        },
        PATIENCE_MS,
      );
    const start: House["start"] = async (name, options = {}) => {
      const process = await begin({ store, clock }, name, options);
      undo.push(async () => {
        const stopped = stopping(process);
        if (!process.dead()) await fast(`${name} has stopped`, stopped);
        else stopped();
      });
      return process;
    };
    const pass = async (ms: number) => {
      const end = clock.now() + ms;
      await fast("time has passed", () => clock.now() >= end);
    };
    return { store, clock, start, pass, fast };
  };
}

function stopping({ engine }: Bridge): () => boolean {
  let begun = false;
  let stopped = false;
  return () => {
    if (!begun) void engine.stop().then(() => (stopped = true));
    begun = true;
    return stopped;
  };
}

async function begin(
  { store, clock }: Pick<House, "store" | "clock">,
  process: string,
  { channels = ["held"], behind = false, pace }: ProcessOptions,
): Promise<Process> {
  let gate: (call: Call, method: string) => Promise<unknown> = (call) => call();
  let dead = false;
  const waiting: string[] = [];
  const complaints: string[] = [];
  const complain = (_: object, message: string) => void complaints.push(message);
  const people = new Map(PEOPLE.people).set("ana", ANA);
  const log: Log = { ...SILENT, warn: complain, error: complain };
  const own = sleeper(clock);
  const [channel, other] = [handChannel("held", behind, pace), handChannel("other", behind, pace)];
  const bridge = await openBridge({
    ...{ store, process, log, clock: own.clock, directory: { people } },
    through: (whole) => gated(whole, (call, method) => gate(call, method)),
    channels: () => channels.map((name) => (name === "held" ? channel.source : other.source)),
  });
  const pause = () => {
    let resume = () => {};
    const resumed = new Promise<void>((resolve) => {
      resume = resolve;
    });
    gate = (call, method) => {
      waiting.push(method);
      return resumed.then(call);
    };
    return resume;
  };
  return {
    ...bridge,
    ...{ channel, other, complaints, pause },
    through(next) {
      gate = next;
    },
    die() {
      dead = true;
      gate = () => new Promise(() => {});
    },
    dead: () => dead,
    sleep() {
      const [resume, wake] = [pause(), own.sleep()];
      return () => {
        wake();
        resume();
      };
    },
    waiting: () => waiting,
    async holds(name = "held") {
      const leases = await store.leases.renew([], 0);
      return leases.some((lease) => lease.name === channelLease(name) && lease.holder === process);
    },
  };
}

/** A clock of one's own that can stand still; what is due then is due later by as much. */
function sleeper(clock: SkippingClock) {
  let behind = 0;
  let asleepAt: number | null = null;
  let steadySince = clock.steadySince();
  const missed: (() => void)[] = [];
  const now = () => (asleepAt ?? clock.now()) - behind;

  function at(due: number, wake: () => void): () => void {
    let cancel = () => {};
    const arm = () => {
      cancel = clock.at(due + behind, () => void (asleepAt === null ? wake() : missed.push(arm)));
    };
    arm();
    return () => cancel();
  }

  return {
    clock: { ...clock, now, at, steadySince: () => steadySince },
    sleep(): () => void {
      const began = clock.now();
      asleepAt = began;
      return () => {
        asleepAt = null;
        behind += clock.now() - began;
        steadySince = now();
        for (const arm of missed.splice(0)) arm();
      };
    },
  };
}

function handChannel(name: string, behind: boolean, pace: number | undefined): HandChannel {
  const held = heldChannel(pace === undefined ? {} : { pace: { perSecond: pace, perAddressMs: 0, perGroupMs: 0 } });
  let report: ChannelHost["report"] = () => {};
  let listening = 0;
  let begun = 0;
  return {
    ...held,
    source: {
      ...held.source,
      name,
      async open(host) {
        report = host.report;
        const channel = await held.source.open({ ...host, report: behind ? () => {} : host.report });
        return {
          ...channel,
          async listen(signal) {
            listening += 1;
            begun += 1;
            await channel.listen(signal);
            listening -= 1;
          },
        };
      },
    },
    listening: () => listening > 0,
    begun: () => begun,
    report: (state, reason) => report(state, reason),
  };
}

/** The store with `gate` in front of every method, those of its parts included, as `leases.renew`. */
function gated<T extends object>(part: T, gate: (call: Call, method: string) => Promise<unknown>, path = ""): T {
  return new Proxy(part, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      const method = `${path}${String(name)}`;
      if (typeof member === "object" && member !== null) return gated(member, gate, `${method}.`);
      if (typeof member !== "function") return member;
      if (method === "listen") return member.bind(target);
      return (...given: unknown[]) => gate(async () => member.apply(target, given), method);
    },
  });
}
