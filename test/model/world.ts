/**
 * A gateway on its store, its platform and a clock that is moved by hand: restarted, killed, and waited for until
 * everything that is due has been looked at.
 */
import { entropy } from "../../src/clock.ts";
import { createEngine, type Engine } from "../../src/engine/engine.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { Store } from "../../src/ports/store.ts";
import { silentMeter } from "../../src/testing/silent-meter.ts";
import { directoryOf } from "./cast.ts";
import { type StandingClock, standingClock } from "./clock.ts";
import { beginLife, type Life, mortal, mortalClock } from "./life.ts";
import { CHANNELS, createPlatform, nextTurn, type Platform } from "./platform.ts";
import { broken } from "./violation.ts";

/** A database that outlives the gateways on it. */
export interface Database {
  open(): Promise<Store>;
  close(): Promise<void>;
}

/** What is wrong with this world on purpose. */
export interface Planted {
  readonly store?: (store: Store, clock: Clock) => Store;
  readonly engine?: (engine: Engine) => Engine;
  /** Runs right after each start, over the store itself. */
  readonly afterStart?: (store: Store, clock: Clock) => Promise<void>;
}

export interface Gateway {
  readonly engine: Engine;
  readonly life: Life;
  readonly startedAt: number;
  readonly number: number;
}

export interface World {
  readonly platform: Platform;
  readonly clock: StandingClock;
  /** For looking, never for changing. */
  readonly store: Store;
  /** The same as the gateway sees it, with all that is wrong. */
  readonly given: Store;
  readonly gateway: () => Gateway;
  /** No deadline may end an inquiry before. */
  readonly graceEnd: () => number;
  calm(): Promise<void>;
  pass(ms: number): Promise<void>;
  /** Time goes on where nothing else does. */
  meanwhile<T>(work: Promise<T>): Promise<T>;
  restart(): Promise<void>;
  /** The old gateway is dead already; a new one begins on the same store. */
  revive(): Promise<void>;
  close(): Promise<void>;
}

const GRACE_MS = 10_000;
/** How far apart the moments are at which time stops: leases live for two of the farthest; while something waits for the grace to end. */
const STEP_MS = { least: 200, overdue: 500, most: 2_500 } as const;
/** Far more calls than all that is due at one moment takes. */
const RESTLESS_CALLS = 100_000;
const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export async function openWorld(database: Database, slots: number, planted: Planted = {}): Promise<World> {
  const clock = standingClock();
  const platform = createPlatform(clock);
  const store = await database.open();
  const given = planted.store?.(store, clock) ?? store;
  const settings = { locale: "en", directory: directoryOf(slots), fixedKeys: [] };
  let gateway = await begin(0);

  async function begin(number: number): Promise<Gateway> {
    const life = beginLife();
    const startedAt = clock.now();
    const engine = await createEngine({
      store: mortal(watched(life), life),
      clock: mortalClock(clock, life),
      ...{ entropy, log: LOG, meter: silentMeter, process: "one", settings },
      channels: () => platform.sources(life, (channel) => channel),
    });
    await engine.start();
    await planted.afterStart?.(given, clock);
    return { engine: planted.engine?.(engine) ?? engine, life, startedAt, number };
  }

  /** What the store has taken of a gateway is known, even where the gateway dies before it hears so. */
  function watched(life: Life): Store {
    return {
      ...given,
      async settle(settlement) {
        const kept = await given.settle(settlement);
        if (kept) platform.known(settlement.delivery?.receipt?.parts ?? [], life);
        return kept;
      },
    };
  }

  async function calm(): Promise<void> {
    const { calls } = gateway.life;
    const before = calls.total;
    let seen = -1;
    for (let still = 0; still < 4; ) {
      await nextTurn();
      const quiet = calls.open === 0 && platform.busy() === 0 && calls.total === seen;
      still = quiet ? still + 1 : 0;
      seen = calls.total;
      if (seen - before > RESTLESS_CALLS) throw broken("calm", "the gateway never rests");
    }
  }

  async function nextStop(until: number): Promise<number> {
    const now = clock.now();
    const lanes = Object.keys(CHANNELS).map((channel) => store.nextDue("delivery", channel));
    const due = await Promise.all([...lanes, store.nextDue("deadline")]);
    const known = [...due.filter((one) => one !== null), gateway.startedAt + GRACE_MS];
    const most = due.some((one) => one !== null && one <= now) ? STEP_MS.overdue : STEP_MS.most;
    const stops = known.filter((one) => one > now);
    return Math.min(until, Math.max(now + STEP_MS.least, Math.min(now + most, ...stops)));
  }

  async function meanwhile<T>(work: Promise<T>): Promise<T> {
    let over = false;
    const end = () => {
      over = true;
    };
    work.then(end, end);
    for (let seen = -1; !over; ) {
      for (let turns = 0; turns < 10 && !over; turns++) await nextTurn();
      const { total, open } = gateway.life.calls;
      if (!over && total === seen && open === 0) clock.move(250);
      seen = total;
    }
    return work;
  }

  async function stop(): Promise<void> {
    await meanwhile(gateway.engine.stop());
    gateway.life.kill();
  }

  async function pass(ms: number): Promise<void> {
    const until = clock.now() + ms;
    while (clock.now() < until) {
      clock.move((await nextStop(until)) - clock.now());
      await calm();
    }
  }

  return {
    ...{ platform, clock, store, given, calm, pass, meanwhile },
    gateway: () => gateway,
    graceEnd: () => gateway.startedAt + GRACE_MS,
    async restart() {
      await stop();
      gateway = await begin(gateway.number + 1);
    },
    async revive() {
      await gateway.life.over();
      gateway = await begin(gateway.number + 1);
    },
    async close() {
      platform.heal();
      await stop();
      await database.close();
    },
  };
}
