/**
 * What each method of the Bot API does to the loopback server's Telegram, for bodies that already passed the rules.
 *
 * It answers as the platform does, in its words where clients read them. Updates stay until a getUpdates with a higher
 * offset confirms them; one getUpdates is held at a time and a second one ends the first.
 */
import type { ServerResponse } from "node:http";
import {
  addMessage,
  type Chat,
  type Json,
  type Keyboard,
  type Message,
  nativeMessage,
  type World,
} from "./telegram-world.ts";

/** An answer other than `ok`; `message` is the platform's description. */
export class Refused extends Error {
  readonly status: number;
  readonly parameters: Json | undefined;

  constructor(status: number, description: string, parameters?: Json) {
    super(description);
    this.status = status;
    this.parameters = parameters;
  }
}

/** The bot's side: what waits for it and how it fetches it. */
export interface Mailbox {
  /** By update id, in order, until confirmed. */
  readonly updates: Map<number, Json>;
  lastUpdate: number;
  /** Empty: none set. */
  webhook: string;
  /** As last given to getUpdates; null: everything. */
  allowed: readonly string[] | null;
  /** The getUpdates that is being held. */
  poll: { readonly wake: () => void; readonly conflict: () => void } | null;
}

/** A press is too old to acknowledge after this long; the platform publishes no figure. */
const PRESS_LIFE_MS = 60_000;
const NOT_MODIFIED =
  "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message";
const TOO_OLD = "query is too old and response timeout expired or query ID is invalid";
const TWO_POLLS = "terminated by other getUpdates request; make sure that only one bot instance is running";
const WEBHOOK_SET =
  "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";

type Method = (world: World, body: Json, mailbox: Mailbox, response: ServerResponse) => unknown;

export const ACTIONS: Readonly<Record<string, Method>> = {
  getMe: ({ bot }) => bot,
  getUpdates: (_, body, mailbox, response) => getUpdates(mailbox, body, response),
  sendMessage,
  editMessageText: (world, body) =>
    edit(world, body, { text: String(body.text), entities: entitiesOf(body), keyboard: keyboardOf(body) }),
  editMessageReplyMarkup: (world, body) => edit(world, body, { keyboard: keyboardOf(body) }),
  deleteMessage,
  answerCallbackQuery,
  setMyCommands: () => true,
  setWebhook: (_, body, mailbox) => setWebhook(mailbox, String(body.url), body.drop_pending_updates === true),
  deleteWebhook: (_, body, mailbox) => setWebhook(mailbox, "", body.drop_pending_updates === true),
  getChat(world, body) {
    const { id, type, title, topics } = writableChat(world, body.chat_id);
    return { id, type, title, ...(topics ? { is_forum: true } : {}) };
  },
  getChatMember(world, body) {
    const user = world.accounts.get(Number(body.user_id));
    if (!user) throw badRequest("user not found");
    return { status: "member", user };
  },
};

export function createMailbox(): Mailbox {
  return { updates: new Map(), lastUpdate: 700_000, webhook: "", allowed: null, poll: null };
}

/** Puts an update into the mailbox, under its own id if it has one, unless the bot did not ask for its kind. */
export function deliver(mailbox: Mailbox, update: Json): void {
  const kind = Object.keys(update).find((key) => key !== "update_id") ?? "";
  if (mailbox.allowed?.length && !mailbox.allowed.includes(kind)) return;
  const id = typeof update.update_id === "number" ? update.update_id : ++mailbox.lastUpdate;
  mailbox.updates.set(id, { ...update, update_id: id });
  mailbox.poll?.wake();
}

async function getUpdates(mailbox: Mailbox, body: Json, response: ServerResponse): Promise<unknown> {
  if (mailbox.webhook !== "") throw new Refused(409, `Conflict: ${WEBHOOK_SET}`);
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

function setWebhook(mailbox: Mailbox, url: string, drop: boolean): true {
  mailbox.webhook = url;
  if (drop) mailbox.updates.clear();
  if (url !== "") mailbox.poll?.conflict();
  return true;
}

function sendMessage(world: World, body: Json): Json {
  const chat = writableChat(world, body.chat_id);
  const topic = body.message_thread_id === undefined ? null : Number(body.message_thread_id);
  if (topic !== null && !chat.topics?.includes(topic)) throw badRequest("message thread not found");
  const reply = body.reply_parameters as { message_id: number; allow_sending_without_reply?: boolean } | undefined;
  const found = reply !== undefined && world.messages.get(reply.message_id)?.chat === chat.id;
  if (reply && !found && !reply.allow_sending_without_reply) throw badRequest("message to be replied not found");
  const markup = body.reply_markup as Json | undefined;
  const message = addMessage(world, {
    chat: chat.id,
    topic,
    from: world.bot.id,
    replyTo: found ? reply.message_id : null,
    text: String(body.text),
    entities: entitiesOf(body),
    keyboard: keyboardOf(body),
    forceReply: markup?.force_reply === true ? markup : null,
  });
  return nativeMessage(world, message);
}

function edit(world: World, body: Json, change: Partial<Pick<Message, "text" | "entities" | "keyboard">>): Json {
  const message = messageIn(writableChat(world, body.chat_id), world, body.message_id, "message to edit not found");
  if (message.from !== world.bot.id || message.forceReply) throw badRequest("message can't be edited");
  const { text, entities, keyboard } = message;
  const before = { text, entities, keyboard };
  if (JSON.stringify({ ...before, ...change }) === JSON.stringify(before)) throw badRequest(NOT_MODIFIED);
  Object.assign(message, change, { edits: message.edits + 1 });
  return nativeMessage(world, message);
}

function deleteMessage(world: World, body: Json): true {
  const chat = writableChat(world, body.chat_id);
  world.messages.delete(messageIn(chat, world, body.message_id, "message to delete not found").id);
  return true;
}

function answerCallbackQuery(world: World, body: Json): true {
  const id = String(body.callback_query_id);
  const press = world.presses.get(id);
  if (!press || Date.now() - press.at > PRESS_LIFE_MS) throw badRequest(TOO_OLD);
  world.presses.delete(id);
  press.settle(typeof body.text === "string" && body.text !== "" ? body.text : null);
  return true;
}

/** The chat, if the bot may write to it. */
function writableChat(world: World, id: unknown): Chat {
  const chat = world.chats.get(Number(id));
  if (!chat) throw badRequest("chat not found");
  if (chat.movedTo !== null)
    throw badRequest("group chat was upgraded to a supergroup chat", { migrate_to_chat_id: chat.movedTo });
  if (chat.barred !== null) throw new Refused(403, `Forbidden: ${chat.barred}`);
  return chat;
}

function messageIn(chat: Chat, world: World, id: unknown, otherwise: string): Message {
  const message = world.messages.get(Number(id));
  if (message?.chat !== chat.id) throw badRequest(otherwise);
  return message;
}

function badRequest(description: string, parameters?: Json): Refused {
  return new Refused(400, `Bad Request: ${description}`, parameters);
}

function entitiesOf(body: Json): readonly Json[] {
  return (body.entities ?? []) as Json[];
}

/** An empty keyboard is none. */
function keyboardOf(body: Json): Keyboard | null {
  const keyboard = body.reply_markup as Keyboard | undefined;
  return keyboard?.inline_keyboard?.length ? keyboard : null;
}

/** What privacy mode lets through: private chats, commands, replies to the bot, service messages. */
export function heardInPrivacyMode(update: Json, bot: number): boolean {
  const message = update.message as Json | undefined;
  if (!message || message.from === undefined || (message.chat as Json).type === "private") return true;
  const parent = message.reply_to_message as { from?: { id: number } } | undefined;
  return parent?.from?.id === bot || /^\/[a-z]/i.test(String(message.text ?? ""));
}
