/**
 * The engine: asks, delivers, hears, settles. It knows no platform, database or protocol; everything it does to the
 * world goes through a port, and everything it must remember is in the store before anybody is told of it.
 */

import { isSettled } from "../core/inquiry.ts";
import type { Limits } from "../core/limits.ts";
import { channelOf } from "../core/people.ts";
import type { Access } from "../ports/access.ts";
import type { Asker } from "../ports/asker.ts";
import type { Channel, ChannelHost, ChannelModule } from "../ports/channel.ts";
import type { Clock, Entropy } from "../ports/clock.ts";
import type { Health } from "../ports/health.ts";
import type { Log } from "../ports/log.ts";
import type { Store } from "../ports/store.ts";
import { createAccess } from "./access.ts";
import { createAddresses } from "./addresses.ts";
import { createAsker } from "./asker.ts";
import type { Context, EngineSettings } from "./context.ts";
import { createDeadlines } from "./deadlines.ts";
import { createDirectory } from "./directory.ts";
import { createHealth, type HealthKeeper } from "./health.ts";
import { createKeyring } from "./keyring.ts";
import { createLately } from "./lately.ts";
import type { Loop } from "./loop.ts";
import { createOutbox, type Worker } from "./outbox.ts";
import { createPairing } from "./pairing.ts";
import { createReceiver, type Receiver } from "./receive.ts";
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
  readonly settings: EngineSettings;
  /** A function where a channel's settings need the engine's access port. */
  readonly channels: (access: Access) => readonly ChannelSource[];
}

export interface Engine {
  readonly asker: Asker;
  readonly access: Access;
  readonly health: Health;
  /** Handlers that channels mounted, by channel name; complete once `start` has resolved. */
  readonly mounts: ReadonlyMap<string, (request: Request) => Promise<Response>>;
  /** Waiting calls in this process. */
  waiting(uid: string): boolean;
  /** Opens the channels and begins to deliver, listen and expire. */
  start(): Promise<void>;
  /** Stops listening, lets what is in flight settle, closes the channels. The store stays open. */
  stop(): Promise<void>;
}

export async function createEngine(deps: EngineDeps): Promise<Engine> {
  const { store, clock, settings } = deps;
  const keeper = await createDirectory(settings.directory, store.access);
  const limits = new Map<string, Limits>();
  const workers = new Map<string, Worker>();
  const context: Context = {
    ...deps,
    channels: limits,
    waiters: createWaiters(clock),
    lately: createLately(keeper.current),
    addresses: await createAddresses(store.access),
    directory: keeper.current,
    quiet: async (address) => workers.get(channelOf(address))?.quiet(address),
    changed(inquiry) {
      if (isSettled(inquiry)) {
        context.waiters.settled(inquiry);
        context.lately.ended(inquiry);
      } else deadlines.nudge();
      for (const worker of workers.values()) worker.nudge();
    },
  };
  const pairing = createPairing(context, keeper);
  const access = createAccess(await createKeyring(context), keeper, pairing);
  const sources = deps.channels(access);
  for (const source of sources) limits.set(source.name, source.limits);
  const health = createHealth(store, clock, limits.keys());
  const deadlines = createDeadlines(context, health.caughtUp);
  const mounts = new Map<string, Mount>();
  const receiver = createReceiver(context, pairing, (channel) => workers.get(channel)?.nudge());
  const running = run(context, { sources, workers, deadlines, receiver, health, mounts });
  return { asker: createAsker(context), access, health, mounts, waiting: context.waiters.live, ...running };
}

interface Parts {
  readonly sources: readonly ChannelSource[];
  readonly workers: Map<string, Worker>;
  readonly deadlines: Loop;
  readonly receiver: Receiver;
  readonly health: HealthKeeper;
  readonly mounts: Map<string, Mount>;
}

/** Opens and closes what runs by itself: the channels, their workers and the deadlines. */
function run(context: Context, parts: Parts): Pick<Engine, "start" | "stop"> {
  const { workers, deadlines, health } = parts;
  const stopping = new AbortController();
  const listening: Promise<void>[] = [];
  const open: Channel[] = [];
  let endUpkeep = () => {};

  async function listen(name: string, channel: Channel): Promise<void> {
    try {
      await channel.listen(stopping.signal);
    } catch (error) {
      health.report(name, "down", "stopped listening by a fault of its own");
      context.log.error({ channel: name, err: error }, "a channel stopped listening");
    }
  }

  /** What was heard may wait for a send under way, and what it changes is for the workers to show. */
  async function settle(): Promise<void> {
    await Promise.all(listening);
    await Promise.all([deadlines, ...workers.values()].map((loop) => loop.stop()));
  }

  return {
    async start() {
      await context.store.recover(context.clock.now());
      endUpkeep = startUpkeep(context);
      for (const { name, limits, open: openChannel } of parts.sources) {
        const channel = await openChannel(hostOf(context, name, parts));
        open.push(channel);
        workers.set(name, createOutbox(context, name, channel, limits));
        listening.push(listen(name, channel));
      }
      for (const loop of [deadlines, ...workers.values()]) loop.nudge();
    },
    async stop() {
      stopping.abort();
      endUpkeep();
      context.waiters.close();
      const settled = settle();
      await Promise.race([settled, passed(context.clock, STOP_GRACE_MS)]);
      await Promise.all(open.map((channel) => channel.close()));
      await settled;
    },
  };
}

/** How long a stop lets sends under way end by themselves; closing the channels ends them. */
const STOP_GRACE_MS = 3_000;

function passed(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.at(clock.now() + ms, resolve);
  });
}

type Mount = (request: Request) => Promise<Response>;

function hostOf(context: Context, name: string, { receiver, health, mounts }: Parts): ChannelHost {
  return {
    receive: (event) => receiver.receive(name, event),
    report: (state, reason) => health.report(name, state, reason),
    mount: (handler) => {
      mounts.set(name, handler);
    },
    clock: context.clock,
    log: context.log,
  };
}
