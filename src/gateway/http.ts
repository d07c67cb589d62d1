/**
 * The gateway's front: every request comes in here, and every answer leaves with the same manners.
 *
 * In this order: the Host must be one of ours (a web page elsewhere must not reach a loopback port by a name of its
 * own), the key must be known, the route must exist. Every refusal is a problem document. Nothing is cached, no other
 * origin is let in, and what a platform sends to `/channels/…` is verified by its channel alone.
 */
import { AskgateError } from "../core/errors.ts";
import type { Access } from "../ports/access.ts";
import type { Asker } from "../ports/asker.ts";
import type { Clock } from "../ports/clock.ts";
import type { Health } from "../ports/health.ts";
import type { Log } from "../ports/log.ts";
import { administrationRoutes } from "./administration.ts";
import { type App, createApp } from "./app.ts";
import { bearerKey } from "./bearer.ts";
import { limited } from "./body.ts";
import { healthRoutes } from "./health.ts";
import { inquiryRoutes } from "./inquiries.ts";
import { HttpRefusal, problemResponse } from "./problem.ts";
import { createPulse } from "./pulse.ts";

export interface HttpDeps {
  readonly asker: Asker;
  readonly access: Access;
  readonly health: Health;
  readonly clock: Clock;
  readonly log: Log;
  /** Channel name -> what serves `/channels/<name>`. Read at each request, so channels may come later. */
  readonly mounts: ReadonlyMap<string, (request: Request) => Promise<Response>>;
  /** Host names served besides localhost, 127.0.0.1 and [::1], without port; null: every name. Default none. */
  readonly hosts?: readonly string[] | null;
}

export interface Http {
  fetch(request: Request): Promise<Response>;
}

const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

const HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;

export function createHttp(deps: HttpDeps): Http {
  const app = createApp();
  app.onError((error) => problemResponse(error, deps.log));
  app.notFound((c) => {
    const missing = new AskgateError("not_found", `There is no ${c.req.path}; see /openapi.json for what there is.`);
    return problemResponse(missing, deps.log);
  });
  manners(app);
  onlyOurHosts(app, deps.hosts === undefined ? [] : deps.hosts);
  authenticated(app, deps.access);
  healthRoutes(app, deps.health);
  inquiryRoutes(app, { asker: deps.asker, log: deps.log, pulse: createPulse(deps.clock) });
  administrationRoutes(app, deps.access);
  openapi(app);
  refuseOtherMethods(app);
  channels(app, deps.mounts);
  return { fetch: async (request) => app.fetch(request) };
}

function manners(app: App): void {
  app.use(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(HEADERS)) if (!c.res.headers.has(name)) c.header(name, value);
  });
}

function onlyOurHosts(app: App, hosts: readonly string[] | null): void {
  if (hosts === null) return;
  const allowed = new Set([...LOOPBACK, ...hosts.map((host) => host.toLowerCase())]);
  app.use(async (c, next) => {
    const { hostname } = new URL(c.req.url);
    if (allowed.has(hostname)) return next();
    throw new AskgateError(
      "forbidden",
      `The host name "${hostname}" is not served here; set ASKGATE_PUBLIC_URL if it is yours.`,
    );
  });
}

function authenticated(app: App, access: Access): void {
  app.use("/v1/*", async (c, next) => {
    const header = c.req.header("authorization");
    if (header === undefined) throw unauthorized("Send the key as Authorization: Bearer <key>.", "");
    const key = bearerKey(header);
    const caller = key === null ? null : await access.authenticate(key);
    if (!caller) throw unauthorized("The key is unknown, revoked or malformed.", ', error="invalid_token"');
    c.set("caller", caller);
    return next();
  });
}

function unauthorized(message: string, parameters: string): HttpRefusal {
  return new HttpRefusal("unauthorized", 401, message, { "www-authenticate": `Bearer realm="askgate"${parameters}` });
}

function openapi(app: App): void {
  app.openAPIRegistry.registerComponent("securitySchemes", "key", { type: "http", scheme: "bearer" });
  app.doc31("/openapi.json", { openapi: "3.1.0", info: { title: "Askgate", version: "1" }, security: [{ key: [] }] });
}

/** A path that exists answers a wrong method with 405 and the right ones. */
function refuseOtherMethods(app: App): void {
  const methods = new Map<string, string[]>();
  for (const { method, path } of app.routes) {
    if (method !== "ALL") methods.set(path, [...(methods.get(path) ?? []), method]);
  }
  for (const [path, allowed] of methods) {
    const allow = [...new Set(allowed)].join(", ");
    app.all(path, (c) => {
      throw new HttpRefusal("invalid_request", 405, `${c.req.method} is not for ${c.req.path}; use ${allow}.`, {
        allow,
      });
    });
  }
}

function channels(app: App, mounts: HttpDeps["mounts"]): void {
  app.all("/channels/:name/*", async (c) => {
    const mount = mounts.get(c.req.param("name"));
    return mount ? mount(limited(c.req.raw)) : c.notFound();
  });
}
