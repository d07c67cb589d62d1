/**
 * The real engine under test, whole: a database in memory, one roomy chat with the owner, a clock that can be moved, and
 * a key of every kind. On it stand the harnesses of asking: the engine itself, and the gateway over HTTP.
 */
import { randomBytes } from "node:crypto";
import { createClient } from "../client.ts";
import type { Limits } from "../core/limits.ts";
import { createEngine, type Engine } from "../engine/engine.ts";
import { createHttp, type HttpDeps } from "../gateway/http.ts";
import { serve } from "../gateway/listen.ts";
import { createMetrics, type Metrics } from "../gateway/metrics.ts";
import type { NewKey } from "../ports/access.ts";
import type { Asker, Caller } from "../ports/asker.ts";
import type { Log } from "../ports/log.ts";
import type { Store } from "../ports/store.ts";
import { openStore } from "../store/store.ts";
import type { AskerHarness, Calls, RespondentHarness, Who } from "./asker-harness.ts";
import { CRAMPED, hostileLoopback } from "./hostile-channel.ts";
import type { Loopback } from "./loopback.ts";
import { type SkippingClock, skippingClock } from "./skipping-clock.ts";
import { until } from "./until.ts";

/** The hostile channel's platform in a good mood. */
const ROOMY: Limits = {
  ...CRAMPED,
  text: { max: 4_000, unit: "codePoints" },
  buttons: { max: 20, perRow: 1, label: { max: 60, unit: "codePoints" }, payloadBytes: 40 },
};

/** Who makes the keys. */
const HOST: Caller = { keyId: "host", scope: "operator", sessions: [], kind: "main" };

const KEYS: Readonly<Record<Who, NewKey>> = {
  agent: { scope: "agent" },
  other: { scope: "agent" },
  scoped: { scope: "agent", sessions: ["support"] },
  subagent: { scope: "agent", kind: "subagent" },
  operator: { scope: "operator" },
};

export interface EngineStand {
  readonly engine: Engine;
  readonly store: Store;
  readonly clock: SkippingClock;
  readonly chat: Loopback;
  readonly metrics: Metrics;
  readonly keys: Readonly<Record<Who, string>>;
  close(): Promise<void>;
}

export const silentLog: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export async function openEngine(log: Log = silentLog): Promise<EngineStand> {
  const clock = skippingClock();
  const metrics = createMetrics();
  const chat = hostileLoopback(ROOMY, false);
  const store = await openStore("sqlite::memory:", { log });
  const ana = { name: "ana", identities: [chat.place.actor], roles: ["owner"], locale: null };
  const engine = await createEngine({
    store,
    clock,
    log,
    meter: metrics.meter,
    process: "one",
    entropy: { bytes: (length) => randomBytes(length) },
    settings: {
      locale: "en",
      directory: { people: new Map([["ana", ana]]), sessions: new Map(), admit: new Map() },
      fixedKeys: [],
    },
    channels: () => [{ name: "hostile", limits: ROOMY, open: chat.open }],
  });
  await engine.start();
  const keys: Partial<Record<Who, string>> = {};
  for (const who of Object.keys(KEYS) as Who[]) keys[who] = (await engine.access.addKey(HOST, KEYS[who])).key;
  const close = async (): Promise<void> => {
    await engine.stop();
    await store.close();
  };
  return { engine, store, clock, chat, metrics, keys: keys as Record<Who, string>, close };
}

/** The engine's asker port, called directly. */
export async function engineHarness(): Promise<AskerHarness> {
  const stand = await openEngine();
  const callers = new Map<Who, Caller>();
  for (const who of Object.keys(KEYS) as Who[]) {
    const caller = await stand.engine.access.authenticate(stand.keys[who]);
    if (caller) callers.set(who, caller);
  }
  return {
    as: (who) => bound(stand.engine.asker, callers.get(who) as Caller),
    person: personOf(stand),
    quiet: async () => {},
    pass: async (ms) => stand.clock.skip(ms),
    close: stand.close,
  };
}

export interface GatewayStand extends EngineStand {
  readonly url: string;
  /** How many waiting calls there are. */
  waiting(): number;
  /** Resolves once no waiting call is left. */
  quiet(): Promise<void>;
}

/** What a front of the gateway over that engine needs. */
export function frontOf({ engine, clock, metrics }: EngineStand, changes: Partial<HttpDeps> = {}): HttpDeps {
  const { asker, access, events, health, mounts } = engine;
  return { asker, access, events, health, mounts, clock, log: silentLog, metrics, ...changes };
}

/** The engine behind the gateway, on a port of its own. */
export async function openGateway(): Promise<GatewayStand> {
  const stand = await openEngine();
  const { asker, running } = counted(stand.engine.asker);
  const listening = await serve(createHttp(frontOf(stand, { asker })), { host: "127.0.0.1", port: 0 });
  return {
    ...stand,
    url: listening.url,
    waiting: running,
    quiet: async () => {
      await until("no waiting call is left", () => running() === 0);
    },
    async close() {
      await listening.close();
      await stand.close();
    },
  };
}

/** The gateway, through the HTTP client. */
export async function httpHarness(): Promise<AskerHarness> {
  const stand = await openGateway();
  return {
    as: (who) => createClient({ url: stand.url, key: stand.keys[who] }),
    person: personOf(stand),
    quiet: stand.quiet,
    pass: async (ms) => stand.clock.skip(ms),
    close: stand.close,
  };
}

/** The asker as one caller's calls, with the manners of a client: what was handed over is collected. */
function bound(asker: Asker, caller: Caller): Calls {
  return {
    ask: (input, { idempotencyKey } = {}) => asker.ask(caller, input, idempotencyKey),
    async askUser(input, { signal = new AbortController().signal, ...options } = {}) {
      const result = await asker.askUser(caller, input, { ...options, signal });
      signal.throwIfAborted();
      await asker.collect(caller, result.inquiry_id);
      return result;
    },
    get: (id, { waitSeconds, signal = new AbortController().signal } = {}) =>
      asker.get(caller, id, waitSeconds === undefined ? undefined : { waitMs: waitSeconds * 1000, signal }),
    list: (query = {}) => asker.list(caller, query),
    answer: (id, input, { idempotencyKey } = {}) => asker.answer(caller, id, input, idempotencyKey),
    skip: (id, { idempotencyKey } = {}) => asker.skip(caller, id, idempotencyKey),
    cancel: (id, { idempotencyKey } = {}) => asker.cancel(caller, id, idempotencyKey),
    abortRun: (run) => asker.abortRun(caller, run),
    moveTask: (taskId, input) => asker.moveTask(caller, taskId, input),
  };
}

/** The same asker, telling how many waiting calls run, their collection included. */
function counted(asker: Asker): { asker: Asker; running: () => number } {
  let running = 0;
  async function count<T>(work: Promise<T>): Promise<T> {
    running += 1;
    try {
      return await work;
    } finally {
      running -= 1;
    }
  }
  return {
    asker: {
      ...asker,
      askUser: (caller, input, options) => count(asker.askUser(caller, input, options)),
      collect: (caller, id) => count(asker.collect(caller, id)),
    },
    running: () => running,
  };
}

/** The owner at the other end of the chat. */
export function personOf({ engine, chat, keys }: EngineStand): RespondentHarness {
  async function sees(inquiry: string): Promise<void> {
    const operator = await engine.access.authenticate(keys.operator);
    if (!operator) throw new Error("the operator's key is gone");
    await until("the inquiry is shown", async () => (await engine.asker.get(operator, inquiry)).shownAt);
  }
  return {
    sees,
    async answers(inquiry, _question, label) {
      await sees(inquiry);
      const [message, button] = await until(`a button says ${label}`, async () => {
        const pairs = (await chat.shown()).flatMap((one) => one.buttons.map((key) => [one, key] as const));
        return pairs.find(([, key]) => key.label.includes(label));
      });
      await chat.press(message, button);
    },
    async cancels(inquiry) {
      await sees(inquiry);
      await chat.write("cancel");
    },
  };
}
