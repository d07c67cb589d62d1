/**
 * One copy of a prompt in one chat: sends it, edits it, opens and closes its entry field.
 *
 * A copy is one or several messages; at most one keyboard stands on it, on its last. Text goes out plain, styled by
 * entities and never by a parse mode, so nothing in it can be markup. A broken attempt reports what did arrive.
 */
import type { InlineKeyboardMarkup, MessageEntity, Opts } from "telegraf/types";
import { DeliveryError, type Receipt } from "../../src/core/delivery.ts";
import type { EntryField, FittedPrompt } from "../../src/core/fit.ts";
import type { Span } from "../../src/core/text.ts";
import type { Place } from "./address.ts";
import type { Api } from "./api.ts";
import { isDeleted, isUnmodified, toDeliveryError } from "./failure.ts";

/** What one operation on a copy works with. */
export interface Desk {
  readonly api: Api;
  readonly place: Place;
  readonly signal: AbortSignal;
  readonly fields: OpenFields;
}

/**
 * What the entry fields opened by this process ask and of whom, by chat and message, oldest first. A receipt does not
 * say it, and two changes of mind may come as one edit. After a restart an open field passes for the right one.
 */
export type OpenFields = Map<string, string>;

/** Fields remembered; the oldest is forgotten first. */
const MAX_FIELDS = 1_000;

/** The platform drops styling past this many entities (github.com/tdlib/telegram-bot-api/issues/820). */
const MAX_ENTITIES = 100;
const MAX_PLACEHOLDER = 64;
/** Stands where a message that cannot be removed any more held the end of a longer prompt. */
const BLANK = "·";
/** An @name that the platform would turn into a mention and notify. */
const MENTION = /(?<![\p{L}\p{N}_])@(?=\w\w)/gu;

/** A receipt while it is being earned. */
interface Draft {
  readonly parts: string[];
  entry?: string;
  postedAt?: number;
}

/** Sends what `partial` lacks; where the prompt has become shorter meanwhile, what stands is brought up to it. */
export async function sendCopy(desk: Desk, prompt: FittedPrompt, partial: Receipt | null): Promise<Receipt> {
  if (partial && partial.parts.length >= prompt.parts.length) return await editCopy(desk, partial, prompt);
  const copy: Draft = { ...partial, parts: [...(partial?.parts ?? [])] };
  try {
    await sendMissing(desk, prompt, copy);
    await openEntry(desk, prompt, copy);
    return copy;
  } catch (error) {
    throw withPartial(toDeliveryError(error, desk.api), copy);
  }
}

/** Surplus messages go first, so that no old keyboard outlives the edit; new ones follow last. */
export async function editCopy(desk: Desk, at: Receipt, prompt: FittedPrompt): Promise<Receipt> {
  const copy: Draft = { ...at, parts: at.parts.slice(0, prompt.parts.length) };
  try {
    for (const surplus of at.parts.slice(copy.parts.length)) await removePart(desk, surplus);
    for (const [index, part] of copy.parts.entries()) await editPart(desk, part, contentOf(prompt, index));
    await sendMissing(desk, prompt, copy);
    await openEntry(desk, prompt, copy);
    if (!prompt.entry && copy.entry !== undefined) await closeEntry(desk, copy, copy.entry);
    return copy;
  } catch (error) {
    throw withPartial(toDeliveryError(error, desk.api), copy);
  }
}

/** Plain words, as a reply where the message still stands. */
export async function sendWords(desk: Desk, text: string, replyTo: string | null): Promise<void> {
  await post(desk, { ...messageOf([{ text, style: "plain" }]), ...replyParameters(replyTo) });
}

type Content = Pick<Opts<"editMessageText">, "text"> & {
  readonly entities?: MessageEntity[];
  readonly reply_markup?: InlineKeyboardMarkup;
};

function contentOf(prompt: FittedPrompt, index: number): Content {
  const last = index === prompt.parts.length - 1;
  const keyboard = last && prompt.rows.length > 0 ? { reply_markup: keyboardOf(prompt.rows) } : {};
  return { ...messageOf(prompt.parts[index] ?? []), ...keyboard };
}

function keyboardOf(rows: FittedPrompt["rows"]): InlineKeyboardMarkup {
  return {
    inline_keyboard: rows.map((row) => row.map(({ label, control }) => ({ text: label, callback_data: control }))),
  };
}

/** Offsets count UTF-16 units, as JavaScript does. */
export function messageOf(spans: readonly Span[]): Pick<Content, "text" | "entities"> {
  const entities: MessageEntity[] = [];
  let text = "";
  for (const { text: written, style } of spans) {
    // The full-width sign looks the same, is as long, and mentions nobody.
    const shown = style === "code" ? written : written.replace(MENTION, "\uff20");
    if (style !== "plain" && shown !== "") entities.push({ type: style, offset: text.length, length: shown.length });
    text += shown;
  }
  return entities.length === 0 ? { text } : { text, entities: entities.slice(0, MAX_ENTITIES) };
}

async function sendMissing(desk: Desk, prompt: FittedPrompt, copy: Draft): Promise<void> {
  while (copy.parts.length < prompt.parts.length) {
    const { id, date } = await post(desk, contentOf(prompt, copy.parts.length));
    copy.parts.push(id);
    if (date !== undefined) copy.postedAt ??= date * 1000;
  }
}

interface Posted {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly date: number | undefined;
}

async function post({ api, place, signal }: Desk, content: Omit<Opts<"sendMessage">, "chat_id">): Promise<Posted> {
  const thread = place.topic === null ? {} : { message_thread_id: place.topic };
  const preview = { link_preview_options: { is_disabled: true } };
  const message = await api.call("sendMessage", { chat_id: place.chat, ...thread, ...preview, ...content }, signal);
  const { message_id: id, date } = (message ?? {}) as { message_id?: unknown; date?: unknown };
  if (typeof id === "number") return { id: String(id), date: typeof date === "number" ? date : undefined };
  throw new DeliveryError("unreachable", { sent: "unknown", detail: "sendMessage was answered without a message_id" });
}

async function editPart({ api, place, signal }: Desk, part: string, content: Content): Promise<void> {
  const which = { chat_id: place.chat, message_id: Number(part), link_preview_options: { is_disabled: true } };
  await api.call("editMessageText", { ...which, ...content }, signal).catch((error: unknown) => {
    if (!isUnmodified(error)) throw error;
  });
}

/** Messages older than 48 hours cannot be removed: they lose their words and buttons instead. */
async function removePart(desk: Desk, part: string): Promise<void> {
  try {
    await remove(desk, part);
  } catch (error) {
    const failure = toDeliveryError(error, desk.api);
    if (isDeleted(error)) return;
    if (failure.reason !== "rejected") throw failure;
    await editPart(desk, part, { text: BLANK });
  }
}

async function remove({ api, place, signal }: Desk, part: string): Promise<void> {
  await api.call("deleteMessage", { chat_id: place.chat, message_id: Number(part) }, signal);
}

/** An entry field is a help, not the question: a refused one is done without. One for something else is replaced. */
async function openEntry(desk: Desk, prompt: FittedPrompt, copy: Draft): Promise<void> {
  if (!prompt.entry) return;
  const asked = JSON.stringify(prompt.entry);
  if (copy.entry !== undefined) {
    if ((desk.fields.get(fieldKey(desk, copy.entry)) ?? asked) === asked) return;
    await closeEntry(desk, copy, copy.entry);
  }
  const hint = [...prompt.entry.placeholder].slice(0, MAX_PLACEHOLDER).join("");
  const placeholder = hint.trim() === "" ? {} : { input_field_placeholder: hint };
  const content = {
    ...entryText(prompt.entry),
    ...replyParameters(copy.parts.at(-1) ?? null),
    reply_markup: { force_reply: true, selective: prompt.entry.only !== undefined, ...placeholder } as const,
  };
  try {
    copy.entry = (await post(desk, content)).id;
    remember(desk.fields, fieldKey(desk, copy.entry), asked);
  } catch (error) {
    const failure = toDeliveryError(error, desk.api);
    if (failure.reason !== "rejected") throw failure;
  }
}

/** Selective means those the text mentions: the one whose client is to open the field, and nobody else. */
function entryText({ text, only }: EntryField): Pick<Content, "text" | "entities"> {
  if (!only) return messageOf([{ text, style: "plain" }]);
  const user = {
    id: Number(only.identity.slice(only.identity.indexOf(":") + 1)),
    is_bot: false,
    first_name: only.name,
  };
  const mention = { type: "text_mention", offset: 0, length: only.name.length, user } as const;
  return { ...messageOf([{ text: `${only.name}: ${text}`, style: "plain" }]), entities: [mention] };
}

/** Left standing where it cannot be removed; nothing depends on it any more. */
async function closeEntry(desk: Desk, copy: Draft, entry: string): Promise<void> {
  await remove(desk, entry).catch(() => {});
  desk.fields.delete(fieldKey(desk, entry));
  delete copy.entry;
}

function fieldKey({ place }: Desk, entry: string): string {
  return `${place.chat}/${entry}`;
}

function remember(fields: OpenFields, key: string, asked: string): void {
  fields.set(key, asked);
  const [oldest] = fields.keys();
  if (fields.size > MAX_FIELDS && oldest !== undefined) fields.delete(oldest);
}

function replyParameters(replyTo: string | null): Pick<Opts<"sendMessage">, "reply_parameters"> {
  const id = Number(replyTo ?? Number.NaN);
  if (!Number.isSafeInteger(id)) return {};
  return { reply_parameters: { message_id: id, allow_sending_without_reply: true } };
}

function withPartial(error: DeliveryError, copy: Draft): DeliveryError {
  if (copy.parts.length === 0) return error;
  return new DeliveryError(error.reason, {
    sent: error.sent,
    detail: error.message,
    partial: copy,
    ...(error.retryAfterMs === null ? {} : { retryAfterMs: error.retryAfterMs }),
    ...(error.movedTo === null ? {} : { movedTo: error.movedTo }),
  });
}
