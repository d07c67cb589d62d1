/**
 * The platform at the other end: an honest record of what each person sees, with sends that fail as they are told to.
 *
 * Four channels differ in what the engine must do with them: `kind` knows a repeated send again, `blind` does not,
 * `mute` has neither buttons nor replies nor edits, `terminal` shows only while open. An event is handed over until some
 * gateway has confirmed it, as platforms do.
 */
import { DeliveryError, type Receipt } from "../../src/core/delivery.ts";
import type { FittedPrompt } from "../../src/core/fit.ts";
import type { Limits } from "../../src/core/limits.ts";
import { channelOf } from "../../src/core/people.ts";
import type { ChannelSource } from "../../src/engine/engine.ts";
import type { Channel, ChannelHost, InboundEvent, Reply, SendContext } from "../../src/ports/channel.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { Life } from "./life.ts";
import { failure, type Mishap } from "./mishaps.ts";
import { serialIn, slotOf } from "./serial.ts";

const KIND: Limits = {
  text: { max: 4_000, unit: "codePoints" },
  buttons: { max: 10, perRow: 2, label: { max: 60, unit: "codePoints" }, payloadBytes: 40 },
  edits: true,
  replies: true,
  entryField: false,
  attendance: "always",
  pace: { perSecond: null, perAddressMs: 0, perGroupMs: 0 },
  repeat: "idempotent",
  unknownWaitMs: 0,
};
const BLIND: Limits = { ...KIND, repeat: "blind", unknownWaitMs: 5_000 };
const MUTE: Limits = { ...KIND, buttons: null, edits: false, replies: false };
const TERMINAL: Limits = { ...MUTE, attendance: "when open" };

export const CHANNELS: Readonly<Record<string, Limits>> = { kind: KIND, blind: BLIND, mute: MUTE, terminal: TERMINAL };

/** One message on the platform. */
export interface Message {
  readonly id: string;
  readonly address: string;
  /** Of the ask it shows; see cast.ts. */
  readonly serial: number | null;
  /** The gateway that was told that it arrived, in good time, and lived to tell its store. */
  confirmedTo: Life | null;
  text: string;
  open: boolean;
  controls: readonly string[];
  /** Every control it ever showed. */
  readonly history: Set<string>;
  deleted: boolean;
  /** Somebody who may answer has pressed it, and had an answer. */
  proved: boolean;
}

export interface Platform {
  /** What was ever shown of one schedule's asks. */
  messagesOf(slot: number): readonly Message[];
  /** Calls under way. */
  readonly busy: () => number;
  /** Addresses with a call that stalls. */
  readonly stalling: ReadonlySet<string>;
  /** Addresses at which something has gone wrong. */
  readonly troubled: ReadonlySet<string>;
  sources(life: Life, ports: (channel: Channel) => Channel): readonly ChannelSource[];
  /** That gateway's store has taken that these messages are there. */
  known(ids: readonly string[], life: Life): void;
  /** Resolves with the gateway's reply, once one has confirmed the event. */
  happen(channel: string, event: InboundEvent): Promise<Reply>;
  mishap(address: string, what: Mishap): void;
  open(address: string, isOpen: boolean): void;
  remove(message: Message): void;
  /** Nothing goes wrong any more but what stalls already. */
  heal(): void;
}

interface Listener {
  readonly host: ChannelHost;
  readonly life: Life;
}

export const STALL_MS = 35_000;

export function createPlatform(clock: Clock): Platform {
  const messages: Message[] = [];
  const byId = new Map<string, Message>();
  const bySlot = new Map<number, readonly Message[]>();
  const byKey = new Map<string, Message>();
  const mishaps = new Map<string, Mishap[]>();
  const troubled = new Set<string>();
  const openAddresses = new Set<string>();
  const listeners = new Map<string, Listener[]>();
  const stalled = new Set<() => void>();
  const stalling = new Set<string>();
  let healed = false;
  const waiting: (() => void)[] = [];
  let calls = 0;
  let turn = 0;

  function post(address: string, key: string | null, prompt: FittedPrompt): Message {
    const known = key === null || channelOf(address) === "blind" ? undefined : byKey.get(key);
    if (known && !known.deleted) return known;
    const id = `m${messages.length + 1}`;
    const serial = serialIn(textOf(prompt));
    const message: Message = {
      id,
      address,
      serial,
      confirmedTo: null,
      history: new Set(),
      deleted: false,
      proved: false,
      ...contentOf(prompt),
    };
    for (const control of message.controls) message.history.add(control);
    messages.push(message);
    const slot = slotOf(serial ?? 0);
    bySlot.set(slot, [...(bySlot.get(slot) ?? []), message]);
    byId.set(id, message);
    if (key !== null) byKey.set(key, message);
    return message;
  }

  /** What goes wrong with this call, if anything: null once it may go on. */
  function meet(address: string, plain: boolean): { error: DeliveryError; arrives: boolean } | null {
    if (channelOf(address) === "terminal" && !openAddresses.has(address)) {
      return { error: new DeliveryError("absent", { sent: "no" }), arrives: false };
    }
    const [what] = mishaps.get(address) ?? [];
    if (what === undefined || what === "stalls") return null;
    if (what === "rejected" && plain) return null;
    mishaps.get(address)?.shift();
    if (what === "gone") for (const message of messages) message.deleted ||= message.address === address;
    return failure(what);
  }

  async function stall(address: string): Promise<boolean> {
    if (mishaps.get(address)?.[0] !== "stalls") return false;
    mishaps.get(address)?.shift();
    stalling.add(address);
    await new Promise<void>((resolve) => {
      const cancel = clock.at(clock.now() + STALL_MS, () => go());
      const go = () => {
        cancel();
        stalled.delete(go);
        resolve();
      };
      stalled.add(go);
    });
    stalling.delete(address);
    return true;
  }

  async function called(address: string, life: Life, plain: boolean, act: () => Message): Promise<Receipt> {
    calls += 1;
    try {
      await nextTurn();
      if (life.dead()) throw new Error("whoever called is dead");
      const fault = meet(address, plain);
      if (fault && !fault.arrives) throw fault.error;
      const message = act();
      if (fault) throw fault.error;
      calls -= 1;
      const late = await stall(address);
      calls += 1;
      if (!late) void confirm(message, life);
      return { parts: [message.id], postedAt: clock.now() };
    } finally {
      calls -= 1;
    }
  }

  function known(ids: readonly string[], life: Life): void {
    for (const message of ids.flatMap((id) => byId.get(id) ?? [])) message.confirmedTo = life;
  }

  /** Whoever is told tells its store in the same turn; what dies with it before that, nobody knows any more. */
  async function confirm({ id }: Message, life: Life): Promise<void> {
    await nextTurn();
    if (!life.dead()) known([id], life);
  }

  function edited(id: string | undefined, prompt: FittedPrompt): Message {
    const message = byId.get(id ?? "");
    if (!message || message.deleted) throw new DeliveryError("gone", { sent: "no" });
    Object.assign(message, contentOf(prompt));
    for (const control of message.controls) message.history.add(control);
    return message;
  }

  function channel(name: string, host: ChannelHost, life: Life): Channel {
    const mine: Listener = { host, life };
    return {
      send: (to, prompt, { key }: SendContext) => called(to, life, prompt.form === "text", () => post(to, key, prompt)),
      edit: (to, at, prompt) => called(to, life, prompt.form === "text", () => edited(at.parts[0], prompt)),
      say: async () => {},
      async listen(signal) {
        if (life.dead()) return;
        listeners.set(name, [...(listeners.get(name) ?? []), mine]);
        const leave = () =>
          listeners.set(
            name,
            (listeners.get(name) ?? []).filter((one) => one !== mine),
          );
        life.atEnd(leave);
        host.report("up");
        for (const wake of waiting.splice(0)) wake();
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
        leave();
      },
      async close() {
        for (const go of [...stalled]) go();
      },
    };
  }

  async function happen(name: string, event: InboundEvent): Promise<Reply> {
    for (;;) {
      const here = listeners.get(name) ?? [];
      const listener = here[turn++ % here.length];
      if (!listener) {
        await new Promise<void>((wake) => waiting.push(wake));
        continue;
      }
      const reply = await Promise.race([listener.host.receive(event).catch(() => null), listener.life.ended]);
      if (reply) return reply;
      await nextTurn();
    }
  }

  return {
    messagesOf: (slot) => bySlot.get(slot) ?? [],
    busy: () => calls,
    troubled,
    stalling,
    sources: (life, ports) =>
      Object.entries(CHANNELS).map(([name, limits]) => ({
        name,
        limits,
        open: async (host) => ports(channel(name, host, life)),
      })),
    known,
    happen,
    mishap(address, what) {
      if (healed) return;
      mishaps.set(address, [...(mishaps.get(address) ?? []), what]);
      troubled.add(address);
    },
    open(address, isOpen) {
      if (isOpen) openAddresses.add(address);
      else openAddresses.delete(address);
    },
    remove(message) {
      message.deleted = true;
      troubled.add(message.address);
    },
    heal() {
      healed = true;
      mishaps.clear();
    },
  };
}

function contentOf(prompt: FittedPrompt): Pick<Message, "text" | "open" | "controls"> {
  return {
    text: textOf(prompt),
    open: prompt.open,
    controls: prompt.rows.flat().map((button) => button.control),
  };
}

function textOf(prompt: FittedPrompt): string {
  return prompt.parts.flatMap((spans) => spans.map((span) => span.text)).join("");
}

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
