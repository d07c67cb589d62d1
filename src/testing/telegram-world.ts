/**
 * The Telegram of the loopback server: chats, messages, and what people do in them.
 *
 * It holds what the platform would hold and turns each deed of a person into the update the platform would send; it
 * knows nothing of HTTP. Message ids are unique over all chats, which the platform promises for small groups only, so
 * that a test can name a message by its id alone.
 */

export type Json = Readonly<Record<string, unknown>>;

export interface Keyboard {
  readonly inline_keyboard: readonly (readonly { readonly text: string; readonly callback_data?: string }[])[];
}

/** A message as it stands now. */
export interface Message {
  readonly id: number;
  readonly chat: number;
  readonly topic: number | null;
  /** Null for the platform's own service messages. */
  readonly from: number | null;
  /** Seconds since the epoch. */
  readonly date: number;
  readonly replyTo: number | null;
  text: string;
  entities: readonly Json[];
  /** Null when it has no buttons. */
  keyboard: Keyboard | null;
  /** The force reply it was sent with. */
  readonly forceReply: Json | null;
  /** How often it was changed. */
  edits: number;
  /** Native fields beyond these, as `voice` or `sender_chat`. */
  readonly extra: Json;
}

type NewMessage = Pick<Message, "chat" | "from"> & Partial<Omit<Message, "id" | "date" | "edits">>;

export interface Chat {
  readonly id: number;
  readonly type: "private" | "group" | "supergroup";
  readonly title: string;
  /** Null when the chat is no forum. */
  readonly topics: readonly number[] | null;
  /** Why the bot may not write there, in the platform's words after `Forbidden: `. */
  barred: string | null;
  /** The supergroup it became. */
  movedTo: number | null;
}

export interface Press {
  readonly id: string;
  /** Resolves with the toast's text (null: none) once the bot acknowledges the press. */
  readonly answered: Promise<string | null>;
}

interface OpenPress {
  readonly settle: (text: string | null) => void;
  readonly at: number;
}

export interface SaysOptions {
  readonly replyTo?: number;
  readonly topic?: number;
  /** As an administrator who hides behind the group. */
  readonly anonymously?: boolean;
  /** Native fields beyond these. */
  readonly extra?: Json;
}

/** A person. Every deed names the chat; the person's own id is their private chat with the bot. */
export interface TelegramUser {
  readonly id: number;
  readonly name: string;
  /** Writes a message and returns its id. Mentions and commands become entities by themselves. */
  says(chat: number, text: string, options?: SaysOptions): number;
  /** Sends something that carries no text, or a photo with a caption. */
  sends(
    chat: number,
    kind: "voice" | "sticker" | "photo",
    options?: SaysOptions & { readonly caption?: string },
  ): number;
  /** Rewrites a message of theirs. */
  rewrites(message: number, text: string): void;
  /** Presses the button that reads `button`; where none does, sends `button` as payload, as a forged client could. */
  presses(message: number, button: string): Press;
  /** Removes a message for both sides. */
  removes(message: number): void;
  /** Keeps the bot from writing to them, until `unblocks`. */
  blocks(): void;
  unblocks(): void;
}

type Account = Json & { readonly id: number };

export interface World {
  readonly bot: Account;
  readonly accounts: Map<number, Account>;
  readonly chats: Map<number, Chat>;
  readonly messages: Map<number, Message>;
  readonly presses: Map<string, OpenPress>;
  /** Receives each update, without its id, as it happens. */
  readonly push: (update: Json) => void;
  lastMessage: number;
  lastPress: number;
}

const GROUP_ANONYMOUS_BOT: Account = {
  id: 1087968824,
  is_bot: true,
  first_name: "Group",
  username: "GroupAnonymousBot",
};
const MEDIA: Readonly<Record<"voice" | "sticker" | "photo", unknown>> = {
  voice: { file_id: "v", file_unique_id: "v", duration: 1 },
  sticker: { file_id: "s", file_unique_id: "s", type: "regular", width: 1, height: 1 },
  photo: [{ file_id: "p", file_unique_id: "p", width: 1, height: 1 }],
};

export function createWorld(bot: Account, push: (update: Json) => void): World {
  const accounts = new Map([bot, GROUP_ANONYMOUS_BOT].map((account) => [account.id, account]));
  return {
    bot,
    accounts,
    chats: new Map(),
    messages: new Map(),
    presses: new Map(),
    push,
    lastMessage: 1000,
    lastPress: 0,
  };
}

/** The person of that id, made with a started private chat at the first mention. */
export function userOf(world: World, id: number, name: string): TelegramUser {
  const self = { id, is_bot: false, first_name: name, username: name.toLowerCase() };
  if (!world.accounts.has(id)) world.accounts.set(id, self);
  if (!world.chats.has(id)) addChat(world, { id, type: "private", title: name, topics: null });
  const home = named(world.chats, id);
  return {
    id,
    name,
    says: (chat, text, options = {}) => write(world, id, chat, { text, entities: entitiesOf(text) }, options),
    sends: (chat, kind, { caption, ...options } = {}) =>
      write(world, id, chat, { extra: { [kind]: MEDIA[kind], ...(caption ? { caption } : {}) } }, options),
    rewrites(message, text) {
      const changed = Object.assign(named(world.messages, message), { text, edits: 1 });
      world.push({ edited_message: nativeMessage(world, changed) });
    },
    presses: (message, button) => press(world, id, named(world.messages, message), button),
    removes: (message) => void world.messages.delete(message),
    blocks: () => void Object.assign(home, { barred: "bot was blocked by the user" }),
    unblocks: () => void Object.assign(home, { barred: null }),
  };
}

export function addChat(world: World, chat: Pick<Chat, "id" | "type" | "title" | "topics">): void {
  world.chats.set(chat.id, { ...chat, barred: null, movedTo: null });
}

/** Adds a message and gives it its id. */
export function addMessage(world: World, message: NewMessage): Message {
  const added: Message = {
    topic: null,
    replyTo: null,
    text: "",
    entities: [],
    keyboard: null,
    forceReply: null,
    extra: {},
    ...message,
    id: ++world.lastMessage,
    date: Math.floor(Date.now() / 1000),
    edits: 0,
  };
  world.messages.set(added.id, added);
  return added;
}

/** Makes a supergroup of a group: the old id is refused from now on, naming the new one. */
export function upgradeGroup(world: World, from: number, to: number): void {
  const group = named(world.chats, from);
  addChat(world, { ...group, id: to, type: "supergroup" });
  const left = addMessage(world, { chat: from, from: null, extra: { migrate_to_chat_id: to } });
  const entered = addMessage(world, { chat: to, from: null, extra: { migrate_from_chat_id: from } });
  world.push({ message: nativeMessage(world, left) });
  world.push({ message: nativeMessage(world, entered) });
  group.movedTo = to;
}

/** As the Bot API shows it; the message it replies to is shown without its own parent. */
export function nativeMessage(world: World, message: Message, nested = false): Json {
  const chat = named(world.chats, message.chat);
  const parent = nested || message.replyTo === null ? undefined : world.messages.get(message.replyTo);
  return {
    message_id: message.id,
    date: message.date,
    chat: nativeChat(chat),
    ...(message.from === null ? {} : { from: world.accounts.get(message.from) }),
    ...threadOf(message, chat),
    ...(message.text === "" ? {} : { text: message.text }),
    ...(message.entities.length === 0 ? {} : { entities: message.entities }),
    ...(message.keyboard === null ? {} : { reply_markup: message.keyboard }),
    ...(parent === undefined ? {} : { reply_to_message: nativeMessage(world, parent, true) }),
    ...(message.edits === 0 ? {} : { edit_date: message.date }),
    ...message.extra,
  };
}

function write(world: World, from: number, chat: number, content: Partial<NewMessage>, options: SaysOptions): number {
  const { replyTo = null, topic = null, anonymously, extra } = options;
  const behind = anonymously ? { sender_chat: nativeChat(named(world.chats, chat)) } : {};
  const message = addMessage(world, {
    ...content,
    chat,
    from: anonymously ? GROUP_ANONYMOUS_BOT.id : from,
    replyTo,
    topic,
    extra: { ...behind, ...content.extra, ...extra },
  });
  world.push({ message: nativeMessage(world, message) });
  return message.id;
}

function press(world: World, by: number, message: Message, button: string): Press {
  const found = message.keyboard?.inline_keyboard.flat().find(({ text }) => text === button);
  const id = String(++world.lastPress);
  const answered = new Promise<string | null>((settle) => world.presses.set(id, { settle, at: Date.now() }));
  world.push({
    callback_query: {
      id,
      from: world.accounts.get(by),
      chat_instance: String(message.chat),
      data: found?.callback_data ?? button,
      message: nativeMessage(world, message),
    },
  });
  return { id, answered };
}

/** A thread id marks a topic; outside forums the platform sets it on replies too, without `is_topic_message`. */
function threadOf(message: Message, chat: Chat): Json {
  if (message.topic !== null) return { message_thread_id: message.topic, is_topic_message: true };
  if (chat.type === "supergroup" && message.replyTo !== null) return { message_thread_id: message.replyTo };
  return {};
}

function nativeChat({ id, type, title, topics }: Chat): Json {
  if (type === "private") return { id, type, first_name: title };
  return { id, type, title, ...(topics === null ? {} : { is_forum: true }) };
}

function entitiesOf(text: string): Json[] {
  const found = (pattern: RegExp, type: string) =>
    [...text.matchAll(pattern)].map((match) => ({ type, offset: match.index, length: match[0].length }));
  return [...found(/(?<![\w@/])\/[a-z]\w*(@\w+)?/gi, "bot_command"), ...found(/(?<![\w@/])@\w{4,}/g, "mention")];
}

function named<T>(things: ReadonlyMap<number, T>, id: number): T {
  const thing = things.get(id);
  if (thing === undefined) throw new Error(`the test names ${id}, which this Telegram does not have`);
  return thing;
}
