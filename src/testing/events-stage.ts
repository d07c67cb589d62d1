/**
 * The stage of the events' contract: an engine on each of the given stores, one chat, and whoever follows.
 */
import { entropy } from "../clock.ts";
import { createEngine, type Engine } from "../engine/engine.ts";
import type { Caller, InquiryView } from "../ports/asker.ts";
import type { EventRecord } from "../ports/event.ts";
import type { EventView } from "../ports/events.ts";
import type { Store } from "../ports/store.ts";
import { AGENT, OPERATOR, SILENT } from "./bridge.ts";
import { CRAMPED, hostileLoopback } from "./hostile-channel.ts";
import type { Loopback } from "./loopback.ts";
import { silentMeter } from "./silent-meter.ts";
import { type SkippingClock, skippingClock } from "./skipping-clock.ts";
import { until } from "./until.ts";

/** One or more stores over the same, empty data: each as a process of its own would open it. */
export interface EventStores {
  readonly stores: readonly Store[];
  close(): Promise<void>;
}

export interface EventStage {
  readonly clock: SkippingClock;
  /** Where things happen. */
  readonly here: Engine;
  /** Where they are followed. */
  readonly there: Engine;
  ask(more?: object, caller?: Caller): Promise<InquiryView>;
  /** Asks, and waits until the person was shown it. */
  shown(more?: object): Promise<InquiryView>;
  answer(id: string): Promise<InquiryView>;
  /** Every event there is, as the log has it. */
  log(): Promise<readonly EventRecord[]>;
  /** Follows from behind that event; from now on without one. */
  follow(after?: string, caller?: Caller): Promise<Following>;
}

export interface Following {
  /** Everything heard so far. */
  readonly heard: readonly EventView[];
  /** Waits until something of that inquiry is heard. */
  hears(type: EventView["type"], id: string): Promise<EventView>;
  /** Ends the stream; resolves once nothing more comes. */
  leave(): Promise<void>;
  /** Settles as the stream does. */
  readonly ended: Promise<void>;
}

const LIMITS = { ...CRAMPED, text: { max: 4_000, unit: "codePoints" }, buttons: null } as const;
const OPTIONS = [{ label: "Staging" }, { label: "Production" }];
const QUESTION = { id: "q", header: "Deploy", question: "Deploy where?", options: OPTIONS };

/** One play on fresh stores, with an engine on each of them. */
export async function onStage(
  open: () => Promise<EventStores>,
  body: (stage: EventStage) => Promise<void>,
): Promise<void> {
  const clock = skippingClock();
  const { stores, close } = await open();
  const chat = hostileLoopback(LIMITS, false);
  const engines = await Promise.all(stores.map((store, index) => begin(store, clock, chat, `p${index}`)));
  try {
    await body(stageOver(engines, stores, clock));
  } finally {
    await stopped(clock, Promise.all(engines.map((engine) => engine.stop())));
    await close();
  }
}

async function begin(store: Store, clock: SkippingClock, chat: Loopback, process: string): Promise<Engine> {
  const ana = { name: "ana", identities: [chat.place.actor], roles: ["owner"], locale: null };
  const engine = await createEngine({
    ...{ store, clock, entropy, process, log: SILENT, meter: silentMeter },
    settings: {
      locale: "en",
      directory: { people: new Map([["ana", ana]]), sessions: new Map(), admit: new Map() },
      fixedKeys: [],
    },
    channels: () => [{ name: "hostile", limits: LIMITS, open: chat.open }],
  });
  await engine.start();
  return engine;
}

/** A stop waits a little for what is under way. */
export async function stopped(clock: SkippingClock, stopping: Promise<unknown>): Promise<void> {
  const done = stopping.then(() => true);
  await until("it has stopped", () => {
    clock.skip(500);
    return Promise.race([done, Promise.resolve(false)]);
  });
}

function stageOver(engines: readonly Engine[], stores: readonly Store[], clock: SkippingClock): EventStage {
  const [here, there, store] = [engines[0], engines.at(-1), stores[0]];
  if (!here || !there || !store) throw new Error("the events need a store");
  const ask = async (more: object = {}, caller: Caller = AGENT) =>
    (await here.asker.ask(caller, { questions: [QUESTION], ...more })).inquiry;
  return {
    ...{ clock, here, there, ask },
    async shown(more = {}) {
      const { id } = await ask(more);
      return until("it is shown", async () => {
        clock.skip(100);
        const view = await here.asker.get(AGENT, id);
        return view.shownAt !== undefined && view;
      });
    },
    answer: (id) => here.asker.answer(OPERATOR, id, { answers: { q: ["Staging"] } }),
    log: () => wholeLog(store),
    follow: async (after, caller = AGENT) =>
      following({ there, clock }, after ?? (await there.events.position(null)), caller),
  };
}

async function wholeLog({ events }: Store): Promise<readonly EventRecord[]> {
  const all: EventRecord[] = [];
  for (;;) {
    const request = { after: all.at(-1)?.position ?? null, owner: null, sessions: null, limit: 50 };
    const { items, unsettled } = await events.read(request);
    all.push(...items);
    if (items.length === 0 && !unsettled) return all;
  }
}

/** Follows the events and keeps what it hears. */
export function following(
  { there, clock }: Pick<EventStage, "there" | "clock">,
  after: string | null,
  caller: Caller,
): Following {
  const leaving = new AbortController();
  const heard: EventView[] = [];
  const stream = there.events.follow(caller, after, leaving.signal);
  const ended = (async () => {
    for await (const event of stream) heard.push(event);
  })();
  ended.catch(() => {});
  return {
    heard,
    ended,
    hears: (type, id) =>
      until(`${type} of ${id} is heard`, () => {
        clock.skip(100);
        return heard.find((event) => event.type === type && event.data.id === id);
      }),
    async leave() {
      leaving.abort();
      await ended;
    },
  };
}
