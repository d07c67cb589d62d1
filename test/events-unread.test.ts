/** A stream of events that is not read, no more, or never was: what it holds and what it leaves behind. */
import { afterEach, describe, expect, it } from "vitest";
import { createHttp } from "../src/gateway/http.ts";
import { serve } from "../src/gateway/listen.ts";
import { PULSE_MS } from "../src/gateway/pulse.ts";
import type { Caller } from "../src/ports/asker.ts";
import type { Events } from "../src/ports/events.ts";
import { frontOf, openEngine } from "../src/testing/asker-engine.ts";
import { inquiryOf } from "../src/testing/asker-harness.ts";
import { until } from "../src/testing/until.ts";

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function front() {
  const stand = await openEngine();
  open.push(stand);
  const { events, taken } = counted(stand.engine.events);
  const http = createHttp(frontOf(stand, { events }));
  const headers = { authorization: `Bearer ${stand.keys.agent}`, "content-type": "application/json" };
  return {
    ...stand,
    http,
    headers,
    taken,
    request: (path: string, init: RequestInit = {}) =>
      http.fetch(new Request(`http://localhost${path}`, { ...init, headers })),
    async followers() {
      const text = await stand.metrics.text(await stand.engine.health.health());
      return Number(/^askgate_followers (\d+)$/m.exec(text)?.[1]);
    },
  };
}

/** The same events, telling how many were taken. */
function counted(events: Events): { events: Events; taken: () => number } {
  let taken = 0;
  async function* follow(caller: Caller, after: string | null, signal: AbortSignal) {
    for await (const event of events.follow(caller, after, signal)) {
      taken += 1;
      yield event;
    }
  }
  return { events: { ...events, follow }, taken: () => taken };
}

describe("a stream of events", () => {
  it("holds nothing for a reader that pauses, however much happens, and goes on where it was", async () => {
    const on = await front();
    const slow = ((await on.request("/v1/events")).body as ReadableStream<Uint8Array>).getReader();
    await slow.read();
    for (let n = 0; n < 30; n++) {
      await on.request("/v1/inquiries", { method: "POST", body: JSON.stringify(inquiryOf({ id: `q${n}` })) });
      on.clock.skip(PULSE_MS);
    }
    expect(on.taken()).toBe(0);
    const chunks: string[] = [];
    const asked = () => chunks.flatMap((chunk) => /"inquiry.created".*?"data":\{"id":"(q\d+)"/.exec(chunk)?.[1] ?? []);
    while (asked().length < 30) chunks.push(new TextDecoder().decode((await slow.read()).value));
    expect(asked()).toEqual(Array.from({ length: 30 }, (_, n) => `q${n}`));
    expect(chunks.filter((chunk) => chunk.startsWith(":")).length).toBeLessThanOrEqual(1);
    await slow.cancel();
  });

  it("leaves nobody behind when its reader is gone", async () => {
    const on = await front();
    const listening = await serve(on.http, { host: "127.0.0.1", port: 0, drainMs: 20 });
    open.push(listening);
    const gone = new AbortController();
    await fetch(`${listening.url}/v1/events`, { headers: on.headers, signal: gone.signal });
    await until("somebody follows", async () => (await on.followers()) === 1);
    gone.abort();
    await until("nobody follows", async () => (await on.followers()) === 0);
  });

  it("leaves nobody behind when only its headers were wanted", async () => {
    const on = await front();
    expect((await on.request("/v1/events", { method: "HEAD" })).status).toBe(200);
    expect(await on.followers()).toBe(0);
  });
});
