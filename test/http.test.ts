/** What is HTTP's own: keys, problem documents, limits, headers. What the calls mean is in askers.test.ts. */
import { afterEach, describe, expect, it } from "vitest";
import { createHttp, type Http, type HttpDeps } from "../src/gateway/http.ts";
import * as wire from "../src/gateway/wire.ts";
import type { Log, LogFields } from "../src/ports/log.ts";
import { type EngineStand, frontOf, openEngine, silentLog } from "../src/testing/asker-engine.ts";
import { deploy, inquiryOf, type Who } from "../src/testing/asker-harness.ts";

const ORIGIN = "http://127.0.0.1:8787";
const opened: EngineStand[] = [];

afterEach(async () => {
  for (const stand of opened.splice(0)) await stand.close();
});

interface Front extends EngineStand {
  readonly http: Http;
  /** A call with a key; an object becomes a JSON body. */
  call(
    who: Who | null,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Response>;
}

async function front(changes: Partial<HttpDeps> = {}): Promise<Front> {
  const stand = await openEngine();
  opened.push(stand);
  const http = createHttp(frontOf(stand, changes));
  return {
    ...stand,
    http,
    call(who, method, path, body, headers = {}) {
      const key: Record<string, string> = who === null ? {} : { authorization: `Bearer ${stand.keys[who]}` };
      const json = body === undefined ? {} : { body: JSON.stringify(body) };
      const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
      return http.fetch(new Request(`${ORIGIN}${path}`, { method, headers: { ...key, ...type, ...headers }, ...json }));
    },
  };
}

/** A stream of that many bytes, telling how many were taken. */
function bytes(total: number): { stream: ReadableStream<Uint8Array>; taken: () => number } {
  let taken = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (taken >= total) return controller.close();
      taken += 10_000;
      controller.enqueue(new Uint8Array(10_000).fill(32));
    },
  });
  return { stream, taken: () => taken };
}

async function problemOf(response: Response) {
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  const document = wire.problem.parse(await response.json());
  expect(document.status).toBe(response.status);
  return document;
}

const ADMINISTRATION: readonly (readonly [method: string, path: string, body?: object])[] = [
  ["GET", "/v1/keys"],
  ["POST", "/v1/keys", { scope: "operator" }],
  ["DELETE", "/v1/keys/key_1"],
  ["POST", "/v1/pairings", { channel: "hostile" }],
];

describe("a refusal is a problem document", () => {
  it("401 with a challenge where the key is missing, unknown or in another scheme", async () => {
    const { call } = await front();
    const challenges = [];
    for (const authorization of [undefined, "Bearer ag_unknown", "Basic YTpi", "Bearer"]) {
      const response = await call(null, "GET", "/v1/inquiries", undefined, authorization ? { authorization } : {});
      expect((await problemOf(response)).code).toBe("unauthorized");
      expect(response.status).toBe(401);
      challenges.push(response.headers.get("www-authenticate"));
    }
    const known = 'Bearer realm="askgate"';
    expect(challenges).toEqual([known, ...Array(3).fill(`${known}, error="invalid_token"`)]);
  });

  it("403 for an agent key on an operator's call", async () => {
    const { call } = await front();
    for (const [method, path, body] of ADMINISTRATION) {
      const response = await call("agent", method, path, body);
      expect([response.status, (await problemOf(response)).code]).toEqual([403, "forbidden"]);
    }
  });

  it("403 for an operator key that names sessions on the calls that reach beyond them", async () => {
    const { engine, call, keys, http } = await front();
    const operator = await engine.access.authenticate(keys.operator);
    if (!operator) throw new Error("the operator's key is gone");
    const { key } = await engine.access.addKey(operator, { scope: "operator", sessions: ["support"] });
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    for (const [method, path, body] of ADMINISTRATION) {
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      const response = await http.fetch(new Request(`${ORIGIN}${path}`, init));
      expect([path, (await problemOf(response)).code]).toEqual([path, "forbidden"]);
    }
    expect((await call("operator", "GET", "/v1/keys")).status).toBe(200);
  });

  it("404 for a path that is not there, 405 with the right methods for one that is", async () => {
    const { call } = await front();
    expect((await problemOf(await call("agent", "GET", "/v1/nothing"))).code).toBe("not_found");
    expect((await problemOf(await call(null, "GET", "/nothing"))).status).toBe(404);
    expect((await problemOf(await call(null, "POST", "/channels/nothing", {}))).status).toBe(404);
    const wrong = await call("agent", "DELETE", "/v1/inquiries");
    expect((await problemOf(wrong)).status).toBe(405);
    expect(wrong.headers.get("allow")?.split(", ").sort()).toEqual(["GET", "POST"]);
  });

  it("415 for a body that is not said to be JSON, 400 for one that is not or is not UTF-8", async () => {
    const { call } = await front();
    const typed = await call("agent", "POST", "/v1/inquiries", inquiryOf(), { "content-type": "text/plain" });
    expect((await problemOf(typed)).status).toBe(415);
    const { http, keys } = await front();
    const headers = { authorization: `Bearer ${keys.agent}`, "content-type": "application/json; charset=utf-8" };
    const broken = await http.fetch(new Request(`${ORIGIN}/v1/inquiries`, { method: "POST", headers, body: "{" }));
    expect(await problemOf(broken)).toMatchObject({ status: 400, code: "invalid_request" });
    const body = Buffer.from(JSON.stringify(inquiryOf({ id: "caf\u00e9" })), "latin1");
    const garbled = await http.fetch(new Request(`${ORIGIN}/v1/inquiries`, { method: "POST", headers, body }));
    expect(await problemOf(garbled)).toMatchObject({ status: 400, detail: expect.stringContaining("not UTF-8") });
  });

  it("413 for a body over 256 KiB, declared or not, without taking it in", async () => {
    const { http, keys, call } = await front();
    const padding = "x".repeat(256 * 1024);
    expect((await problemOf(await call("agent", "POST", "/v1/inquiries", { padding }))).code).toBe("too_large");
    const { stream, taken } = bytes(100_000_000);
    const headers = { authorization: `Bearer ${keys.agent}`, "content-type": "application/json" };
    const init = { method: "POST", headers, body: stream, duplex: "half" } as const;
    const response = await http.fetch(new Request(`${ORIGIN}/v1/ask_user`, init));
    expect((await problemOf(response)).status).toBe(413);
    expect(taken()).toBeLessThan(400_000);
  });

  it("422 with every issue for a bad inquiry, on both ways to ask", async () => {
    const { call } = await front();
    const input = inquiryOf({ questions: [deploy({ id: "1" })], timeoutSeconds: "900" });
    for (const path of ["/v1/inquiries", "/v1/ask_user"]) {
      const { status, code, issues } = await problemOf(await call("agent", "POST", path, input));
      expect([status, code]).toEqual([422, "invalid_inquiry"]);
      expect(issues?.map((issue) => issue.path)).toEqual(["questions[0].id", "timeoutSeconds"]);
    }
  });

  it("400 with every issue for a bad query", async () => {
    const { call } = await front();
    const list = await problemOf(await call("agent", "GET", "/v1/inquiries?limit=0&state=open"));
    expect(list.issues?.map((issue) => [issue.path, issue.rule])).toEqual([
      ["limit", "min"],
      ["state", "unknown_key"],
    ]);
    expect((await problemOf(await call("agent", "GET", "/v1/inquiries/x?wait=51"))).code).toBe("invalid_request");
  });

  it.each([
    ["a space", "%20", "blank"],
    ["outer spaces", "%20a", "pattern"],
    ["control characters", "a%00%1b", "pattern"],
    ["a line break", "a%0Ab", "pattern"],
    ["5,000 characters", "a".repeat(5_000), "max"],
  ])("400 for a name that is no id: %s", async (_name, name, rule) => {
    const { call } = await front();
    const paths: readonly (readonly [string, string, string])[] = [
      ["PATCH", `/v1/tasks/${name}`, "taskId"],
      ["POST", `/v1/runs/${name}/abort`, "run"],
      ["GET", `/v1/inquiries/${name}`, "id"],
      ["POST", `/v1/inquiries/${name}/cancel`, "id"],
    ];
    for (const [method, path, parameter] of paths) {
      const refused = await problemOf(
        await call("operator", method, path, method === "PATCH" ? { stateVersion: 1 } : undefined),
      );
      expect(refused).toMatchObject({ status: 400, code: "invalid_request" });
      expect(refused.issues?.map((issue) => [issue.path, issue.rule])).toEqual([[parameter, rule]]);
    }
  });

  it.each(["", ".", "..", "x".repeat(201)])("400 for an Idempotency-Key that could be no id: %j", async (key) => {
    const { call } = await front();
    for (const path of ["/v1/inquiries", "/v1/ask_user"]) {
      const refused = await problemOf(await call("agent", "POST", path, inquiryOf(), { "idempotency-key": key }));
      expect(refused).toMatchObject({ status: 400, code: "invalid_request" });
      expect(refused.issues?.map((issue) => issue.path)).toEqual(["Idempotency-Key"]);
    }
    const { items } = (await (await call("agent", "GET", "/v1/inquiries")).json()) as { items: unknown[] };
    expect(items).toEqual([]);
  });

  it("500 under a request id where we failed, with the fault in the log alone", async () => {
    const lines: LogFields[] = [];
    const log: Log = { ...silentLog, error: (fields) => lines.push(fields) };
    const { call, store } = await front({ log });
    await store.close();
    const response = await call("agent", "GET", "/v1/inquiries/x");
    const text = await response.clone().text();
    const { instance, code } = await problemOf(response);
    expect(code).toBe("internal");
    expect(text).not.toMatch(/driver|destroyed|kysely/i);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ fault: expect.stringMatching(/driver|destroyed|kysely/i) });
    expect(lines[0]).toMatchObject({ request: instance?.replace("urn:uuid:", "") });
  });
});

describe("every answer", () => {
  it("has one of the published shapes", async () => {
    const { call } = await front();
    const asked = await call(
      "agent",
      "POST",
      "/v1/inquiries",
      inquiryOf({ id: "a/b?c %", task: { taskId: "t", stateVersion: 1 } }),
    );
    expect(asked.status).toBe(201);
    wire.inquiry.parse(await asked.json());
    const at = asked.headers.get("location") ?? "";
    wire.inquiry.parse(await (await call("agent", "GET", at)).json());
    wire.page.parse(await (await call("agent", "GET", "/v1/inquiries")).json());
    const answered = await call("operator", "POST", `${at}/answers`, { text: "my own words" });
    expect(wire.inquiry.parse(await answered.json())).toMatchObject({ id: "a/b?c %", status: "answered" });
    const result = await call(
      "agent",
      "POST",
      "/v1/ask_user",
      inquiryOf({ id: "a/b?c %", task: { taskId: "t", stateVersion: 1 } }),
    );
    wire.toolResult.parse(await result.json());
    wire.taskMoved.parse(await (await call("agent", "PATCH", "/v1/tasks/t", { stateVersion: 2 })).json());
    wire.aborted.parse(await (await call("agent", "POST", "/v1/runs/r%2F1/abort")).json());
    wire.health.parse(await (await call(null, "GET", "/readyz")).json());
    wire.alive.parse(await (await call(null, "GET", "/healthz")).json());
  });

  it("is neither cached, framed, sniffed nor read by other origins", async () => {
    const { call } = await front();
    for (const response of [await call(null, "GET", "/healthz"), await call(null, "GET", "/v1/inquiries")]) {
      expect(response.headers.get("cache-control")).toBe("no-store");
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect(response.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  it("200 instead of 201 says that the inquiry existed", async () => {
    const { call } = await front();
    const key = { "idempotency-key": "k" };
    expect((await call("agent", "POST", "/v1/inquiries", inquiryOf(), key)).status).toBe(201);
    expect((await call("agent", "POST", "/v1/inquiries", inquiryOf(), key)).status).toBe(200);
  });
});

describe("the Host", () => {
  it("must be loopback or configured: another name gets nothing, not even the health", async () => {
    const { http } = await front({ hosts: ["askgate.example.org"] });
    const status = async (origin: string) => (await http.fetch(new Request(`${origin}/healthz`))).status;
    for (const own of ["localhost:1", "127.0.0.1", "[::1]:8787", "ASKGATE.example.org"]) {
      expect(await status(`http://${own}`)).toBe(200);
    }
    for (const foreign of ["evil.example.org", "127.0.0.1.evil.example.org", "localhost.evil.example.org"]) {
      expect(await status(`http://${foreign}`)).toBe(403);
    }
  });
});

describe("administration", () => {
  it("adds a key that works, lists it without the secret, and revokes it at once", async () => {
    const { call, http } = await front();
    const added = wire.newKey.parse(
      await (await call("operator", "POST", "/v1/keys", { scope: "agent", sessions: ["support"] })).json(),
    );
    const use = () =>
      http.fetch(new Request(`${ORIGIN}/v1/inquiries`, { headers: { authorization: `Bearer ${added.key}` } }));
    expect((await use()).status).toBe(200);
    const list = await call("operator", "GET", "/v1/keys");
    const text = await list.text();
    expect(wire.keys.parse(JSON.parse(text)).items.map((key) => key.id)).toContain(added.id);
    expect(text).not.toContain(added.key);
    expect((await call("operator", "DELETE", `/v1/keys/${added.id}`)).status).toBe(204);
    expect((await use()).status).toBe(401);
    expect((await call("operator", "DELETE", "/v1/keys/key_none")).status).toBe(404);
  });

  it("refuses a key it does not understand, naming the faults", async () => {
    const { call } = await front();
    const refused = await problemOf(await call("operator", "POST", "/v1/keys", { scope: "root", session: "x" }));
    expect(refused.issues?.map((issue) => [issue.path, issue.rule])).toEqual([
      ["scope", "enum"],
      ["session", "unknown_key"],
    ]);
  });

  it("makes a pairing code for a channel that is on and a person who exists", async () => {
    const { call } = await front();
    const made = wire.pairing.parse(
      await (await call("operator", "POST", "/v1/pairings", { channel: "hostile" })).json(),
    );
    expect(made).toMatchObject({ person: "ana", channel: "hostile" });
    for (const body of [{ channel: "nowhere" }, { channel: "hostile", person: "bob" }]) {
      expect((await problemOf(await call("operator", "POST", "/v1/pairings", body))).code).toBe("not_found");
    }
  });
});

describe("a channel's own path", () => {
  it("goes to the channel whatever the method, with a body of 256 KiB at most", async () => {
    const handle = async (request: Request) =>
      new Response(`${request.method} ${new URL(request.url).pathname} ${await request.text()}`);
    const { call, http } = await front({ mounts: new Map([["echo", { audience: "operator", handle }]]) });
    expect(await (await call(null, "PUT", "/channels/echo", "hi")).text()).toBe('PUT /channels/echo "hi"');
    expect(await (await call(null, "GET", "/channels/echo/deeper")).text()).toBe("GET /channels/echo/deeper ");
    const { stream, taken } = bytes(100_000_000);
    const init = { method: "POST", body: stream, duplex: "half" } as const;
    expect((await http.fetch(new Request(`${ORIGIN}/channels/echo`, init))).status).toBe(413);
    expect(taken()).toBeLessThan(400_000);
  });
});
