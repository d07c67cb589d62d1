/**
 * A person in a private chat with the bot, on the loopback server that speaks Telegram's protocol.
 *
 * Nothing of the client library is replaced: the channel talks HTTP to the server as it would to the platform.
 */
import { serve } from "../gateway/listen.ts";
import type { ChannelModule, Mount } from "../ports/channel.ts";
import { type Hand, type Loopback, type Play, type Seen, type Subject, WAIT_MS } from "./loopback.ts";
import { type Fault, startTelegram, type TelegramServer } from "./telegram-server.ts";
import type { Message, TelegramUser } from "./telegram-world.ts";

const ANA = 100;
const STRANGER = 200;
const SECRET = "a-secret_of-the-webhook";
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
  return {
    ...subjectOf(module),
    start: async () => {
      const server = await startTelegram();
      return telegramLoopback(server, directly(module, config(server), server));
    },
  };
}

/** The same with updates pushed to a front of the channel's own, over HTTP. */
export function telegramWebhookSubject<C>(
  module: ChannelModule<C>,
  config: (server: TelegramServer, webhook: { readonly url: string; readonly secret: string }) => C,
): Subject {
  const { plays, ...subject } = subjectOf(module);
  return {
    ...subject,
    name: `${module.name} by webhook`,
    plays: [...plays, "event repeated"],
    start: async () => {
      const server = await startTelegram({ local: true });
      return telegramLoopback(server, await behindFront(module, (webhook) => config(server, webhook)));
    },
  };
}

function subjectOf({ name, limits }: Pick<Subject, "name" | "limits">) {
  const refusals = Object.keys(REFUSALS) as (keyof typeof REFUSALS)[];
  const plays: Play[] = [...refusals, "out of reach", "chat gone", "listening interrupted", "stranger"];
  return { name, limits, plays };
}

/** How updates come to the channel. */
interface Line {
  open: Loopback["open"];
  /** Breaks once. */
  interrupt(): void;
  close(): Promise<void>;
}

function directly<C>(module: ChannelModule<C>, config: C, server: TelegramServer): Line {
  return {
    open: (host) => module.open(config, host),
    interrupt: () => server.inject("getUpdates", { status: 502 }),
    close: async () => {},
  };
}

/** A proxy in front of the gateway, which knows no answer where nothing is mounted, or when it is told to fail. */
async function behindFront<C>(
  module: ChannelModule<C>,
  config: (webhook: { readonly url: string; readonly secret: string }) => C,
): Promise<Line> {
  let handle: Mount["handle"] | null = null;
  let broken = false;
  const fetch = async (request: Request) => {
    if (handle && !broken) return handle(request);
    broken = false;
    return new Response(null, { status: 502 });
  };
  const front = await serve({ fetch }, { host: "127.0.0.1", port: 0 });
  return {
    open(host) {
      const mount = (mounted: Mount) => {
        handle = mounted.handle;
        host.mount(mounted);
      };
      return module.open(config({ url: `${front.url}/channels/telegram`, secret: SECRET }), { ...host, mount });
    },
    interrupt() {
      broken = true;
    },
    close: () => front.close(),
  };
}

function telegramLoopback(server: TelegramServer, line: Line): Loopback {
  const notices: string[] = [];
  let closed: Promise<void> | null = null;
  const close = () => {
    closed ??= server.close();
    return closed;
  };
  /** Ends the platform; what it had to refuse for its form is a fault of the adapter whatever the case was about. */
  const end = async () => {
    await close();
    await line.close();
    if (server.refusals.length > 0) throw new Error(`Telegram refused ${server.refusals.join("; ")}`);
  };

  return {
    ...handOf(server.user(ANA, "Ana"), (notice) => notices.push(notice)),
    place: { address: `telegram:${ANA}`, actor: `telegram:${ANA}` },
    moved: `telegram:${MOVED}`,
    stranger: handOf(server.user(STRANGER, "Mallory"), () => {}),
    open: line.open,
    shown: async () => server.messages(ANA).map(seen),
    entryOpen: async () => server.messages(ANA).some((message) => message.forceReply !== null),
    notices: async () => notices,
    play: (fault, spared = 0) => playOn({ server, line, close }, fault, spared),
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

interface Played {
  readonly server: TelegramServer;
  readonly line: Line;
  readonly close: () => Promise<void>;
}

function playOn({ server, line, close }: Played, fault: Play, spared: number): void {
  if (fault === "out of reach") void close();
  else if (fault === "chat gone") server.user(ANA, "Ana").blocks();
  else if (fault === "listening interrupted") line.interrupt();
  else if (fault === "event repeated") server.repeatNext();
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
