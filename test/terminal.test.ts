/** The terminal channel: who may open an inbox, what counts as shown, and how typed lines come in. */
import { afterEach, describe, expect, it } from "vitest";
import { terminal } from "../adapters/terminal.ts";
import { createClock } from "../src/clock.ts";
import { DeliveryError } from "../src/core/delivery.ts";
import { ERRORS } from "../src/core/errors.ts";
import type { FittedPrompt } from "../src/core/fit.ts";
import { MAX_BODY_BYTES } from "../src/gateway/body.ts";
import { readEvents, type ServerEvent } from "../src/gateway/cli/sse.ts";
import type { Channel, ChannelHost, InboundEvent } from "../src/ports/channel.ts";
import type { Clock } from "../src/ports/clock.ts";

const KEY = "Bearer op_key";
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** A clock that stands until it is moved. */
function createHandClock(): Clock & { advance(ms: number): void } {
  let now = Date.UTC(2026, 0, 1);
  const timers = new Set<{ at: number; wake: () => void }>();
  return {
    now: () => now,
    steadySince: () => 0,
    at(at, wake) {
      const timer = { at, wake };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      now += ms;
      for (const timer of [...timers]) {
        if (timer.at > now) continue;
        timers.delete(timer);
        timer.wake();
      }
    },
  };
}

interface Desk {
  readonly channel: Channel;
  /** Ends the listening, and resolves when it has ended. */
  stop(): Promise<void>;
  listen(): void;
  readonly events: InboundEvent[];
  request(path: string, init?: RequestInit): Promise<Response>;
  open(person?: string): Promise<Inbox>;
  post(body: unknown, person?: string): Promise<Response>;
}

interface Inbox {
  next(): Promise<ServerEvent | null>;
  leave(): void;
}

const leaving: (() => void)[] = [];
afterEach(() => {
  for (const leave of leaving.splice(0)) leave();
});

async function setUp(clock: Clock = createClock(), receive?: ChannelHost["receive"]): Promise<Desk> {
  const events: InboundEvent[] = [];
  let handler: (request: Request) => Promise<Response> = async () => new Response(null, { status: 500 });
  const host: ChannelHost = {
    async receive(event) {
      events.push(event);
      return receive ? receive(event) : { notice: null, say: event.kind === "text" ? `heard ${event.text}` : null };
    },
    report() {},
    mount({ handle }) {
      handler = handle;
    },
    clock,
    log: SILENT,
  };
  const config = terminal.config.parse({
    operator: async (authorization: string | null) => authorization === KEY,
    person: (name: string | null) => (name === null ? "ana" : ["ana", "ben"].includes(name) ? name : null),
  });
  const channel = await terminal.open(config, host);
  let listening = new AbortController();
  let heard: Promise<void> = Promise.resolve();
  const listen = () => {
    listening = new AbortController();
    heard = channel.listen(listening.signal);
  };
  const stop = () => {
    listening.abort();
    return heard;
  };
  listen();
  leaving.push(() => void stop());
  const request = (path: string, init: RequestInit = {}) =>
    handler(new Request(`http://127.0.0.1/channels/terminal${path}`, { headers: { authorization: KEY }, ...init }));
  return {
    channel,
    events,
    request,
    listen,
    stop,
    post: (body, person = "ana") => request(`?person=${person}`, { method: "POST", body: JSON.stringify(body) }),
    async open(person = "ana") {
      const abort = new AbortController();
      leaving.push(() => abort.abort());
      const { body } = await request(`?person=${person}`, { signal: abort.signal });
      if (!body) throw new Error("no stream");
      const stream = readEvents(body);
      return { next: async () => (await stream.next()).value ?? null, leave: () => abort.abort() };
    },
  };
}

const prompt = (text: string, open = true): FittedPrompt => ({
  open,
  form: "text",
  parts: [[{ text, style: "plain" }]],
  rows: [],
  entry: null,
});
const context = { key: "AAAAAAAAAAAAAAAA", partial: null };

async function shownId(inbox: Inbox): Promise<string> {
  const event = await inbox.next();
  expect(event?.event).toBe("prompt");
  return JSON.parse(event?.data ?? "{}").id;
}

describe("opening", () => {
  it("takes the operator's key and no other", async () => {
    const desk = await setUp();
    for (const headers of [{}, { authorization: "Bearer ag_key" }]) {
      expect((await desk.request("", { headers })).status).toBe(401);
      expect((await desk.request("", { headers, method: "POST", body: "{}" })).status).toBe(401);
    }
    expect(desk.events).toEqual([]);
  });

  it("serves people there are", async () => {
    const desk = await setUp();
    expect((await desk.request("?person=zoe")).status).toBe(404);
    expect((await desk.request("?person=ana", { method: "PUT" })).status).toBe(405);
  });

  it("greets the owner where nobody is named, and tells the engine once for each inbox", async () => {
    const desk = await setUp();
    const response = await desk.request("");
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const first = await readEvents(response.body ?? new ReadableStream()).next();
    expect(first.value).toEqual({ event: "hello", data: '{"person":"ana"}' });
    await desk.open();
    expect(desk.events.map(({ kind, address, actor }) => ({ kind, address, actor }))).toEqual([
      { kind: "opened", address: "terminal:ana", actor: "terminal:ana" },
      { kind: "opened", address: "terminal:ana", actor: "terminal:ana" },
    ]);
    expect(new Set(desk.events.map((event) => event.eventId)).size).toBe(2);
  });
});

describe("showing", () => {
  it("is absent, and certainly unsent, while nobody has that person's inbox open", async () => {
    const desk = await setUp();
    const ben = await desk.open("ben");
    await ben.next();
    const failed = await desk.channel.send("terminal:ana", prompt("Deploy?"), context).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(DeliveryError);
    expect(failed).toMatchObject({ reason: "absent", sent: "no" });
  });

  it("counts once an inbox has said so, not before", async () => {
    const desk = await setUp();
    const inbox = await desk.open();
    await inbox.next();
    let shown = false;
    const sending = desk.channel.send("terminal:ana", prompt("Deploy?"), context).finally(() => {
      shown = true;
    });
    const id = await shownId(inbox);
    expect(shown).toBe(false);
    expect((await desk.post({ kind: "seen", id: "another" })).status).toBe(204);
    expect(shown).toBe(false);
    await desk.post({ kind: "seen", id });
    expect(await sending).toEqual({ parts: [id] });
  });

  it.each([true, false])("says whether an answer is still asked for: %s", async (open) => {
    const desk = await setUp();
    const inbox = await desk.open();
    await inbox.next();
    const sending = desk.channel.send("terminal:ana", prompt("Deploy?", open), context);
    const { data = "" } = (await inbox.next()) ?? {};
    expect(JSON.parse(data)).toEqual({ id: context.key, open, parts: [[{ text: "Deploy?", style: "plain" }]] });
    await desk.post({ kind: "seen", id: context.key });
    await sending;
  });

  it("reaches two inboxes of one person, and one confirmation is enough", async () => {
    const desk = await setUp();
    const inboxes = [await desk.open(), await desk.open()];
    for (const inbox of inboxes) await inbox.next();
    const sending = desk.channel.send("terminal:ana", prompt("Deploy?"), context);
    const ids = await Promise.all(inboxes.map(shownId));
    expect(ids[0]).toBe(ids[1]);
    await desk.post({ kind: "seen", id: ids[0] });
    await expect(sending).resolves.toEqual({ parts: [ids[0]] });
  });

  it("names the prompt by the engine's key, so that an inbox knows a repeat when it sees one", async () => {
    const desk = await setUp();
    const inbox = await desk.open();
    await inbox.next();
    for (const key of ["AAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAA", "BBBBBBBBBBBBBBBB"]) {
      const sending = desk.channel.send("terminal:ana", prompt("Deploy?"), { key, partial: null });
      const id = await shownId(inbox);
      expect(id).toBe(key);
      await desk.post({ kind: "seen", id });
      await sending;
    }
  });

  it.each([
    ["after 10 s without a word", (clock: { advance(ms: number): void }) => clock.advance(10_000)],
    ["when the last inbox closes", (_clock: unknown, inbox: Inbox) => inbox.leave()],
  ])("is unknown %s", async (_name, happen) => {
    const clock = createHandClock();
    const desk = await setUp(clock);
    const inbox = await desk.open();
    await inbox.next();
    const sending = desk.channel.send("terminal:ana", prompt("Deploy?"), context).catch((error: unknown) => error);
    await shownId(inbox);
    happen(clock, inbox);
    expect(await sending).toMatchObject({ reason: "unreachable", sent: "unknown" });
  });

  it("says a line of Askgate's own, and rejects it where nobody would read it", async () => {
    const desk = await setUp();
    await expect(desk.channel.say("terminal:ana", "Linked.", null)).rejects.toMatchObject({ reason: "absent" });
    const inbox = await desk.open();
    await inbox.next();
    await desk.channel.say("terminal:ana", "Linked.", null);
    expect(await inbox.next()).toEqual({ event: "message", data: '{"text":"Linked."}' });
  });

  it("keeps an idle stream alive every 15 s", async () => {
    const clock = createHandClock();
    const desk = await setUp(clock);
    const { body } = await desk.request("");
    if (!body) throw new Error("no stream");
    const reader = body.getReader();
    await reader.read();
    clock.advance(15_000);
    expect(new TextDecoder().decode((await reader.read()).value)).toMatch(/^: /);
    clock.advance(15_000);
    expect(new TextDecoder().decode((await reader.read()).value)).toMatch(/^: /);
  });
});

describe("typing", () => {
  it("hands the line in as the person's own words, direct, under the inbox's id, and answers with the reply", async () => {
    const desk = await setUp();
    const response = await desk.post({ kind: "text", id: "line-1", text: " 2 " });
    expect(await response.json()).toEqual({ notice: null, say: "heard  2 " });
    expect(desk.events[0]).toMatchObject({
      kind: "text",
      text: " 2 ",
      direct: true,
      content: "text",
      replyTo: null,
      actor: "terminal:ana",
      address: "terminal:ana",
    });
  });

  it("takes the longest line in any script within what the gateway takes of a body", async () => {
    const desk = await setUp();
    const line = { kind: "text", id: "line-1", text: "\uffff".repeat(50_000) };
    expect(Buffer.byteLength(JSON.stringify(line))).toBeLessThan(MAX_BODY_BYTES);
    expect((await desk.post(line)).status).toBe(200);
  });

  it("gives a repeated line the same event, and the same id of another person a different one", async () => {
    const desk = await setUp();
    await desk.post({ kind: "text", id: "line-1", text: "2" });
    await desk.post({ kind: "text", id: "line-1", text: "2" });
    await desk.post({ kind: "text", id: "line-1", text: "2" }, "ben");
    const ids = desk.events.map((event) => event.eventId);
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).not.toBe(ids[0]);
  });

  it("does not confirm what could not be stored", async () => {
    const desk = await setUp(createClock(), async () => {
      throw new Error("the disk is full");
    });
    await expect(desk.post({ kind: "text", id: "line-1", text: "2" })).rejects.toThrow("the disk is full");
  });

  it.each([
    ["no JSON", "{"],
    ["an unknown kind", '{"kind":"shout","id":"1"}'],
    ["no id", '{"kind":"text","text":"2"}'],
    ["an unknown key", '{"kind":"text","id":"1","text":"2","person":"ben"}'],
    ["a line that is too long", JSON.stringify({ kind: "text", id: "1", text: "x".repeat(50_001) })],
  ])("refuses %s", async (_name, body) => {
    const desk = await setUp();
    expect((await desk.request("?person=ana", { method: "POST", body })).status).toBe(422);
    expect(desk.events).toEqual([]);
  });
});

describe("while another gateway serves the inboxes", () => {
  const line = { kind: "text", id: "line-1", text: "2" };

  it("every inbox ends, and the next is refused with where to go", async () => {
    const desk = await setUp();
    const inbox = await desk.open();
    await inbox.next();
    await desk.stop();
    expect(await inbox.next()).toBeNull();
    for (const answer of [await desk.request(""), await desk.post(line)]) {
      expect(answer.status).toBe(503);
      expect(await answer.json()).toMatchObject({
        code: "unavailable",
        detail: "The inbox is served by another gateway of this database; connect there, or try again in a moment.",
      });
    }
    expect(desk.events.map((event) => event.kind)).toEqual(["opened"]);
  });

  it("what was written and not confirmed is unknown", async () => {
    const desk = await setUp();
    const inbox = await desk.open();
    await inbox.next();
    const sending = desk.channel.send("terminal:ana", prompt("Deploy?"), context).catch((error: unknown) => error);
    await shownId(inbox);
    await desk.stop();
    expect(await sending).toMatchObject({ reason: "unreachable", sent: "unknown" });
  });

  it("only a holder of the key learns that", async () => {
    const desk = await setUp();
    await desk.stop();
    expect((await desk.request("", { headers: {} })).status).toBe(401);
  });

  it("inboxes work again once it listens again", async () => {
    const desk = await setUp();
    await desk.stop();
    desk.listen();
    const inbox = await desk.open();
    await inbox.next();
    const sending = desk.channel.send("terminal:ana", prompt("Deploy?"), context);
    await desk.post({ kind: "seen", id: await shownId(inbox) });
    await sending;
    expect((await desk.post(line)).status).toBe(200);
  });
});

it("refuses in problem documents, titled as everywhere in the house", async () => {
  const desk = await setUp();
  const answers = [
    await desk.request("", { headers: {} }),
    await desk.request("?person=zoe"),
    await desk.request("", { method: "PUT" }),
  ];
  await desk.stop();
  answers.push(await desk.request(""));
  const codes = ["unauthorized", "not_found", "invalid_request", "unavailable"] as const;
  for (const [at, code] of codes.entries()) {
    const { status, headers } = answers[at] ?? new Response();
    expect(headers.get("content-type")).toBe("application/problem+json");
    const head = { type: `urn:askgate:error:${code}`, title: ERRORS[code].meaning, status, code };
    expect(await answers[at]?.json()).toMatchObject(head);
  }
});
