/**
 * What every route of the gateway shares: who called, how answers and refusals are described, and which names are taken.
 */
import { OpenAPIHono, type RouteConfig } from "@hono/zod-openapi";
import type { Context } from "hono";
import { z } from "zod";
import { ERRORS, type ErrorCode } from "../core/errors.ts";
import type { Caller } from "../ports/asker.ts";
import { invalidRequest } from "./problem.ts";
import { name, problem } from "./wire.ts";

export interface Env {
  Variables: {
    caller: Caller;
    /** Whether the caller's key is still good: what outlives its request by far asks again. */
    holds: () => Promise<boolean>;
    /** The inquiry that was asked, for the log. */
    inquiry?: string;
  };
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

/** A code under the status of the catalogue, or under a more exact one. */
type Refusal = ErrorCode | readonly [code: ErrorCode, status: number];

/** What a call that takes a body may refuse it for. */
export const UNREADABLE: readonly Refusal[] = ["invalid_request", "too_large", ["invalid_request", 415]];

/**
 * What a call may answer instead of what it is for: these and what any call may, as problem documents by status. The
 * type says nothing of them, because handlers throw them.
 */
export function refusals(...own: readonly Refusal[]): object {
  const reasons = new Map<number, Set<ErrorCode>>();
  for (const one of [...own, "forbidden", "internal", "unavailable"] as readonly Refusal[]) {
    const [code, status] = typeof one === "string" ? ([one, ERRORS[one].status] as const) : one;
    reasons.set(status, (reasons.get(status) ?? new Set()).add(code));
  }
  const described = [...reasons].map(([status, codes]) => {
    const description = [...codes].map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join("\n");
    return [status, { description, content: { "application/problem+json": { schema: problem } } }];
  });
  return Object.fromEntries(described);
}

/** The same for a call that needs a key. */
export function keyed(...own: readonly Refusal[]): object {
  return refusals("unauthorized", ...own);
}

/**
 * The route with what it takes described in `openapi.json` and nowhere else: the router would check it a second time,
 * in other words than the port that owns it.
 */
export function taking<R extends RouteConfig>(
  app: App,
  route: R,
  { body, headers }: { readonly body?: z.ZodType; readonly headers?: z.ZodObject },
): R {
  const request = {
    ...route.request,
    ...(body && { body: { required: true, content: { "application/json": { schema: body } } } }),
    ...(headers && { headers }),
  };
  app.openAPIRegistry.registerPath({ ...route, request });
  return { ...route, hide: true };
}

/** The parameter of a path that names something. */
export function named<K extends string>(parameter: K) {
  return z.object({ [parameter]: name } as Record<K, typeof name>);
}

const KEY_MEANING =
  "The call may be repeated under the same key: it happens once, and a repeat gets the first response.";

/** The headers of a call that may be repeated. */
export const repeatable = z.object({ "Idempotency-Key": name.optional().meta({ description: KEY_MEANING }) });

/** It may become an inquiry's id, so it is held to the same rule. Throws `invalid_request`. */
export function idempotencyKey(c: Context<Env>): string | undefined {
  const given = { "Idempotency-Key": c.req.header("idempotency-key") };
  const read = repeatable.safeParse(given);
  if (!read.success) throw invalidRequest(read.error, given);
  return given["Idempotency-Key"];
}
