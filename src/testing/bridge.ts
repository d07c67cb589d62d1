/**
 * A whole bridge for tests: engine, store and channels as they ship, over loopback platforms and a clock that can be put
 * forward. It can be ended the hard way and opened again on the same store.
 */
import { telegram } from "../../adapters/telegram.ts";
import { entropy } from "../clock.ts";
import type { Directory } from "../core/people.ts";
import { type ChannelSource, channelSource, createEngine, type Engine } from "../engine/engine.ts";
import type { Caller } from "../ports/asker.ts";
import type { Log } from "../ports/log.ts";
import type { Store } from "../ports/store.ts";
import { type DurableStore, openStore } from "../store/store.ts";
import { silentMeter } from "./silent-meter.ts";
import { type SkippingClock, skippingClock } from "./skipping-clock.ts";
import type { TelegramServer } from "./telegram-server.ts";

export const AGENT: Caller = { keyId: "agent", scope: "agent", sessions: [], kind: "main" };
export const OPERATOR: Caller = { keyId: "operator", scope: "operator", sessions: [], kind: "main" };

export const SILENT: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export interface BridgeOptions {
  /** `sqlite::memory:` by default. */
  readonly url?: string;
  /** A store that is open already, of which this is one more process; it stays open. */
  readonly store?: DurableStore;
  /** The name of the process; `one` by default. */
  readonly process?: string;
  readonly clock?: SkippingClock;
  readonly directory?: Partial<Directory>;
  readonly log?: Log;
  /** What the engine is given in place of the store, as one that can be lost. */
  readonly through?: (store: Store) => Store;
  readonly channels?: (engine: { readonly access: Engine["access"] }) => readonly ChannelSource[];
}

export interface Bridge {
  readonly engine: Engine;
  readonly store: DurableStore;
  readonly clock: SkippingClock;
  close(): Promise<void>;
}

/** Ana (100) is the owner, Ben (200) a colleague; the group -1001 admits both. */
export const PEOPLE: Directory = {
  people: new Map([
    ["ana", { name: "ana", identities: ["telegram:100"], roles: ["owner"], locale: "en" }],
    ["ben", { name: "ben", identities: ["telegram:200"], roles: ["team"], locale: "en" }],
  ]),
  sessions: new Map(),
  admit: new Map([["telegram:-1001", ["ana", "ben"]]]),
};

export function telegramSource(server: TelegramServer): ChannelSource {
  return channelSource(telegram, telegram.config.parse({ token: server.token, apiRoot: server.url }));
}

export async function openBridge(options: BridgeOptions = {}): Promise<Bridge> {
  const clock = options.clock ?? skippingClock();
  const log = options.log ?? SILENT;
  const store = options.store ?? (await openStore(options.url ?? "sqlite::memory:", { log }));
  const engine = await createEngine({
    store: options.through?.(store) ?? store,
    clock,
    entropy,
    log,
    meter: silentMeter,
    process: options.process ?? "one",
    settings: { locale: "en", directory: { ...PEOPLE, ...options.directory }, fixedKeys: [] },
    channels: (access) => options.channels?.({ access }) ?? [],
  });
  await engine.start();
  return {
    engine,
    store,
    clock,
    async close() {
      await engine.stop();
      if (!options.store) await store.close();
    },
  };
}
