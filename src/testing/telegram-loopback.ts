/**
 * A person in a private chat with the bot, on the loopback server that speaks Telegram's protocol.
 *
 * Nothing of the client library is replaced: the channel talks HTTP to the server as it would to the platform.
 */
import type { ChannelModule } from "../ports/channel.ts";
import { type Hand, type Loopback, type Play, type Seen, type Subject, WAIT_MS } from "./loopback.ts";
import { type Fault, startTelegram, type TelegramServer } from "./telegram-server.ts";
import type { Message, TelegramUser } from "./telegram-world.ts";

const ANA = 100;
const STRANGER = 200;
const MOVED = -1_000_000_000_100;

/** How the platform words each refusal; https://core.telegram.org/bots/api#making-requests. */
const REFUSALS = {
  "rate limited": { status: 429, description: "Too Many Requests", parameters: { retry_after: WAIT_MS / 1000 } },
  "receipt lost": { applied: true, connection: "reset" },
  "token refused": { status: 401, description: "Unauthorized" },
  "content refused": { status: 400, description: "Bad Request: can't parse entities" },
  "chat moved": {
    status: 400,
    description: "Bad Request: group chat was upgraded to a supergroup chat",
    parameters: { migrate_to_chat_id: MOVED },
  },
} as const satisfies Partial<Record<Play, Fault>>;

const GOES_WELL: Fault = {};

export function telegramSubject<C>(module: ChannelModule<C>, config: (server: TelegramServer) => C): Subject {
  const refusals = Object.keys(REFUSALS) as (keyof typeof REFUSALS)[];
  return {
    name: module.name,
    limits: module.limits,
    plays: [...refusals, "out of reach", "chat gone", "listening interrupted", "stranger"],
    start: async () => telegramLoopback(module, config, await startTelegram()),
  };
}

function telegramLoopback<C>(
  module: ChannelModule<C>,
  config: (server: TelegramServer) => C,
  server: TelegramServer,
): Loopback {
  const notices: string[] = [];
  let closed: Promise<void> | null = null;
  const close = () => {
    closed ??= server.close();
    return closed;
  };
  /** Ends the platform; what it had to refuse for its form is a fault of the adapter whatever the case was about. */
  const end = async () => {
    await close();
    if (server.refusals.length > 0) throw new Error(`Telegram refused ${server.refusals.join("; ")}`);
  };

  return {
    ...handOf(server.user(ANA, "Ana"), (notice) => notices.push(notice)),
    place: { address: `telegram:${ANA}`, actor: `telegram:${ANA}` },
    moved: `telegram:${MOVED}`,
    stranger: handOf(server.user(STRANGER, "Mallory"), () => {}),
    open: (host) => module.open(config(server), host),
    shown: async () => server.messages(ANA).map(seen),
    entryOpen: async () => server.messages(ANA).some((message) => message.forceReply !== null),
    notices: async () => notices,
    play: (fault, spared = 0) => playOn(server, fault, spared, close),
    close: end,
  };
}

function handOf(user: TelegramUser, noticed: (notice: string) => void): Hand {
  return {
    async press(message, button) {
      const shown = message.buttons.some((one) => one.control === button.control);
      const { answered } = user.presses(Number(message.id), shown ? button.label : button.control);
      void answered.then((notice) => notice !== null && noticed(notice));
    },
    async write(text, replyTo) {
      user.says(user.id, text, replyTo ? { replyTo: Number(replyTo.id) } : {});
    },
  };
}

function playOn(server: TelegramServer, fault: Play, spared: number, close: () => Promise<void>): void {
  if (fault === "out of reach") void close();
  else if (fault === "chat gone") server.user(ANA, "Ana").blocks();
  else if (fault === "listening interrupted") server.inject("getUpdates", { status: 502 });
  else if (fault in REFUSALS) {
    for (const method of ["sendMessage", "editMessageText"]) {
      if (spared > 0) server.inject(method, GOES_WELL, spared);
      server.inject(method, REFUSALS[fault as keyof typeof REFUSALS]);
    }
  } else throw new Error(`Telegram does not play "${fault}"`);
}

/** As it reads: a full-width at sign looks like the other one and mentions nobody. */
function seen(message: Message): Seen {
  const buttons = message.keyboard?.inline_keyboard.flat() ?? [];
  return {
    id: String(message.id),
    text: message.text.replaceAll("\uff20", "@"),
    buttons: buttons.map(({ text, callback_data }) => ({ label: text, control: callback_data ?? "" })),
  };
}
