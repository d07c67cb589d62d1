/**
 * The stage on which the bridge suite plays: the engine, a store that forgets, one channel, and a person at its end.
 *
 * Nothing is replaced but the platform: agents ask through the asker port, the person reads and acts on the loopback.
 */
import { createClock, entropy } from "../clock.ts";
import { decodeControl } from "../core/control.ts";
import { channelOf } from "../core/people.ts";
import { createEngine, type Engine } from "../engine/engine.ts";
import type { Caller, InquiryView } from "../ports/asker.ts";
import { openStore } from "../store/store.ts";
import { type Need, offersOf } from "./channel-case.ts";
import type { Loopback, Seen, SeenButton, Subject } from "./loopback.ts";
import { recordingHost } from "./recording-host.ts";
import { silentMeter } from "./silent-meter.ts";
import { until } from "./until.ts";

export interface BridgeCase {
  readonly name: string;
  readonly needs: readonly (Need | "one at a time" | "side by side")[];
  run(bridge: Bridge): Promise<void>;
}

export interface Bridge {
  readonly loopback: Loopback;
  /** Asks and returns the id at once. */
  ask(questions: readonly QuestionInput[]): Promise<string>;
  /** Asks and resolves once the person sees it. */
  askAndSee(...questions: readonly QuestionInput[]): Promise<string>;
  view(id: string): Promise<InquiryView>;
  /** Waits for the inquiry to be over. */
  settled(id: string): Promise<InquiryView>;
  cancel(id: string): Promise<InquiryView>;
  /** Waits until the first copy of the inquiry is in that state. */
  delivered(id: string, state: string): Promise<void>;
  /** Waits until the person reads the text somewhere; white space and isolation do not count. */
  reads(text: string): Promise<void>;
  /** The button that does that, on the newest message that has it. */
  button(does: "other" | "skip" | "back" | number): Promise<{ message: Seen; button: SeenButton }>;
  /** Ends this engine and starts another on the same store and platform. */
  restart(): Promise<void>;
}

export interface QuestionInput {
  readonly id: string;
  readonly header: string;
  readonly question: string;
  readonly options: readonly { readonly label: string; readonly description?: string }[];
  readonly multiSelect?: boolean;
  readonly allowOther?: false;
}

const AGENT: Caller = { keyId: "key_agent", scope: "agent", sessions: [], kind: "main" };
/** Platforms pace bots to one message a second in a chat, and name waits of some seconds. */
const PATIENCE_MS = 15_000;

/** The person who is asked. */
export const PERSON = "ana";

export function bridgeOffers(subject: Subject): ReadonlySet<BridgeCase["needs"][number]> {
  const { buttons, replies } = subject.limits;
  return new Set([...offersOf(subject), buttons || replies ? "side by side" : "one at a time"]);
}

export async function playBridge(subject: Subject, one: BridgeCase): Promise<void> {
  const loopback = await subject.start();
  const { log } = recordingHost();
  const store = await openStore("sqlite::memory:", { log });
  const begin = async (): Promise<Engine> => {
    const engine = await createEngine({
      ...{ store, log, entropy, clock: createClock(), meter: silentMeter, process: "one" },
      settings: { locale: "en", directory: directoryOf(loopback), fixedKeys: [] },
      channels: () => [{ name: channelOf(loopback.place.address), limits: subject.limits, open: loopback.open }],
    });
    await engine.start();
    return engine;
  };
  let engine = await begin();
  const restart = async () => {
    await engine.stop();
    engine = await begin();
  };
  try {
    await one.run(bridgeOver(() => engine, loopback, restart));
  } finally {
    await engine.stop();
    await store.close();
    await loopback.close();
  }
}

function directoryOf({ place }: Loopback) {
  const person = { name: PERSON, identities: [place.actor], roles: ["owner"], locale: null };
  return { people: new Map([[PERSON, person]]), sessions: new Map(), admit: new Map() };
}

function bridgeOver(engine: () => Engine, loopback: Loopback, restart: () => Promise<void>): Bridge {
  const view = (id: string) => engine().asker.get(AGENT, id);
  const delivered = async (id: string, state: string) => {
    const now = async () => (await view(id)).deliveries.map((copy) => copy.state);
    await until(`a copy is ${state}`, async () => (await now()).includes(state), PATIENCE_MS);
  };
  const ask = async (questions: readonly QuestionInput[]) =>
    (await engine().asker.ask(AGENT, { questions })).inquiry.id;

  return {
    loopback,
    ask,
    view,
    delivered,
    restart,
    async askAndSee(...questions) {
      const id = await ask(questions);
      await delivered(id, "shown");
      return id;
    },
    settled: (id) =>
      until(
        "the inquiry is over",
        async () => {
          const now = await view(id);
          return now.status === "waiting" ? null : now;
        },
        PATIENCE_MS,
      ),
    cancel: (id) => engine().asker.cancel(AGENT, id),
    async reads(text) {
      const seen = async () => bare((await loopback.shown()).map((one) => one.text).join(""));
      await until(`the person reads "${text}"`, async () => (await seen()).includes(bare(text)), PATIENCE_MS);
    },
    button: (does) => until(`there is a button for ${does}`, () => findButton(loopback, does), PATIENCE_MS),
  };
}

async function findButton(loopback: Loopback, does: "other" | "skip" | "back" | number) {
  for (const message of [...(await loopback.shown())].reverse()) {
    for (const button of message.buttons) {
      const act = decodeControl(button.control)?.act;
      if (act?.kind === "option" ? act.index === does : act?.kind === does) return { message, button };
    }
  }
  return null;
}

/** Without white space and ellipses, where parts are split, and the marks that set an agent's lines apart. */
function bare(text: string): string {
  return text.replace(/[\s\u200e\u200f\u2066-\u2069│…]/gu, "");
}
