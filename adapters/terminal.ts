/**
 * The terminal: people who answer from an open inbox, over one stream of server-sent events and small posts.
 *
 * Rules: only a holder of an operator key for every session opens it, and speaks as the person it was opened for; a prompt counts as
 * shown when an inbox said so, never because it was written to a socket; nothing is kept here, so that a restart loses
 * nothing. What is typed carries an id made by the inbox: the same line sent twice is one event. Inboxes are served only
 * while the channel listens, for nothing is sent to them from anywhere else: when it ends they end, and come back.
 *
 * `GET /channels/terminal?person=NAME` streams the events `hello` {person}, `prompt` {id, open, parts}, where `open` says
 * whether an answer is still asked for, and `message` {text}; `POST` to the same address takes {kind: "seen", id} and
 * {kind: "text", id, text}, the latter answering {notice, say}.
 */
import { randomUUID } from "node:crypto";
import * as z from "zod";
import { DeliveryError } from "../src/core/delivery.ts";
import type { FittedPrompt } from "../src/core/fit.ts";
import type { Limits } from "../src/core/limits.ts";
import type { Channel, ChannelHost, ChannelModule, Receipt } from "../src/ports/channel.ts";

export interface TerminalConfig {
  /** Whether an `Authorization` header holds the key of somebody who may open inboxes. */
  readonly operator: (authorization: string | null) => Promise<boolean>;
  /** The person of that name, of the owner for null; null for nobody. */
  readonly person: (name: string | null) => string | null;
}

/** Our own surface: the figures are choices, not a vendor's. */
const limits: Limits = {
  text: { max: 100_000, unit: "codePoints" },
  buttons: null,
  edits: false,
  replies: false,
  entryField: false,
  attendance: "when open",
  pace: { perSecond: null, perAddressMs: 0, perGroupMs: 0 },
  repeat: "idempotent",
  unknownWaitMs: 0,
};

/** How long an inbox may take to say that it has shown a prompt. */
const SEEN_WITHIN_MS = 10_000;
/** A line of silence often enough for every proxy. */
const KEEP_ALIVE_MS = 15_000;
/** UTF-16 units of a typed line. In any script it fits into the 256 KiB that the gateway takes of a body. */
const MAX_LINE = 50_000;

const post = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("seen"), id: z.string().min(1).max(200) }),
  z.strictObject({ kind: z.literal("text"), id: z.string().min(1).max(200), text: z.string().max(MAX_LINE) }),
]);

export const terminal: ChannelModule<TerminalConfig> = {
  name: "terminal",
  limits,
  config: z.object({
    operator: z.custom<TerminalConfig["operator"]>((value) => typeof value === "function"),
    person: z.custom<TerminalConfig["person"]>((value) => typeof value === "function"),
  }),
  async open(config, host) {
    const inboxes = new Inboxes(host);
    host.mount({ audience: "operator", handle: (request) => handle(request, config, host, inboxes) });
    return channelOf(host, inboxes);
  },
};

function channelOf(host: ChannelHost, inboxes: Inboxes): Channel {
  return {
    send: (to, prompt, context) => inboxes.show(personAt(to), context.key, prompt),
    edit: async (_to, at) => at,
    say: async (to, text) => {
      if (!inboxes.write(personAt(to), "message", { text })) throw nobodyThere();
    },
    async listen(signal) {
      if (signal.aborted) return;
      inboxes.serve();
      host.report("up");
      await new Promise((done) => signal.addEventListener("abort", done, { once: true }));
      inboxes.end();
    },
    close: async () => inboxes.end(),
  };
}

function personAt(address: string): string {
  return address.slice(`${terminal.name}:`.length);
}

function nobodyThere(): DeliveryError {
  return new DeliveryError("absent", { sent: "no", detail: "nobody has an inbox open" });
}

function unconfirmed(): DeliveryError {
  return new DeliveryError("unreachable", { sent: "unknown", detail: "no inbox confirmed that it was shown" });
}

async function handle(
  request: Request,
  config: TerminalConfig,
  host: ChannelHost,
  inboxes: Inboxes,
): Promise<Response> {
  if (!(await config.operator(request.headers.get("authorization")))) {
    return problem(401, "unauthorized", "An inbox is opened with an operator key: Authorization: Bearer <key>.");
  }
  const name = new URL(request.url).searchParams.get("person");
  const person = config.person(name);
  if (person === null)
    return problem(404, "not_found", `There is no person "${name ?? "owner"}" in the settings file.`);
  if (!inboxes.served) {
    const remedy = "connect there, or try again in a moment";
    return problem(503, "unavailable", `The inbox is served by another gateway of this database; ${remedy}.`);
  }
  if (request.method === "GET") return openInbox(person, request.signal, host, inboxes);
  if (request.method === "POST") return takePost(person, request, host, inboxes);
  return problem(405, "invalid_request", "This address takes GET and POST.");
}

function openInbox(person: string, signal: AbortSignal, host: ChannelHost, inboxes: Inboxes): Response {
  const stream = inboxes.open(person, signal);
  host.receive({ ...event(person, `opened:${randomUUID()}`, host), kind: "opened" }).catch((error: unknown) => {
    host.log.error({ channel: terminal.name, err: error }, "the opening of an inbox could not be recorded");
    inboxes.close(person);
  });
  const headers = { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" };
  return new Response(stream, { headers });
}

async function takePost(person: string, request: Request, host: ChannelHost, inboxes: Inboxes): Promise<Response> {
  const input = post.safeParse(parseJson(await request.text()));
  if (!input.success) {
    const forms = '{"kind":"seen","id"} or {"kind":"text","id","text"}';
    return problem(422, "invalid_request", `A post is ${forms}, a text at most ${MAX_LINE} characters long.`);
  }
  const { data } = input;
  if (data.kind === "seen") {
    inboxes.seen(data.id);
    return new Response(null, { status: 204 });
  }
  const base = event(person, `text:${person}:${data.id}`, host);
  const said = { text: data.text, message: data.id, replyTo: null, mentioned: false, content: "text" } as const;
  return Response.json(await host.receive({ ...base, kind: "text", ...said }));
}

function event(person: string, eventId: string, host: ChannelHost) {
  const self = `${terminal.name}:${person}`;
  return { eventId, actor: self, actorName: person, address: self, at: host.clock.now(), direct: true };
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** The refusals of the house that occur here, in its own words. */
const TITLES = {
  invalid_request: "The request is not readable as what this call takes.",
  unauthorized: "No valid key came with the request.",
  not_found: "Nothing of that id is visible to this key.",
  unavailable: "The gateway is starting, stopping or cannot reach its store.",
} as const;

function problem(status: number, code: keyof typeof TITLES, detail: string): Response {
  const body = JSON.stringify({ type: `urn:askgate:error:${code}`, title: TITLES[code], status, code, detail });
  return new Response(body, { status, headers: { "content-type": "application/problem+json" } });
}

type Stream = ReadableStreamDefaultController<Uint8Array>;

/** The open streams of everybody, and what was written to them but not confirmed yet. */
class Inboxes {
  readonly #host: ChannelHost;
  readonly #streams = new Map<string, Set<Stream>>();
  readonly #unseen = new Map<string, { person: string; seen: () => void; lost: () => void }>();
  readonly #encoder = new TextEncoder();
  #served = false;

  constructor(host: ChannelHost) {
    this.#host = host;
  }

  get served(): boolean {
    return this.#served;
  }

  serve(): void {
    this.#served = true;
  }

  /** Ends all streams; none is opened until they are served again. */
  end(): void {
    this.#served = false;
    this.close();
  }

  open(person: string, signal: AbortSignal): ReadableStream<Uint8Array> {
    let leave = () => {};
    return new ReadableStream({
      start: (stream) => {
        leave = this.#join(person, stream);
        if (signal.aborted) leave();
        else signal.addEventListener("abort", leave, { once: true });
      },
      cancel: () => leave(),
    });
  }

  #join(person: string, stream: Stream): () => void {
    const all = this.#streams.get(person) ?? new Set();
    this.#streams.set(person, all.add(stream));
    stream.enqueue(this.#encoder.encode(frame("hello", { person })));
    let stop = () => {};
    const keepAlive = () => {
      if (!all.has(stream)) return;
      stream.enqueue(this.#encoder.encode(": still here\n\n"));
      stop = this.#host.clock.at(this.#host.clock.now() + KEEP_ALIVE_MS, keepAlive);
    };
    stop = this.#host.clock.at(this.#host.clock.now() + KEEP_ALIVE_MS, keepAlive);
    return () => {
      stop();
      this.#leave(person, stream);
    };
  }

  #leave(person: string, stream: Stream): void {
    const all = this.#streams.get(person);
    all?.delete(stream);
    if (all?.size !== 0) return;
    this.#streams.delete(person);
    for (const one of this.#unseen.values()) if (one.person === person) one.lost();
  }

  /** False when nobody has an inbox of that person open. */
  write(person: string, name: string, data: unknown): boolean {
    const bytes = this.#encoder.encode(frame(name, data));
    const all = this.#streams.get(person);
    for (const stream of all ?? []) stream.enqueue(bytes);
    return all !== undefined;
  }

  /** Resolves when the first inbox has shown it; one that showed this `id` before confirms without printing again. */
  async show(person: string, id: string, prompt: FittedPrompt): Promise<Receipt> {
    if (!this.write(person, "prompt", { id, open: prompt.open, parts: prompt.parts })) throw nobodyThere();
    await new Promise<void>((resolve, reject) => {
      const end = (settle: () => void) => () => {
        stop();
        this.#unseen.delete(id);
        settle();
      };
      const lost = end(() => reject(unconfirmed()));
      const stop = this.#host.clock.at(this.#host.clock.now() + SEEN_WITHIN_MS, lost);
      this.#unseen.set(id, { person, seen: end(resolve), lost });
    });
    return { parts: [id] };
  }

  seen(id: string): void {
    this.#unseen.get(id)?.seen();
  }

  /** Ends the streams of one person, or of everybody. */
  close(person?: string): void {
    for (const [name, all] of [...this.#streams]) {
      if (person !== undefined && name !== person) continue;
      for (const stream of [...all]) {
        this.#leave(name, stream);
        stream.close();
      }
    }
  }
}

function frame(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
