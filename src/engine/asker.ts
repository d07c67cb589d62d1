/** The asker port over the engine: what agents and operators can do. */
import { readTaskMove } from "../core/answer.ts";
import { AskgateError } from "../core/errors.ts";
import { type Inquiry, isSettled, type Status } from "../core/inquiry.ts";
import { type Asker, type Caller, PAGE, type Page } from "../ports/asker.ts";
import { answer, cancel, skip } from "./answering.ts";
import { ask } from "./ask.ts";
import { askUser, settlement } from "./ask-user.ts";
import { createAttendance } from "./attendance.ts";
import { applyEvent, type Context } from "./context.ts";
import { readOrRefuse, valid } from "./door.ts";
import { moveTask } from "./tasks.ts";
import { collected, settled } from "./trail.ts";
import { taskView, viewOf } from "./view.ts";
import { findInquiry, sees } from "./visibility.ts";

const STATUSES: readonly Status[] = ["waiting", "answered", "cancelled", "timed_out", "undelivered"];

export function createAsker(context: Context): Asker {
  const attendance = createAttendance(context);
  const view = async (inquiry: Inquiry) => viewOf(inquiry, await context.store.copies(inquiry.uid));
  return {
    async ask(caller, input, fallbackId) {
      const asked = await ask(context, caller, readOrRefuse(input), { fallbackId });
      return { created: asked.created, inquiry: await view(asked.inquiry) };
    },
    askUser: (caller, input, options) => askUser(context, attendance, caller, input, options),
    async get(caller, id, wait) {
      const inquiry = await findInquiry(context, caller, id);
      if (!wait || wait.waitMs <= 0 || isSettled(inquiry)) return view(inquiry);
      try {
        return view(await settlement(context, inquiry.uid, context.clock.now() + wait.waitMs, wait.signal));
      } finally {
        // The call that asked may have ended meanwhile, and left it to this one.
        attendance.leave(inquiry.uid);
      }
    },
    list: (caller, query) => list(context, caller, query),
    answer: (caller, id, input, key) => answer(context, caller, id, input, key),
    skip: (caller, id, key) => skip(context, caller, id, key),
    cancel: (caller, id, key) => cancel(context, caller, id, key),
    abortRun: (caller, run) => abortRun(context, caller, run),
    async moveTask(caller, taskId, input) {
      const plan = await moveTask(context, caller.keyId, { taskId, ...valid("invalid_request", readTaskMove(input)) });
      return { ...taskView(plan.state), superseded: plan.superseded.map((inquiry) => inquiry.id) };
    },
    async collect(caller, id) {
      const inquiry = await findInquiry(context, caller, id);
      await context.store.collect(inquiry.uid, context.clock.now());
      collected(context, inquiry);
    },
  };
}

async function list(context: Context, caller: Caller, query: Parameters<Asker["list"]>[1]): Promise<Page> {
  const status = query.status === undefined ? null : STATUSES.find((one) => one === query.status);
  if (status === undefined) {
    const known = STATUSES.join(", ");
    throw new AskgateError("invalid_request", `status must be one of ${known}; received "${query.status}".`);
  }
  const page = await context.store.list({
    owner: caller.scope === "operator" ? null : caller.keyId,
    sessions: caller.sessions.length > 0 ? caller.sessions : null,
    status,
    session: query.session ?? null,
    cursor: query.cursor ?? null,
    limit: Math.min(PAGE.max, Math.max(1, query.limit ?? PAGE.default)),
  });
  const items = await Promise.all(
    page.items.map(async (inquiry) => viewOf(inquiry, await context.store.copies(inquiry.uid))),
  );
  return { items, ...(page.next !== null && { next: page.next }) };
}

async function abortRun(context: Context, caller: Caller, run: string): Promise<{ cancelled: readonly string[] }> {
  const owner = caller.scope === "operator" ? null : caller.keyId;
  const open = (await context.store.waitingOfRun(owner, run)).filter((inquiry) => sees(caller, inquiry.session));
  const applied = await Promise.all(
    open.map((inquiry) => applyEvent(context, inquiry, () => ({ type: "cancel", reason: "aborted" }))),
  );
  const cancelled = applied.flatMap((one) => (one.outcome === "done" ? [one.inquiry] : []));
  for (const inquiry of cancelled) settled(context, inquiry);
  return { cancelled: cancelled.map(({ id }) => id) };
}
