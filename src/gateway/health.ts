/**
 * Liveness and readiness, without a key: the process answers; the store serves. A channel that is down makes neither
 * fail, since the others go on.
 */
import { createRoute } from "@hono/zod-openapi";
import type { Health } from "../ports/health.ts";
import { type App, answer } from "./app.ts";
import { alive, health } from "./wire.ts";

const routes = {
  live: createRoute({
    method: "get",
    path: "/healthz",
    summary: "The process answers",
    security: [],
    responses: { 200: answer(alive, "Alive.") },
  }),
  ready: createRoute({
    method: "get",
    path: "/readyz",
    summary: "The store serves, and how each channel stands",
    security: [],
    responses: { 200: answer(health, "Ready."), 503: answer(health, "Not ready.") },
  }),
};

export function healthRoutes(app: App, port: Health): void {
  app.openapi(routes.live, (c) => c.json({ status: "ok" as const }, 200));
  app.openapi(routes.ready, async (c) => {
    const view = await port.health();
    return view.ready ? c.json(view, 200) : c.json(view, 503);
  });
}
