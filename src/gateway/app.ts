/**
 * What every route of the gateway shares: who called, how answers are described, and which names are taken.
 */
import { OpenAPIHono, type RouteConfig } from "@hono/zod-openapi";
import type { Context } from "hono";
import { z } from "zod";
import type { Caller } from "../ports/asker.ts";
import { invalidRequest } from "./problem.ts";
import { name, problem } from "./wire.ts";

export interface Env {
  Variables: { caller: Caller };
}

export type App = OpenAPIHono<Env>;

export function createApp(): App {
  return new OpenAPIHono<Env>({
    defaultHook: (result) => {
      if (!result.success) throw invalidRequest(result.error, "data" in result ? result.data : undefined);
    },
  });
}

/** A JSON answer, for a route's description. */
export function answer<S extends z.ZodType>(schema: S, description: string) {
  return { description, content: { "application/json": { schema } } };
}

/** What any route may answer instead. */
export const refusal = {
  default: { description: "A problem document.", content: { "application/problem+json": { schema: problem } } },
};

/**
 * The route with its body described in `openapi.json` and nowhere else: the router would check it a second time, in
 * other words than the port that owns it.
 */
export function taking<R extends RouteConfig>(app: App, route: R, schema: z.ZodType): R {
  const body = { required: true, content: { "application/json": { schema } } };
  app.openAPIRegistry.registerPath({ ...route, request: { ...route.request, body } });
  return { ...route, hide: true };
}

/** The parameter of a path that names something. */
export function named<K extends string>(parameter: K) {
  return z.object({ [parameter]: name } as Record<K, typeof name>);
}

const headers = z.object({ "Idempotency-Key": name.optional() });

/** It may become an inquiry's id, so it is held to the same rule. Throws `invalid_request`. */
export function idempotencyKey(c: Context<Env>): string | undefined {
  const given = { "Idempotency-Key": c.req.header("idempotency-key") };
  const read = headers.safeParse(given);
  if (!read.success) throw invalidRequest(read.error, given);
  return given["Idempotency-Key"];
}
