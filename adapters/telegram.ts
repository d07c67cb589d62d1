/**
 * Telegram: private chats, groups and forum topics through one bot, by long polling or by webhook.
 *
 * It says what the Bot API can do and puts the pieces of `telegram/` together. Nothing is retried here and nothing
 * shortened: the engine paces, repeats and fits. The token stands in no message and no log.
 */
import { z } from "zod";
import { DeliveryError } from "../src/core/delivery.ts";
import type { Limits } from "../src/core/limits.ts";
import type { Channel, ChannelHost, ChannelModule } from "../src/ports/channel.ts";
import { parseAddress } from "./telegram/address.ts";
import { bounded, createApi } from "./telegram/api.ts";
import { type Desk, editCopy, type OpenFields, sendCopy, sendWords } from "./telegram/copy.ts";
import { toDeliveryError } from "./telegram/failure.ts";
import { createIntake } from "./telegram/intake.ts";
import { createPolling } from "./telegram/poll.ts";
import { webhookFault } from "./telegram/reach.ts";
import { createIdentity } from "./telegram/self.ts";
import { keepWebhook, type Webhook } from "./telegram/subscription.ts";

/** Milliseconds one send, edit or word may take, all its calls together. */
const OPERATION_MS = 15_000;

const limits: Limits = {
  // 1-4096 characters after entities parsing; https://core.telegram.org/bots/api#sendmessage, read 2026-11-30. Counted
  // in code points: 4,096 emoji pass, one more is refused (github.com/FerroxLabs/wayland/issues/934).
  text: { max: 4096, unit: "codePoints" },
  buttons: {
    // Measured by users, in no document: 100 on a message, 8 in a row; three short ones stay readable on a phone.
    max: 100,
    perRow: 3,
    // No documented limit; phones show about 32 characters, desktops about twice that.
    label: { max: 60, unit: "codePoints" },
    // https://core.telegram.org/bots/api#inlinekeyboardbutton, read 2026-11-30.
    payloadBytes: 64,
  },
  edits: true,
  replies: true,
  entryField: true,
  attendance: "always",
  // About 30 a second, 1 a second in a chat, 20 a minute in a group; https://core.telegram.org/bots/faq, read 2026-11-30.
  pace: { perSecond: 30, perAddressMs: 1_000, perGroupMs: 3_000 },
  // The platform knows no idempotency key.
  repeat: "blind",
  unknownWaitMs: 30_000,
};

export interface TelegramConfig {
  readonly token: string;
  /** Where the Bot API is served; default https://api.telegram.org. */
  readonly apiRoot: string;
  /** The bot's command list in the person's words; none given leaves the list as it is. */
  readonly commands: readonly { readonly command: string; readonly description: string }[];
  /** Where updates are pushed to, and the secret that proves who pushes; default null: they are polled. */
  readonly webhook: Webhook | null;
}

const settings = z.strictObject({
  token: z
    .string()
    .regex(/^[\w:-]+$/, "must be a bot token as BotFather gives it: digits, a colon, letters and digits"),
  apiRoot: z.url({ protocol: /^https?$/ }).default("https://api.telegram.org"),
  commands: z
    .array(z.strictObject({ command: z.string().regex(/^[a-z0-9_]{1,32}$/), description: z.string().min(1).max(256) }))
    .max(100)
    .default([]),
  webhook: z
    .strictObject({
      url: z.url({ protocol: /^https?$/, error: "must be an address that begins with https://" }),
      secret: z.string().regex(/^[\w-]{1,256}$/, "must be 1 to 256 of the characters A-Z, a-z, 0-9, _ and -"),
    })
    .nullable()
    .default(null),
});

const config: z.ZodType<TelegramConfig> = settings.superRefine(({ apiRoot, webhook }, faults) => {
  if (webhook === null || !URL.canParse(webhook.url) || !URL.canParse(apiRoot)) return;
  const message = webhookFault(webhook.url, apiRoot);
  if (message !== null) faults.addIssue({ code: "custom", path: ["webhook", "url"], message });
});

export const telegram: ChannelModule<TelegramConfig> = {
  name: "telegram",
  limits,
  config,
  open: async (given, host) => open(given, host),
};

function open(given: TelegramConfig, host: ChannelHost): Channel {
  const api = createApi(given.token, given.apiRoot, given.webhook?.secret);
  const life = new AbortController();
  const fields: OpenFields = new Map();

  async function at<T>(to: string, stop: AbortSignal, work: (desk: Desk) => Promise<T>): Promise<T> {
    const place = parseAddress(to);
    if (place === null) {
      throw new DeliveryError("gone", { sent: "no", detail: `${to} is no address: use telegram:<chat>[/<topic>]` });
    }
    try {
      return await bounded(stop, OPERATION_MS, (signal) => work({ api, place, signal, fields }));
    } catch (error) {
      throw toDeliveryError(error, api);
    }
  }

  const say = (to: string, text: string, replyTo: string | null, stop: AbortSignal) =>
    at(to, stop, (desk) => sendWords(desk, text, replyTo));

  const ears = { api, host, say };
  const identity = createIdentity(api, life.signal);
  const listening = { ...ears, identity, commands: given.commands };
  const { webhook } = given;
  if (webhook) {
    const handle = createIntake(ears, identity, webhook.secret, life.signal);
    host.mount({ audience: "platform", handle });
  }

  return {
    send: (to, prompt, { partial }) => at(to, life.signal, (desk) => sendCopy(desk, prompt, partial)),
    edit: (to, receipt, prompt) => at(to, life.signal, (desk) => editCopy(desk, receipt, prompt)),
    say: (to, text, replyTo) => say(to, text, replyTo, life.signal),
    listen: webhook ? (signal) => keepWebhook(listening, webhook, signal) : createPolling(listening),
    close: async () => life.abort(),
  };
}
