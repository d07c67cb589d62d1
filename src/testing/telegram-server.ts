/**
 * A loopback server that speaks Telegram's Bot API, for tests: the real client library talks to it over HTTP.
 *
 * It refuses what the platform refuses, keeps updates until they are confirmed, and fails on demand. It never forgives:
 * a body the platform would not take is answered with 400 and noted in `refusals`, so that a test can ask for none.
 *
 *   const telegram = await startTelegram();          // point TELEGRAM_API_ROOT at telegram.url
 *   const ana = telegram.user(100, "Ana");           // a private chat with the bot, id 100
 *   const asked = await telegram.waitFor(() => telegram.messages(100)[0]);
 *   const toast = await ana.presses(asked.id, "Staging").answered;
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { faultsOf } from "./telegram-check.ts";
import { createMailbox, deliver, type Mailbox } from "./telegram-mailbox.ts";
import { ACTIONS, heardInPrivacyMode } from "./telegram-methods.ts";
import { createPace } from "./telegram-pace.ts";
import { Refused } from "./telegram-refusal.ts";
import {
  addChat,
  createWorld,
  type Json,
  type Message,
  type TelegramUser,
  upgradeGroup,
  userOf,
  type World,
} from "./telegram-world.ts";

export type { Json, Message, Press, SaysOptions, TelegramUser } from "./telegram-world.ts";

/** How a call goes wrong. `applied`: it takes effect before it fails. `delayMs`: it waits first. */
export type Fault = {
  readonly applied?: boolean;
  readonly delayMs?: number;
} /** Without a status it goes well after all. */ & (
  | { readonly status?: number; readonly description?: string; readonly parameters?: Json }
  /** This body instead, with status 200. */
  | { readonly raw: string }
  | { readonly connection: "reset" | "hang" }
);

export interface Call {
  readonly method: string;
  readonly body: Json;
  /** HTTP status it was answered with; null while it is held, hangs or was cut. */
  status: number | null;
  /** What the answer says where it is not `ok`. */
  description: string | null;
}

export interface TelegramOptions {
  /** Default `123456:loopback-token`. */
  readonly token?: string;
  /** Answers 429 past the platform's send rates. Default false. */
  readonly enforcePace?: boolean;
  /** In groups the bot hears only commands, replies to itself and service messages. Default false. */
  readonly privacy?: boolean;
  /** As a Bot API server of one's own in local mode: webhooks by plain http, to any port and address. Default false. */
  readonly local?: boolean;
  /** Milliseconds a webhook may take to answer. Default 60,000. */
  readonly deliveryTimeoutMs?: number;
}

export interface TelegramServer {
  /** The API root, without a trailing slash. */
  readonly url: string;
  readonly token: string;
  readonly bot: { readonly id: number; readonly username: string };
  /** Every call, oldest first. */
  readonly log: readonly Call[];
  /** What the rules refused: `sendMessage text: longer than 4096 characters`. */
  readonly refusals: readonly string[];
  /** Ids of the updates the bot has not confirmed. */
  unconfirmed(): readonly number[];
  /** The person, made with a started private chat at the first mention. */
  user(id: number, name?: string): TelegramUser;
  /** Makes a group; with `topics`, a forum; an id below -1000000000000 is a supergroup. */
  group(id: number, options?: { readonly title?: string; readonly topics?: readonly number[] }): void;
  /** Makes a supergroup of a group: the old id is refused from now on, naming the new one. */
  upgrade(group: number, to: number): void;
  /** Messages now standing in a chat, oldest first; the bot's alone unless `all`. */
  messages(chat: number, whose?: "bot" | "all"): readonly Message[];
  /** Labels of a message's buttons, row by row. */
  buttons(message: Message): readonly (readonly string[])[];
  /** Calls of a method so far. */
  calls(method: string): readonly Call[];
  /** The next `times` calls of the method go wrong this way; several faults of one method follow each other. */
  inject(method: string, fault: Fault, times?: number): void;
  /** Drops all faults not yet met and cuts hanging calls. */
  heal(): void;
  /** Sends a native update as it is, with an id of its own unless it has one. */
  push(update: Json): void;
  /** Sends what the webhook takes next once more. */
  repeatNext(): void;
  /**
   * Resolves with the first value that is neither null, undefined nor false. It looks again whenever something happens
   * on this server; for conditions elsewhere use `until`.
   */
  waitFor<T>(look: () => T | null | undefined | false, timeoutMs?: number): Promise<T>;
  close(): Promise<void>;
}

interface Running {
  readonly token: string;
  readonly world: World;
  readonly mailbox: Mailbox;
  readonly log: Call[];
  readonly refusals: string[];
  readonly faults: Map<string, { readonly fault: Fault; left: number }[]>;
  readonly hanging: Set<ServerResponse>;
  readonly watchers: Set<() => void>;
  readonly pace: (method: string, body: Json) => void;
}

export async function startTelegram(options: TelegramOptions = {}): Promise<TelegramServer> {
  const running = createRunning(options);
  const server = createServer((request, response) => void handle(running, request, response));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ...controls(running, server) };
}

function createRunning(options: TelegramOptions): Running {
  const privacy = options.privacy ?? false;
  const bot = { id: 123456, is_bot: true, first_name: "Askgate", username: "askgate_bot" };
  const watchers = new Set<() => void>();
  const changed = () => {
    for (const look of [...watchers]) look();
  };
  const { local = false, deliveryTimeoutMs = 60_000 } = options;
  const mailbox = createMailbox({ local, deliveryTimeoutMs, changed });
  const world = createWorld({ ...bot, can_read_all_group_messages: !privacy }, (update) => {
    if (!privacy || heardInPrivacyMode(update, bot.id)) deliver(mailbox, update);
    changed();
  });
  const pace = options.enforcePace ? createPace(world) : () => {};
  const token = options.token ?? "123456:loopback-token";
  return { token, world, mailbox, log: [], refusals: [], faults: new Map(), hanging: new Set(), watchers, pace };
}

function controls(running: Running, server: Server): Omit<TelegramServer, "url"> {
  const { world, mailbox, log, faults } = running;
  return {
    token: running.token,
    bot: { id: world.bot.id, username: String(world.bot.username) },
    log,
    refusals: running.refusals,
    unconfirmed: () => [...mailbox.updates.keys()],
    user: (id, name = `user${id}`) => userOf(world, id, name),
    group(id, { title = "Team", topics } = {}) {
      const type = topics || id < -1_000_000_000_000 ? "supergroup" : "group";
      addChat(world, { id, type, title, topics: topics ?? null });
    },
    upgrade: (group, to) => upgradeGroup(world, group, to),
    messages: (chat, whose = "bot") =>
      [...world.messages.values()].filter((m) => m.chat === chat && (whose === "all" || m.from === world.bot.id)),
    buttons: (message) => (message.keyboard?.inline_keyboard ?? []).map((row) => row.map(({ text }) => text)),
    calls: (method) => log.filter((call) => call.method === method),
    inject: (method, fault, times = 1) =>
      void faults.set(method, [...(faults.get(method) ?? []), { fault, left: times }]),
    heal() {
      faults.clear();
      for (const response of running.hanging) response.socket?.resetAndDestroy();
      running.hanging.clear();
    },
    push: (update) => world.push(update),
    repeatNext: () => mailbox.courier?.repeatNext(),
    waitFor: (look, timeoutMs = 10_000) => waitFor(running, look, timeoutMs),
    close: () =>
      new Promise((closed) => {
        mailbox.courier?.stop();
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

async function handle(running: Running, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const text = await bodyOf(request);
  const [, token, method = ""] = /^\/bot([^/]+)\/(\w+)$/.exec(request.url ?? "") ?? [];
  if (token === undefined) return reply(running, response, null, new Refused(404, "Not Found"));
  if (token !== running.token) return reply(running, response, null, new Refused(401, "Unauthorized"));
  const body = parse(text);
  const call: Call = { method, body: (body ?? {}) as Json, status: null, description: null };
  running.log.push(call);
  const broken = faultsOf(method, body);
  if (broken.length === 0) return serve(running, call, response);
  running.refusals.push(...broken.map((fault) => `${method} ${fault}`));
  reply(running, response, call, new Refused(400, `Bad Request: ${broken.join("; ")}`));
}

async function serve(running: Running, call: Call, response: ServerResponse): Promise<void> {
  const fault = nextFault(running, call.method);
  changed(running);
  if (fault?.delayMs) await new Promise((done) => setTimeout(done, fault.delayMs));
  const fails = fault !== undefined && ("raw" in fault || "connection" in fault || fault.status !== undefined);
  const outcome = fails && !fault.applied ? null : await outcomeOf(running, call, response);
  if (fails) fail(running, fault, call, response);
  else reply(running, response, call, outcome);
}

async function outcomeOf(running: Running, call: Call, response: ServerResponse): Promise<unknown> {
  const { world, mailbox, pace } = running;
  try {
    pace(call.method, call.body);
    const outcome = ACTIONS[call.method]?.(world, call.body, mailbox, response);
    changed(running);
    return await outcome;
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}

function fail(running: Running, fault: Fault, call: Call, response: ServerResponse): void {
  if ("raw" in fault) response.writeHead(200, { "content-type": "application/json" }).end(fault.raw);
  else if ("connection" in fault && fault.connection === "reset") response.socket?.resetAndDestroy();
  else if ("connection" in fault) running.hanging.add(response);
  else
    reply(running, response, call, new Refused(fault.status ?? 500, fault.description ?? "Injected", fault.parameters));
  changed(running);
}

function reply(running: Running, response: ServerResponse, call: Call | null, outcome: unknown): void {
  const refused = outcome instanceof Refused ? outcome : null;
  if (call) Object.assign(call, { status: refused?.status ?? 200, description: refused?.message ?? null });
  const parameters = refused?.parameters ? { parameters: refused.parameters } : {};
  const body = refused
    ? { ok: false, error_code: refused.status, description: refused.message, ...parameters }
    : { ok: true, result: outcome };
  response.writeHead(refused?.status ?? 200, { "content-type": "application/json" }).end(JSON.stringify(body));
  changed(running);
}

function nextFault({ faults }: Running, method: string): Fault | undefined {
  const queue = faults.get(method);
  const first = queue?.[0];
  if (first && --first.left <= 0) queue.shift();
  return first?.fault;
}

function changed({ watchers }: Running): void {
  for (const look of [...watchers]) look();
}

function waitFor<T>(running: Running, look: () => T | null | undefined | false, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      running.watchers.delete(attempt);
    };
    const attempt = () => {
      const value = look();
      if (value === null || value === undefined || value === false) return;
      end();
      resolve(value);
    };
    const timer = setTimeout(() => {
      end();
      const calls = running.log.slice(-12).map((call) => `${call.method} ${call.status} ${call.description ?? ""}`);
      reject(new Error(`waited ${timeoutMs} ms for ${look}\nlast calls:\n${calls.join("\n")}`));
    }, timeoutMs);
    running.watchers.add(attempt);
    attempt();
  });
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

/** An empty body is an empty object; undefined when it is no JSON. */
function parse(text: string): unknown {
  try {
    return text === "" ? {} : JSON.parse(text);
  } catch {
    return undefined;
  }
}
