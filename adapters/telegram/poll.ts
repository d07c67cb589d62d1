/**
 * Hears from the platform: the long poll, what is confirmed when, and how it comes back from every fault.
 *
 * An update is confirmed only after the host has it: the offset stops at the first one that failed. Updates of one
 * chat are handled in order, chats beside each other, so that their commits can share. The loop ends only by `signal`.
 */
import type { ChannelHost, ChannelState, Reply } from "../../src/ports/channel.ts";
import type { Clock } from "../../src/ports/clock.ts";
import { type Api, bounded } from "./api.ts";
import { retryAfterOf, statusOf } from "./failure.ts";
import { type Incoming, type NativeUpdate, readUpdate, type Self } from "./inbound.ts";

/** Seconds the platform holds a poll that has nothing to say; 50 is its common upper end. */
const HOLD_SECONDS = 50;
/** Updates in one answer; the platform's maximum. A full answer means that there is more. */
const BATCH = 100;
const POLL_TIMEOUT_MS = (HOLD_SECONDS + 15) * 1000;
const CALL_TIMEOUT_MS = 15_000;
/** Code points of a toast (https://core.telegram.org/bots/api#answercallbackquery, read 2026-11-30). */
const MAX_NOTICE = 200;
/**
 * Waits before the next attempt: after faults doubling but never long, since people wait to be heard; steady for another
 * poller, slow while the token is bad.
 */
const WAIT = { firstMs: 1_000, maxMs: 5_000, conflictMs: 3_000, unauthorizedMs: 60_000, storeMs: 1_000 } as const;

export interface Ears {
  readonly api: Api;
  readonly host: ChannelHost;
  readonly commands: readonly { readonly command: string; readonly description: string }[];
  /** Says something in the chat. */
  readonly say: (to: string, text: string, replyTo: string | null, stop: AbortSignal) => Promise<void>;
}

interface Position {
  /** The first update not confirmed; null before the first. */
  offset: number | null;
  /** Updates from `offset` on that the host already has. */
  readonly handled: Set<number>;
  /** The backlog has been read since the last fault. */
  caughtUp: boolean;
  failures: number;
}

export async function listen(ears: Ears, signal: AbortSignal): Promise<void> {
  const position: Position = { offset: null, handled: new Set(), caughtUp: false, failures: 0 };
  const acknowledgements = new Set<Promise<unknown>>();
  let self: Self | null = null;
  while (!signal.aborted) {
    try {
      self ??= await introduce(ears, signal);
      const updates = await poll(ears.api, position, signal);
      const complete = await receive(ears, self, position, updates, { acknowledgements, signal });
      position.failures = 0;
      if (!complete) await sleep(ears.host.clock, WAIT.storeMs, signal);
      else if (!position.caughtUp && updates.length < BATCH) {
        position.caughtUp = true;
        ears.host.report("up");
      }
    } catch (error) {
      if (signal.aborted) break;
      position.caughtUp = false;
      await recover(ears, position, error, signal);
    }
  }
  await Promise.all(acknowledgements);
}

/** Who we are, and that updates are fetched, not pushed. The command list is a courtesy and may fail. */
async function introduce({ api, host, commands }: Ears, stop: AbortSignal): Promise<Self> {
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

async function poll(api: Api, { offset, caughtUp }: Position, stop: AbortSignal): Promise<readonly NativeUpdate[]> {
  const from = offset === null ? {} : { offset };
  const timeout = caughtUp ? HOLD_SECONDS : 0;
  const request = { ...from, limit: BATCH, timeout, allowed_updates: ["message", "callback_query"] as const };
  const updates = await bounded(stop, POLL_TIMEOUT_MS, (signal) => api.call("getUpdates", request, signal));
  if (!Array.isArray(updates)) throw new Error("getUpdates was answered without a list");
  return updates as readonly NativeUpdate[];
}

/** False when the host could not take all of them; they will be fetched again. */
async function receive(
  ears: Ears,
  self: Self,
  position: Position,
  updates: readonly NativeUpdate[],
  loose: { readonly acknowledgements: Set<Promise<unknown>>; readonly signal: AbortSignal },
): Promise<boolean> {
  const fresh = updates.filter(({ update_id }) => !position.handled.has(update_id));
  const line = async (inOrder: readonly NativeUpdate[]) => {
    for (const update of inOrder) {
      const acknowledge = await hand(ears, self, update);
      if (acknowledge === null) return;
      position.handled.add(update.update_id);
      const pending = acknowledge(loose.signal).finally(() => loose.acknowledgements.delete(pending));
      loose.acknowledgements.add(pending);
    }
  };
  await Promise.all(byChat(fresh).map(line));
  // An empty answer confirms the offset, and ids may start anew after a week of silence: then it would hide updates.
  if (updates.length === 0) position.offset = null;
  for (const { update_id } of updates) {
    if (!position.handled.delete(update_id)) return false;
    position.offset = update_id + 1;
  }
  return true;
}

function byChat(updates: readonly NativeUpdate[]): readonly (readonly NativeUpdate[])[] {
  const chats = new Map<number | undefined, NativeUpdate[]>();
  for (const update of updates) {
    const chat = (update.message ?? update.callback_query?.message)?.chat?.id;
    chats.set(chat, [...(chats.get(chat) ?? []), update]);
  }
  return [...chats.values()];
}

/** Hands one update to the host; the result tells the person what came of it. Null when the host could not take it. */
async function hand(ears: Ears, self: Self, update: NativeUpdate): Promise<Acknowledge | null> {
  const { event, query } = readSafely(ears, self, update);
  if (event === null) return (signal) => acknowledge(ears, query, null, signal);
  let reply: Reply;
  try {
    reply = await ears.host.receive(event);
  } catch (error) {
    ears.host.log.warn({ channel: "telegram", event: event.eventId, error: describe(ears.api, error) }, "not stored");
    return null;
  }
  return async (signal) => {
    const message = "message" in event ? event.message : null;
    const said = reply.say === null ? undefined : ears.say(event.address, reply.say, message, signal);
    await Promise.all([
      acknowledge(ears, query, reply.notice, signal),
      said?.catch((error: unknown) => {
        ears.host.log.warn({ channel: "telegram", error: describe(ears.api, error) }, "a reply was not delivered");
      }),
    ]);
  };
}

type Acknowledge = (signal: AbortSignal) => Promise<void>;

/** An update of an unknown shape is let go: it would come back for ever. */
function readSafely({ api, host }: Ears, self: Self, update: NativeUpdate): Incoming {
  try {
    return readUpdate(update, self, host.clock.now());
  } catch (error) {
    const fields = { channel: "telegram", event: update.update_id, error: describe(api, error) };
    host.log.error(fields, "an update of an unknown shape was dropped");
    return { event: null, query: null };
  }
}

/** Ends the spinner on the pressed button. Too late is harmless: what was pressed is stored. */
async function acknowledge(
  { api, host }: Ears,
  query: string | null,
  notice: string | null,
  stop: AbortSignal,
): Promise<void> {
  if (query === null) return;
  const text = notice === null ? {} : { text: shorten(notice), show_alert: false };
  try {
    const answer = { callback_query_id: query, ...text };
    await bounded(stop, CALL_TIMEOUT_MS, (signal) => api.call("answerCallbackQuery", answer, signal));
  } catch (error) {
    host.log.debug({ channel: "telegram", error: describe(api, error) }, "a press was not acknowledged");
  }
}

function shorten(notice: string): string {
  const points = [...notice];
  return points.length <= MAX_NOTICE ? notice : `${points.slice(0, MAX_NOTICE - 1).join("")}…`;
}

async function recover({ api, host }: Ears, position: Position, error: unknown, signal: AbortSignal): Promise<void> {
  const { state, waitMs } = verdict(error, ++position.failures);
  const reason = describe(api, error);
  host.report(state, reason);
  host.log.warn({ channel: "telegram", state, error: reason, waitMs }, "updates cannot be read");
  await sleep(host.clock, waitMs, signal);
}

function verdict(error: unknown, failures: number): { readonly state: ChannelState; readonly waitMs: number } {
  const status = statusOf(error);
  if (status === 409) return { state: "conflict", waitMs: WAIT.conflictMs };
  if (status === 401 || status === 404) return { state: "unauthorized", waitMs: WAIT.unauthorizedMs };
  return { state: "down", waitMs: retryAfterOf(error) ?? Math.min(WAIT.maxMs, WAIT.firstMs * 2 ** (failures - 1)) };
}

function describe(api: Api, error: unknown): string {
  return api.scrub(error instanceof Error ? error.message : String(error));
}

/** Ends early when the signal aborts. */
function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.at(clock.now() + ms, end);
    signal.addEventListener("abort", end);
  });
}
