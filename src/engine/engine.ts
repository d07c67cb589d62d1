/**
 * The engine: asks, delivers, hears, settles. It knows no platform, database or protocol; everything it does to the
 * world goes through a port, and everything it must remember is in the store before anybody is told of it.
 */

import { isSettled } from "../core/inquiry.ts";
import type { Limits } from "../core/limits.ts";
import type { Access } from "../ports/access.ts";
import type { Asker } from "../ports/asker.ts";
import type { Channel, ChannelHost, ChannelModule, Mount } from "../ports/channel.ts";
import type { Clock, Entropy } from "../ports/clock.ts";
import type { Events } from "../ports/events.ts";
import type { Health } from "../ports/health.ts";
import type { Log } from "../ports/log.ts";
import type { Meter } from "../ports/meter.ts";
import type { Store } from "../ports/store.ts";
import { createAccess } from "./access.ts";
import { createAddresses } from "./addresses.ts";
import { createAsker } from "./asker.ts";
import type { Context, EngineSettings } from "./context.ts";
import { createDeadlines } from "./deadlines.ts";
import { createDirectory } from "./directory.ts";
import { createFeed, type Feed } from "./feed.ts";
import { createHealth, type HealthKeeper } from "./health.ts";
import { createKeeper, type Keeper } from "./keeper.ts";
import { createKeyring } from "./keyring.ts";
import { createLately } from "./lately.ts";
import type { Loop } from "./loop.ts";
import { createPairing } from "./pairing.ts";
import { passed } from "./patience.ts";
import { quiet } from "./quiet.ts";
import { createReceiver, type Receiver } from "./receive.ts";
import { createStation, type Station } from "./station.ts";
import { startUpkeep } from "./upkeep.ts";
import { createWaiters } from "./waiters.ts";

export type { EngineSettings, FixedKey } from "./context.ts";

/** A channel that is on, with its settings already inside. */
export interface ChannelSource {
  readonly name: string;
  readonly limits: Limits;
  open(host: ChannelHost): Promise<Channel>;
}

export function channelSource<C>(module: ChannelModule<C>, config: C): ChannelSource {
  return { name: module.name, limits: module.limits, open: (host) => module.open(config, host) };
}

export interface EngineDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  readonly meter: Meter;
  /** The name of this process that outlives its restarts: by it the process finds what was its own. */
  readonly process: string;
  readonly settings: EngineSettings;
  /** A function where a channel's settings need the engine's access port. */
  readonly channels: (access: Access) => readonly ChannelSource[];
}

export interface Engine {
  readonly asker: Asker;
  readonly access: Access;
  readonly health: Health;
  readonly events: Events;
  /** Handlers that channels mounted, by channel name; complete once `start` has resolved. */
  readonly mounts: ReadonlyMap<string, Mount>;
  /** Waiting calls in this process. */
  waiting(uid: string): boolean;
  /** Opens the channels, takes those nobody holds, and begins to deliver, listen and expire. */
  start(): Promise<void>;
  /**
   * Stops listening, lets what is in flight settle, closes the channels and hands them over: another process may take
   * them at once. The store stays open.
   */
  stop(): Promise<void>;
}

export async function createEngine(deps: EngineDeps): Promise<Engine> {
  const { store, clock, settings } = deps;
  const people = await createDirectory(settings.directory, store.access);
  const limits = new Map<string, Limits>();
  const stations = new Map<string, Station>();
  const nudge = () => {
    for (const station of stations.values()) station.nudge();
  };
  const context: Context = {
    ...deps,
    channels: limits,
    holds: (channel) => keeper.holds(channel),
    waiters: createWaiters(clock),
    lately: createLately(people.current),
    addresses: await createAddresses(store.access),
    directory: people.current,
    quiet: (address) => quiet(context, stations, address),
    changed(inquiry) {
      if (isSettled(inquiry)) {
        context.waiters.settled(inquiry);
        context.lately.ended(inquiry);
      }
      nudge();
      feed.nudge();
    },
    happened: () => feed.nudge(),
  };
  const pairing = createPairing(context, people);
  const keyring = await createKeyring(context);
  const access = createAccess(keyring, people, pairing);
  const sources = deps.channels(access);
  for (const source of sources) limits.set(source.name, source.limits);
  const health = createHealth(store, clock, limits.keys());
  const keeper = createKeeper(context, stations, health);
  const feed = createFeed(context, async () => {
    await Promise.all([keyring.refresh(), people.refresh(), context.addresses.refresh()]);
  });
  const deadlines = createDeadlines(context, { ...health, ...keeper });
  const receiver = createReceiver(context, pairing, (channel) => stations.get(channel)?.nudge());
  const mounts = new Map<string, Mount>();
  const running = run(context, { sources, stations, keeper, deadlines, feed, receiver, health, mounts, nudge });
  const { events } = feed;
  return { asker: createAsker(context), access, health, events, mounts, waiting: context.waiters.live, ...running };
}

interface Parts {
  readonly sources: readonly ChannelSource[];
  readonly stations: Map<string, Station>;
  readonly keeper: Keeper;
  readonly deadlines: Loop;
  readonly feed: Feed;
  readonly receiver: Receiver;
  readonly health: HealthKeeper;
  readonly mounts: Map<string, Mount>;
  /** Lets every channel held here look for work. */
  readonly nudge: () => void;
}

/** Opens and closes what runs by itself: the channels, the leases on them, the deadlines and the feed. */
function run(context: Context, parts: Parts): Pick<Engine, "start" | "stop"> {
  const { clock, store, waiters } = context;
  const { stations, keeper, deadlines, feed } = parts;
  const open: Channel[] = [];
  let endUpkeep = () => {};
  let endHints = () => {};

  return {
    async start() {
      if (store.shared) await leaveAll(context);
      endUpkeep = startUpkeep(context);
      for (const source of parts.sources) {
        const channel = await source.open(hostOf(context, source.name, parts));
        open.push(channel);
        stations.set(source.name, createStation(context, { ...source, channel }, faultOf(context, source.name, parts)));
      }
      if (store.shared) {
        endHints = store.listen((hint) => {
          parts.nudge();
          feed.hear(hint);
        });
      }
      await keeper.start();
      feed.start();
      deadlines.nudge();
    },
    async stop() {
      endUpkeep();
      endHints();
      waiters.close();
      const settled = settle(parts);
      await Promise.race([settled, passed(clock, STOP_GRACE_MS)]);
      await Promise.all(open.map((channel) => channel.close()));
      await Promise.race([settled, passed(clock, CLOSING_MS)]);
      await keeper.release();
      await settled;
    },
  };
}

/** Who waited here before this start is gone. Others cannot find what those waited for as long as this is not known. */
async function leaveAll(context: Context): Promise<void> {
  await context.store.leave(null, context.process).catch((error: unknown) => {
    context.log.warn({ err: error }, "the waits of before the start could not be given up");
  });
}

/** What was heard may wait for a send under way, and what it changes is for the workers to show. */
async function settle({ stations, keeper, deadlines, feed }: Parts): Promise<void> {
  const end = () => Promise.all([...stations.values()].map((station) => station.end({ lost: false })));
  // What the keeper takes while it stops is ended once it has.
  const ended = [end(), keeper.stop().then(end)];
  await Promise.all([...ended, deadlines.stop(), feed.stop()]);
}

/** How long a stop lets sends under way end by themselves; closing the channels ends them. */
const STOP_GRACE_MS = 3_000;
/** How long a closed channel's sends may take to be recorded before the channel goes to whoever comes next. */
const CLOSING_MS = 500;

function hostOf(context: Context, name: string, { receiver, health, keeper, mounts }: Parts): ChannelHost {
  return {
    receive: (event) => receiver.receive(name, event),
    report(state, reason) {
      if (context.holds(name) && health.report(name, state, reason)) keeper.nudge();
    },
    mount: (mount) => {
      mounts.set(name, mount);
    },
    clock: context.clock,
    log: context.log,
  };
}

function faultOf({ log }: Context, name: string, { health, keeper }: Parts): (error: unknown) => void {
  return (error) => {
    health.report(name, "down", "stopped listening by a fault of its own");
    keeper.nudge();
    log.error({ channel: name, err: error }, "a channel stopped listening");
  };
}
