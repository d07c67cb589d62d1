/**
 * Asking: from an input at the door to a stored inquiry with its copies and its deadline, in one commit.
 *
 * The same id with the same content is the same inquiry, other content under it is refused. A waiting call without an
 * id attaches to the same question of the same task when nobody waits for it, so that an agent that lost its connection
 * finds its question again and two parallel calls never share one.
 */
import { AskgateError } from "../core/errors.ts";
import { type Inquiry, step } from "../core/inquiry.ts";
import { showsOneAtATime } from "../core/limits.ts";
import { channelOf } from "../core/people.ts";
import { contentKeyOf, type NewInquiryInput } from "../core/question.ts";
import { routeOf } from "../core/route.ts";
import type { Caller } from "../ports/asker.ts";
import type { NewOutboxRow } from "../ports/store.ts";
import type { Context } from "./context.ts";
import { refuseUnreachable } from "./door.ts";
import { mintInquiryId, mintPromptKey, mintRowId } from "./mint.ts";
import { planTask } from "./tasks.ts";
import { asked, settled } from "./trail.ts";
import { ownSession } from "./visibility.ts";

/** A settled result is handed to a repeated call for this long, until it was collected. */
export const ATTACH_MS = 10 * 60_000;

export interface Asked {
  readonly inquiry: Inquiry;
  readonly created: boolean;
}

export interface AskOptions {
  /** The id where the input names none. */
  readonly fallbackId?: string | undefined;
  /** For a call that waits: called with each uid before it is stored. */
  readonly onMinted?: (uid: string) => void;
}

/** Stores the inquiry, or finds the one of the same id. */
export async function ask(
  context: Context,
  caller: Caller,
  input: NewInquiryInput,
  options: AskOptions = {},
): Promise<Asked> {
  const session = ownSession(context, caller, input.session);
  const contentKey = contentKeyOf(input);
  for (;;) {
    const id = input.id ?? options.fallbackId ?? null;
    const existing = id === null ? undefined : (await context.store.inquiriesById(id, caller.keyId))[0];
    if (existing) return { inquiry: sameContent(existing, contentKey, session), created: false };
    refuseUnreachable(context.directory(), input);
    const inquiry = draft(context, caller, input, { id, session, contentKey });
    options.onMinted?.(inquiry.uid);
    const created = await create(context, inquiry, options.onMinted !== undefined);
    if (created) return { inquiry: created, created: true };
  }
}

/** The inquiries a repeated waiting call may belong to: it takes the first that nobody waits for. */
export function attachable(context: Context, caller: Caller, input: NewInquiryInput): Promise<readonly Inquiry[]> {
  return context.store.attachable({
    owner: caller.keyId,
    session: ownSession(context, caller, input.session),
    run: input.run,
    taskId: input.task?.taskId ?? null,
    contentKey: contentKeyOf(input),
    settledSince: context.clock.now() - ATTACH_MS,
  });
}

function sameContent(existing: Inquiry, contentKey: string, session: string): Inquiry {
  if (existing.contentKey === contentKey && existing.session === session) return existing;
  throw new AskgateError(
    "id_conflict",
    `The id "${existing.id}" is taken by an inquiry of other content; repeat that content to attach, or choose a new id.`,
  );
}

function draft(
  context: Context,
  caller: Caller,
  input: NewInquiryInput,
  given: { id: string | null; session: string; contentKey: string },
): Inquiry {
  const createdAt = context.clock.now();
  const uid = mintInquiryId(context.entropy, createdAt);
  return {
    uid,
    owner: caller.keyId,
    id: given.id ?? uid,
    session: given.session,
    run: input.run,
    kind: input.kind,
    task: input.task,
    questions: input.questions,
    status: "waiting",
    reason: null,
    version: 1,
    resolutions: new Map(),
    to: input.to,
    respondents: input.respondents,
    locale: input.locale,
    reversible: input.reversible,
    defaults: input.defaults,
    callbackUrl: input.callbackUrl,
    contentKey: given.contentKey,
    timeoutSeconds: input.timeoutSeconds,
    createdAt,
    expiresAt: createdAt + input.timeoutSeconds * 1000,
    shownAt: null,
    settledAt: null,
    settledBy: null,
  };
}

/** One attempt; null when somebody else changed the task or took the id meanwhile. */
async function create(context: Context, wanted: Inquiry, waited: boolean): Promise<Inquiry | null> {
  const task = wanted.task ? await planTask(context, wanted.owner, wanted.task) : null;
  const place = task ? { ...wanted, task: task.state } : wanted;
  const sensitive = place.questions.some((question) => question.sensitive);
  const route = routeOf(context.directory(), { ...place, sensitive }, new Set(context.channels.keys()));
  const routed = { ...place, respondents: route.respondents };
  const rows = route.addresses.map((address) => copyOf(context, routed, address));
  const inquiry = rows.some((row) => row.delivery?.state !== "failed") ? routed : unreachable(routed, rows.length);
  const result = await context.store.commit({
    ...task?.commit,
    create: [inquiry],
    add: [...rows, ...deadlineOf(context, inquiry)],
    ...(waited && context.store.shared && { waiter: context.process }),
  });
  if (result.outcome !== "done") return null;
  asked(context, inquiry, rows);
  for (const one of [inquiry, ...(task?.superseded ?? [])]) {
    settled(context, one);
    context.changed(one);
  }
  return inquiry;
}

function copyOf(context: Context, inquiry: Inquiry, address: string): NewOutboxRow {
  const channel = channelOf(address);
  const limits = context.channels.get(channel);
  return {
    id: mintRowId(context.entropy, inquiry.createdAt),
    lane: "delivery",
    inquiry: inquiry.uid,
    dueAt: limits ? inquiry.createdAt : null,
    inLine: limits !== undefined && showsOneAtATime(limits),
    delivery: {
      channel,
      address,
      state: limits ? "pending" : "failed",
      reason: limits ? null : "channel_off",
      promptKey: mintPromptKey(context.entropy),
      digest: null,
      receipt: null,
      entry: null,
      plain: false,
      unknownUntil: null,
    },
  };
}

function unreachable(inquiry: Inquiry, copies: number): Inquiry {
  const failed = step(
    inquiry,
    { type: "fail", reason: copies === 0 ? "no_surface" : "unreachable" },
    inquiry.createdAt,
  );
  return failed.ok ? failed.inquiry : inquiry;
}

function deadlineOf(context: Context, inquiry: Inquiry): readonly NewOutboxRow[] {
  if (inquiry.status !== "waiting") return [];
  const id = mintRowId(context.entropy, inquiry.createdAt);
  return [{ id, lane: "deadline", inquiry: inquiry.uid, dueAt: inquiry.expiresAt, delivery: null }];
}
