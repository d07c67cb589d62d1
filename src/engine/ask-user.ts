/**
 * The call that asks and waits.
 *
 * Rules: a waiter stands before anything is stored or read, so that nothing is settled unseen. A call without an id
 * attaches to the same question when nobody waits for it, here or in another process: who lost its connection finds its
 * question again, and two parallel calls never share one. A wait that ends leaves the question open.
 */
import { AskgateError } from "../core/errors.ts";
import { type Inquiry, isSettled } from "../core/inquiry.ts";
import type { NewInquiryInput } from "../core/question.ts";
import type { Asker, Caller, ToolResult } from "../ports/asker.ts";
import type { Instant } from "../ports/clock.ts";
import { ask, attachable } from "./ask.ts";
import type { Attendance } from "./attendance.ts";
import { type Context, reload } from "./context.ts";
import { readOrRefuse } from "./door.ts";
import { resultOf } from "./view.ts";

interface Wait {
  readonly inquiry: Inquiry;
  /** The inquiry when it is over; as it stands, or null, when the wait ends before. */
  readonly settled: Promise<Inquiry | null>;
  /** It was there before, and this process took it over. */
  readonly attached: boolean;
}

export async function askUser(
  context: Context,
  attendance: Attendance,
  caller: Caller,
  input: unknown,
  { signal, idempotencyKey, onAsked }: Parameters<Asker["askUser"]>[2],
): Promise<ToolResult> {
  const wanted = readOrRefuse(input);
  const unnamed = wanted.id === null && idempotencyKey === undefined;
  const wait =
    (unnamed ? await attach(context, attendance, caller, wanted, signal) : null) ??
    (await askAndWait(context, attendance, caller, wanted, { signal, idempotencyKey }));
  const { uid, id } = wait.inquiry;
  let over = false;
  try {
    onAsked?.(id);
    const inquiry = (await wait.settled) ?? (await reload(context, uid));
    over = isSettled(inquiry);
    if (over || signal.aborted) return resultOf(inquiry);
  } finally {
    if (wait.attached || !over) attendance.leave(uid);
  }
  throw new AskgateError(
    "unavailable",
    "The gateway is stopping. The question stays open: repeat the call to wait on.",
  );
}

/** Waits for the first of the same questions that nobody waits for; null: there is none. */
async function attach(
  context: Context,
  attendance: Attendance,
  caller: Caller,
  wanted: NewInquiryInput,
  signal: AbortSignal,
): Promise<Wait | null> {
  for (const inquiry of await attachable(context, caller, wanted)) {
    if (context.waiters.live(inquiry.uid)) continue;
    const leaving = new AbortController();
    // Registered before anything is awaited: of two calls that come back at once, the second sees it.
    const settled = settlement(context, inquiry.uid, null, AbortSignal.any([signal, leaving.signal]));
    settled.catch(() => {});
    let ours = false;
    try {
      ours = await attendance.attend(inquiry.uid);
    } finally {
      if (!ours) leaving.abort();
    }
    if (ours) return { inquiry, settled, attached: true };
  }
  return null;
}

/**
 * Asks with a waiter in place before anything is stored: nobody can settle it unseen, and no other call of the same
 * content can attach to what this one waits for.
 */
async function askAndWait(
  context: Context,
  attendance: Attendance,
  caller: Caller,
  wanted: NewInquiryInput,
  { signal, idempotencyKey }: { readonly signal: AbortSignal; readonly idempotencyKey: string | undefined },
): Promise<Wait> {
  const waits = new Map<string, Promise<Inquiry | null>>();
  const onMinted = (uid: string) => waits.set(uid, context.waiters.wait(uid, null, signal));
  let stored: string | null = null;
  try {
    const { inquiry, created } = await ask(context, caller, wanted, { fallbackId: idempotencyKey, onMinted });
    if (isSettled(inquiry)) return { inquiry, settled: Promise.resolve(inquiry), attached: false };
    const settled = created ? waits.get(inquiry.uid) : undefined;
    if (!settled) return await join(context, attendance, inquiry, signal);
    stored = inquiry.uid;
    return { inquiry, settled, attached: false };
  } finally {
    for (const uid of waits.keys()) if (uid !== stored) context.waiters.drop(uid);
  }
}

/** Who names an inquiry waits for it beside others; that somebody does is told to those who name none. */
async function join(context: Context, attendance: Attendance, inquiry: Inquiry, signal: AbortSignal): Promise<Wait> {
  await attendance.attend(inquiry.uid);
  return { inquiry, settled: settlement(context, inquiry.uid, null, signal), attached: true };
}

/** Waits for settlement; registers before it reads, so that no settlement falls between. */
export async function settlement(
  context: Context,
  uid: string,
  until: Instant | null,
  signal: AbortSignal,
): Promise<Inquiry> {
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
