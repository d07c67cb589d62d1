/**
 * The gateway's fronts: every request comes in here, and every answer leaves with the same manners.
 *
 * In this order: the Host must be one of ours (a web page elsewhere must not reach a loopback port by a name of its
 * own), the key must be known, the route must exist. Every refusal is a problem document. Nothing is cached, no other
 * origin is let in, and what a platform sends to `/channels/…` is verified by its channel alone. The public front is
 * for platforms and nobody else: the world may reach it, so nothing but their webhooks exists there.
 */
import { AskgateError } from "../core/errors.ts";
import type { Access } from "../ports/access.ts";
import type { Asker } from "../ports/asker.ts";
import type { Mount } from "../ports/channel.ts";
import type { Clock } from "../ports/clock.ts";
import type { Events } from "../ports/events.ts";
import type { Health } from "../ports/health.ts";
import type { Log } from "../ports/log.ts";
import { administrationRoutes } from "./administration.ts";
import { type App, createApp } from "./app.ts";
import { bearerKey } from "./bearer.ts";
import { channelRoutes, describeChannels, type Mounts } from "./channels.ts";
import { eventRoutes } from "./events.ts";
import { healthRoutes } from "./health.ts";
import { inquiryRoutes } from "./inquiries.ts";
import type { Metrics } from "./metrics.ts";
import { openapi } from "./openapi.ts";
import { HttpRefusal, problemResponse } from "./problem.ts";
import { createPulse } from "./pulse.ts";
import { recorded } from "./record.ts";

export interface PublicHttpDeps {
  readonly log: Log;
  readonly metrics: Metrics;
  /** Channel name -> what serves `/channels/<name>`. Read at each request, so channels may come later. */
  readonly mounts: Mounts;
}

export interface HttpDeps extends PublicHttpDeps {
  readonly asker: Asker;
  readonly access: Access;
  readonly events: Events;
  readonly health: Health;
  readonly clock: Clock;
  /** Host names served besides localhost, 127.0.0.1 and [::1], without port; null: every name. Default none. */
  readonly hosts?: readonly string[] | null;
  /** Whose channels are served here; default everybody's. Where platforms have a port of their own: the operator's. */
  readonly audiences?: readonly Mount["audience"][];
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

/** The front for agents, operators and, where there is no other for them, platforms. */
export function createHttp(deps: HttpDeps): Http {
  return served(createGateway(deps));
}

/** The front for the world: webhooks of platforms, under any host name. */
export function createPublicHttp(deps: PublicHttpDeps): Http {
  const app = createFront(deps, (path) => `There is no ${path} here.`);
  channelRoutes(app, "/channels/:name", deps.mounts, ["platform"]);
  return served(app);
}

/** Everything that the main front serves, with the routes to look at. */
export function createGateway(deps: HttpDeps): App {
  const { access, log, metrics } = deps;
  const pulse = createPulse(deps.clock);
  const app = createFront(deps, (path) => `There is no ${path}; see /openapi.json for what there is.`);
  onlyOurHosts(app, deps.hosts === undefined ? [] : deps.hosts);
  authenticated(app, access);
  healthRoutes(app, deps.health, metrics);
  inquiryRoutes(app, { asker: deps.asker, log, pulse });
  eventRoutes(app, { events: deps.events, log, metrics, pulse });
  administrationRoutes(app, access);
  describeChannels(app);
  openapi(app);
  refuseOtherMethods(app);
  channelRoutes(app, "/channels/:name/*", deps.mounts, deps.audiences ?? ["operator", "platform"]);
  return app;
}

function served(app: App): Http {
  return { fetch: async (request) => app.fetch(request) };
}

/** A front without any route: how requests are recorded and faults told. */
function createFront({ log, metrics }: PublicHttpDeps, missing: (path: string) => string): App {
  const app = createApp();
  app.onError((error) => problemResponse(error, log));
  app.notFound((c) => problemResponse(new AskgateError("not_found", missing(c.req.path)), log));
  recorded(app, { log, metrics });
  manners(app);
  return app;
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
    const authenticate = async () => (key === null ? null : access.authenticate(key));
    const caller = await authenticate();
    if (!caller) throw unauthorized("The key is unknown, revoked or malformed.", ', error="invalid_token"');
    c.set("caller", caller);
    c.set("holds", async () => (await authenticate()) !== null);
    return next();
  });
}

function unauthorized(message: string, parameters: string): HttpRefusal {
  return new HttpRefusal("unauthorized", 401, message, { "www-authenticate": `Bearer realm="askgate"${parameters}` });
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
