/** The stream of events over real connections: its form, who is told what, and that a lost line loses nothing. */
import { afterEach, describe, expect, it } from "vitest";
import { createClient } from "../src/client.ts";
import { createHttp } from "../src/gateway/http.ts";
import { serve } from "../src/gateway/listen.ts";
import { PULSE_MS } from "../src/gateway/pulse.ts";
import * as wire from "../src/gateway/wire.ts";
import { type EngineStand, frontOf, openEngine } from "../src/testing/asker-engine.ts";
import { deploy, inquiryOf, type Who } from "../src/testing/asker-harness.ts";
import { until } from "../src/testing/until.ts";

const STAGING = { answers: { target: ["Staging (Recommended)"] } };
const open: { close(): unknown }[] = [];

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

interface Told {
  readonly id: string;
  readonly event: string;
  readonly data: ReturnType<typeof wire.event.parse>;
}

interface Stream {
  /** Where it said that it begins. */
  readonly begin: string;
  readonly told: readonly Told[];
  readonly comments: () => number;
  /** The id to go on from, as a browser keeps it. */
  last(): string;
  /** Resolves with the first events of a stream that has told as many. */
  first(count: number): Promise<readonly Told[]>;
  /** Resolves to whether the gateway ended it, false where the line was cut. */
  readonly ended: Promise<boolean>;
  /** Cuts the line. */
  close(): void;
}

interface Gateway extends EngineStand {
  readonly url: string;
  as(who: Who): ReturnType<typeof createClient>;
  get(who: Who, path: string, headers?: Record<string, string>, signal?: AbortSignal): Promise<Response>;
  follow(who: Who, lastEventId?: string | null, query?: string): Promise<Stream>;
}

async function gateway(): Promise<Gateway> {
  const stand = await openEngine();
  const listening = await serve(createHttp(frontOf(stand)), { host: "127.0.0.1", port: 0, drainMs: 20 });
  open.push(stand, listening);
  const { url } = listening;
  const get: Gateway["get"] = (who, path, headers = {}, signal) =>
    fetch(`${url}${path}`, {
      headers: { authorization: `Bearer ${stand.keys[who]}`, ...headers },
      ...(signal && { signal }),
    });
  return {
    ...stand,
    url,
    as: (who) => createClient({ url, key: stand.keys[who] }),
    get,
    async follow(who, lastEventId = null, query = "") {
      const cut = new AbortController();
      const resume: Record<string, string> = lastEventId === null ? {} : { "last-event-id": lastEventId };
      const stream = await streamOf(await get(who, `/v1/events${query}`, resume, cut.signal), () => cut.abort());
      open.push(stream);
      return stream;
    },
  };
}

async function streamOf(response: Response, close: () => void): Promise<Stream> {
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  const blocks = blocksOf(response.body as ReadableStream<Uint8Array>);
  const { value: opening } = await blocks.next();
  const [, begin = ""] = /^id: (\S+)\nretry: 1000$/.exec(opening ?? "") ?? [];
  expect(begin).not.toBe("");
  const told: Told[] = [];
  let comments = 0;
  let last = begin;
  const ended = (async () => {
    for await (const block of blocks) {
      last = /^id: (\S+)/.exec(block)?.[1] ?? last;
      if (block.startsWith(":")) comments += 1;
      else if (block.includes("\n")) told.push(toldBy(block));
    }
    return true;
  })().catch(() => false);
  return {
    begin,
    told,
    comments: () => comments,
    last: () => last,
    first: (count) => until(`${count} events are told`, () => told.length >= count && told.slice(0, count)),
    ended,
    close,
  };
}

async function* blocksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  let pending = "";
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    const blocks = (pending + decoder.decode(chunk, { stream: true })).split("\n\n");
    pending = blocks.pop() ?? "";
    yield* blocks;
  }
}

function toldBy(block: string): Told {
  const [, id = "", event = "", data = ""] = /^id: (\S+)\nevent: (\S+)\ndata: (.+)$/.exec(block) ?? [];
  const content = wire.event.parse(JSON.parse(data));
  expect(content.type).toBe(event);
  return { id, event, data: content };
}

/** As `inquiry.created a`, in the order told. */
function steps(told: readonly Told[]): readonly string[] {
  return told.map(({ event, data }) => `${event} ${data.data.id}`);
}

/** Asks, is shown, is answered. */
async function cycle(on: Gateway, id: string, who: Who = "agent"): Promise<void> {
  await on.as(who).ask(inquiryOf({ id }));
  await shown(on, id);
  await on.as("operator").answer(id, STAGING);
}

async function shown(on: Gateway, id: string): Promise<void> {
  await until(`${id} is shown`, async () => (await on.as("operator").get(id)).shownAt);
}

const lifeOf = (id: string) => ["created", "delivered", "answered"].map((step) => `inquiry.${step} ${id}`);

describe("GET /v1/events", () => {
  it("sends its headers and where it begins before anything happens", async () => {
    const on = await gateway();
    const response = await on.get("agent", "/v1/events");
    expect(response.headers.get("cache-control")).toBe("no-store");
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const opening = await reader.read();
    expect(new TextDecoder().decode(opening.value)).toMatch(/^id: \S+\nretry: 1000\n\n$/);
    await reader.cancel();
  });

  it("tells each step once, in order, with the inquiry as it stands", async () => {
    const on = await gateway();
    const stream = await on.follow("agent");
    await cycle(on, "a");
    await cycle(on, "b");
    const told = await stream.first(6);
    expect(steps(told)).toEqual([...lifeOf("a"), ...lifeOf("b")]);
    expect(new Set(told.map(({ id }) => id)).size).toBe(6);
    expect(told[2]?.data.data).toEqual(await on.as("agent").get("a"));
    expect(told[2]?.data.timestamp).toBe(told[2]?.data.data.settledAt);
  });

  const ends: readonly (readonly [status: string, end: (on: Gateway) => Promise<unknown>])[] = [
    ["cancelled", (on) => on.as("agent").cancel("a")],
    ["timed_out", (on) => shown(on, "a").then(() => on.clock.skip(901_000))],
  ];
  it.each(ends)("tells that it was %s", async (status, end) => {
    const on = await gateway();
    const stream = await on.follow("agent", null, `?type=inquiry.${status}`);
    await on.as("agent").ask(inquiryOf({ id: "a" }));
    await end(on);
    expect(steps(await stream.first(1))).toEqual([`inquiry.${status} a`]);
  });

  it("tells a key its own inquiries in its own sessions, and an operator everything", async () => {
    const on = await gateway();
    const streams = await Promise.all((["agent", "other", "scoped", "operator"] as const).map((who) => on.follow(who)));
    await on.as("agent").ask(inquiryOf({ id: "a" }));
    await on.as("other").ask(inquiryOf({ id: "o" }));
    await on.as("scoped").ask(inquiryOf({ id: "s", session: "support" }));
    for (const id of ["a", "o", "s"]) await shown(on, id);
    const [agent, other, scoped, operator] = streams as [Stream, Stream, Stream, Stream];
    const everything = await operator.first(6);
    for (const [stream, id] of [
      [agent, "a"],
      [other, "o"],
      [scoped, "s"],
    ] as const) {
      await stream.first(2);
      expect(stream.told).toEqual(everything.filter(({ data }) => data.data.id === id));
    }
  });

  it("tells one session or one type where asked to", async () => {
    const on = await gateway();
    const session = await on.follow("agent", null, "?session=support");
    const answers = await on.follow("agent", null, "?type=inquiry.answered");
    await cycle(on, "a");
    await on.as("agent").ask(inquiryOf({ id: "s", session: "support" }));
    await on.as("operator").answer("s", STAGING);
    expect((await session.first(1))[0]?.data).toMatchObject({ type: "inquiry.created", data: { id: "s" } });
    expect(steps(await answers.first(2))).toEqual(["inquiry.answered a", "inquiry.answered s"]);
  });

  it("breaks the silence every 15 s", async () => {
    const on = await gateway();
    const stream = await on.follow("agent");
    for (let beat = 1; beat <= 3; beat++) {
      on.clock.skip(PULSE_MS);
      await until("a comment came", () => stream.comments() === beat);
    }
    expect(stream.told).toEqual([]);
  });

  it("breaks it with the position where nothing that happens is asked for, and resumes behind that", async () => {
    const on = await gateway();
    const all = await on.follow("agent");
    const none = await on.follow("agent", null, "?session=nothing-happens-here");
    await cycle(on, "a");
    await all.first(3);
    await until("it is past all of it", () => {
      on.clock.skip(PULSE_MS);
      return none.last() === all.last();
    });
    expect([none.told, none.last() !== none.begin]).toEqual([[], true]);
    const before = none.comments();
    on.clock.skip(PULSE_MS);
    await until("a comment came", () => none.comments() > before);
    const resumed = await on.follow("agent", none.last());
    await cycle(on, "b");
    expect(steps(await resumed.first(3))).toEqual(lifeOf("b"));
  });

  it("goes on from a position in the address as from one in the header", async () => {
    const on = await gateway();
    const { begin } = await on.follow("agent");
    await cycle(on, "a");
    const both = await on.follow("agent", begin, `?after=${encodeURIComponent(begin)}`);
    const address = await on.follow("agent", null, `?after=${encodeURIComponent(begin)}`);
    expect(steps(await both.first(3))).toEqual(lifeOf("a"));
    expect(await address.first(3)).toEqual(both.told);
  });

  it("refuses what is no position, and two that differ, before the stream begins", async () => {
    const on = await gateway();
    const { begin } = await on.follow("agent");
    const refused: readonly (readonly [path: string, headers: Record<string, string>, status: number])[] = [
      ["/v1/events", { "last-event-id": "yesterday" }, 422],
      ["/v1/events", { "last-event-id": "" }, 422],
      ["/v1/events", { "last-event-id": "9".repeat(5_000) }, 422],
      ["/v1/events?after=-1", {}, 422],
      ["/v1/events?after=", {}, 422],
      ["/v1/events?after=0.999999", {}, 422],
      ["/v1/events", { "last-event-id": "7.0" }, 422],
      [`/v1/events?after=${begin}`, { "last-event-id": "nonsense" }, 422],
      ["/v1/events?since=1", {}, 400],
      ["/v1/events?type=inquiry.opened", {}, 400],
    ];
    for (const [path, headers, status] of refused) {
      const response = await on.get("agent", path, headers);
      expect([path, response.status, response.headers.get("content-type")]).toEqual([
        path,
        status,
        "application/problem+json",
      ]);
      expect(wire.problem.parse(await response.json()).code).toBe("invalid_request");
    }
    expect((await fetch(`${on.url}/v1/events`)).status).toBe(401);
  });

  it("ends at a stop, so that the client comes back", async () => {
    const on = await gateway();
    const stream = await on.follow("agent");
    await on.engine.stop();
    expect(await stream.ended).toBe(true);
  });

  it("ends with its key: what happens after a revocation is not told", async () => {
    const on = await gateway();
    const { id, key } = await on.as("operator").addKey({ scope: "operator" });
    const witness = await on.follow("operator");
    const response = await fetch(`${on.url}/v1/events`, { headers: { authorization: `Bearer ${key}` } });
    const stream = await streamOf(response, () => {});
    await on.as("operator").revokeKey(id);
    await on.as("agent").ask(inquiryOf({ id: "a" }));
    await witness.first(1);
    expect(await stream.ended).toBe(true);
    expect(stream.told).toEqual([]);
  });

  it("ends with its key though nothing happens, at the next pulse", async () => {
    const on = await gateway();
    const { id, key } = await on.as("operator").addKey({ scope: "agent" });
    const staying = await on.follow("agent");
    const response = await fetch(`${on.url}/v1/events`, { headers: { authorization: `Bearer ${key}` } });
    const stream = await streamOf(response, () => {});
    await on.as("operator").revokeKey(id);
    on.clock.skip(PULSE_MS);
    expect(await stream.ended).toBe(true);
    await until("the other one goes on", () => staying.comments() === 1);
  });
});

// https://github.com/vellum-ai/vellum-assistant/pull/35445
// https://github.com/QwenLM/qwen-code/issues/11448
describe("a card lost after a reconnect", () => {
  it("the stream was down for 40 s around the ask: its resume tells every event once, in order", async () => {
    const on = await gateway();
    const witness = await on.follow("agent");
    const before = await on.follow("agent");
    await cycle(on, "before");
    await before.first(3);
    before.close();
    on.clock.skip(20_000);
    await on.as("agent").ask(inquiryOf({ id: "during" }));
    await shown(on, "during");
    on.clock.skip(20_000);
    const after = await on.follow("agent", before.last());
    await on.as("operator").answer("during", STAGING);
    expect(steps(await after.first(3))).toEqual(lifeOf("during"));
    expect([...before.told, ...after.told].map(({ id }) => id)).toEqual((await witness.first(6)).map(({ id }) => id));
  });

  it("the line broke before the first event: it goes on from where it said it begins", async () => {
    const on = await gateway();
    const before = await on.follow("agent");
    before.close();
    await cycle(on, "a");
    const after = await on.follow("agent", before.last());
    expect(steps(await after.first(3))).toEqual(lifeOf("a"));
  });

  it("wherever it breaks, nothing is skipped or told twice", async () => {
    const on = await gateway();
    const witness = await on.follow("agent");
    await Promise.all(["a", "b", "c", "d"].map((id) => cycle(on, id)));
    const whole = await witness.first(12);
    for (let cut = 0; cut < whole.length; cut++) {
      const rest = await on.follow("agent", whole[cut]?.id ?? "");
      const expected = whole.slice(cut + 1).map(({ id }) => id);
      expect((await rest.first(expected.length)).map(({ id }) => id)).toEqual(expected);
      rest.close();
    }
  });

  it("a reload and a second window are told the same", async () => {
    const on = await gateway();
    const first = await on.follow("agent");
    await on.as("agent").ask(inquiryOf({ id: "a" }));
    await shown(on, "a");
    first.close();
    const [reloaded, second] = await Promise.all([on.follow("agent", first.begin), on.follow("agent", first.begin)]);
    await on.as("operator").answer("a", STAGING);
    expect(steps(await reloaded.first(3))).toEqual(lifeOf("a"));
    expect(await second.first(3)).toEqual(await reloaded.first(3));
  });

  it("opened an hour later: what waits is there with its time left, and what is over is told as over", async () => {
    const on = await gateway();
    const { begin } = await on.follow("agent");
    await on.as("agent").ask(inquiryOf({ id: "old" }));
    await shown(on, "old");
    on.clock.skip(1_800_000);
    await until("it is over", async () => (await on.as("agent").get("old")).settledAt);
    await on.as("agent").ask(inquiryOf({ id: "new", timeoutSeconds: 3_600 }));
    await shown(on, "new");
    on.clock.skip(1_800_000);
    const { items } = await on.as("agent").list({ status: "waiting" });
    expect(items.map(({ id }) => id)).toEqual(["new"]);
    const left = Date.parse(items[0]?.expiresAt ?? "") - on.clock.now();
    expect(left).toBeGreaterThan(1_700_000);
    expect(left).toBeLessThanOrEqual(1_800_000);
    const told = await (await on.follow("agent", begin)).first(5);
    const standing = new Map(told.map(({ data }) => [data.data.id, data.data.status]));
    expect([...standing]).toEqual([
      ["old", "timed_out"],
      ["new", "waiting"],
    ]);
  });

  it("it broke right after an answer was sent: the repeat gets the same response, and one event tells of it", async () => {
    const on = await gateway();
    const before = await on.follow("operator");
    await on.as("agent").ask(inquiryOf({ id: "a", questions: [deploy(), deploy({ id: "again" })] }));
    await before.first(2);
    const answer = { answers: { target: ["Production"], again: ["Production"] } };
    const submit = () => on.as("operator").answer("a", answer, { idempotencyKey: "submit-1" });
    const first = await submit();
    before.close();
    const repeated = await submit();
    expect(repeated).toEqual(first);
    expect(repeated).toMatchObject({ status: "answered", version: 2 });
    await cycle(on, "b");
    const after = await on.follow("operator", before.told[1]?.id ?? "");
    expect(steps(await after.first(4))).toEqual(["inquiry.answered a", ...lifeOf("b")]);
  });
});
