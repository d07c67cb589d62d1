/**
 * What the Bot API takes: every field of the methods and types used here, as a table.
 *
 * The table names each field the platform documents, so that a misspelt or invented one is refused although the real
 * service would ignore it. Fields whose content is not modelled are `opaque` and refused too: a test that meets one has
 * left the ground this server stands on. Source: https://core.telegram.org/bots/api (10.1, read 2026-11-30); the limits
 * of a keyboard (100 buttons, 8 a row) are measured by users, not documented.
 */

export type Field = { readonly required?: true } & (
  | { readonly is: "integer"; readonly min?: number; readonly max?: number }
  | { readonly is: "boolean" }
  /** Lengths count code points; `bytes` counts UTF-8. */
  | {
      readonly is: "string";
      readonly min?: number;
      readonly max?: number;
      readonly bytes?: number;
      readonly like?: RegExp;
    }
  | { readonly is: "chat" }
  | { readonly is: "list"; readonly of: Field; readonly max?: number }
  | { readonly is: "object"; readonly types: readonly string[] }
  | { readonly is: "opaque"; readonly type: string }
);

export type Fields = Readonly<Record<string, Field>>;

const integer: Field = { is: "integer" };
const boolean: Field = { is: "boolean" };
const string: Field = { is: "string" };
const chat: Field = { is: "chat" };
const between = (min: number, max: number): Field => ({ is: "integer", min, max });
const chars = (min: number, max: number): Field => ({ is: "string", min, max });
const like = (pattern: RegExp): Field => ({ is: "string", like: pattern });
const list = (of: Field, max = Number.POSITIVE_INFINITY): Field => ({ is: "list", of, max });
const object = (...types: string[]): Field => ({ is: "object", types });
const opaque = (type: string): Field => ({ is: "opaque", type });
const need = (field: Field): Field => ({ ...field, required: true });

const ENTITY_TYPES =
  /^(mention|hashtag|cashtag|bot_command|url|email|phone_number|bold|italic|underline|strikethrough|spoiler|blockquote|expandable_blockquote|code|pre|text_link|text_mention|custom_emoji|date_time)$/;

/** The only way to a button's effect; exactly one of them stands on each. */
export const BUTTON_ACTIONS = {
  url: string,
  callback_data: { is: "string", min: 1, bytes: 64 },
  web_app: opaque("WebAppInfo"),
  login_url: opaque("LoginUrl"),
  switch_inline_query: string,
  switch_inline_query_current_chat: string,
  switch_inline_query_chosen_chat: opaque("SwitchInlineQueryChosenChat"),
  copy_text: object("CopyTextButton"),
  callback_game: opaque("CallbackGame"),
  pay: boolean,
} as const satisfies Fields;

export const TYPES: Readonly<Record<string, Fields>> = {
  InlineKeyboardMarkup: { inline_keyboard: need(list(list(object("InlineKeyboardButton")))) },
  InlineKeyboardButton: {
    text: need(string),
    icon_custom_emoji_id: string,
    style: like(/^(danger|success|primary)$/),
    ...BUTTON_ACTIONS,
  },
  CopyTextButton: { text: need(chars(1, 256)) },
  ReplyKeyboardMarkup: {
    keyboard: need(list(list(opaque("KeyboardButton")))),
    is_persistent: boolean,
    resize_keyboard: boolean,
    one_time_keyboard: boolean,
    input_field_placeholder: chars(1, 64),
    selective: boolean,
  },
  ReplyKeyboardRemove: { remove_keyboard: need(boolean), selective: boolean },
  ForceReply: { force_reply: need(boolean), input_field_placeholder: chars(1, 64), selective: boolean },
  MessageEntity: {
    type: need(like(ENTITY_TYPES)),
    offset: need({ is: "integer", min: 0 }),
    length: need({ is: "integer", min: 1 }),
    url: string,
    user: object("User"),
    language: string,
    custom_emoji_id: string,
    unix_time: integer,
    date_time_format: string,
  },
  User: {
    id: need(integer),
    is_bot: need(boolean),
    first_name: need(string),
    last_name: string,
    username: string,
    language_code: string,
    is_premium: boolean,
    added_to_attachment_menu: boolean,
    can_join_groups: boolean,
    can_read_all_group_messages: boolean,
    supports_guest_queries: boolean,
    supports_inline_queries: boolean,
    can_connect_to_business: boolean,
    has_main_web_app: boolean,
    has_topics_enabled: boolean,
    allows_users_to_create_topics: boolean,
    can_manage_bots: boolean,
    supports_join_request_queries: boolean,
  },
  LinkPreviewOptions: {
    is_disabled: boolean,
    url: string,
    prefer_small_media: boolean,
    prefer_large_media: boolean,
    show_above_text: boolean,
  },
  ReplyParameters: {
    message_id: need(integer),
    chat_id: chat,
    allow_sending_without_reply: boolean,
    quote: chars(0, 1024),
    quote_parse_mode: opaque("String"),
    quote_entities: list(object("MessageEntity")),
    quote_position: integer,
    checklist_task_id: integer,
    poll_option_id: string,
  },
  BotCommand: {
    command: need({ is: "string", min: 1, max: 32, like: /^[a-z0-9_]+$/ }),
    description: need(chars(1, 256)),
  },
};

const UPDATE_KINDS = list(string);

export const METHODS: Readonly<Record<string, Fields>> = {
  getMe: {},
  getUpdates: {
    offset: integer,
    limit: between(1, 100),
    timeout: { is: "integer", min: 0 },
    allowed_updates: UPDATE_KINDS,
  },
  setWebhook: {
    url: need(string),
    certificate: opaque("InputFile"),
    ip_address: string,
    max_connections: between(1, 100),
    allowed_updates: UPDATE_KINDS,
    drop_pending_updates: boolean,
    secret_token: { is: "string", min: 1, max: 256, like: /^[A-Za-z0-9_-]+$/ },
  },
  getWebhookInfo: {},
  deleteWebhook: { drop_pending_updates: boolean },
  sendMessage: {
    business_connection_id: opaque("String"),
    chat_id: need(chat),
    message_thread_id: integer,
    direct_messages_topic_id: opaque("Integer"),
    text: need(chars(1, 4096)),
    parse_mode: opaque("String"),
    entities: list(object("MessageEntity"), 100),
    link_preview_options: object("LinkPreviewOptions"),
    disable_notification: boolean,
    protect_content: boolean,
    allow_paid_broadcast: boolean,
    message_effect_id: string,
    suggested_post_parameters: opaque("SuggestedPostParameters"),
    reply_parameters: object("ReplyParameters"),
    reply_markup: object("InlineKeyboardMarkup", "ReplyKeyboardMarkup", "ReplyKeyboardRemove", "ForceReply"),
  },
  editMessageText: {
    business_connection_id: opaque("String"),
    chat_id: chat,
    message_id: integer,
    inline_message_id: opaque("String"),
    text: chars(1, 4096),
    parse_mode: opaque("String"),
    entities: list(object("MessageEntity"), 100),
    link_preview_options: object("LinkPreviewOptions"),
    rich_message: opaque("InputRichMessage"),
    reply_markup: object("InlineKeyboardMarkup"),
  },
  editMessageReplyMarkup: {
    business_connection_id: opaque("String"),
    chat_id: chat,
    message_id: integer,
    inline_message_id: opaque("String"),
    reply_markup: object("InlineKeyboardMarkup"),
  },
  deleteMessage: { chat_id: need(chat), message_id: need(integer) },
  answerCallbackQuery: {
    callback_query_id: need(string),
    text: chars(0, 200),
    show_alert: boolean,
    url: string,
    cache_time: { is: "integer", min: 0 },
  },
  setMyCommands: {
    commands: need(list(object("BotCommand"), 100)),
    scope: opaque("BotCommandScope"),
    language_code: like(/^([a-z]{2})?$/),
  },
  getChat: { chat_id: need(chat) },
  getChatMember: { chat_id: need(chat), user_id: need(integer) },
};
