/** One schedule at work: what it has asked, heard and waits for. */
import type { InquiryView, ToolResult } from "../../src/ports/asker.ts";
import { type Cast, castOf } from "./cast.ts";
import type { Message } from "./platform.ts";
import { type Asked, type Claim, EMPTY, type Known, type Slot } from "./reference.ts";
import { serialOf } from "./serial.ts";
import type { Gateway, World } from "./world.ts";

export interface Ask {
  readonly serial: number;
  /** The serial that people read: of the first ask of this content. */
  readonly content: number;
  /** Null while nobody knows whether it was stored. */
  id: string | null;
  readonly input: { readonly id?: string } & Readonly<Record<string, unknown>>;
  readonly key: string | undefined;
  readonly draft: Known;
  readonly places: readonly string[];
  readonly respondents: readonly string[];
  readonly askedAt: number;
  collected: boolean;
}

export interface Wait {
  readonly ask: Ask;
  readonly gateway: Gateway;
  readonly leave: AbortController;
  end: { readonly result: ToolResult } | { readonly error: unknown } | null;
}

/** Something that may be said a second time. */
export interface Said {
  readonly what: string;
  /** Says it again; null: whoever was asked died. */
  readonly again: () => Promise<unknown>;
  readonly claim: (reply: unknown, repeated: boolean) => Claim;
  /** Whether the reply tells of an effect. */
  readonly counts: (reply: unknown) => boolean;
  /** Every reply that told of an effect. */
  replies: unknown[];
  /** It may have had an effect that nobody was told of. */
  unsure: boolean;
  /** How often it was said. */
  times: number;
}

export interface Part {
  readonly world: World;
  readonly cast: Cast;
  readonly number: number;
  readonly asks: Ask[];
  readonly waits: Wait[];
  readonly said: Said[];
  /** Whoever has opened an entry field, by address and person. */
  readonly writing: Set<string>;
  /** Copies that a press has proved to be there. */
  readonly proofs: { readonly serial: number; readonly address: string }[];
  /** Messages the living gateway knew to be there when everybody was last looked at, and when before that. */
  confirmed: { readonly now: ReadonlySet<Message>; readonly before: ReadonlySet<Message> };
  slot: Slot;
  seen: ReadonlyMap<number, InquiryView>;
  count: number;
  /** Whether the round under way has one act alone and nobody is to die in it. */
  alone: boolean;
}

export function newPart(world: World, number: number): Part {
  return {
    ...{ world, number, cast: castOf(number) },
    ...{ asks: [], waits: [], said: [], writing: new Set(), proofs: [] },
    ...{ slot: EMPTY, seen: new Map(), count: 0, alone: true, confirmed: { now: new Set(), before: new Set() } },
  };
}

export function mint(part: Part): number {
  part.count += 1;
  return serialOf(part.number, part.count);
}

export function pickFrom<T>(list: readonly T[], pick: number): T | undefined {
  return list[list.length === 0 ? 0 : pick % list.length];
}

/** The questions without an answer, as known when the round began. */
export function openOf(part: Part, ask: Ask): readonly Asked[] {
  const known = part.slot.inquiries.get(ask.serial) ?? ask.draft;
  return known.questions.filter((one) => !known.resolved[one.id]);
}

/** The ask a message shows, where the message tells it. */
export function askOf(part: Part, message: Message): Ask | undefined {
  const asks = part.asks.filter((one) => one.content === message.serial);
  return asks.length === 1 ? asks[0] : undefined;
}

/** The gateway answers, or dies over it: null. */
export async function unlessDead<T>(part: Part, work: (gateway: Gateway) => Promise<T>): Promise<T | null> {
  const gateway = part.world.gateway();
  return Promise.race([work(gateway), gateway.life.ended.then(() => null)]);
}
