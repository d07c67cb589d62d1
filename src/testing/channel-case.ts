/**
 * The stage on which the channel suite plays its cases: one channel, its loopback platform and a recording host.
 *
 * A case is data: its name, what it needs, and what happens. Whether it runs is decided from the channel's declared
 * limits and the faults its platform can play, and from nothing else, so that a channel cannot excuse itself.
 */
import { expect } from "vitest";
import type { Receipt } from "../core/delivery.ts";
import type { FittedPrompt } from "../core/fit.ts";
import type { Limits } from "../core/limits.ts";
import type { Channel, InboundEvent } from "../ports/channel.ts";
import type { Loopback, Play, Seen, Subject } from "./loopback.ts";
import { PROMPT_KEY, type PromptWish, promptOf, textsOf } from "./prompts.ts";
import { distinct, type RecordingHost, recordingHost } from "./recording-host.ts";
import { until } from "./until.ts";

/** What a case stands on; `many parts`: a question of the longest length does not fit one message. */
export type Need = Play | "buttons" | "edits" | "replies" | "no replies" | "entry field" | "many parts";

export interface Case {
  readonly name: string;
  readonly needs: readonly Need[];
  run(stage: Stage): Promise<void>;
}

export interface Stage {
  readonly limits: Limits;
  readonly loopback: Loopback;
  readonly host: RecordingHost;
  readonly channel: Channel;
  /** Starts listening and resolves once the channel says it is up; the result stops it and resolves when it has. */
  listen(): Promise<() => Promise<void>>;
}

/** Characters of the longest question allowed. */
const LONGEST_QUESTION = 4_000;

/** What a subject offers a case to stand on. */
export function offersOf({ limits, plays }: Pick<Subject, "limits" | "plays">): ReadonlySet<Need> {
  const offers: (Need | null)[] = [
    ...plays,
    limits.buttons && "buttons",
    limits.edits ? "edits" : null,
    limits.replies ? "replies" : "no replies",
    limits.entryField ? "entry field" : null,
    limits.text.max <= 2 * LONGEST_QUESTION ? "many parts" : null,
  ];
  return new Set(offers.filter((offer) => offer !== null));
}

export function casesFor(subject: Pick<Subject, "limits" | "plays">, cases: readonly Case[]): readonly Case[] {
  const offers = offersOf(subject);
  return cases.filter((one) => one.needs.every((need) => offers.has(need)));
}

/** Plays one case on a fresh platform. */
export async function play(subject: Subject, one: Case): Promise<void> {
  const loopback = await subject.start();
  const host = recordingHost();
  const listening = new AbortController();
  let heard: Promise<void> = Promise.resolve();
  const channel = await loopback.open(host);
  const stage: Stage = {
    limits: subject.limits,
    loopback,
    host,
    channel,
    async listen() {
      heard = channel.listen(listening.signal);
      await until("the channel is up", () => host.states.includes("up"));
      return async () => {
        listening.abort();
        await heard;
      };
    },
  };
  try {
    await one.run(stage);
  } finally {
    listening.abort();
    await heard;
    await channel.close();
    await loopback.close();
  }
}

export interface Shown {
  readonly prompt: FittedPrompt;
  readonly receipt: Receipt;
  readonly parts: readonly Seen[];
  readonly last: Seen;
}

/** Sends and returns what the person sees of it, having checked that it is all there, in order and nothing else. */
export async function show(stage: Stage, wish: PromptWish, partial: Receipt | null = null): Promise<Shown> {
  const { channel, loopback, limits } = stage;
  const prompt = promptOf(limits, wish);
  const receipt = await channel.send(loopback.place.address, prompt, { key: wish.promptKey ?? PROMPT_KEY, partial });
  const parts = await copyOf(stage, receipt);
  expect(parts.map((part) => part.text.trim())).toEqual(textsOf(prompt));
  expect(parts.map((part) => part.buttons)).toEqual(
    parts.map((part) => (part === parts.at(-1) ? prompt.rows.flat() : [])),
  );
  return { prompt, receipt, parts, last: lastOf(parts) };
}

/** The messages a receipt names, in its order. */
export async function copyOf(stage: Stage, receipt: Receipt): Promise<readonly Seen[]> {
  const shown = await stage.loopback.shown();
  return receipt.parts.map((id) => {
    const seen = shown.find((one) => one.id === id);
    if (!seen) throw new Error(`the receipt names ${id}, which nobody sees`);
    return seen;
  });
}

/** The first `count` different events, surfaces that open left out. */
export function heard(stage: Stage, count: number): Promise<readonly InboundEvent[]> {
  return until(`${count} events were received`, () => {
    const events = distinct(stage.host.arrivals).filter((event) => event.kind !== "opened");
    return events.length >= count ? events : null;
  });
}

export function lastOf<T>(list: readonly T[]): T {
  const last = list.at(-1);
  if (last === undefined) throw new Error("the list is empty");
  return last;
}
