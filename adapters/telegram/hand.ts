/**
 * One update to the host, and what came of it to the person: the toast on a press, the words in the chat.
 *
 * The person is told only after the host has the update, and telling holds nobody up: it goes on beside the next update
 * and may fail. Here nothing is tried again; whether an update may be confirmed is all the caller learns.
 */
import type { ChannelHost, Reply } from "../../src/ports/channel.ts";
import { type Api, bounded } from "./api.ts";
import { type Incoming, type NativeUpdate, readUpdate, type Self } from "./inbound.ts";

const CALL_TIMEOUT_MS = 15_000;
/** Code points of a toast (https://core.telegram.org/bots/api#answercallbackquery, read 2026-11-30). */
const MAX_NOTICE = 200;

export interface Ears {
  readonly api: Api;
  readonly host: ChannelHost;
  /** Says something in the chat. */
  readonly say: (to: string, text: string, replyTo: string | null, stop: AbortSignal) => Promise<void>;
}

export interface Hand {
  /** Whether the update is done with: the host has it, or it says nothing. Never rejects. */
  over(update: NativeUpdate): Promise<boolean>;
  /** Resolves when everybody was told; at once after the signal aborted. */
  told(): Promise<void>;
}

export function createHand(ears: Ears, self: Self, signal: AbortSignal): Hand {
  const telling = new Set<Promise<unknown>>();

  function tell(incoming: Incoming, reply: Reply): void {
    const pending = Promise.all([
      acknowledge(ears, incoming.query, reply.notice, signal),
      speak(ears, incoming.event, reply.say, signal),
    ]).finally(() => telling.delete(pending));
    telling.add(pending);
  }

  return {
    async over(update) {
      const incoming = readSafely(ears, self, update);
      const reply = await received(ears, incoming.event);
      if (reply !== null) tell(incoming, reply);
      return reply !== null;
    },
    told: async () => void (await Promise.all(telling)),
  };
}

/** Null when the host could not take it. */
async function received({ api, host }: Ears, event: Incoming["event"]): Promise<Reply | null> {
  if (event === null) return { notice: null, say: null };
  try {
    return await host.receive(event);
  } catch (error) {
    host.log.warn({ channel: "telegram", event: event.eventId, error: describe(api, error) }, "not stored");
    return null;
  }
}

/** An update of an unknown shape is let go: it would come back for ever. */
function readSafely({ api, host }: Ears, self: Self, update: NativeUpdate): Incoming {
  try {
    return readUpdate(update, self, host.clock.now());
  } catch (error) {
    const fields = { channel: "telegram", event: update.update_id, error: describe(api, error) };
    host.log.warn(fields, "an update of an unknown shape was dropped");
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

async function speak(
  { api, host, say }: Ears,
  event: Incoming["event"],
  words: string | null,
  stop: AbortSignal,
): Promise<void> {
  if (event === null || words === null) return;
  try {
    await say(event.address, words, "message" in event ? event.message : null, stop);
  } catch (error) {
    host.log.warn({ channel: "telegram", error: describe(api, error) }, "a reply was not delivered");
  }
}

function shorten(notice: string): string {
  const points = [...notice];
  return points.length <= MAX_NOTICE ? notice : `${points.slice(0, MAX_NOTICE - 1).join("")}…`;
}

export function describe(api: Api, error: unknown): string {
  return api.scrub(error instanceof Error ? error.message : String(error));
}
