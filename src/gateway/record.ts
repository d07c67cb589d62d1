/**
 * What every request leaves behind: one measure and one line of the log at debug. Both name the pattern of the route,
 * never the path, a body or a key.
 */
import type { Context } from "hono";
import { matchedRoutes } from "hono/route";
import type { Log } from "../ports/log.ts";
import type { App, Env } from "./app.ts";
import type { Metrics } from "./metrics.ts";

/** The route of a path that is not there: one word, so that nobody can fill the memory with made-up ones. */
const UNKNOWN = "unknown";

export function recorded(app: App, { metrics, log }: { readonly metrics: Metrics; readonly log: Log }): void {
  app.use(async (c, next) => {
    const start = performance.now();
    await next();
    const ms = performance.now() - start;
    const { method } = c.req;
    const { status } = c.res;
    const route = routeOf(c);
    metrics.request(method, route, status, ms);
    const asked = c.var.inquiry === undefined ? {} : { inquiry: c.var.inquiry };
    log.debug({ method, route, status, ms: Math.round(ms), ...asked }, "a request was answered");
  });
}

/** What the request came to in the end; whatever stands on the way to it matches more than one path. */
function routeOf(c: Context<Env>): string {
  const last = matchedRoutes(c).findLast(({ path }) => !path.endsWith("/*") || path.includes(":"));
  return last?.path ?? UNKNOWN;
}
