/**
 * `openapi.json` against the gateway: a valid document of everything served and nothing else, and true of what really
 * comes back.
 */
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { ERRORS } from "../src/core/errors.ts";
import { createGateway } from "../src/gateway/http.ts";
import { type EngineStand, frontOf, openEngine } from "../src/testing/asker-engine.ts";
import { deploy, inquiryOf, type Who } from "../src/testing/asker-harness.ts";

const ORIGIN = "http://127.0.0.1:8787";
const opened: EngineStand[] = [];

afterEach(async () => {
  for (const stand of opened.splice(0)) await stand.close();
});

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security?: readonly object[];
  readonly parameters?: readonly { name: string; in: string; description?: string }[];
  readonly requestBody?: { required: boolean; content: Record<string, { schema: object }> };
  readonly responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>;
}

interface Document {
  readonly openapi: string;
  readonly tags: readonly { name: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { schemas: Record<string, object> };
}

/** An operation by its name, as `POST /v1/inquiries/{id}/cancel`. */
type Operations = ReadonlyMap<string, Operation>;

async function front() {
  const stand = await openEngine();
  opened.push(stand);
  const app = createGateway(frontOf(stand));
  const response = await app.fetch(new Request(`${ORIGIN}/openapi.json`));
  const document = (await response.json()) as Document;
  const operations: Operations = new Map(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
    ),
  );
  return { ...stand, app, document, operations };
}

/** As the document writes it: `{id}` for `:id`. */
function written(path: string): string {
  return path.replace(/:(\w+)/g, "{$1}");
}

describe("openapi.json", () => {
  it("is valid OpenAPI 3.1, which the validator would tell otherwise", async () => {
    const { document } = await front();
    const validator = new Validator();
    expect(await validator.validate(structuredClone({ ...document }))).toEqual({ valid: true });
    expect(validator.version).toBe("3.1");
    const broken = { ...document, paths: { "/x": { get: { responses: { 200: { text: "no description" } } } } } };
    expect((await new Validator().validate(broken)).valid).toBe(false);
  });

  it("has every route that is served, and none that is not", async () => {
    const { app, operations } = await front();
    const served = app.routes
      .filter(({ method }) => method !== "ALL")
      .map(({ method, path }) => `${method} ${written(path)}`);
    expect([...operations.keys()].filter((name) => !name.includes("/channels/")).sort()).toEqual(
      [...new Set(served)].sort(),
    );
    const caught = app.routes.filter(({ method }) => method === "ALL").map(({ path }) => written(path));
    const known = new Set(served.map((name) => name.split(" ")[1]));
    expect([...new Set(caught)].filter((path) => !known.has(path)).sort()).toEqual([
      "/*",
      "/channels/{name}/*",
      "/v1/*",
    ]);
    expect([...operations.keys()]).toContain("POST /channels/{name}");
  });

  it("resolves every reference, and uses every schema it names", async () => {
    const { document } = await front();
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, target = ""]) => target);
    const named = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    expect([...new Set(references)].sort()).toEqual(named.sort());
    expect(named).toEqual(
      expect.arrayContaining(
        ["Event", "Inquiry", "NewInquiry", "Problem", "ToolResult"].map((name) => `#/components/schemas/${name}`),
      ),
    );
  });

  it("names and explains every operation", async () => {
    const { document, operations } = await front();
    const tags = document.tags.map(({ name }) => name);
    for (const [name, { operationId, summary, tags: own }] of operations) {
      expect([name, operationId]).toEqual([name, expect.stringMatching(/^[a-z][A-Za-z]+$/)]);
      expect([name, summary]).toEqual([name, expect.stringMatching(/^[A-Z].+[^.]$/)]);
      expect([name, own.filter((tag) => !tags.includes(tag)), own.length]).toEqual([name, [], 1]);
    }
    // Clients are generated from these names: changing one breaks them.
    expect([...operations].map(([name, { operationId }]) => `${operationId}: ${name}`).sort()).toEqual([
      "abortRun: POST /v1/runs/{run}/abort",
      "addKey: POST /v1/keys",
      "answerInquiry: POST /v1/inquiries/{id}/answers",
      "ask: POST /v1/inquiries",
      "askUser: POST /v1/ask_user",
      "cancelInquiry: POST /v1/inquiries/{id}/cancel",
      "createPairing: POST /v1/pairings",
      "followEvents: GET /v1/events",
      "getInquiry: GET /v1/inquiries/{id}",
      "getLiveness: GET /healthz",
      "getMetrics: GET /metrics",
      "getOpenapi: GET /openapi.json",
      "getReadiness: GET /readyz",
      "listInquiries: GET /v1/inquiries",
      "listKeys: GET /v1/keys",
      "moveTask: PATCH /v1/tasks/{taskId}",
      "receiveFromPlatform: POST /channels/{name}",
      "revokeKey: DELETE /v1/keys/{id}",
      "skipInquiry: POST /v1/inquiries/{id}/skip",
    ]);
  });

  it("tells parameters, headers, bodies and keys where there are any", async () => {
    const { operations } = await front();
    const parameters = (name: string) => operations.get(name)?.parameters?.map((one) => `${one.in} ${one.name}`) ?? [];
    expect(parameters("GET /v1/events").sort()).toEqual([
      "header Last-Event-ID",
      "query after",
      "query session",
      "query type",
    ]);
    expect(parameters("GET /v1/inquiries/{id}")).toEqual(["path id", "query wait"]);
    for (const [name, { security, requestBody, responses }] of operations) {
      const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => `path ${parameter}`);
      expect(parameters(name).filter((one) => one.startsWith("path "))).toEqual(inPath);
      const open = !name.includes(" /v1/");
      expect([name, security, "401" in responses && !name.includes("/channels/")]).toEqual([
        name,
        open ? [] : undefined,
        !open,
      ]);
      if (requestBody) expect([name, "413" in responses, "415" in responses]).toEqual([name, true, true]);
    }
    const repeatable = [...operations.keys()].filter((name) => parameters(name).includes("header Idempotency-Key"));
    expect(repeatable.sort()).toEqual([
      "POST /v1/ask_user",
      "POST /v1/inquiries",
      "POST /v1/inquiries/{id}/answers",
      "POST /v1/inquiries/{id}/cancel",
      "POST /v1/inquiries/{id}/skip",
    ]);
  });

  it("tells refusals as problem documents, by codes of the catalogue", async () => {
    const { operations } = await front();
    const told = new Set<string>();
    for (const [name, { responses }] of operations) {
      for (const [status, { description, content }] of Object.entries(responses)) {
        if (content?.["application/problem+json"] === undefined) continue;
        const codes = [...description.matchAll(/^`(\w+)`: (.+)$/gm)];
        for (const [, code = "", meaning] of codes) {
          expect([name, status, meaning]).toEqual([name, status, ERRORS[code as keyof typeof ERRORS]?.meaning]);
          told.add(code);
        }
      }
    }
    expect([...told].sort()).toEqual(Object.keys(ERRORS).sort());
  });
});

describe("what really comes back", () => {
  it("has the documented status, type and schema, on a tour through everything", async () => {
    const { app, document, operations, keys, chat } = await front();
    const seen = new Set<string>();

    async function call(
      who: Who | null,
      name: string,
      {
        path = name.split(" ")[1] ?? "",
        body,
        headers = {},
      }: Partial<Record<"path", string>> & {
        body?: unknown;
        headers?: Record<string, string>;
      } = {},
    ) {
      const json = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
      const response = await app.fetch(
        new Request(`${ORIGIN}${path}`, {
          method: name.split(" ")[0] ?? "",
          headers: {
            ...(who !== null && { authorization: `Bearer ${keys[who]}` }),
            ...(body !== undefined && { "content-type": "application/json" }),
            ...headers,
          },
          ...json,
        }),
      );
      seen.add(`${name} ${response.status}`);
      return check(name, response);
    }

    /** The body, which the document describes. */
    async function check(name: string, response: Response): Promise<unknown> {
      const documented = operations.get(name)?.responses[`${response.status}`];
      expect(documented, `${name} ${response.status}`).toBeDefined();
      if (documented?.content === undefined) return expect(await response.text()).toBe("");
      const type = response.headers.get("content-type")?.split(";")[0] ?? "";
      const schema = documented.content[type]?.schema;
      expect(schema, `${name} ${response.status} ${type}`).toBeDefined();
      const value = type === "text/event-stream" ? await firstEvent(response) : await response.text();
      const body = type === "text/plain" ? value : JSON.parse(value);
      expect(compiled(document, schema ?? {}).safeParse(body).error, `${name} ${response.status}`).toBeUndefined();
      return body;
    }

    for (const name of ["GET /healthz", "GET /readyz", "GET /metrics", "GET /openapi.json"]) await call(null, name);
    const ASK = "POST /v1/inquiries";
    const whole = { id: "a", run: "r", task: { taskId: "t", currentStep: "s", stateVersion: 1 } };
    const asked = inquiryOf({
      ...whole,
      questions: [deploy({ multiSelect: true }), deploy({ id: "closed", allowOther: false })],
    });
    await call("agent", ASK, { body: asked });
    await call("agent", ASK, { body: asked });
    await call("agent", ASK, { body: inquiryOf(whole) });
    await call("agent", ASK, { body: { questions: [] } });
    await call("agent", ASK, { body: "{" });
    await call("agent", ASK, { body: "{}", headers: { "content-type": "text/plain" } });
    await call("agent", ASK, { body: "x".repeat(300_000) });
    await call("subagent", ASK, { body: inquiryOf() });
    await call("scoped", ASK, { body: inquiryOf({ session: "main" }) });
    await call(null, ASK, { body: inquiryOf() });

    const LIST = "GET /v1/inquiries";
    await call("agent", LIST);
    await call("agent", LIST, { path: "/v1/inquiries?limit=0" });
    const GET = "GET /v1/inquiries/{id}";
    await call("agent", GET, { path: "/v1/inquiries/a" });
    await call("agent", GET, { path: "/v1/inquiries/b" });
    await call("agent", GET, { path: "/v1/inquiries/a?wait=x" });
    await call("agent", "GET /v1/events", { path: "/v1/events?after=0.0" });
    await call("agent", "GET /v1/events", { path: "/v1/events?after=no" });
    await call("agent", "GET /v1/events", { path: "/v1/events?no=1" });

    const ANSWER = "POST /v1/inquiries/{id}/answers";
    const answers = { path: "/v1/inquiries/a/answers" };
    await call("agent", ANSWER, { ...answers, body: { text: "1" } });
    await call("operator", ANSWER, { ...answers, body: { answers: { closed: ["neither"] } } });
    await call("operator", ANSWER, { ...answers, body: { answers: { closed: ["Production"] }, stateVersion: 0 } });
    await call("operator", ANSWER, { ...answers, body: { answers: { closed: ["Production"] } } });
    await call("operator", ANSWER, { ...answers, body: { answers: { closed: ["Production"] } } });
    await call("operator", "POST /v1/inquiries/{id}/skip", { path: "/v1/inquiries/a/skip" });
    await call("operator", ANSWER, { ...answers, body: { text: "1" } });
    await call("operator", "POST /v1/inquiries/{id}/skip", { path: "/v1/inquiries/a/skip" });
    await call("agent", "POST /v1/inquiries/{id}/skip", { path: "/v1/inquiries/a/skip" });

    await call("agent", ASK, { body: inquiryOf({ id: "b" }) });
    await call("agent", "POST /v1/inquiries/{id}/cancel", { path: "/v1/inquiries/b/cancel" });
    await call("agent", "POST /v1/inquiries/{id}/cancel", { path: "/v1/inquiries/c/cancel" });
    await call("agent", "POST /v1/ask_user", { body: inquiryOf({ id: "b" }) });
    await call("agent", "POST /v1/ask_user", { body: asked });
    await call("agent", "POST /v1/ask_user", { body: inquiryOf({ id: "b", timeoutSeconds: "x" }) });
    await call("agent", "POST /v1/runs/{run}/abort", { path: "/v1/runs/r/abort" });
    await call("agent", "POST /v1/runs/{run}/abort", { path: "/v1/runs/%20/abort" });
    const MOVE = { path: "/v1/tasks/t" };
    await call("agent", "PATCH /v1/tasks/{taskId}", { ...MOVE, body: { stateVersion: 2 } });
    await call("agent", "PATCH /v1/tasks/{taskId}", { ...MOVE, body: { stateVersion: 1 } });

    const added = (await call("operator", "POST /v1/keys", { body: { scope: "agent" } })) as { id: string };
    await call("operator", "POST /v1/keys", { body: { scope: "root" } });
    await call("agent", "POST /v1/keys", { body: { scope: "agent" } });
    await call("operator", "GET /v1/keys");
    await call("operator", "DELETE /v1/keys/{id}", { path: `/v1/keys/${added.id}` });
    await call("operator", "DELETE /v1/keys/{id}", { path: "/v1/keys/none" });
    await call("operator", "POST /v1/pairings", { body: { channel: chat.place.actor.split(":")[0] } });
    await call("operator", "POST /v1/pairings", { body: { channel: "nowhere" } });
    await call(null, "POST /channels/{name}", { path: "/channels/nothing", body: {} });

    const succeeded = new Set([...seen].filter((one) => / 2\d\d$/.test(one)).map((one) => one.slice(0, -4)));
    expect([...operations.keys()].filter((name) => !succeeded.has(name))).toEqual(["POST /channels/{name}"]);
    expect(new Set([...seen].map((one) => one.slice(-3)))).toEqual(
      new Set(["200", "201", "204", "400", "401", "403", "404", "409", "413", "415", "422"]),
    );
  });

  it("describes what a webhook is refused for, which is the same problem document", async () => {
    const { operations } = await front();
    const { responses = {} } = operations.get("POST /channels/{name}") ?? {};
    const refused = Object.keys(responses).filter(
      (one) => "application/problem+json" in (responses[one]?.content ?? {}),
    );
    expect(refused).toEqual(["400", "401", "403", "404", "405", "408", "413", "415", "500", "503"]);
  });

  it("would be found out", async () => {
    const { document } = await front();
    const schema = compiled(document, { $ref: "#/components/schemas/Problem" });
    expect(schema.safeParse({ code: "not_found" }).success).toBe(false);
  });
});

/** The data of the first event that a stream tells. */
async function firstEvent(response: Response): Promise<string> {
  let text = "";
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    text += new TextDecoder().decode(chunk);
    const [, data] = /^data: (.+)$/m.exec(text) ?? [];
    if (data !== undefined) return data;
  }
  throw new Error(`the stream told nothing: ${text}`);
}

/** A schema of the document, with what it refers to. */
function compiled(document: Document, schema: object): z.ZodType {
  const whole = { ...schema, $defs: document.components.schemas };
  return z.fromJSONSchema(JSON.parse(JSON.stringify(whole).replaceAll("#/components/schemas/", "#/$defs/")));
}
