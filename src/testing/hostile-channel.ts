/**
 * The hostile channel: the smallest and least kind platform a channel may stand in front of, held in memory.
 *
 * It refuses whatever is over its tiny limits, so that nothing but `fit` can make a prompt pass. The one without buttons
 * can neither edit nor tell a reply; the one with buttons delivers every event twice and in the wrong order. What the
 * engine does right here it does right anywhere.
 */
import * as z from "zod";
import { DeliveryError, type FailureReason, type Receipt } from "../core/delivery.ts";
import type { FittedPrompt } from "../core/fit.ts";
import { type Limits, measure } from "../core/limits.ts";
import type { Channel, ChannelHost, ChannelModule, InboundEvent } from "../ports/channel.ts";
import {
  type Hand,
  type Loopback,
  type Place,
  type Play,
  type Seen,
  type SeenButton,
  type Subject,
  WAIT_MS,
} from "./loopback.ts";

const UNLIMITED = { perSecond: null, perAddressMs: 0, perGroupMs: 0 } as const;

/** Forty units of text and nothing else. */
export const MUTE: Limits = {
  text: { max: 40, unit: "utf16" },
  buttons: null,
  edits: false,
  replies: false,
  entryField: false,
  attendance: "always",
  pace: UNLIMITED,
  repeat: "idempotent",
  unknownWaitMs: 0,
};

/** The same with edits, replies and four buttons of five units. */
export const CRAMPED: Limits = {
  ...MUTE,
  buttons: { max: 4, perRow: 1, label: { max: 5, unit: "utf16" }, payloadBytes: 40 },
  edits: true,
  replies: true,
};

type Fault = Extract<Play, "rate limited" | "out of reach" | "receipt lost" | "chat gone" | "chat moved">;
const FAULTS: Readonly<Record<Fault, FailureReason>> = {
  "rate limited": "rate-limited",
  "out of reach": "unreachable",
  "receipt lost": "unreachable",
  "chat gone": "gone",
  "chat moved": "moved",
};
const PLACE = { address: "hostile:1", actor: "hostile:1" } as const;
const STRANGER = { address: "hostile:9", actor: "hostile:9" } as const;
const MOVED = "hostile:2";

/** What the platform holds; the adapter and the person both work on it. */
interface World {
  readonly messages: Map<string, Seen>;
  readonly keys: Map<string, string>;
  readonly queue: InboundEvent[];
  readonly notices: string[];
  fault: { readonly name: Fault; spared: number } | null;
  /** Set while the channel listens. */
  wake: () => void;
  /** Grows with everything that needs an id. */
  count: number;
}

export interface HostileConfig {
  readonly world: World;
}

export function createHostileWorld(): World {
  return { messages: new Map(), keys: new Map(), queue: [], notices: [], fault: null, wake: () => {}, count: 0 };
}

export function hostileModule(limits: Limits): ChannelModule<HostileConfig> {
  return {
    name: "hostile",
    limits,
    config: z.object({ world: z.custom<World>((value) => typeof value === "object" && value !== null) }),
    open: async ({ world }, host) => channelOf(world, limits, host),
  };
}

function channelOf(world: World, limits: Limits, host: ChannelHost): Channel {
  return {
    async send(_to, prompt, { key, partial }) {
      const parts = [...(partial?.parts ?? [])];
      for (let index = parts.length; index < prompt.parts.length; index++) {
        parts.push(put(world, limits, { parts }, messageOf(prompt, index), `${key}.${index}`));
      }
      return { parts };
    },
    edit: async (_to, at, prompt) => rewrite(world, limits, at, prompt),
    async say(_to, text) {
      put(world, limits, { parts: [] }, { text, buttons: [] }, null);
    },
    listen: (signal) => listen(world, host, signal),
    close: async () => {},
  };
}

function messageOf(prompt: FittedPrompt, index: number): Omit<Seen, "id"> {
  const text = (prompt.parts[index] ?? []).map((span) => span.text).join("");
  return { text, buttons: index === prompt.parts.length - 1 ? prompt.rows.flat() : [] };
}

/** Accepts one message or fails as asked; the same words under the same key are one message. */
function put(world: World, limits: Limits, partial: Receipt, message: Omit<Seen, "id">, key: string | null): string {
  const fault = meet(world);
  if (fault && fault !== "receipt lost") throw failed(fault, partial);
  refuseOversize(limits, message, partial);
  const nonce = `${key ?? ++world.count} ${message.text}`;
  const id = world.keys.get(nonce) ?? `m${++world.count}`;
  world.messages.set(id, { id, ...message });
  world.keys.set(nonce, id);
  if (fault) throw failed(fault, partial);
  return id;
}

function rewrite(world: World, limits: Limits, at: Receipt, prompt: FittedPrompt): Receipt {
  const fault = meet(world);
  if (fault) throw failed(fault, at);
  for (const id of at.parts.slice(prompt.parts.length)) world.messages.delete(id);
  const parts = prompt.parts.map((_, index) => {
    const message = messageOf(prompt, index);
    refuseOversize(limits, message, at);
    const id = at.parts[index] ?? `m${++world.count}`;
    world.messages.set(id, { id, ...message });
    return id;
  });
  return { parts };
}

function meet(world: World): Fault | null {
  if (!world.fault) return null;
  if (world.fault.spared-- > 0) return null;
  const { name } = world.fault;
  world.fault = null;
  return name;
}

function failed(fault: Fault, partial: Receipt): DeliveryError {
  return new DeliveryError(FAULTS[fault], {
    sent: fault === "receipt lost" ? "unknown" : "no",
    ...(partial.parts.length > 0 ? { partial } : {}),
    ...(fault === "rate limited" ? { retryAfterMs: WAIT_MS } : {}),
    ...(fault === "chat moved" ? { movedTo: MOVED } : {}),
  });
}

function refuseOversize({ text, buttons }: Limits, message: Omit<Seen, "id">, partial: Receipt): void {
  const long = measure(message.text, text.unit) > text.max;
  const wide = message.buttons.some((one) => !buttons || measure(one.label, buttons.label.unit) > buttons.label.max);
  const many = message.buttons.length > (buttons?.max ?? 0);
  if (!long && !wide && !many && message.text !== "") return;
  const detail = `over the limit: ${JSON.stringify(message)}`;
  throw new DeliveryError("rejected", { sent: "no", detail, ...(partial.parts.length > 0 ? { partial } : {}) });
}

/** Hands over what is queued, newest first where events come twice; what could not be kept comes again. */
async function listen(world: World, host: ChannelHost, signal: AbortSignal): Promise<void> {
  host.report("up");
  signal.addEventListener("abort", () => world.wake(), { once: true });
  while (!signal.aborted) {
    const batch = world.queue.splice(0).reverse();
    for (const event of batch) await deliver(world, host, event);
    if (world.queue.length === 0 && !signal.aborted) await new Promise<void>((wake) => Object.assign(world, { wake }));
  }
}

async function deliver(world: World, host: ChannelHost, event: InboundEvent): Promise<void> {
  try {
    const { notice, say } = await host.receive(event);
    if (notice !== null && !world.notices.includes(notice)) world.notices.push(notice);
    const own = event.address === PLACE.address;
    if (say !== null && own) world.messages.set(event.eventId, { id: event.eventId, text: say, buttons: [] });
  } catch {
    world.queue.push(event);
  }
}

type Base = Pick<InboundEvent, "eventId" | "actor" | "actorName" | "address" | "at" | "direct">;

/** The person's side. `twice`: every event is delivered two times, and together with others in reverse. */
export function hostileLoopback(limits: Limits, twice: boolean): Loopback {
  const world = createHostileWorld();
  const module = hostileModule(limits);
  let repeats = twice ? 2 : 1;

  function happen(who: Place, deed: (base: Base) => InboundEvent): void {
    const event = deed({ ...who, eventId: `e${++world.count}`, actorName: "Ana", at: Date.now(), direct: true });
    world.queue.push(...Array.from({ length: repeats }, () => event));
    world.wake();
  }

  const handOf = (who: Place): Hand => ({
    press: async (message: Seen, button: SeenButton) =>
      happen(who, (base) => ({ ...base, kind: "press", control: button.control, message: message.id })),
    async write(text, replyTo) {
      const replied = limits.replies ? (replyTo?.id ?? null) : null;
      const said = { text, message: `w${++world.count}`, replyTo: replied, mentioned: false, content: "text" } as const;
      happen(who, (base) => ({ ...base, kind: "text", ...said }));
    },
  });

  return {
    ...handOf(PLACE),
    place: PLACE,
    moved: MOVED,
    stranger: handOf(STRANGER),
    open: (host) => module.open({ world }, host),
    shown: async () => [...world.messages.values()],
    entryOpen: async () => false,
    notices: async () => world.notices,
    play(fault, spared = 0) {
      if (fault === "event repeated") repeats = 2;
      else world.fault = { name: fault as Fault, spared };
    },
    close: async () => {},
  };
}

export function hostileSubject(name: string, limits: Limits, { twice = false } = {}): Subject {
  const plays: readonly Play[] = [...(Object.keys(FAULTS) as Fault[]), "event repeated", "stranger"];
  return { name, limits, plays, start: async () => hostileLoopback(limits, twice) };
}
