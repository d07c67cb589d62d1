/**
 * What waits for the bot of the loopback Telegram, and the two ways it leaves: fetched by getUpdates, or pushed to a
 * webhook.
 *
 * Updates stay until a getUpdates with a higher offset confirms them or the webhook takes them. One getUpdates is held at
 * a time, a second one ends the first, and none is answered while a webhook is set.
 */
import type { ServerResponse } from "node:http";
import { type Courier, startCourier, type WebhookWish } from "./telegram-courier.ts";
import { badRequest, Refused } from "./telegram-refusal.ts";
import type { Json } from "./telegram-world.ts";

/** The bot's side: what waits for it and how it gets it. */
export interface Mailbox {
  /** By update id, in order, until confirmed. */
  readonly updates: Map<number, Json>;
  readonly settings: MailboxSettings;
  lastUpdate: number;
  /** As last given to getUpdates or setWebhook; null: everything. */
  allowed: readonly string[] | null;
  /** The getUpdates that is being held. */
  poll: { readonly wake: () => void; readonly conflict: () => void } | null;
  /** Null: no webhook is set. */
  courier: Courier | null;
}

export interface MailboxSettings {
  /** As a Bot API server of one's own in local mode: webhooks by plain http, to any port and address. */
  readonly local: boolean;
  /** Milliseconds a webhook may take to answer. */
  readonly deliveryTimeoutMs: number;
  /** Called whenever a delivery ended. */
  readonly changed: () => void;
}

const TWO_POLLS = "terminated by other getUpdates request; make sure that only one bot instance is running";
const WEBHOOK_SET =
  "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";
const PORTS = ["", "443", "80", "88", "8443"];
/** Addresses the platform does not send to; enough of them to meet those a test could use. */
const RESERVED = /^(localhost|127\.|10\.|192\.168\.|\[)/;
const DEFAULT_CONNECTIONS = 40;

export function createMailbox(settings: MailboxSettings): Mailbox {
  return { updates: new Map(), settings, lastUpdate: 700_000, allowed: null, poll: null, courier: null };
}

/** Puts an update into the mailbox, under its own id if it has one, unless the bot did not ask for its kind. */
export function deliver(mailbox: Mailbox, update: Json): void {
  const kind = Object.keys(update).find((key) => key !== "update_id") ?? "";
  if (mailbox.allowed?.length && !mailbox.allowed.includes(kind)) return;
  const id = typeof update.update_id === "number" ? update.update_id : ++mailbox.lastUpdate;
  mailbox.updates.set(id, { ...update, update_id: id });
  mailbox.poll?.wake();
  mailbox.courier?.look();
}

export async function getUpdates(mailbox: Mailbox, body: Json, response: ServerResponse): Promise<unknown> {
  if (mailbox.courier) throw new Refused(409, `Conflict: ${WEBHOOK_SET}`);
  mailbox.poll?.conflict();
  const offset = Number(body.offset ?? 0);
  const from = offset < 0 ? ([...mailbox.updates.keys()].at(offset) ?? 0) : offset;
  for (const id of mailbox.updates.keys()) if (id < from) mailbox.updates.delete(id);
  if (body.allowed_updates !== undefined) mailbox.allowed = body.allowed_updates as string[];
  if (mailbox.updates.size === 0) await hold(mailbox, Number(body.timeout ?? 0), response);
  const visible = [...mailbox.updates].filter(([id]) => id >= from).map(([, update]) => update);
  return visible.slice(0, Number(body.limit ?? 100));
}

/** Until something arrives, the time is over, another poll comes or the client goes away. */
function hold(mailbox: Mailbox, seconds: number, response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const ending = (finish: () => void) => () => {
      clearTimeout(timer);
      if (mailbox.poll === mine) mailbox.poll = null;
      finish();
    };
    const mine = { wake: ending(resolve), conflict: ending(() => reject(new Refused(409, `Conflict: ${TWO_POLLS}`))) };
    const timer = setTimeout(mine.wake, seconds * 1000);
    mailbox.poll = mine;
    response.once("close", mine.wake);
  });
}

/** An empty address removes it. The same wish again changes nothing, and what failed before stays known. */
export function setWebhook(mailbox: Mailbox, body: Json): true {
  const { url = "", secret_token: secret = null, max_connections: most = DEFAULT_CONNECTIONS } = body;
  const wish = { url, secret, most } as WebhookWish;
  if (wish.url !== "") refuseBadAddress(wish.url, mailbox.settings.local);
  if (body.drop_pending_updates === true) mailbox.updates.clear();
  if (body.allowed_updates !== undefined) mailbox.allowed = body.allowed_updates as string[];
  if (JSON.stringify(mailbox.courier?.wish) === JSON.stringify(wish)) return true;
  mailbox.courier?.stop();
  mailbox.courier = wish.url === "" ? null : startCourier(mailbox.updates, wish, mailbox.settings);
  if (mailbox.courier) mailbox.poll?.conflict();
  return true;
}

function refuseBadAddress(address: string, local: boolean): void {
  if (!URL.canParse(address)) throw badRequest("invalid webhook URL specified");
  const { protocol, port, hostname } = new URL(address);
  if (local) return;
  if (protocol !== "https:") throw badRequest("bad webhook: An HTTPS URL must be provided for webhook");
  if (!PORTS.includes(port)) {
    throw badRequest("bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443");
  }
  if (RESERVED.test(hostname)) throw badRequest(`bad webhook: IP address ${hostname} is reserved`);
}

export function webhookInfo({ updates, courier, allowed }: Mailbox): Json {
  return {
    url: courier?.wish.url ?? "",
    has_custom_certificate: false,
    pending_update_count: updates.size,
    ...(courier ? { max_connections: courier.wish.most, ...courier.failure() } : {}),
    ...(allowed === null ? {} : { allowed_updates: allowed }),
  };
}
