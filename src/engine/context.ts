/** What every part of the engine works with. */

import type { Inquiry, InquiryEvent, Step } from "../core/inquiry.ts";
import { step } from "../core/inquiry.ts";
import type { Limits } from "../core/limits.ts";
import type { Directory } from "../core/people.ts";
import type { Clock, Entropy } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";
import type { Meter } from "../ports/meter.ts";
import type { Commit, Store } from "../ports/store.ts";
import type { Addresses } from "./addresses.ts";
import type { Lately } from "./lately.ts";
import type { Waiters } from "./waiters.ts";

export interface EngineSettings {
  /** BCP 47; what people read when nothing else is known. */
  readonly locale: string;
  /** People, sessions and groups of the settings file; linked accounts are added to it. */
  readonly directory: Directory;
  /** Keys fixed from outside (environment, files), in clear; never stored or logged. */
  readonly fixedKeys: readonly FixedKey[];
}

export interface FixedKey {
  readonly id: string;
  readonly key: string;
  readonly scope: "agent" | "operator";
}

export interface Context {
  readonly store: Store;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  readonly meter: Meter;
  readonly settings: EngineSettings;
  /** The name of this process that outlives its restarts. */
  readonly process: string;
  /** Whether this process sends and listens on the channel. */
  holds(channel: string): boolean;
  /** Limits of the channels that are on, by name. */
  readonly channels: ReadonlyMap<string, Limits>;
  readonly waiters: Waiters;
  readonly lately: Lately;
  directory(): Directory;
  /** The name by which settings and rows know an address the platform has renamed; see addresses.ts. */
  readonly addresses: Addresses;
  /**
   * Resolves once no send to the address is in flight: a prompt can be read and answered before its receipt is stored,
   * and words must not be judged by what was open a moment ago.
   */
  quiet(address: string): Promise<void>;
  /** To be called after every commit that changed an inquiry. */
  changed(inquiry: Inquiry): void;
  /** To be called after one that made an event and changed nothing else: somebody may follow. */
  happened(): void;
}

export type Applied =
  | { readonly outcome: "done"; readonly inquiry: Inquiry }
  | { readonly outcome: "repeat"; readonly reply: unknown }
  | { readonly outcome: "moot"; readonly inquiry: Inquiry }
  | { readonly outcome: "refused"; readonly inquiry: Inquiry; readonly refusal: Extract<Step, { ok: false }> };

/** The event for the inquiry as it stands; null: nothing is to be done any more. */
export type Decide = (current: Inquiry) => InquiryEvent | null | Promise<InquiryEvent | null>;

export interface ApplyOptions {
  /** Makes the event happen once; `reply` is made from the inquiry after it. */
  readonly once?: { readonly key: string; reply(after: Inquiry): unknown };
  /** Changes that go into the same commit. */
  readonly also?: Pick<Commit, "adopt" | "entry">;
}

/**
 * Applies one event to an inquiry by compare-and-set. Lost races are decided again on the newer state, so the first
 * commit wins and every later one is refused truthfully.
 */
export async function applyEvent(
  context: Context,
  inquiry: Inquiry,
  decide: Decide,
  options: ApplyOptions = {},
): Promise<Applied> {
  let current = inquiry;
  for (;;) {
    const event = await decide(current);
    if (!event) return { outcome: "moot", inquiry: current };
    const now = context.clock.now();
    const next = step(current, event, now);
    if (!next.ok) return { outcome: "refused", inquiry: current, refusal: next };
    const result = await context.store.commit({
      ...options.also,
      ...(options.once && { once: { key: options.once.key, reply: options.once.reply(next.inquiry), at: now } }),
      update: [{ from: current.version, inquiry: next.inquiry, unlessShown: next.inquiry.status === "undelivered" }],
      wake: [{ inquiry: current.uid, at: now }],
    });
    if (result.outcome === "repeat") return { outcome: "repeat", reply: result.reply };
    if (result.outcome === "done") {
      context.changed(next.inquiry);
      return { outcome: "done", inquiry: next.inquiry };
    }
    current = await reload(context, current.uid);
  }
}

export async function reload(context: Context, uid: string): Promise<Inquiry> {
  const inquiry = await context.store.inquiry(uid);
  if (!inquiry) throw new Error(`inquiry ${uid} vanished from the store`);
  return inquiry;
}
