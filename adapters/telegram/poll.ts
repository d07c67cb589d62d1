/**
 * Hears from the platform: the long poll and how it comes back from every fault.
 *
 * It polls on while the host is busy with what came before, so that one slow chat silences no other; what is confirmed
 * when, is for the lines to say. While something waits the platform answers at once with the same again, so polls are
 * spaced then. The loop ends only by `signal`.
 */
import type { ChannelState } from "../../src/ports/channel.ts";
import { type Api, bounded } from "./api.ts";
import { retryAfterOf, statusOf } from "./failure.ts";
import { createHand, describe, type Ears, type Hand } from "./hand.ts";
import type { NativeUpdate, Self } from "./inbound.ts";
import { type Lines, openLines } from "./lines.ts";
import { nap } from "./nap.ts";

/** Seconds the platform holds a poll that has nothing to say; 50 is its common upper end. */
const HOLD_SECONDS = 50;
/** Updates in one answer; the platform's maximum. A full answer means that there may be more. */
const BATCH = 100;
const POLL_TIMEOUT_MS = (HOLD_SECONDS + 15) * 1000;
const CALL_TIMEOUT_MS = 15_000;
/**
 * Waits before the next attempt: after faults doubling but never long, since people wait to be heard; steady for another
 * poller, slow while the token is bad. A wait the platform asks for is kept, within reason.
 */
const WAIT = { firstMs: 1_000, maxMs: 5_000, conflictMs: 3_000, unauthorizedMs: 60_000, mostAskedMs: 300_000 } as const;
/** Between polls while updates wait, doubling as long as nothing new comes: how late others in need are heard then. */
const SPACE = { firstMs: 50, maxMs: 400 } as const;

export interface Listening extends Ears {
  readonly commands: readonly { readonly command: string; readonly description: string }[];
}

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

export async function listen(listening: Listening, signal: AbortSignal): Promise<void> {
  const condition: Condition = { up: false, backlog: null, failures: 0, fruitless: 0 };
  let ear: Ear | null = null;
  while (!signal.aborted) {
    try {
      ear ??= openEar(listening, await introduce(listening, signal), signal);
      await hear(listening, ear.lines, condition, signal);
    } catch (error) {
      if (signal.aborted) break;
      Object.assign(condition, { up: false, backlog: null });
      await recover(listening, ++condition.failures, error, signal);
    }
  }
  await ear?.lines.ended();
  await ear?.hand.told();
}

function openEar(ears: Ears, self: Self, signal: AbortSignal): Ear {
  const hand = createHand(ears, self, signal);
  return { hand, lines: openLines(hand.over, ears.host, signal) };
}

/** Who we are, and that updates are fetched, not pushed. The command list is a courtesy and may fail. */
async function introduce({ api, host, commands }: Listening, stop: AbortSignal): Promise<Self> {
  return await bounded(stop, CALL_TIMEOUT_MS, async (signal) => {
    const me = (await api.call("getMe", {}, signal)) as Partial<Self> & { can_read_all_group_messages?: boolean };
    const { id, username, can_read_all_group_messages: readsGroups = false } = me ?? {};
    if (id === undefined || username === undefined) throw new Error("getMe was answered without id and username");
    await api.call("deleteWebhook", {}, signal);
    host.log.info({ channel: "telegram", bot: username, readsGroups }, "updates are read");
    if (commands.length > 0) {
      await api.call("setMyCommands", { commands }, signal).catch((error: unknown) => {
        host.log.warn({ channel: "telegram", error: describe(api, error) }, "the command list was not set");
      });
    }
    return { id, username };
  });
}

/** One poll and what follows from it. Rejects when the platform gave no updates. */
async function hear({ api, host }: Ears, lines: Lines, condition: Condition, signal: AbortSignal): Promise<void> {
  const updates = await poll(api, lines.offset(), condition.up ? HOLD_SECONDS : 0, signal);
  condition.failures = 0;
  if (updates.length < BATCH) condition.backlog ??= updates.at(-1)?.update_id ?? -1;
  condition.fruitless = lines.join(updates) > 0 ? 0 : condition.fruitless + 1;
  await lines.rest(Math.min(SPACE.maxMs, SPACE.firstMs * 2 ** condition.fruitless));
  if (condition.up || condition.backlog === null || !lines.past(condition.backlog)) return;
  condition.up = true;
  host.report("up");
}

async function poll(
  api: Api,
  offset: number | null,
  timeout: number,
  stop: AbortSignal,
): Promise<readonly NativeUpdate[]> {
  const from = offset === null ? {} : { offset };
  const request = { ...from, limit: BATCH, timeout, allowed_updates: ["message", "callback_query"] as const };
  const updates = await bounded(stop, POLL_TIMEOUT_MS, (signal) => api.call("getUpdates", request, signal));
  if (!Array.isArray(updates)) throw new Error("getUpdates was answered without a list");
  return updates as readonly NativeUpdate[];
}

async function recover({ api, host }: Ears, failures: number, error: unknown, signal: AbortSignal): Promise<void> {
  const { state, waitMs } = verdict(error, failures);
  const reason = describe(api, error);
  host.report(state, reason);
  host.log.warn({ channel: "telegram", state, error: reason, waitMs }, "updates cannot be read");
  await nap(host.clock, waitMs, signal).over;
}

function verdict(error: unknown, failures: number): { readonly state: ChannelState; readonly waitMs: number } {
  const status = statusOf(error);
  if (status === 409) return { state: "conflict", waitMs: WAIT.conflictMs };
  if (status === 401 || status === 404) return { state: "unauthorized", waitMs: WAIT.unauthorizedMs };
  const asked = retryAfterOf(error);
  const askedMs = asked === null ? null : Math.min(WAIT.mostAskedMs, Math.max(WAIT.firstMs, asked));
  return { state: "down", waitMs: askedMs ?? Math.min(WAIT.maxMs, WAIT.firstMs * 2 ** (failures - 1)) };
}
