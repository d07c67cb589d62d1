/**
 * For those who run the gateway, without a key: the process answers; the store serves; the measures. A channel that is
 * down makes none of them fail, since the others go on. Nothing here is about people or what they were asked.
 */
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import type { Health } from "../ports/health.ts";
import { type App, answer, refusals } from "./app.ts";
import type { Metrics } from "./metrics.ts";
import { alive, health, problem } from "./wire.ts";

const routes = {
  live: createRoute({
    method: "get",
    path: "/healthz",
    operationId: "getLiveness",
    tags: ["operations"],
    summary: "The process answers",
    security: [],
    responses: { ...refusals(), 200: answer(alive, "Alive.") },
  }),
  ready: createRoute({
    method: "get",
    path: "/readyz",
    operationId: "getReadiness",
    tags: ["operations"],
    summary: "The store serves, and how each channel stands",
    security: [],
    responses: {
      ...refusals(),
      200: answer(health, "Ready."),
      503: {
        description: "Not ready; a problem document where it is starting or stopping.",
        content: { "application/json": { schema: health }, "application/problem+json": { schema: problem } },
      },
    },
  }),
  metrics: createRoute({
    method: "get",
    path: "/metrics",
    operationId: "getMetrics",
    tags: ["operations"],
    summary: "Measures, for Prometheus",
    security: [],
    responses: {
      ...refusals(),
      200: { description: "The text format of Prometheus.", content: { "text/plain": { schema: z.string() } } },
    },
  }),
};

export function healthRoutes(app: App, port: Health, metrics: Metrics): void {
  app.openapi(routes.live, (c) => c.json({ status: "ok" as const }, 200));
  app.openapi(routes.ready, async (c) => {
    const view = await port.health();
    return view.ready ? c.json(view, 200) : c.json(view, 503);
  });
  app.openapi(routes.metrics, async (c) => {
    return c.text(await metrics.text(await port.health()), 200, { "content-type": metrics.contentType });
  });
}
