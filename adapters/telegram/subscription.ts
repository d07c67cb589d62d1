/**
 * Keeps the webhook set: what listening is where updates are pushed.
 *
 * It reads no update; the intake does, in every process. The one process that holds the channel sets the webhook, looks
 * after it every few minutes and sets it again where somebody changed it or the platform could not reach us. It never
 * removes it: another process takes over.
 */
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Instant } from "../../src/ports/clock.ts";
import { bounded } from "./api.ts";
import { ALLOWED_UPDATES, introduce, type Listening, recover } from "./listening.ts";
import { nap } from "./nap.ts";

const CALL_TIMEOUT_MS = 15_000;
const LOOK_EVERY_MS = 180_000;
/** Requests the platform may have under way at once; its own default. */
const MAX_CONNECTIONS = 40;
/** How often to ask whether the backlog was delivered, and how long what is pending counts as one, in milliseconds. */
const BACKLOG = { everyMs: 1_000, forMs: 30_000 } as const;

export interface Webhook {
  readonly url: string;
  readonly secret: string;
}

const webhookInfo = z.looseObject({
  url: z.string(),
  pending_update_count: z.int(),
  /** Seconds since the epoch, by the platform's clock. */
  last_error_date: z.int().optional(),
  last_error_message: z.string().optional(),
  max_connections: z.int().optional(),
  allowed_updates: z.array(z.string()).optional(),
});

type WebhookInfo = z.infer<typeof webhookInfo>;

interface Condition {
  failures: number;
  /** Since when it is set as we want it; null: to be set. */
  setAt: Instant | null;
  /** Since then the backlog was delivered, or is given up as one. */
  up: boolean;
  /** Of the newest failed delivery known; null before the first look. */
  errorDate: number | null;
}

export async function keepWebhook(listening: Listening, webhook: Webhook, signal: AbortSignal): Promise<void> {
  const condition: Condition = { failures: 0, setAt: null, up: false, errorDate: null };
  let introduced = false;
  while (!signal.aborted) {
    try {
      if (!introduced) await introduce(listening, signal);
      introduced = true;
      if (condition.setAt === null) await set(listening, webhook, condition, signal);
      const info = await look(listening, signal);
      condition.failures = 0;
      const waitMs = await attend(listening, webhook, condition, info, signal);
      await nap(listening.host.clock, waitMs, signal).over;
    } catch (error) {
      if (signal.aborted) break;
      Object.assign(condition, { up: false, setAt: null });
      await recover(listening, ++condition.failures, error, signal);
    }
  }
}

async function set({ api, host }: Listening, webhook: Webhook, condition: Condition, stop: AbortSignal): Promise<void> {
  const { url, secret } = webhook;
  const wish = { url, secret_token: secret, allowed_updates: ALLOWED_UPDATES, max_connections: MAX_CONNECTIONS };
  await bounded(stop, CALL_TIMEOUT_MS, (signal) => api.call("setWebhook", wish, signal));
  condition.setAt = host.clock.now();
}

async function look({ api }: Listening, stop: AbortSignal): Promise<WebhookInfo> {
  const answer = await bounded(stop, CALL_TIMEOUT_MS, (signal) => api.call("getWebhookInfo", {}, signal));
  const { data } = webhookInfo.safeParse(answer);
  if (!data) throw new Error("getWebhookInfo was answered with something else");
  return data;
}

/** What a look at the webhook leads to; the result is when to look again, in milliseconds. */
async function attend(
  listening: Listening,
  webhook: Webhook,
  condition: Condition,
  info: WebhookInfo,
  stop: AbortSignal,
): Promise<number> {
  const { host } = listening;
  const failure = newFailure(listening, condition, info);
  const changed = !asWanted(info, webhook);
  if (failure !== null) host.log.warn({ channel: "telegram", error: failure }, "the webhook failed; it is set again");
  if (changed) host.log.warn({ channel: "telegram" }, "somebody else changed the webhook; it is set again");
  if (failure !== null || changed) await set(listening, webhook, condition, stop);
  const backlog = info.pending_update_count > 0;
  if (failure !== null && backlog) {
    condition.up = false;
    host.report("down", failure);
    return BACKLOG.forMs;
  }
  const given = host.clock.now() - (condition.setAt ?? 0);
  if (!condition.up && backlog && given < BACKLOG.forMs) return BACKLOG.everyMs;
  if (!condition.up) host.report("up");
  condition.up = true;
  return LOOK_EVERY_MS;
}

/** What the platform says of its last failed delivery; null where it is known already, or from before our time. */
function newFailure({ api }: Listening, condition: Condition, info: WebhookInfo): string | null {
  const { last_error_date: date = 0, last_error_message: said = "a delivery failed" } = info;
  const known = condition.errorDate ?? date;
  condition.errorDate = Math.max(date, known);
  return date > known ? api.scrub(said) : null;
}

/** The platform writes addresses its own way. What it does not say is taken to be as it was set. */
function asWanted(info: WebhookInfo, { url }: Webhook): boolean {
  const { max_connections: most = MAX_CONNECTIONS, allowed_updates: kinds = ALLOWED_UPDATES } = info;
  const same = URL.canParse(info.url) && new URL(info.url).href === new URL(url).href;
  return same && most === MAX_CONNECTIONS && isDeepStrictEqual(new Set(kinds), new Set(ALLOWED_UPDATES));
}
