/**
 * The routes of asking: inquiries and their life, runs, tasks, and the tool call itself.
 *
 * They translate between HTTP and the asker port and decide nothing: inputs go on as they came, errors as they are.
 */
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { answerInput, taskMoveInput } from "../core/answer.ts";
import { inquiryInput } from "../core/question.ts";
import type { Asker } from "../ports/asker.ts";
import { type App, answer, idempotencyKey, keyed, named, repeatable, taking, UNREADABLE } from "./app.ts";
import { type AskUserDeps, askUser } from "./ask-user.ts";
import { readJson } from "./body.ts";
import { aborted, inquiry, listQuery, page, present, taskMoved, toolResult, waitQuery } from "./wire.ts";

const byId = named("id");

const location = z.object({ Location: z.string().meta({ description: "The address of the inquiry." }) });

const ONE = ["invalid_request", "not_found", "id_conflict"] as const;
const SETTLING = [...ONE, "already_settled"] as const;
const ANSWERING = [...SETTLING, ...UNREADABLE, "already_answered", "stale", "invalid_answer"] as const;
const ASKING = [...UNREADABLE, "main_session_only", "not_found", "id_conflict", "stale", "invalid_inquiry"] as const;

const routes = {
  ask: createRoute({
    method: "post",
    path: "/v1/inquiries",
    operationId: "ask",
    tags: ["inquiries"],
    summary: "Ask, without waiting",
    responses: {
      201: { ...answer(inquiry, "Asked."), headers: location },
      200: { ...answer(inquiry, "The inquiry that exists under this id with this content."), headers: location },
      ...keyed(...ASKING),
    },
  }),
  list: createRoute({
    method: "get",
    path: "/v1/inquiries",
    operationId: "listInquiries",
    tags: ["inquiries"],
    summary: "Inquiries, newest first",
    request: { query: listQuery },
    responses: {
      200: answer(page, "One page; `next` is the cursor of the following one."),
      ...keyed("invalid_request"),
    },
  }),
  get: createRoute({
    method: "get",
    path: "/v1/inquiries/{id}",
    operationId: "getInquiry",
    tags: ["inquiries"],
    summary: "One inquiry, now or at its settlement",
    request: { params: byId, query: waitQuery },
    responses: { 200: answer(inquiry, "As it stands."), ...keyed(...ONE) },
  }),
  answers: createRoute({
    method: "post",
    path: "/v1/inquiries/{id}/answers",
    operationId: "answerInquiry",
    tags: ["inquiries"],
    summary: "Answer for a person; operators only",
    request: { params: byId },
    responses: { 200: answer(inquiry, "Recorded."), ...keyed(...ANSWERING) },
  }),
  skip: createRoute({
    method: "post",
    path: "/v1/inquiries/{id}/skip",
    operationId: "skipInquiry",
    tags: ["inquiries"],
    summary: "Skip what is unanswered; operators only",
    request: { params: byId },
    responses: { 200: answer(inquiry, "Settled."), ...keyed(...SETTLING) },
  }),
  cancel: createRoute({
    method: "post",
    path: "/v1/inquiries/{id}/cancel",
    operationId: "cancelInquiry",
    tags: ["inquiries"],
    summary: "Withdraw an inquiry",
    request: { params: byId },
    responses: { 200: answer(inquiry, "Settled."), ...keyed(...SETTLING) },
  }),
  abortRun: createRoute({
    method: "post",
    path: "/v1/runs/{run}/abort",
    operationId: "abortRun",
    tags: ["runs and tasks"],
    summary: "Cancel everything a run asked",
    request: { params: named("run") },
    responses: { 200: answer(aborted, "What was open is cancelled."), ...keyed("invalid_request") },
  }),
  moveTask: createRoute({
    method: "patch",
    path: "/v1/tasks/{taskId}",
    operationId: "moveTask",
    tags: ["runs and tasks"],
    summary: "Move a task on; what was asked in its old state is superseded",
    request: { params: named("taskId") },
    responses: { 200: answer(taskMoved, "Where the task stands."), ...keyed(...UNREADABLE, "stale") },
  }),
  askUser: createRoute({
    method: "post",
    path: "/v1/ask_user",
    operationId: "askUser",
    tags: ["inquiries"],
    summary: "The tool call: asks and answers at settlement, with white space until then",
    description: "`Location` names the inquiry. A client that loses the connection repeats the call and attaches.",
    responses: {
      200: {
        ...answer(toolResult, "The outcome, or a problem document with `code` if waiting failed."),
        headers: location,
      },
      ...keyed(...ASKING),
    },
  }),
};

export function inquiryRoutes(app: App, deps: AskUserDeps): void {
  const { asker } = deps;
  askRoutes(app, deps);
  app.openapi(routes.list, async (c) => {
    return c.json(await asker.list(c.var.caller, present(c.req.valid("query"))), 200);
  });
  app.openapi(routes.get, async (c) => {
    const { wait } = c.req.valid("query");
    const waiting = wait === undefined ? undefined : { waitMs: wait * 1000, signal: c.req.raw.signal };
    return c.json(await asker.get(c.var.caller, c.req.valid("param").id, waiting), 200);
  });
  settlementRoutes(app, asker);
  app.openapi(routes.abortRun, async (c) => {
    return c.json(await asker.abortRun(c.var.caller, c.req.valid("param").run), 200);
  });
  app.openapi(taking(app, routes.moveTask, { body: taskMoveInput }), async (c) => {
    const input = await readJson(c.req.raw);
    return c.json(await asker.moveTask(c.var.caller, c.req.valid("param").taskId, input), 200);
  });
}

function askRoutes(app: App, deps: AskUserDeps): void {
  app.openapi(taking(app, routes.ask, { body: inquiryInput, headers: repeatable }), async (c) => {
    const asked = await deps.asker.ask(c.var.caller, await readJson(c.req.raw), idempotencyKey(c));
    c.set("inquiry", asked.inquiry.id);
    c.header("location", `/v1/inquiries/${encodeURIComponent(asked.inquiry.id)}`);
    return asked.created ? c.json(asked.inquiry, 201) : c.json(asked.inquiry, 200);
  });
  app.post(routes.askUser.getRoutingPath(), async (c) => {
    const input = await readJson(c.req.raw);
    const onAsked = (id: string) => c.set("inquiry", id);
    const { signal } = c.req.raw;
    return askUser(deps, { caller: c.var.caller, input, idempotencyKey: idempotencyKey(c), signal, onAsked });
  });
  taking(app, routes.askUser, { body: inquiryInput, headers: repeatable });
}

function settlementRoutes(app: App, asker: Asker): void {
  app.openapi(taking(app, routes.answers, { body: answerInput, headers: repeatable }), async (c) => {
    const input = await readJson(c.req.raw);
    return c.json(await asker.answer(c.var.caller, c.req.valid("param").id, input, idempotencyKey(c)), 200);
  });
  app.openapi(taking(app, routes.skip, { headers: repeatable }), async (c) => {
    return c.json(await asker.skip(c.var.caller, c.req.valid("param").id, idempotencyKey(c)), 200);
  });
  app.openapi(taking(app, routes.cancel, { headers: repeatable }), async (c) => {
    return c.json(await asker.cancel(c.var.caller, c.req.valid("param").id, idempotencyKey(c)), 200);
  });
}
