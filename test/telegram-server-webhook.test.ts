/** The loopback Telegram pushes updates as the platform does: until they are taken, in order, signed, to allowed places. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startTelegram, type TelegramServer } from "../src/testing/telegram-server.ts";
import { until } from "../src/testing/until.ts";

const ANA = 100;
const BEN = 101;
let server: TelegramServer;
let receiver: Server;
let url: string;
/** What was pushed, oldest first: its words, its secret, and how to answer. */
let pushed: { readonly text: string; readonly secret: unknown; readonly response: ServerResponse }[];
/** The status of each answer; null: none is given. */
let answer: (text: string) => number | null;

beforeEach(async () => {
  server = await startTelegram({ local: true, deliveryTimeoutMs: 100 });
  pushed = [];
  answer = () => 200;
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { message } = JSON.parse(Buffer.concat(chunks).toString());
    pushed.push({ text: message.text, secret: request.headers["x-telegram-bot-api-secret-token"], response });
    const status = answer(message.text);
    if (status !== null) response.writeHead(status).end();
  });
  await new Promise<void>((listening) => receiver.listen(0, "127.0.0.1", listening));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
});

afterEach(async () => {
  await server.close();
  receiver.closeAllConnections();
  receiver.close();
});

async function call(method: string, body: object = {}, at = server) {
  const answered = await fetch(`${at.url}/bot${at.token}/${method}`, { method: "POST", body: JSON.stringify(body) });
  return (await answered.json()) as { result: Record<string, unknown>; error_code?: number; description?: string };
}

const says = (person: number, ...texts: readonly string[]) => {
  for (const text of texts) server.user(person).says(person, text);
};
const info = async () => (await call("getWebhookInfo")).result;
const texts = () => pushed.map(({ text }) => text);
const emptied = () => server.waitFor(() => server.unconfirmed().length === 0);

describe("a webhook of the loopback Telegram", () => {
  it("gets each update once, with the secret, also what waited before it was set", async () => {
    says(ANA, "before");
    await call("setWebhook", { url, secret_token: "s-1" });
    await emptied();
    says(ANA, "after");
    await emptied();
    expect(pushed.map(({ text, secret }) => [text, secret])).toEqual([
      ["before", "s-1"],
      ["after", "s-1"],
    ]);
  });

  it("gets the same again until it takes it, and what follows in the chat only then", async () => {
    let refusals = 3;
    answer = (text) => (text === "one" && refusals-- > 0 ? 503 : 200);
    await call("setWebhook", { url });
    says(ANA, "one", "two");
    says(BEN, "meanwhile");
    await emptied();
    expect(texts().filter((text) => text !== "meanwhile")).toEqual(["one", "one", "one", "one", "two"]);
    expect(texts().indexOf("meanwhile")).toBeLessThan(texts().indexOf("two"));
    expect(await info()).toMatchObject({
      last_error_message: "Wrong response from the webhook: 503 Service Unavailable",
      last_error_date: expect.any(Number),
    });
  });

  it("gets again what it did not answer in time", async () => {
    answer = () => (pushed.length === 1 ? null : 200);
    await call("setWebhook", { url });
    says(ANA, "one");
    await emptied();
    expect(texts()).toEqual(["one", "one"]);
    expect((await info()).last_error_message).toBe("Read timeout expired");
  });

  it("is known to be out of reach", async () => {
    await call("setWebhook", { url: "http://127.0.0.1:1/hook" });
    says(ANA, "one");
    await until("it failed", async () => (await info()).last_error_message === "Connection refused");
    expect(await info()).toMatchObject({ pending_update_count: 1, url: "http://127.0.0.1:1/hook" });
  });

  it("has as many requests under way as it asked for", async () => {
    answer = () => null;
    await server.close();
    server = await startTelegram({ local: true });
    await call("setWebhook", { url, max_connections: 2 });
    for (let person = 1; person <= 4; person++) says(person, `${person}`);
    await until("two are under way", () => pushed.length === 2);
    answer = () => 200;
    pushed[0]?.response.end();
    await until("all but one are taken", () => pushed.length === 4 && server.unconfirmed().length === 1);
  });

  it("gets one update twice where a test wants it", async () => {
    await call("setWebhook", { url });
    server.repeatNext();
    says(ANA, "one", "two");
    await emptied();
    expect(texts()).toEqual(["one", "one", "two"]);
  });

  it("gets the kinds that were asked for, and goes when it is removed", async () => {
    await call("setWebhook", { url, allowed_updates: ["callback_query"] });
    says(ANA, "unheard");
    expect(server.unconfirmed()).toEqual([]);
    expect(await info()).toMatchObject({ url, max_connections: 40, allowed_updates: ["callback_query"] });
    expect(await call("getUpdates")).toMatchObject({ error_code: 409 });
    await call("deleteWebhook");
    expect(await info()).toMatchObject({ url: "", pending_update_count: 0 });
    await call("getUpdates", { allowed_updates: ["message"] });
    says(ANA, "kept");
    expect(server.unconfirmed()).toHaveLength(1);
    await call("setWebhook", { url, drop_pending_updates: true });
    expect(server.unconfirmed()).toEqual([]);
    expect(pushed).toEqual([]);
  });

  it("set again as it was keeps what is known of its failures; set anew it does not", async () => {
    await call("setWebhook", { url: "http://127.0.0.1:1/hook" });
    says(ANA, "one");
    await until("it failed", async () => (await info()).last_error_date !== undefined);
    await call("setWebhook", { url: "http://127.0.0.1:1/hook" });
    expect(await info()).toMatchObject({ last_error_message: "Connection refused" });
    await call("setWebhook", { url });
    expect(await info()).not.toHaveProperty("last_error_message");
  });
});

describe("the address of a webhook", () => {
  const HTTPS = "Bad Request: bad webhook: An HTTPS URL must be provided for webhook";
  const PORT = "Bad Request: bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443";

  it.each([
    ["no address", "a.example", "Bad Request: invalid webhook URL specified"],
    ["plain http", "http://a.example/hook", HTTPS],
    ["another port", "https://a.example:8787/hook", PORT],
    ["this machine", "https://127.0.0.1/hook", "Bad Request: bad webhook: IP address 127.0.0.1 is reserved"],
  ])("is refused when it is %s", async (_, address, description) => {
    const strict = await startTelegram();
    expect(await call("setWebhook", { url: address }, strict)).toMatchObject({ error_code: 400, description });
    expect((await call("getWebhookInfo", {}, strict)).result.url).toBe("");
    await strict.close();
  });

  it.each(["", ":443", ":80", ":88", ":8443"])("may have port %j", async (port) => {
    const strict = await startTelegram();
    expect(await call("setWebhook", { url: `https://a.example${port}/hook` }, strict)).toMatchObject({ result: true });
    await strict.close();
  });
});
