/**
 * Updates as events of the channel port: who did what, where, in reply to what.
 *
 * It reads and never judges. Whoever hides behind a group or a channel is nobody (`actor` null); other bots, edits and
 * service messages say nothing; what another bot was addressed with is not for us.
 */
import type { InboundEvent } from "../../src/ports/channel.ts";
import type { Instant } from "../../src/ports/clock.ts";
import { formatAddress } from "./address.ts";

/** The bot itself, from getMe. */
export interface Self {
  readonly id: number;
  readonly username: string;
}

export interface Incoming {
  /** Null: nothing to report. */
  readonly event: InboundEvent | null;
  /** The press that waits to be acknowledged. */
  readonly query: string | null;
}

/** The fields read here; everything may be missing, for the platform adds and omits as it likes. */
export interface NativeUpdate {
  readonly update_id: number;
  readonly message?: NativeMessage;
  readonly callback_query?: NativeQuery;
}

interface NativeUser {
  readonly id: number;
  readonly is_bot?: boolean;
  readonly first_name?: string;
  readonly last_name?: string;
}

interface NativeEntity {
  readonly type: string;
  readonly offset: number;
  readonly length: number;
  readonly user?: NativeUser;
}

interface NativePlace {
  readonly message_id: number;
  readonly chat: { readonly id: number; readonly type: string };
  readonly message_thread_id?: number;
  readonly is_topic_message?: boolean;
}

interface NativeMessage extends NativePlace {
  readonly date: number;
  readonly from?: NativeUser;
  readonly sender_chat?: unknown;
  readonly text?: string;
  readonly entities?: readonly NativeEntity[];
  readonly caption?: string;
  readonly caption_entities?: readonly NativeEntity[];
  readonly reply_to_message?: NativeMessage;
  readonly forum_topic_created?: unknown;
  readonly migrate_to_chat_id?: number;
}

interface NativeQuery {
  readonly id: string;
  readonly from: NativeUser;
  readonly data?: string;
  /** Without `date` or with 0 the platform no longer knows its content, but still its place. */
  readonly message?: NativePlace;
}

/** Kinds of messages a person sends that carry no words; anything else without text is a service message. */
const MEDIA = [
  ...["voice", "audio", "video", "video_note", "animation", "sticker", "photo", "document", "paid_media"],
  ...["location", "venue", "contact", "poll", "dice", "game", "story", "checklist"],
];

const NOTHING: Incoming = { event: null, query: null };

/** `now` serves for presses, which carry no time of their own. */
export function readUpdate(update: NativeUpdate, self: Self, now: Instant): Incoming {
  // Another bot on the same data counts its updates anew.
  const eventId = `${self.id}:${update.update_id}`;
  if (update.callback_query) return readQuery(update.callback_query, eventId, now);
  return update.message ? { event: readMessage(update.message, eventId, self), query: null } : NOTHING;
}

function readQuery({ id, from, data, message }: NativeQuery, eventId: string, at: Instant): Incoming {
  if (data === undefined || message === undefined) return { event: null, query: id };
  const base = { channel: "telegram", eventId, at, ...whoOf(from, false), ...whereOf(message) };
  return { event: { ...base, kind: "press", control: data, message: String(message.message_id) }, query: id };
}

function readMessage(message: NativeMessage, eventId: string, self: Self): InboundEvent | null {
  const hidden = message.sender_chat !== undefined;
  const at = message.date * 1000;
  const base = { channel: "telegram", eventId, at, ...whoOf(message.from, hidden), ...whereOf(message) };
  if (message.migrate_to_chat_id !== undefined) {
    return { ...base, actor: null, kind: "moved", to: formatAddress(message.migrate_to_chat_id, null) };
  }
  const written = message.text ?? message.caption;
  const fromBot = message.from?.is_bot === true && !hidden;
  if (fromBot || (written === undefined && !MEDIA.some((kind) => kind in message))) return null;
  const heard = hear(written ?? "", message.entities ?? message.caption_entities ?? [], self);
  if (heard === null) return null;
  const content = written === undefined ? "media" : "text";
  const replyTo = replyToBot(message.reply_to_message, self);
  return { ...base, kind: "text", ...heard, message: String(message.message_id), replyTo, content };
}

function whoOf(from: NativeUser | undefined, hidden: boolean): { actor: string | null; actorName: string } {
  const nobody = from === undefined || hidden || from.is_bot === true;
  const names = [from?.first_name, from?.last_name].filter((name) => name !== undefined && name !== "");
  return { actor: nobody ? null : `telegram:${from.id}`, actorName: names.join(" ") };
}

/** A thread id alone is no topic: outside forums it only groups replies. */
function whereOf({ chat, message_thread_id, is_topic_message }: NativePlace): { address: string; direct: boolean } {
  const topic = is_topic_message === true ? (message_thread_id ?? null) : null;
  return { address: formatAddress(chat.id, topic), direct: chat.type === "private" };
}

/** In a topic each message seems to reply to the notice of the topic's creation, which is nobody's prompt. */
function replyToBot(parent: NativeMessage | undefined, self: Self): string | null {
  if (parent?.from?.id !== self.id || parent.forum_topic_created !== undefined) return null;
  return String(parent.message_id);
}

/** The words without our own name at either end; null when another bot's command. */
function hear(
  text: string,
  entities: readonly NativeEntity[],
  self: Self,
): { readonly text: string; readonly mentioned: boolean } | null {
  const command = entities.find(({ type, offset }) => type === "bot_command" && offset === 0);
  const [name = "", addressee] = command ? text.slice(0, command.length).split("@") : [];
  if (addressee !== undefined) {
    const ours = addressee.toLowerCase() === self.username.toLowerCase();
    return ours ? { text: name + text.slice(command?.length), mentioned: true } : null;
  }
  const mention = entities.find((entity) => names(entity, text, self));
  if (!mention) return { text, mentioned: false };
  const before = text.slice(0, mention.offset).trim();
  const after = text.slice(mention.offset + mention.length).trim();
  return { text: before === "" || after === "" ? before + after.replace(/^[,:]\s*/, "") : text, mentioned: true };
}

function names({ type, offset, length, user }: NativeEntity, text: string, self: Self): boolean {
  if (type === "text_mention") return user?.id === self.id;
  return type === "mention" && text.slice(offset, offset + length).toLowerCase() === `@${self.username.toLowerCase()}`;
}
