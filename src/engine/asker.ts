/** The asker port over the engine: what agents and operators can do. */
import { readTaskMove } from "../core/answer.ts";
import { AskgateError } from "../core/errors.ts";
import { type Inquiry, isSettled, type Status } from "../core/inquiry.ts";
import type { NewInquiryInput } from "../core/question.ts";
import { type Asker, type Caller, PAGE, type Page, type ToolResult } from "../ports/asker.ts";
import { answer, cancel, skip } from "./answering.ts";
import { ask, attachable } from "./ask.ts";
import { applyEvent, type Context, reload } from "./context.ts";
import { readOrRefuse, valid } from "./door.ts";
import { moveTask } from "./tasks.ts";
import { resultOf, taskView, viewOf } from "./view.ts";
import { findInquiry, sees } from "./visibility.ts";

const STATUSES: readonly Status[] = ["waiting", "answered", "cancelled", "timed_out", "undelivered"];

export function createAsker(context: Context): Asker {
  const view = async (inquiry: Inquiry) => viewOf(inquiry, await context.store.copies(inquiry.uid));
  return {
    async ask(caller, input, fallbackId) {
      const asked = await ask(context, caller, readOrRefuse(input), { fallbackId });
      return { created: asked.created, inquiry: await view(asked.inquiry) };
    },
    askUser: (caller, input, options) => askUser(context, caller, input, options),
    async get(caller, id, wait) {
      const inquiry = await findInquiry(context, caller, id);
      if (!wait || wait.waitMs <= 0 || isSettled(inquiry)) return view(inquiry);
      return view(await settlement(context, inquiry.uid, context.clock.now() + wait.waitMs, wait.signal));
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
    },
  };
}

async function askUser(
  context: Context,
  caller: Caller,
  input: unknown,
  { signal, idempotencyKey, onAsked }: Parameters<Asker["askUser"]>[2],
): Promise<ToolResult> {
  const wanted = readOrRefuse(input);
  const unnamed = wanted.id === null && idempotencyKey === undefined;
  const candidates = unnamed ? await attachable(context, caller, wanted) : [];
  // Its waiter is registered before anything is awaited: two calls that come back at once never share one.
  const same = candidates.find(({ uid }) => !context.waiters.live(uid));
  const ready = same
    ? { inquiry: same, settled: null }
    : await askAndWait(context, caller, wanted, signal, idempotencyKey);
  const settled = ready.settled ?? settlement(context, ready.inquiry.uid, null, signal);
  onAsked?.(ready.inquiry.id);
  const inquiry = (await settled) ?? (await reload(context, ready.inquiry.uid));
  if (isSettled(inquiry) || signal.aborted) return resultOf(inquiry);
  throw new AskgateError(
    "unavailable",
    "The gateway is stopping. The question stays open: repeat the call to wait on.",
  );
}

/**
 * Asks with a waiter in place before anything is stored: nobody can settle it unseen, and no other call of the same
 * content can attach to what this one waits for.
 */
async function askAndWait(
  context: Context,
  caller: Caller,
  wanted: NewInquiryInput,
  signal: AbortSignal,
  fallbackId: string | undefined,
): Promise<{ inquiry: Inquiry; settled: Promise<Inquiry | null> | null }> {
  const waits = new Map<string, Promise<Inquiry | null>>();
  const onMinted = (uid: string) => waits.set(uid, context.waiters.wait(uid, null, signal));
  let stored: string | null = null;
  try {
    const { inquiry, created } = await ask(context, caller, wanted, { fallbackId, onMinted });
    if (!created || isSettled(inquiry)) return { inquiry, settled: null };
    stored = inquiry.uid;
    return { inquiry, settled: waits.get(inquiry.uid) ?? null };
  } finally {
    for (const uid of waits.keys()) if (uid !== stored) context.waiters.drop(uid);
  }
}

/** Waits for settlement; registers before it reads, so that no settlement falls between. */
async function settlement(context: Context, uid: string, until: number | null, signal: AbortSignal): Promise<Inquiry> {
  const leaving = new AbortController();
  const settled = context.waiters.wait(uid, until, AbortSignal.any([signal, leaving.signal]));
  try {
    const now = await reload(context, uid);
    if (isSettled(now)) return now;
    return (await settled) ?? (await reload(context, uid));
  } finally {
    leaving.abort();
  }
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
  return { cancelled: applied.flatMap((one) => (one.outcome === "done" ? [one.inquiry.id] : [])) };
}
