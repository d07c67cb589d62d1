/** The asker port over the engine: what agents and operators can do. */
import { entriesOf } from "../core/entries.ts";
import { AskgateError } from "../core/errors.ts";
import type { Author, Inquiry, InquiryEvent, Status } from "../core/inquiry.ts";
import { isSettled, unanswered } from "../core/inquiry.ts";
import { type AnswerInput, readAnswer, readTaskMove } from "../core/answer.ts";
import { readReply } from "../core/reading.ts";
import type { Asker, Caller, InquiryView, ToolResult } from "../ports/asker.ts";
import { ask, attachable, readOrRefuse } from "./ask.ts";
import { type Applied, applyEvent, type Context } from "./context.ts";
import { moveTask } from "./tasks.ts";
import { resultOf, taskView, viewOf } from "./view.ts";
import { findInquiry, ownSession, requireOperator, sees } from "./visibility.ts";

const STATUSES: readonly Status[] = ["waiting", "answered", "cancelled", "timed_out", "undelivered"];
const PAGE = { default: 50, max: 200 } as const;

export function createAsker(context: Context): Asker {
  const { store, waiters, clock } = context;

  async function view(inquiry: Inquiry): Promise<InquiryView> {
    return viewOf(inquiry, await store.copies(inquiry.uid));
  }

  /** Waits for settlement; registers before it reads, so that no settlement falls between. */
  async function settlement(uid: string, until: number | null, signal: AbortSignal): Promise<Inquiry> {
    const settled = waiters.wait(uid, until, signal);
    const now = await store.inquiry(uid);
    if (now && isSettled(now)) {
      waiters.settled(now);
      return now;
    }
    const inquiry = (await settled) ?? (await store.inquiry(uid));
    if (!inquiry) throw new AskgateError("not_found");
    return inquiry;
  }

  async function change(
    caller: Caller,
    id: string,
    event: (inquiry: Inquiry) => InquiryEvent,
    name: string,
    key?: string,
  ): Promise<InquiryView> {
    const inquiry = await findInquiry(context, caller, id);
    const once = key === undefined ? undefined : `api:${caller.keyId}:${name}:${inquiry.uid}:${key}`;
    const earlier = once === undefined ? undefined : await store.replyOf(once);
    if (earlier) return earlier as InquiryView;
    const copies = await store.copies(inquiry.uid);
    const applied = await applyEvent(context, inquiry, event, {
      ...(once !== undefined && { once: { key: once, reply: (after: Inquiry) => viewOf(after, copies) } }),
    });
    return outcomeOf(applied, view);
  }

  return {
    async ask(caller, input, idempotencyKey) {
      const asked = await ask(context, caller, readOrRefuse(input), idempotencyKey);
      return { created: asked.created, inquiry: await view(asked.inquiry) };
    },

    async askUser(caller, input, { signal, idempotencyKey, onAsked }): Promise<ToolResult> {
      const wanted = readOrRefuse(input);
      const named = wanted.id ?? idempotencyKey ?? null;
      const same = named === null ? await attachable(context, caller, wanted) : null;
      const inquiry = same ?? (await ask(context, caller, wanted, idempotencyKey)).inquiry;
      const settled = settlement(inquiry.uid, null, signal);
      onAsked?.(inquiry.id);
      return resultOf(await settled);
    },

    async get(caller, id, wait) {
      const inquiry = await findInquiry(context, caller, id);
      if (!wait || wait.waitMs <= 0 || isSettled(inquiry)) return view(inquiry);
      return view(await settlement(inquiry.uid, clock.now() + wait.waitMs, wait.signal));
    },

    async list(caller, query) {
      const status = query.status === undefined ? null : STATUSES.find((one) => one === query.status);
      if (status === undefined) {
        throw new AskgateError("invalid_request", `status must be one of ${STATUSES.join(", ")}; received "${query.status}".`);
      }
      const page = await store.list({
        owner: caller.scope === "operator" ? null : caller.keyId,
        sessions: caller.sessions.length > 0 ? caller.sessions : null,
        status,
        session: query.session ?? null,
        cursor: query.cursor ?? null,
        limit: Math.min(PAGE.max, Math.max(1, query.limit ?? PAGE.default)),
      });
      const items = await Promise.all(page.items.map(view));
      return { items, ...(page.next !== null && { next: page.next }) };
    },

    async answer(caller, id, input, key) {
      requireOperator(caller, "answer");
      const read = readAnswer(input);
      if (!read.ok) throw new AskgateError("invalid_answer", read.issues.map((issue) => issue.message).join("; "), read.issues);
      return change(caller, id, (inquiry) => answerEvent(inquiry, read.value, authorOf(caller)), "answer", key);
    },

    async skip(caller, id, key) {
      requireOperator(caller, "skip a question");
      return change(caller, id, () => ({ type: "skip", by: authorOf(caller) }), "skip", key);
    },

    async cancel(caller, id, key) {
      const event = { type: "cancel", reason: caller.scope === "operator" ? "operator" : "aborted" } as const;
      return change(caller, id, () => event, "cancel", key);
    },

    async abortRun(caller, run) {
      const owner = caller.scope === "operator" ? null : caller.keyId;
      const open = (await store.waitingOfRun(owner, run)).filter((inquiry) => sees(caller, inquiry.session));
      const applied = await Promise.all(
        open.map((inquiry) => applyEvent(context, inquiry, () => ({ type: "cancel", reason: "aborted" }))),
      );
      return { cancelled: applied.flatMap((one) => (one.outcome === "done" ? [one.inquiry.id] : [])) };
    },

    async moveTask(caller, taskId, input) {
      ownSession(context, caller, null);
      const read = readTaskMove(input);
      if (!read.ok) throw new AskgateError("invalid_request", read.issues.map((issue) => issue.message).join("; "), read.issues);
      const plan = await moveTask(context, caller.keyId, { taskId, ...read.value });
      return { ...taskView(plan.state), superseded: plan.superseded.map((inquiry) => inquiry.id) };
    },

    async collect(caller, id) {
      const inquiry = await findInquiry(context, caller, id);
      await store.collect(inquiry.uid, clock.now());
    },
  };
}

function authorOf(caller: Caller): Author {
  return { person: "operator", channel: "api", address: `api:${caller.keyId}` };
}

async function outcomeOf(applied: Applied, view: (inquiry: Inquiry) => Promise<InquiryView>): Promise<InquiryView> {
  switch (applied.outcome) {
    case "done":
    case "moot":
      return view(applied.inquiry);
    case "repeat":
      return applied.reply as InquiryView;
    case "refused":
      throw new AskgateError(applied.refusal.code, applied.refusal.message);
  }
}

/** A settled inquiry is not read against: the table refuses whatever comes. */
function answerEvent(inquiry: Inquiry, input: AnswerInput, by: Author): InquiryEvent {
  const version = input.stateVersion === undefined ? {} : { stateVersion: input.stateVersion };
  if (input.text === undefined || isSettled(inquiry)) {
    return { type: "answer", entries: entriesOf(inquiry.questions, input.answers, input.skip), by, ...version };
  }
  const reading = readReply(unanswered(inquiry), input.text);
  if (reading.kind === "cancel") return { type: "cancel", reason: "operator", by };
  if (reading.kind === "entries") return { type: "answer", entries: reading.entries, by, ...version };
  throw new AskgateError("invalid_answer", `The reply "${input.text}" is not a clear answer: ${reading.reason}. Nothing was recorded.`);
}
