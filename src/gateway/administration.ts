/**
 * The routes of administration: keys of programs and pairing codes of people. Who may use them the access port decides.
 */
import { createRoute } from "@hono/zod-openapi";
import type { z } from "zod";
import { AskgateError } from "../core/errors.ts";
import type { Access } from "../ports/access.ts";
import { type App, answer, keyed, named, taking, UNREADABLE } from "./app.ts";
import { readJson } from "./body.ts";
import { invalidRequest } from "./problem.ts";
import { keyInput, keys, newKey, pairing, pairingInput, present } from "./wire.ts";

const routes = {
  addKey: createRoute({
    method: "post",
    path: "/v1/keys",
    operationId: "addKey",
    tags: ["administration"],
    summary: "Add a key; the answer alone carries it",
    responses: { 201: answer(newKey, "Added."), ...keyed(...UNREADABLE) },
  }),
  keys: createRoute({
    method: "get",
    path: "/v1/keys",
    operationId: "listKeys",
    tags: ["administration"],
    summary: "Every key, without the secrets",
    responses: { 200: answer(keys, "Keys, revoked ones included."), ...keyed() },
  }),
  revokeKey: createRoute({
    method: "delete",
    path: "/v1/keys/{id}",
    operationId: "revokeKey",
    tags: ["administration"],
    summary: "Revoke a key, at once and for good",
    request: { params: named("id") },
    responses: { 204: { description: "Revoked." }, ...keyed("invalid_request", "not_found") },
  }),
  pair: createRoute({
    method: "post",
    path: "/v1/pairings",
    operationId: "createPairing",
    tags: ["administration"],
    summary: "A code with which a person links an account: 10 minutes, one use",
    responses: { 201: answer(pairing, "Good for one account."), ...keyed(...UNREADABLE, "not_found") },
  }),
};

export function administrationRoutes(app: App, access: Access): void {
  app.openapi(taking(app, routes.addKey, { body: keyInput }), async (c) => {
    return c.json(await access.addKey(c.var.caller, present(read(keyInput, await readJson(c.req.raw)))), 201);
  });
  app.openapi(routes.keys, async (c) => c.json({ items: await access.keys(c.var.caller) }, 200));
  app.openapi(routes.revokeKey, async (c) => {
    const { id } = c.req.valid("param");
    if (!(await access.revokeKey(c.var.caller, id))) throw new AskgateError("not_found", `There is no key "${id}".`);
    return c.body(null, 204);
  });
  app.openapi(taking(app, routes.pair, { body: pairingInput }), async (c) => {
    const { channel, person } = read(pairingInput, await readJson(c.req.raw));
    const made = await access.pair(c.var.caller, channel, person ?? null);
    return c.json({ ...made, expiresAt: new Date(made.expiresAt).toISOString() }, 201);
  });
}

function read<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const result = schema.safeParse(input);
  if (!result.success) throw invalidRequest(result.error, input);
  return result.data;
}
