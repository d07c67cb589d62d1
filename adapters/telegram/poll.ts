/**
 * Hears from the platform: the long poll and how it comes back from every fault.
 *
 * It polls on while the host is busy with what came before, so that one slow chat silences no other; what is confirmed
 * when, is for the lines to say. While something waits the platform answers at once with the same again, so polls are
 * spaced then. The loop ends only by `signal`.
 */
import { type Api, bounded } from "./api.ts";
import { createHand, type Ears, type Hand } from "./hand.ts";
import type { NativeUpdate, Self } from "./inbound.ts";
import { type Lines, openLines } from "./lines.ts";
import { ALLOWED_UPDATES, introduce, type Listening, recover } from "./listening.ts";

/** Seconds the platform holds a poll that has nothing to say; 50 is its common upper end. */
const HOLD_SECONDS = 50;
/** Updates in one answer; the platform's maximum. A full answer means that there may be more. */
const BATCH = 100;
const POLL_TIMEOUT_MS = (HOLD_SECONDS + 15) * 1000;
const CALL_TIMEOUT_MS = 15_000;
/** Between polls while updates wait, doubling as long as nothing new comes: how late others in need are heard then. */
const SPACE = { firstMs: 50, maxMs: 400 } as const;

interface Ear {
  readonly hand: Hand;
  readonly lines: Lines;
}

interface Condition {
  /** The backlog has been handled since the last fault. */
  up: boolean;
  /** The last id of the backlog found since the last fault; null while it is not all read. */
  backlog: number | null;
  failures: number;
  /** Polls in a row that brought nothing new. */
  fruitless: number;
}

/** Listens as often as it is called, one call after the other. */
export function createPolling(listening: Listening): (signal: AbortSignal) => Promise<void> {
  /** What the platform may show again although it is done: no network is sure enough to confirm it at the end. */
  let done: ReadonlySet<number> = new Set();
  return async (signal) => {
    done = await poll(listening, done, signal);
  };
}

async function poll(
  listening: Listening,
  before: ReadonlySet<number>,
  signal: AbortSignal,
): Promise<ReadonlySet<number>> {
  const condition: Condition = { up: false, backlog: null, failures: 0, fruitless: 0 };
  let ear: Ear | null = null;
  while (!signal.aborted) {
    try {
      ear ??= openEar(listening, await begin(listening, signal), before, signal);
      await hear(listening, ear.lines, condition, signal);
    } catch (error) {
      if (signal.aborted) break;
      Object.assign(condition, { up: false, backlog: null });
      await recover(listening, ++condition.failures, error, signal);
    }
  }
  const done = await ear?.lines.ended();
  await ear?.hand.told();
  return done ?? before;
}

/** A webhook set earlier would keep the updates from us. */
async function begin(listening: Listening, stop: AbortSignal): Promise<Self> {
  const self = await introduce(listening, stop);
  await bounded(stop, CALL_TIMEOUT_MS, (signal) => listening.api.call("deleteWebhook", {}, signal));
  return self;
}

function openEar(ears: Ears, self: Self, before: ReadonlySet<number>, signal: AbortSignal): Ear {
  const hand = createHand(ears, self, signal);
  return { hand, lines: openLines(hand.over, ears.host, signal, before) };
}

/** One poll and what follows from it. Rejects when the platform gave no updates. */
async function hear({ api, host }: Ears, lines: Lines, condition: Condition, signal: AbortSignal): Promise<void> {
  const updates = await fetchUpdates(api, lines.offset(), condition.up ? HOLD_SECONDS : 0, signal);
  condition.failures = 0;
  if (updates.length < BATCH) condition.backlog ??= updates.at(-1)?.update_id ?? -1;
  condition.fruitless = lines.join(updates) > 0 ? 0 : condition.fruitless + 1;
  await lines.rest(Math.min(SPACE.maxMs, SPACE.firstMs * 2 ** condition.fruitless));
  if (condition.up || condition.backlog === null || !lines.past(condition.backlog)) return;
  condition.up = true;
  host.report("up");
}

async function fetchUpdates(
  api: Api,
  offset: number | null,
  timeout: number,
  stop: AbortSignal,
): Promise<readonly NativeUpdate[]> {
  const from = offset === null ? {} : { offset };
  const request = { ...from, limit: BATCH, timeout, allowed_updates: ALLOWED_UPDATES };
  const updates = await bounded(stop, POLL_TIMEOUT_MS, (signal) => api.call("getUpdates", request, signal));
  if (!Array.isArray(updates)) throw new Error("getUpdates was answered without a list");
  return updates as readonly NativeUpdate[];
}
