/**
 * Pushes the updates of the loopback Telegram to a webhook, as the platform does.
 *
 * An update is sent until its request is answered with 2xx; what follows in its queue waits for it. The messages of a
 * chat are one queue, the presses of a person another: the documents promise no order at all, so that none is made up
 * between them. Waits are far shorter than the platform's, which doubles them to a minute and more.
 */
import type { Json } from "./telegram-world.ts";

export interface WebhookWish {
  readonly url: string;
  /** Null: the requests carry none. */
  readonly secret: string | null;
  /** Requests under way at once. */
  readonly most: number;
}

export interface Courier {
  readonly wish: WebhookWish;
  /** There may be something new to send. */
  look(): void;
  /** The fields of WebhookInfo that tell of the last failed delivery; empty when there was none. */
  failure(): Json;
  /** What the webhook takes next is sent once more although it was taken. */
  repeatNext(): void;
  stop(): void;
}

/** Before the same update is sent again, in milliseconds, doubling. */
const WAIT = { firstMs: 20, mostMs: 320 } as const;

interface Round {
  readonly updates: Map<number, Json>;
  readonly wish: WebhookWish;
  readonly timeoutMs: number;
  readonly changed: () => void;
  readonly life: AbortController;
  /** Queues with an update under way or waiting to be sent again, and how long they last waited. */
  readonly busy: Map<string, number>;
  underWay: number;
  repeats: number;
  failure: Json;
}

export function startCourier(
  updates: Map<number, Json>,
  wish: WebhookWish,
  settings: { readonly deliveryTimeoutMs: number; readonly changed: () => void },
): Courier {
  const state = { life: new AbortController(), busy: new Map(), underWay: 0, repeats: 0, failure: {} };
  const round: Round = { updates, wish, timeoutMs: settings.deliveryTimeoutMs, changed: settings.changed, ...state };
  look(round);
  return {
    wish,
    look: () => look(round),
    failure: () => round.failure,
    repeatNext() {
      round.repeats += 1;
    },
    stop: () => round.life.abort(),
  };
}

function look(round: Round): void {
  for (const [id, update] of round.updates) {
    if (round.life.signal.aborted || round.underWay >= round.wish.most) return;
    const queue = queueOf(update);
    if (!round.busy.has(queue)) void send(round, queue, id, update);
  }
}

function queueOf(update: Json): string {
  const { message, callback_query: query } = update as { message?: Whose; callback_query?: Whose };
  if (query) return `presses of ${query.from?.id}`;
  return message?.chat ? `chat ${message.chat.id}` : `update ${update.update_id}`;
}

type Whose = { readonly chat?: { readonly id: number }; readonly from?: { readonly id: number } };

async function send(round: Round, queue: string, id: number, update: Json, waitedMs = 0): Promise<void> {
  round.busy.set(queue, waitedMs);
  round.underWay += 1;
  const fault = await post(round, update);
  round.underWay -= 1;
  if (round.life.signal.aborted) return;
  if (fault === null) taken(round, queue, id);
  else sendAgain(round, queue, id, update, fault);
  round.changed();
  look(round);
}

function taken(round: Round, queue: string, id: number): void {
  if (round.repeats > 0) round.repeats -= 1;
  else round.updates.delete(id);
  round.busy.delete(queue);
}

function sendAgain(round: Round, queue: string, id: number, update: Json, fault: string): void {
  round.failure = { last_error_date: Math.floor(Date.now() / 1000), last_error_message: fault };
  const waitMs = Math.min(WAIT.mostMs, Math.max(WAIT.firstMs, 2 * (round.busy.get(queue) ?? 0)));
  setTimeout(() => {
    if (!round.life.signal.aborted) void send(round, queue, id, update, waitMs);
  }, waitMs);
}

/** Null when it was taken, else what the platform would say. */
async function post({ wish, timeoutMs, life }: Round, update: Json): Promise<string | null> {
  const secret = wish.secret === null ? {} : { "x-telegram-bot-api-secret-token": wish.secret };
  const signal = AbortSignal.any([life.signal, AbortSignal.timeout(timeoutMs)]);
  const headers = { "content-type": "application/json", ...secret };
  try {
    const answer = await fetch(wish.url, { method: "POST", headers, body: JSON.stringify(update), signal });
    await answer.arrayBuffer();
    return answer.ok ? null : `Wrong response from the webhook: ${answer.status} ${answer.statusText}`;
  } catch {
    return signal.aborted ? "Read timeout expired" : "Connection refused";
  }
}
