/**
 * Updates as events of the channel port: who did what, where, in reply to what.
 *
 * It reads and never judges. Whoever hides behind a group or a channel is nobody (`actor` null); other bots, edits and
 * service messages say nothing; what another bot was addressed with is not for us.
 */
import { z } from "zod";
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

/** An update as it came: nothing but its number has been looked at. */
export interface NativeUpdate {
  readonly update_id: number;
}

const user = z.looseObject({
  id: z.int(),
  is_bot: z.boolean().optional(),
  first_name: z.string().optional(),
  last_name: z.string().optional(),
});

const entities = z
  .array(z.looseObject({ type: z.string(), offset: z.int(), length: z.int(), user: user.optional() }))
  .optional();

const place = z.looseObject({
  message_id: z.int(),
  chat: z.looseObject({ id: z.int(), type: z.string() }),
  message_thread_id: z.int().optional(),
  is_topic_message: z.boolean().optional(),
});

const parent = z.looseObject({
  message_id: z.int(),
  from: user.optional(),
  forum_topic_created: z.unknown().optional(),
});

const message = place.extend({
  date: z.int(),
  from: user.optional(),
  sender_chat: z.unknown().optional(),
  text: z.string().optional(),
  entities,
  caption: z.string().optional(),
  caption_entities: entities,
  reply_to_message: parent.optional(),
  migrate_to_chat_id: z.int().optional(),
});

/** On a message whose content the platform no longer knows, it still knows the place. */
const query = z.looseObject({ id: z.string(), from: user, data: z.string().optional(), message: place.optional() });

/** The fields read here; everything may be missing that is optional, for the platform adds and omits as it likes. */
const native = z.looseObject({ update_id: z.int(), message: message.optional(), callback_query: query.optional() });

type NativeUser = z.infer<typeof user>;
type NativeEntity = NonNullable<z.infer<typeof entities>>[number];
type NativePlace = z.infer<typeof place>;
type NativeMessage = z.infer<typeof message>;
type NativeQuery = z.infer<typeof query>;

/** Kinds of messages a person sends that carry no words; anything else without text is a service message. */
const MEDIA = [
  ...["voice", "audio", "video", "video_note", "animation", "sticker", "photo", "document", "paid_media"],
  ...["location", "venue", "contact", "poll", "dice", "game", "story", "checklist"],
];

/** In which chat it happened, as far as it says so; whoever waits in line by it is not read yet. */
export function chatOf(update: NativeUpdate): unknown {
  const { message, callback_query } = update as { message?: Where; callback_query?: { message?: Where } };
  return (message ?? callback_query?.message)?.chat?.id;
}

type Where = { readonly chat?: { readonly id?: unknown } | null } | null;

const NOTHING: Incoming = { event: null, query: null };

/** `now` serves for presses, which carry no time of their own. Throws, quoting nothing, at a shape nobody knows. */
export function readUpdate(raw: NativeUpdate, self: Self, now: Instant): Incoming {
  const { data: update, error } = native.safeParse(raw);
  if (!update) throw new Error(error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`).join("; "));
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
function replyToBot(parent: NativeMessage["reply_to_message"], self: Self): string | null {
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
