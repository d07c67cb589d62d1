/**
 * The routes of asking: inquiries and their life, runs, tasks, and the tool call itself.
 *
 * They translate between HTTP and the asker port and decide nothing: inputs go on as they came, errors as they are.
 */
import { createRoute } from "@hono/zod-openapi";
import { answerInput, taskMoveInput } from "../core/answer.ts";
import { inquiryInput } from "../core/question.ts";
import type { Asker } from "../ports/asker.ts";
import { type App, answer, idempotencyKey, named, refusal, taking } from "./app.ts";
import { type AskUserDeps, askUser } from "./ask-user.ts";
import { readJson } from "./body.ts";
import { aborted, inquiry, listQuery, page, present, taskMoved, toolResult, waitQuery } from "./wire.ts";

const byId = named("id");

const routes = {
  ask: createRoute({
    method: "post",
    path: "/v1/inquiries",
    summary: "Ask, without waiting",
    responses: {
      201: answer(inquiry, "Asked."),
      200: answer(inquiry, "The inquiry that exists under this id with this content."),
      ...refusal,
    },
  }),
  list: createRoute({
    method: "get",
    path: "/v1/inquiries",
    summary: "Inquiries, newest first",
    request: { query: listQuery },
    responses: { 200: answer(page, "One page; `next` is the cursor of the following one."), ...refusal },
  }),
  get: createRoute({
    method: "get",
    path: "/v1/inquiries/{id}",
    summary: "One inquiry, now or at its settlement",
    request: { params: byId, query: waitQuery },
    responses: { 200: answer(inquiry, "As it stands."), ...refusal },
  }),
  answers: createRoute({
    method: "post",
    path: "/v1/inquiries/{id}/answers",
    summary: "Answer for a person; operators only",
    request: { params: byId },
    responses: { 200: answer(inquiry, "Recorded."), ...refusal },
  }),
  skip: createRoute({
    method: "post",
    path: "/v1/inquiries/{id}/skip",
    summary: "Skip what is unanswered; operators only",
    request: { params: byId },
    responses: { 200: answer(inquiry, "Settled."), ...refusal },
  }),
  cancel: createRoute({
    method: "post",
    path: "/v1/inquiries/{id}/cancel",
    summary: "Withdraw an inquiry",
    request: { params: byId },
    responses: { 200: answer(inquiry, "Settled."), ...refusal },
  }),
  abortRun: createRoute({
    method: "post",
    path: "/v1/runs/{run}/abort",
    summary: "Cancel everything a run asked",
    request: { params: named("run") },
    responses: { 200: answer(aborted, "What was open is cancelled."), ...refusal },
  }),
  moveTask: createRoute({
    method: "patch",
    path: "/v1/tasks/{taskId}",
    summary: "Move a task on; what was asked in its old state is superseded",
    request: { params: named("taskId") },
    responses: { 200: answer(taskMoved, "Where the task stands."), ...refusal },
  }),
  askUser: createRoute({
    method: "post",
    path: "/v1/ask_user",
    summary: "The tool call: asks and answers at settlement, with white space until then",
    description: "`Location` names the inquiry. A client that loses the connection repeats the call and attaches.",
    responses: {
      200: answer(toolResult, "The outcome, or a problem document with `code` if waiting failed."),
      ...refusal,
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
  app.openapi(taking(app, routes.moveTask, taskMoveInput), async (c) => {
    const input = await readJson(c.req.raw);
    return c.json(await asker.moveTask(c.var.caller, c.req.valid("param").taskId, input), 200);
  });
}

function askRoutes(app: App, deps: AskUserDeps): void {
  app.openapi(taking(app, routes.ask, inquiryInput), async (c) => {
    const asked = await deps.asker.ask(c.var.caller, await readJson(c.req.raw), idempotencyKey(c));
    c.header("location", `/v1/inquiries/${encodeURIComponent(asked.inquiry.id)}`);
    return asked.created ? c.json(asked.inquiry, 201) : c.json(asked.inquiry, 200);
  });
  app.post(routes.askUser.getRoutingPath(), async (c) => {
    const input = await readJson(c.req.raw);
    const { signal } = c.req.raw;
    return askUser(deps, { caller: c.var.caller, input, idempotencyKey: idempotencyKey(c), signal });
  });
  taking(app, routes.askUser, inquiryInput);
}

function settlementRoutes(app: App, asker: Asker): void {
  app.openapi(taking(app, routes.answers, answerInput), async (c) => {
    const input = await readJson(c.req.raw);
    return c.json(await asker.answer(c.var.caller, c.req.valid("param").id, input, idempotencyKey(c)), 200);
  });
  app.openapi(routes.skip, async (c) => {
    return c.json(await asker.skip(c.var.caller, c.req.valid("param").id, idempotencyKey(c)), 200);
  });
  app.openapi(routes.cancel, async (c) => {
    return c.json(await asker.cancel(c.var.caller, c.req.valid("param").id, idempotencyKey(c)), 200);
  });
}
