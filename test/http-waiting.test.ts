/** Waiting over real connections: when headers come, what keeps a line alive, and what a lost one costs. */
import { afterEach, describe, expect, it } from "vitest";
import { createClient } from "../src/client.ts";
import { createHttp } from "../src/gateway/http.ts";
import { type Listening, serve } from "../src/gateway/listen.ts";
import { PULSE_MS } from "../src/gateway/pulse.ts";
import { type EngineStand, frontOf, openEngine } from "../src/testing/asker-engine.ts";
import { inquiryOf, refusal } from "../src/testing/asker-harness.ts";
import { until } from "../src/testing/until.ts";

const STAGING = { answers: { target: ["Staging (Recommended)"] } };
const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function stand(): Promise<EngineStand> {
  const engine = await openEngine();
  open.push(engine);
  return engine;
}

async function listen(engine: EngineStand, port = 0): Promise<Listening> {
  const listening = await serve(createHttp(frontOf(engine)), { host: "127.0.0.1", port, drainMs: 20 });
  open.push(listening);
  return listening;
}

/** The tool call as any HTTP client makes it. */
function post(url: string, key: string, body: unknown, signal: AbortSignal | null = null): Promise<Response> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  return fetch(`${url}/v1/ask_user`, { method: "POST", headers, body: JSON.stringify(body), signal });
}

/** The only inquiry there is. */
async function onlyInquiry(url: string, { keys }: EngineStand) {
  const { items } = await createClient({ url, key: keys.operator }).list();
  expect(items).toHaveLength(1);
  return items[0] as (typeof items)[number];
}

describe("POST /v1/ask_user", () => {
  it("sends its headers at once, naming the inquiry, then white space, then the result", async () => {
    const engine = await stand();
    const { url } = await listen(engine);
    const response = await post(url, engine.keys.agent, inquiryOf({ id: "a/1" }));
    expect([response.status, response.headers.get("location")]).toEqual([200, "/v1/inquiries/a%2F1"]);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    for (let beat = 0; beat < 3; beat++) {
      const chunk = reader.read();
      engine.clock.skip(PULSE_MS);
      expect(new TextDecoder().decode((await chunk).value)).toBe(" ");
    }
    await createClient({ url, key: engine.keys.operator }).answer("a/1", STAGING);
    const rest = new TextDecoder().decode((await reader.read()).value);
    expect(JSON.parse(rest)).toMatchObject({ status: "answered", answers: STAGING, inquiry_id: "a/1" });
    expect((await reader.read()).done).toBe(true);
  });

  it("keeps a hundred lines alive with one timer, and none when nobody waits", async () => {
    const engine = await stand();
    const timers = new Set<number>();
    let made = 0;
    const clock = {
      now: engine.clock.now,
      steadySince: engine.clock.steadySince,
      at(at: number, wake: () => void) {
        const timer = ++made;
        timers.add(timer);
        const cancel = engine.clock.at(at, () => {
          timers.delete(timer);
          wake();
        });
        return () => {
          timers.delete(timer);
          cancel();
        };
      },
    };
    const http = createHttp(frontOf(engine, { clock }));
    const gone = new AbortController();
    const headers = { authorization: `Bearer ${engine.keys.agent}`, "content-type": "application/json" };
    const body = JSON.stringify(inquiryOf({ id: "shared" }));
    const request = () =>
      new Request("http://localhost/v1/ask_user", { method: "POST", headers, body, signal: gone.signal });
    const responses = await Promise.all(Array.from({ length: 100 }, () => http.fetch(request())));
    expect(timers.size).toBe(1);
    engine.clock.skip(PULSE_MS);
    expect(timers.size).toBe(1);
    gone.abort();
    const texts = await Promise.all(responses.map((response) => response.text()));
    expect(new Set(texts.map((text) => text.slice(0, 2)))).toEqual(new Set([" {"]));
    expect(timers.size).toBe(0);
  });

  it("only detaches when the client is gone: the question stays open and nobody waits for it", async () => {
    const engine = await stand();
    const { url } = await listen(engine);
    const gone = new AbortController();
    await post(url, engine.keys.agent, inquiryOf(), gone.signal);
    const { id } = await onlyInquiry(url, engine);
    expect(engine.engine.waiting(id)).toBe(true);
    gone.abort();
    await until("nobody waits", () => !engine.engine.waiting(id));
    expect((await onlyInquiry(url, engine)).status).toBe("waiting");
  });

  it("does not count a result as collected that the connection did not take", async () => {
    const engine = await stand();
    const http = createHttp(frontOf(engine));
    const headers = { authorization: `Bearer ${engine.keys.agent}`, "content-type": "application/json" };
    const ask = () =>
      http.fetch(
        new Request("http://localhost/v1/ask_user", { method: "POST", headers, body: JSON.stringify(inquiryOf()) }),
      );
    const lost = await ask();
    const at = lost.headers.get("location") ?? "";
    const operator = { ...headers, authorization: `Bearer ${engine.keys.operator}` };
    await http.fetch(
      new Request(`http://localhost${at}/answers`, {
        method: "POST",
        headers: operator,
        body: JSON.stringify(STAGING),
      }),
    );
    await lost.body?.cancel();
    const again = await ask();
    expect(again.headers.get("location")).toBe(at);
    expect(await again.json()).toMatchObject({ status: "answered", answers: STAGING });
  });
});

describe("GET ?wait", () => {
  it("ends when the client is gone", async () => {
    const engine = await stand();
    const { url } = await listen(engine);
    const client = createClient({ url, key: engine.keys.agent });
    const { inquiry } = await client.ask(inquiryOf());
    const gone = new AbortController();
    const waiting = client.get(inquiry.id, { waitSeconds: 50, signal: gone.signal });
    await until("somebody waits", () => engine.engine.waiting(inquiry.id));
    gone.abort();
    await expect(waiting).rejects.toThrow();
    await until("nobody waits", () => !engine.engine.waiting(inquiry.id));
  });

  it("returns the inquiry as it stands when the time is up", async () => {
    const engine = await stand();
    const { url } = await listen(engine);
    const client = createClient({ url, key: engine.keys.agent });
    const { inquiry } = await client.ask(inquiryOf());
    const waiting = client.get(inquiry.id, { waitSeconds: 50 });
    await until("somebody waits", () => engine.engine.waiting(inquiry.id));
    engine.clock.skip(51_000);
    expect((await waiting).status).toBe("waiting");
  });
});

describe("the client", () => {
  it("finds its question again after the gateway was away", async () => {
    const engine = await stand();
    const first = await listen(engine);
    const client = createClient({ url: first.url, key: engine.keys.agent });
    const asked: string[] = [];
    const result = client.askUser(inquiryOf(), { onAsked: (id) => asked.push(id) });
    await until("it is asked", () => asked.length === 1);
    await first.close();
    await until("the line is cut", () => !engine.engine.waiting(asked[0] ?? ""));
    await listen(engine, Number(new URL(first.url).port));
    await until("it waits again", () => engine.engine.waiting(asked[0] ?? ""));
    await createClient({ url: first.url, key: engine.keys.operator }).answer(asked[0] ?? "", STAGING);
    expect(await result).toMatchObject({ status: "answered", inquiry_id: asked[0] });
    expect(asked).toHaveLength(1);
    await onlyInquiry(first.url, engine);
  });

  it("says at once, and what to do, where no gateway listens", async () => {
    const { url, close } = await listen(await stand());
    await close();
    const client = createClient({ url, key: "k" });
    const calls = [client.askUser(inquiryOf()), client.get("x"), client.settled("x")];
    for (const { code, message } of await Promise.all(calls.map(refusal))) {
      expect(code).toBe("unavailable");
      expect(message).toContain(url);
    }
  });

  it("gives up a gateway that went away after its patience", async () => {
    const engine = await stand();
    const listening = await listen(engine);
    const client = createClient({ url: listening.url, key: engine.keys.agent, patienceMs: 1 });
    const asked: string[] = [];
    const result = refusal(client.askUser(inquiryOf(), { onAsked: (id) => asked.push(id) }));
    await until("it is asked", () => asked.length === 1);
    await listening.close();
    expect((await result).code).toBe("unavailable");
  });

  it("gives up waiting when told to, and leaves the question open", async () => {
    const engine = await stand();
    const { url } = await listen(engine);
    const gone = new AbortController();
    const client = createClient({ url, key: engine.keys.agent });
    const result = client.askUser(inquiryOf(), { signal: gone.signal, onAsked: () => gone.abort(new Error("enough")) });
    await expect(result).rejects.toThrow("enough");
    expect((await onlyInquiry(url, engine)).status).toBe("waiting");
  });
});

describe("listening", () => {
  it("on a port that is taken is refused with a remedy", async () => {
    const engine = await stand();
    const { url } = await listen(engine);
    const { code, message } = await refusal(listen(engine, Number(new URL(url).port)));
    expect(code).toBe("unavailable");
    expect(message).toMatch(/taken.*ASKGATE_PORT/);
  });
});
