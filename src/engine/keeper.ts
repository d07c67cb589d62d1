/**
 * Keeps the leases: once a second this process shows that it lives, sees how all leases stand, and does what leases.ts
 * decides from them.
 *
 * Rules: whoever cannot renew for as long as a lease lasts counts as dead and behaves so; a renewal that comes late but
 * finds the leases untouched changes nothing.
 */
import type { Instant } from "../ports/clock.ts";
import { channelLease, type Lease, type LeaseRef, presenceOf } from "../ports/lease.ts";
import type { Context } from "./context.ts";
import type { HealthKeeper } from "./health.ts";
import { createHoldings, type Holdings } from "./holdings.ts";
import { LEASE_TTL_MS, planLeases, presenceNote } from "./leases.ts";
import { createLoop } from "./loop.ts";
import { createRenewal, type Renewal } from "./renewal.ts";
import type { Station } from "./station.ts";

export interface Keeper {
  holds(channel: string): boolean;
  /** Shows presence, takes what is free and begins to work on it; rejects when the store cannot be reached. */
  start(): Promise<void>;
  /** Sees how the leases stand, unless that was seen a moment ago: whoever was paused must not go by an old picture. */
  current(): Promise<void>;
  /** How a channel held here stands has changed: the others are to know. */
  nudge(): void;
  /** Renews and takes nothing more. */
  stop(): Promise<void>;
  /** Releases every lease, the presence last; to be called once work on the channels has ended. */
  release(): Promise<void>;
}

export function createKeeper(context: Context, stations: ReadonlyMap<string, Station>, health: HealthKeeper): Keeper {
  const { clock, log, store } = context;
  const renewal = createRenewal(context);
  const verdicts = createVerdicts(() => loop.nudge());
  const holdings = createHoldings(context, { stations, health, renewal, verdict: verdicts.next });
  const presence = createPresence(context, stations, renewal);
  const follow = createFollower(context, { channels: stations, health, holdings });

  const loop = createLoop(clock, log, "leases", async () => {
    try {
      if (!store.shared && renewal.stands() && [...stations.keys()].every(holdings.has)) return null;
      const leases = await renewal.renew([...presence.leases(), ...leasesOf(context, holdings)]);
      if (leases) await follow(leases, await presence.epoch(leases));
      else if (!renewal.stands()) loseAll(holdings);
    } finally {
      verdicts.tell();
    }
    return null;
  });

  return {
    holds: holdings.has,
    current: async () => void (renewal.isFresh() || (await verdicts.next())),
    nudge: loop.nudge,
    async start() {
      if (!store.shared) await inherit(context);
      await presence.show();
      await verdicts.next();
      await holdings.begun();
    },
    async stop() {
      verdicts.close();
      await loop.stop();
    },
    async release() {
      await holdings.release();
      await presence.release();
    },
  };
}

/** Whoever held leases on a store that is this process's alone is gone, whatever its name was. */
async function inherit(context: Context): Promise<void> {
  const { leases } = context.store;
  const left = (await leases.renew([], 0)).filter(({ holder }) => holder !== context.process);
  for (const lease of left) await leases.release(lease);
}

function leasesOf(context: Context, holdings: Holdings): readonly LeaseRef[] {
  const holder = context.process;
  return [...holdings.epochs()].map(([channel, epoch]) => ({ name: channelLease(channel), holder, epoch }));
}

/** Nobody can tell who holds them by now. */
function loseAll(holdings: Holdings): void {
  for (const channel of holdings.epochs().keys()) holdings.lose(channel, "the lease of a channel has run out");
}

/** Who waits for what comes of a renewal: it is asked for, and at the stop there is none any more. */
function createVerdicts(ask: () => void) {
  const waiting: (() => void)[] = [];
  let closed = false;
  const tell = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };

  return {
    tell,
    next: () =>
      new Promise<void>((resolve) => {
        if (closed) return resolve();
        waiting.push(resolve);
        ask();
      }),
    close() {
      closed = true;
      tell();
    },
  };
}

/** The lease by which the others see that this process lives. */
function createPresence(context: Context, channels: ReadonlyMap<string, unknown>, renewal: Renewal) {
  const name = presenceOf(context.process);
  let mine: Lease | null = null;

  async function show(): Promise<void> {
    mine = await renewal.take(name, presenceNote([...channels.keys()]));
  }

  return {
    show,
    leases: () => (mine ? [mine] : []),
    /** Its epoch, shown anew where it is gone. */
    async epoch(leases: readonly Lease[]): Promise<number> {
      if (!leases.some((lease) => lease.name === name && lease.until > context.clock.now())) await show();
      return mine?.epoch ?? 0;
    },
    release: async () => void (mine && (await renewal.release(mine))),
  };
}

const REPLACED =
  "another process has started under the name of this one, which holds no channel while that one lives; give each a data " +
  "folder of its own";

interface FollowerParts {
  readonly channels: ReadonlyMap<string, unknown>;
  readonly health: HealthKeeper;
  readonly holdings: Holdings;
}

/** Does what is decided from the leases a renewal showed. */
function createFollower(context: Context, { channels, health, holdings }: FollowerParts) {
  const { clock, log } = context;
  const startedAt = clock.now();
  let freeSince: ReadonlyMap<string, Instant> = new Map();
  let replaced = false;

  return async (leases: readonly Lease[], presence: number): Promise<void> => {
    const now = clock.now();
    const jumpedAt = clock.steadySince();
    const plan = planLeases({
      ...{ self: context.process, presence, leases, freeSince, now },
      channels: [...channels.keys()],
      held: holdings.epochs(),
      unsteady: jumpedAt > startedAt && now - jumpedAt < LEASE_TTL_MS,
    });
    freeSince = plan.freeSince;
    if (plan.replaced && !replaced) log.error({ process: context.process }, REPLACED);
    replaced = plan.replaced;
    for (const channel of plan.lost) holdings.lose(channel, "another process has taken a channel over");
    for (const channel of plan.take) await holdings.take(channel);
    if (plan.cede !== null) holdings.cede(plan.cede);
    await holdings.tell();
    for (const channel of channels.keys()) {
      if (holdings.has(channel)) continue;
      health.sees(channel, leases.find(({ name }) => name === channelLease(channel)) ?? null, now);
    }
  };
}
