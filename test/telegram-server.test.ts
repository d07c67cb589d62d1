/** The loopback Telegram keeps the platform's rules: it refuses what the platform refuses and forgets nothing. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startTelegram, type TelegramServer } from "../src/testing/telegram-server.ts";

interface Answer {
  readonly ok: boolean;
  readonly result: Record<string, unknown> & { readonly length?: number };
  readonly error_code?: number;
  readonly description?: string;
  readonly parameters?: Record<string, number>;
}

const ANA = 100;
const FORUM = -1_001_000_000_007;
let server: TelegramServer;

beforeEach(async () => {
  server = await startTelegram();
  server.user(ANA, "Ana");
  server.group(FORUM, { topics: [7] });
});

afterEach(() => server.close());

async function call(method: string, body: unknown, token = server.token): Promise<Answer> {
  const sent = { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) };
  return (await (await fetch(`${server.url}/bot${token}/${method}`, sent)).json()) as Answer;
}

const to = (fields: object) => ({ chat_id: ANA, text: "Hello", ...fields });
const button = (fields: object) => to({ reply_markup: { inline_keyboard: [[{ text: "A", ...fields }]] } });
const rows = (...inline_keyboard: unknown[]) => to({ reply_markup: { inline_keyboard } });
const styled = (...entities: object[]) => to({ text: "A😀B", entities });
const bold = (offset: unknown, length: unknown) => styled({ type: "bold", offset, length });
const many = (count: number) => Array.from({ length: count }, (_, index) => ({ text: "A", callback_data: `${index}` }));
const edit = (fields: object) => ({ chat_id: ANA, message_id: 1, text: "Hello", ...fields });
const command = (fields: object) => ({ commands: [{ command: "skip", description: "Skips", ...fields }] });

const BAD: readonly (readonly [string, string, unknown])[] = [
  ["a method that does not exist", "sendMesage", to({})],
  ["a body that is no JSON", "sendMessage", "{"],
  ["a body that is an array", "sendMessage", []],
  ["no chat", "sendMessage", { text: "Hello" }],
  ["a chat that is no id", "sendMessage", to({ chat_id: "Ana" })],
  ["a chat id with a fraction", "sendMessage", to({ chat_id: 1.5 })],
  ["a chat id that is null", "sendMessage", to({ chat_id: null })],
  ["no text", "sendMessage", { chat_id: ANA }],
  ["an empty text", "sendMessage", to({ text: "" })],
  ["a blank text", "sendMessage", to({ text: " \n\t" })],
  ["a text that is a number", "sendMessage", to({ text: 5 })],
  ["4,097 letters", "sendMessage", to({ text: "x".repeat(4097) })],
  ["4,097 emoji", "sendMessage", to({ text: "😀".repeat(4097) })],
  ["half a surrogate pair", "sendMessage", to({ text: "\ud83d" })],
  ["an invented field", "sendMessage", to({ hide: false })],
  ["a parse mode", "sendMessage", to({ parse_mode: "HTML" })],
  ["a topic that is a string", "sendMessage", to({ message_thread_id: "7" })],
  ["link previews as a boolean", "sendMessage", to({ link_preview_options: true })],
  ["an invented preview option", "sendMessage", to({ link_preview_options: { off: true } })],
  ["a silent flag as a number", "sendMessage", to({ disable_notification: 1 })],
  ["a reply to nothing", "sendMessage", to({ reply_parameters: {} })],
  ["a reply to a string", "sendMessage", to({ reply_parameters: { message_id: "1" } })],
  ["the reply field of older versions", "sendMessage", to({ reply_to_message_id: 1 })],
  ["entities that are no list", "sendMessage", to({ entities: { type: "bold", offset: 0, length: 1 } })],
  ["an entity of no known type", "sendMessage", styled({ type: "strong", offset: 0, length: 1 })],
  ["an entity without a length", "sendMessage", styled({ type: "bold", offset: 0 })],
  ["an entity of length 0", "sendMessage", bold(0, 0)],
  ["an entity before the text", "sendMessage", bold(-1, 1)],
  ["an entity past the end", "sendMessage", bold(2, 3)],
  ["an entity counted in halves", "sendMessage", bold(0.5, 1)],
  ["an entity that begins inside a character", "sendMessage", bold(2, 1)],
  ["an entity that ends inside a character", "sendMessage", bold(0, 2)],
  ["a link without an address", "sendMessage", styled({ type: "text_link", offset: 0, length: 1 })],
  ["an address on bold", "sendMessage", styled({ type: "bold", offset: 0, length: 1, url: "https://a.example" })],
  ["101 entities", "sendMessage", styled(...Array(101).fill({ type: "bold", offset: 0, length: 1 }))],
  ["markup that is a string", "sendMessage", to({ reply_markup: "{}" })],
  ["markup of no kind", "sendMessage", to({ reply_markup: { buttons: [] } })],
  ["a keyboard without rows", "sendMessage", rows({ text: "A", callback_data: "a" })],
  ["an empty row", "sendMessage", rows([])],
  ["9 buttons in a row", "sendMessage", rows(many(9))],
  ["101 buttons", "sendMessage", rows(...many(101).map((one) => [one]))],
  ["a button without an action", "sendMessage", button({})],
  ["a button with two actions", "sendMessage", button({ callback_data: "a", url: "https://a.example" })],
  ["a button without text", "sendMessage", rows([{ callback_data: "a" }])],
  ["a button with blank text", "sendMessage", button({ text: " ", callback_data: "a" })],
  ["a payload of no byte", "sendMessage", button({ callback_data: "" })],
  ["a payload of 65 bytes", "sendMessage", button({ callback_data: "x".repeat(65) })],
  ["a payload of 33 letters in 66 bytes", "sendMessage", button({ callback_data: "é".repeat(33) })],
  ["a payload that is a number", "sendMessage", button({ callback_data: 1 })],
  ["the field an old library adds to buttons", "sendMessage", button({ callback_data: "a", hide: false })],
  ["a button in a colour of its own", "sendMessage", button({ callback_data: "a", style: "green" })],
  ["an empty placeholder", "sendMessage", to({ reply_markup: { force_reply: true, input_field_placeholder: "" } })],
  [
    "a placeholder of 65 characters",
    "sendMessage",
    to({ reply_markup: { force_reply: true, input_field_placeholder: "x".repeat(65) } }),
  ],
  ["a force reply that is false", "sendMessage", to({ reply_markup: { force_reply: false } })],
  ["an edit without a message", "editMessageText", { chat_id: ANA, text: "Hello" }],
  ["an edit without text", "editMessageText", { chat_id: ANA, message_id: 1 }],
  ["an edit in a topic", "editMessageText", edit({ message_thread_id: 7 })],
  ["an edit that forces a reply", "editMessageText", edit({ reply_markup: { force_reply: true } })],
  ["an edit to 4,097 letters", "editMessageText", edit({ text: "x".repeat(4097) })],
  ["a keyboard edit without a chat", "editMessageReplyMarkup", { message_id: 1 }],
  ["a keyboard edit with text", "editMessageReplyMarkup", edit({})],
  ["a removal of nothing", "deleteMessage", { chat_id: ANA }],
  ["an acknowledgement of nothing", "answerCallbackQuery", { text: "Hello" }],
  ["a numeric press", "answerCallbackQuery", { callback_query_id: 1 }],
  ["a toast of 201 characters", "answerCallbackQuery", { callback_query_id: "1", text: "x".repeat(201) }],
  ["an alert that is a string", "answerCallbackQuery", { callback_query_id: "1", show_alert: "no" }],
  ["a poll for 101 updates", "getUpdates", { limit: 101 }],
  ["a poll for no updates", "getUpdates", { limit: 0 }],
  ["a poll of negative length", "getUpdates", { timeout: -1 }],
  ["update kinds as a string", "getUpdates", { allowed_updates: "message" }],
  ["a webhook secret with a space", "setWebhook", { url: "https://a.example", secret_token: "a b" }],
  ["a command in capitals", "setMyCommands", command({ command: "Skip" })],
  ["a command with its slash", "setMyCommands", command({ command: "/skip" })],
  ["a command of 33 letters", "setMyCommands", command({ command: "x".repeat(33) })],
  ["a command without a description", "setMyCommands", command({ description: "" })],
  ["101 commands", "setMyCommands", { commands: Array(101).fill({ command: "a", description: "A" }) }],
  ["a member without a user", "getChatMember", { chat_id: ANA }],
  ["an argument of getMe", "getMe", { verbose: true }],
];

const GOOD: readonly (readonly [string, string, unknown])[] = [
  ["4,096 letters", "sendMessage", to({ text: "x".repeat(4096) })],
  ["4,096 emoji", "sendMessage", to({ text: "😀".repeat(4096) })],
  ["bold that ends with an emoji", "sendMessage", bold(0, 3)],
  ["100 entities", "sendMessage", styled(...Array(100).fill({ type: "code", offset: 0, length: 1 }))],
  ["a link", "sendMessage", styled({ type: "text_link", offset: 0, length: 1, url: "https://a.example" })],
  ["a payload of 64 bytes", "sendMessage", button({ callback_data: "é".repeat(32) })],
  ["100 buttons", "sendMessage", rows(...many(100).map((one) => [one]))],
  ["8 buttons in a row", "sendMessage", rows(many(8))],
  ["an empty keyboard", "sendMessage", rows()],
  ["a green button", "sendMessage", button({ callback_data: "a", style: "success" })],
  [
    "a force reply",
    "sendMessage",
    to({ reply_markup: { force_reply: true, input_field_placeholder: "x".repeat(64) } }),
  ],
  ["a chat id as a string", "sendMessage", to({ chat_id: "100" })],
  ["a topic", "sendMessage", to({ chat_id: FORUM, message_thread_id: 7 })],
  ["no link previews", "sendMessage", to({ link_preview_options: { is_disabled: true } })],
  [
    "a reply to a lost message",
    "sendMessage",
    to({ reply_parameters: { message_id: 1, allow_sending_without_reply: true } }),
  ],
  ["commands", "setMyCommands", command({})],
  ["an empty body", "getMe", ""],
  ["a webhook", "setWebhook", { url: "https://a.example/hook", secret_token: "a_b-1" }],
  ["no webhook", "deleteWebhook", { drop_pending_updates: true }],
  ["a short poll", "getUpdates", { offset: 5, limit: 100, timeout: 0, allowed_updates: [] }],
  ["a chat", "getChat", { chat_id: FORUM }],
  ["a member", "getChatMember", { chat_id: FORUM, user_id: ANA }],
];

describe("the rules of the loopback Telegram", () => {
  it.each(BAD)("refuse %s", async (_, method, body) => {
    const answer = await call(method, body);

    expect(answer).toMatchObject({ ok: false, error_code: 400 });
    expect(server.refusals.length).toBeGreaterThan(0);
    expect(server.messages(ANA)).toEqual([]);
  });

  it.each(GOOD)("take %s", async (_, method, body) => {
    expect(await call(method, body)).toMatchObject({ ok: true });
    expect(server.refusals).toEqual([]);
  });

  it("names every fault of a body with its path", async () => {
    await call("sendMessage", { text: "", reply_markup: { inline_keyboard: [[{ callback_data: "x".repeat(65) }]] } });

    expect(server.refusals).toEqual([
      "sendMessage chat_id: required",
      "sendMessage text: shorter than 1 characters",
      "sendMessage reply_markup.inline_keyboard[0][0].text: required",
      "sendMessage reply_markup.inline_keyboard[0][0].callback_data: more than 64 bytes",
    ]);
  });
});

describe("messages of the loopback Telegram", () => {
  const post = async (fields: object = {}) => Number((await call("sendMessage", to(fields))).result.message_id);
  const refusal = async (method: string, body: unknown) => {
    const { error_code, description } = await call(method, body);
    return `${error_code} ${description}`;
  };

  it("lose their keyboard when an edit brings none", async () => {
    const message_id = await post({ reply_markup: { inline_keyboard: [[{ text: "A", callback_data: "a" }]] } });
    await call("editMessageText", edit({ message_id, text: "Done" }));

    expect(server.messages(ANA)).toMatchObject([{ id: message_id, text: "Done", keyboard: null, edits: 1 }]);
  });

  it("refuse an edit that changes nothing", async () => {
    const message_id = await post();
    expect(await refusal("editMessageText", edit({ message_id }))).toMatch(/^400 Bad Request: message is not modified/);
    expect(await refusal("editMessageReplyMarkup", { chat_id: ANA, message_id })).toMatch(/message is not modified/);
  });

  it("cannot be edited once a person removed them, nor removed twice", async () => {
    const message_id = await post();
    server.user(ANA).removes(message_id);
    expect(await refusal("editMessageText", edit({ message_id }))).toBe("400 Bad Request: message to edit not found");
    expect(await refusal("deleteMessage", { chat_id: ANA, message_id })).toBe(
      "400 Bad Request: message to delete not found",
    );
  });

  it("cannot be edited when somebody else wrote them or they force a reply", async () => {
    const hers = server.user(ANA).says(ANA, "Hello");
    const forcing = await post({ reply_markup: { force_reply: true } });
    for (const message_id of [hers, forcing]) {
      expect(await refusal("editMessageText", edit({ message_id }))).toBe("400 Bad Request: message can't be edited");
    }
  });

  it("do not reach unknown chats, blocked ones, missing topics or a group that was upgraded", async () => {
    server.group(-5);
    server.upgrade(-5, -1_001_000_000_005);
    server.user(101).blocks();
    expect(await refusal("sendMessage", to({ chat_id: 999 }))).toBe("400 Bad Request: chat not found");
    expect(await refusal("sendMessage", to({ chat_id: 101 }))).toBe("403 Forbidden: bot was blocked by the user");
    expect(await refusal("sendMessage", to({ chat_id: FORUM, message_thread_id: 8 }))).toBe(
      "400 Bad Request: message thread not found",
    );
    expect(await refusal("sendMessage", to({ reply_parameters: { message_id: 1 } }))).toBe(
      "400 Bad Request: message to be replied not found",
    );
    expect(await call("sendMessage", to({ chat_id: -5 }))).toMatchObject({
      error_code: 400,
      parameters: { migrate_to_chat_id: -1_001_000_000_005 },
    });
  });

  it("refuse a wrong token and a path that is no call", async () => {
    expect(await call("getMe", {}, "1:other")).toMatchObject({ error_code: 401, description: "Unauthorized" });
    expect((await fetch(`${server.url}/getMe`)).status).toBe(404);
  });
});

describe("updates of the loopback Telegram", () => {
  const updates = async (body: object = {}) => {
    const { result } = await call("getUpdates", body);
    return (result as unknown as { update_id: number }[]).map(({ update_id }) => update_id);
  };

  it("come again until a higher offset confirms them", async () => {
    for (const text of ["one", "two", "three"]) server.user(ANA).says(ANA, text);
    const [first = 0, second = 0, third = 0] = await updates();
    expect(await updates({ offset: first, limit: 2 })).toEqual([first, second]);
    expect(await updates({ offset: third })).toEqual([third]);
    expect(await updates({ offset: third + 1 })).toEqual([]);
    expect(server.unconfirmed()).toEqual([]);
  });

  it("end the hold of a poll as they happen", async () => {
    const held = updates({ timeout: 50 });
    await server.waitFor(() => server.calls("getUpdates")[0]);
    server.user(ANA).says(ANA, "now");
    expect(await held).toHaveLength(1);
  });

  it("go to one poll at a time, and to none while a webhook is set", async () => {
    const first = call("getUpdates", { timeout: 50 });
    await server.waitFor(() => server.calls("getUpdates")[0]);
    const second = call("getUpdates", { timeout: 50 });
    expect(await first).toMatchObject({ error_code: 409, description: expect.stringContaining("other getUpdates") });
    await call("setWebhook", { url: "https://a.example/hook" });
    expect(await second).toMatchObject({ error_code: 409 });
    expect(await call("getUpdates", {})).toMatchObject({
      error_code: 409,
      description: expect.stringContaining("webhook"),
    });
    await call("deleteWebhook", {});
    expect(await call("getUpdates", {})).toMatchObject({ ok: true });
  });

  it("leave out kinds the bot did not ask for", async () => {
    await call("getUpdates", { allowed_updates: ["callback_query"] });
    server.user(ANA).says(ANA, "unheard");
    expect(server.unconfirmed()).toEqual([]);
  });

  it("acknowledge a press once", async () => {
    await call("sendMessage", button({ callback_data: "a" }));
    const press = server.user(ANA).presses(server.messages(ANA)[0]?.id ?? 0, "A");
    expect(await call("answerCallbackQuery", { callback_query_id: press.id, text: "Noted" })).toMatchObject({
      ok: true,
    });
    expect(await press.answered).toBe("Noted");
    const again = await call("answerCallbackQuery", { callback_query_id: press.id });
    expect(again.description).toMatch(/query is too old/);
  });

  it("keep groups private from a bot in privacy mode", async () => {
    const shy = await startTelegram({ privacy: true });
    shy.group(-5);
    const ana = shy.user(ANA, "Ana");
    ana.says(-5, "between us");
    ana.says(-5, "/skip");
    ana.says(ANA, "to you");
    expect(shy.unconfirmed()).toHaveLength(2);
    await shy.close();
  });
});

describe("faults of the loopback Telegram", () => {
  it("meet the next calls in the order they were asked for, then end", async () => {
    server.inject("sendMessage", { status: 429, parameters: { retry_after: 3 } });
    server.inject("sendMessage", { raw: "<html>" });
    server.inject("sendMessage", { connection: "reset" });
    expect(await call("sendMessage", to({}))).toMatchObject({ error_code: 429, parameters: { retry_after: 3 } });
    await expect(call("sendMessage", to({}))).rejects.toThrow(SyntaxError);
    await expect(call("sendMessage", to({}))).rejects.toThrow("fetch failed");
    expect(server.messages(ANA)).toEqual([]);
    expect(await call("sendMessage", to({}))).toMatchObject({ ok: true });
  });

  it("can strike after the call took effect", async () => {
    server.inject("sendMessage", { status: 500, applied: true });
    expect(await call("sendMessage", to({}))).toMatchObject({ error_code: 500 });
    expect(server.messages(ANA)).toHaveLength(1);
  });

  it("hold a call until healed", async () => {
    server.inject("sendMessage", { connection: "hang" });
    const held = call("sendMessage", to({}));
    await server.waitFor(() => server.calls("sendMessage")[0]);
    server.heal();
    await expect(held).rejects.toThrow("fetch failed");
  });

  it("enforce the send rate of a chat where asked to", async () => {
    const strict = await startTelegram({ enforcePace: true });
    strict.user(ANA);
    const url = `${strict.url}/bot${strict.token}/sendMessage`;
    const sends = Array.from({ length: 4 }, () => fetch(url, { method: "POST", body: JSON.stringify(to({})) }));
    const statuses = (await Promise.all(sends)).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 200, 200, 429]);
    await strict.close();
  });
});
