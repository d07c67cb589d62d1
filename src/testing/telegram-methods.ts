/**
 * What each method of the Bot API does to the loopback server's Telegram, for bodies that already passed the rules.
 *
 * It answers as the platform does, in its words where clients read them.
 */
import type { ServerResponse } from "node:http";
import { getUpdates, type Mailbox, setWebhook, webhookInfo } from "./telegram-mailbox.ts";
import { badRequest, Refused } from "./telegram-refusal.ts";
import {
  addMessage,
  type Chat,
  type Json,
  type Keyboard,
  type Message,
  nativeMessage,
  type World,
} from "./telegram-world.ts";

/** A press is too old to acknowledge after this long; the platform publishes no figure. */
const PRESS_LIFE_MS = 60_000;
const NOT_MODIFIED =
  "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message";
const TOO_OLD = "query is too old and response timeout expired or query ID is invalid";

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
  setWebhook: (_, body, mailbox) => setWebhook(mailbox, body),
  deleteWebhook: (_, body, mailbox) => setWebhook(mailbox, body),
  getWebhookInfo: (_, __, mailbox) => webhookInfo(mailbox),
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
