/** What is measured and logged of a gateway, and that neither grows with what callers make up nor tells of people. */
import { afterEach, describe, expect, it } from "vitest";
import { entropy } from "../src/clock.ts";
import { createEngine } from "../src/engine/engine.ts";
import { createHttp, type Http, type HttpDeps } from "../src/gateway/http.ts";
import { createMetrics } from "../src/gateway/metrics.ts";
import { measured } from "../src/held.ts";
import type { Log, LogFields } from "../src/ports/log.ts";
import { openStore } from "../src/store/store.ts";
import { type EngineStand, frontOf, openEngine, silentLog } from "../src/testing/asker-engine.ts";
import { inquiryOf } from "../src/testing/asker-harness.ts";
import { stopped } from "../src/testing/events-stage.ts";
import { CRAMPED, hostileLoopback } from "../src/testing/hostile-channel.ts";
import { sharedStore } from "../src/testing/several-processes.ts";
import { skippingClock } from "../src/testing/skipping-clock.ts";
import { until } from "../src/testing/until.ts";

const ORIGIN = "http://127.0.0.1:8787";
const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const stand of opened.splice(0)) await stand.close();
});

interface Front extends EngineStand {
  readonly http: Http;
  call(method: string, path: string, body?: unknown, key?: string): Promise<Response>;
  /** Every sample by its name and labels. */
  scrape(): Promise<ReadonlyMap<string, number>>;
}

async function front(changes: Partial<HttpDeps> = {}): Promise<Front> {
  const stand = await openEngine();
  opened.push(stand);
  const http = createHttp(frontOf(stand, changes));
  const call: Front["call"] = (method, path, body, key = stand.keys.agent) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    return http.fetch(new Request(`${ORIGIN}${path}`, { method, headers, ...json }));
  };
  const scrape = async () => samplesOf(await (await http.fetch(new Request(`${ORIGIN}/metrics`))).text());
  return { ...stand, http, call, scrape };
}

function samplesOf(text: string): ReadonlyMap<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const [, sample = "", value = ""] = /^(.+) (\S+)$/.exec(line) ?? [];
      return [sample, Number(value)];
    }),
  );
}

/** The names and labels of what matches. */
function matching(samples: ReadonlyMap<string, number>, pattern: RegExp): readonly string[] {
  return [...samples.keys()].filter((sample) => pattern.test(sample));
}

describe("GET /metrics", () => {
  it("is the text of Prometheus, without a key, about the process too", async () => {
    const { http, scrape } = await front();
    const response = await http.fetch(new Request(`${ORIGIN}/metrics`));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect((await scrape()).get("process_resident_memory_bytes")).toBeGreaterThan(1_000_000);
  });

  it("times requests by the pattern of their route", async () => {
    const { call, scrape } = await front();
    await call("POST", "/v1/inquiries", inquiryOf({ id: "a" }));
    await call("GET", "/v1/inquiries/a");
    await call("GET", "/v1/inquiries/b");
    await call("DELETE", "/v1/inquiries/a");
    const samples = await scrape();
    const count = (method: string, route: string, status: number) =>
      samples.get(`askgate_http_seconds_count{method="${method}",route="${route}",status="${status}"}`);
    expect(count("POST", "/v1/inquiries", 201)).toBe(1);
    expect(count("GET", "/v1/inquiries/:id", 200)).toBe(1);
    expect(count("GET", "/v1/inquiries/:id", 404)).toBe(1);
    expect(count("DELETE", "/v1/inquiries/:id", 405)).toBe(1);
    const bounds = matching(samples, /^askgate_http_seconds_bucket\{.*status="201"/).map(
      (sample) => /le="([^"]+)"/.exec(sample)?.[1],
    );
    expect([bounds[0], bounds.at(-2), bounds.at(-1)]).toEqual(["0.001", "60", "+Inf"]);
  });

  it("does not grow with paths, methods, names or channels that somebody makes up", async () => {
    const { call, scrape } = await front();
    const probe = async (name: string) => {
      for (const path of [`/${name}`, `/v1/${name}`, `/v1/inquiries/${name}`, `/channels/${name}/${name}`]) {
        for (const method of ["GET", "POST", name]) await call(method, path);
      }
      await call("GET", `/v1/${name}/x`, undefined, "unknown");
      await call("POST", "/v1/inquiries", { kind: name, ...inquiryOf() });
    };
    await probe("first");
    await scrape();
    const before = matching(await scrape(), /^askgate_/);
    for (let n = 0; n < 20; n++) await probe(`made-up-${n}`);
    const after = await scrape();
    expect(matching(after, /^askgate_/)).toEqual(before);
    expect(matching(after, /made-up/)).toEqual([]);
  });

  it("holds nothing of what was asked, answered or by whom", async () => {
    const { call, scrape, keys } = await front();
    const questions = [{ ...inquiryOf().questions[0], header: "Zirbe" }];
    await call("POST", "/v1/inquiries", { id: "zirbel", session: "zirbelholz", questions });
    await call("POST", "/v1/inquiries/zirbel/answers", { text: "zirben" }, keys.operator);
    expect(matching(await scrape(), /zirb|\bana\b|\bag_/i)).toEqual([]);
  });

  it("tells how the gateway stands now: ready, and each channel", async () => {
    const { scrape, engine } = await front();
    await until("the channel is up", async () => (await engine.health.health()).channels.hostile?.state === "up");
    const samples = await scrape();
    expect([samples.get("askgate_ready"), samples.get('askgate_channel_up{channel="hostile"}')]).toEqual([1, 1]);
    const metrics = createMetrics();
    const channels = { hostile: { state: "down", since: "2026-01-01T00:00:00.000Z" } } as const;
    const down = samplesOf(await metrics.text({ ready: false, store: "down", channels }));
    expect([down.get("askgate_ready"), down.get('askgate_channel_up{channel="hostile"}')]).toEqual([0, 0]);
  });

  it("tells which process holds a channel, and who holds it after that one", async () => {
    const clock = skippingClock();
    const store = await openStore("sqlite::memory:", { log: silentLog });
    const shared = sharedStore(store);
    const chat = hostileLoopback(CRAMPED, false);
    const begin = async (process: string) => {
      const metrics = createMetrics();
      const engine = await createEngine({
        ...{ store: shared.open(), clock, entropy, process, log: silentLog, meter: metrics.meter },
        settings: {
          locale: "en",
          directory: { people: new Map(), sessions: new Map(), admit: new Map() },
          fixedKeys: [],
        },
        channels: () => [measured({ name: "hostile", limits: CRAMPED, open: chat.open }, metrics)],
      });
      await engine.start();
      const held = async () =>
        samplesOf(await metrics.text(await engine.health.health())).get('askgate_channel_held{channel="hostile"}');
      return { engine, held };
    };
    const one = await begin("one");
    const other = await begin("other");
    opened.push({ close: async () => void (await Promise.all([stopped(clock, other.engine.stop()), store.close()])) });
    await until("one holds it", async () => (await one.held()) === 1);
    expect(await other.held()).toBe(0);
    await stopped(clock, one.engine.stop());
    await until("the other one does", async () => {
      clock.skip(1_000);
      return (await other.held()) === 1;
    });
    expect(await one.held()).toBe(0);
  });

  it("measures an inquiry from the asking to the end, in its own registry", async () => {
    const { call, scrape, keys } = await front();
    const other = await front();
    const asked = ["a", "b"].map((id) => call("POST", "/v1/inquiries", inquiryOf({ id })));
    await Promise.all(asked);
    await until(
      "both are shown",
      async () => (await scrape()).get('askgate_shown_seconds_count{channel="hostile"}') === 2,
    );
    await call("POST", "/v1/inquiries/a/answers", { text: "1" }, keys.operator);
    await call("POST", "/v1/inquiries/b/cancel");
    const sent = () =>
      scrape().then((all) => all.get('askgate_sent_seconds_count{channel="hostile",outcome="ok"}') ?? 0);
    await until("the copies are closed", async () => (await sent()) >= 4);
    const samples = await scrape();
    expect(samples.get('askgate_asked_total{kind="question"}')).toBe(2);
    expect(samples.get('askgate_settled_seconds_count{status="answered"}')).toBe(1);
    expect(samples.get('askgate_settled_seconds_count{status="cancelled"}')).toBe(1);
    expect(matching(await other.scrape(), /hostile".*,outcome|kind="question"|status="answered"/)).toEqual([]);
  });

  it("tells seconds of what its meter is told in milliseconds", async () => {
    const { scrape, metrics } = await front();
    metrics.meter.shown("telegram", 1_500);
    metrics.meter.settled("answered", 90_000);
    metrics.meter.sent("telegram", "rate-limited", 250);
    metrics.meter.heard("telegram", "press");
    const samples = await scrape();
    expect(samples.get('askgate_shown_seconds_sum{channel="telegram"}')).toBe(1.5);
    expect(samples.get('askgate_settled_seconds_bucket{le="60",status="answered"}')).toBe(0);
    expect(samples.get('askgate_settled_seconds_bucket{le="120",status="answered"}')).toBe(1);
    expect(samples.get('askgate_sent_seconds_sum{channel="telegram",outcome="rate-limited"}')).toBe(0.25);
    expect(samples.get('askgate_heard_total{channel="telegram",kind="press"}')).toBe(1);
  });
});

describe("the log", () => {
  it("says of each request what it was and how long it took, and never what was in it", async () => {
    const lines: LogFields[] = [];
    const log: Log = { ...silentLog, debug: (fields) => lines.push(fields) };
    const { call, keys } = await front({ log });
    await call("POST", "/v1/inquiries", inquiryOf({ id: "a" }));
    const waiting = await call("POST", "/v1/ask_user", inquiryOf({ id: "b" }));
    await call("POST", "/v1/inquiries/a/answers", { text: "my secret words" }, keys.operator);
    await call("GET", "/nothing?key=abc");
    await waiting.body?.cancel();
    const ms = expect.any(Number);
    expect(lines).toEqual([
      { method: "POST", route: "/v1/inquiries", status: 201, ms, inquiry: "a" },
      { method: "POST", route: "/v1/ask_user", status: 200, ms, inquiry: "b" },
      { method: "POST", route: "/v1/inquiries/:id/answers", status: 200, ms },
      { method: "GET", route: "unknown", status: 404, ms },
    ]);
    expect(JSON.stringify(lines)).not.toMatch(new RegExp(`secret|abc|${keys.agent}|${keys.operator}`));
  });
});
