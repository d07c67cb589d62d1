/**
 * The inquiry: one ask, one deadline, one outcome. Everything that moves its state lives in this file.
 *
 * Rules: the machine is the table at the end; a final state is a row without exits; `version` rises by one with
 * each committed answer, skip or settlement and with nothing else; an event that is refused changes nothing.
 * Checks run in the order settled, stale, invalid. The file knows no clock, channel or store: `now` is handed in.
 */
import type { Question } from "./question.ts";
import { isBlank } from "./reply/fold.ts";

/**
 * - `waiting`: born so; left by the last answer, a skip, a cancel, the deadline or failed delivery.
 * - `answered`: every question has an answer or a skip, at least one an answer. Final.
 * - `cancelled`: closed without an answer, for the recorded reason. Final.
 * - `timed_out`: the deadline passed although some copy was shown. Final.
 * - `undelivered`: no copy was ever confirmed shown. Final.
 */
export type Status = "waiting" | "answered" | "cancelled" | "timed_out" | "undelivered";

export type CancelReason = "skipped" | "declined" | "aborted" | "superseded" | "operator";
/**
 * Why nobody saw it: `no_surface` nobody had a surface open; `delivery_unknown` the platform never confirmed;
 * `queued` it still stood behind others; `unreachable` every address failed for good; `rate_limited` the platform's
 * wait is longer than the question lives.
 */
export type UndeliveredReason = "no_surface" | "delivery_unknown" | "queued" | "unreachable" | "rate_limited";
export type Reason = CancelReason | UndeliveredReason;

export type InquiryKind = "question" | "clarification" | "approval" | "escalation";

/** Where the agent stood when it asked. `stateVersion` belongs to the task. */
export interface TaskRef {
  readonly taskId: string;
  readonly currentStep: string | null;
  readonly stateVersion: number;
}

export type Value =
  | { readonly kind: "option"; readonly label: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "default"; readonly label: string };

/** Who answered, and where: the person's name, the channel and the address it came from. */
export interface Author {
  readonly person: string;
  readonly channel: string;
  readonly address: string;
}

/** The final word on one question. `values` is empty for a skip and for a multi-select answered with none. */
export interface Resolution {
  readonly outcome: "answered" | "skipped" | "unanswered";
  readonly values: readonly Value[];
  readonly by: Author | null;
}

export interface Inquiry {
  /** Askgate's own id, unique everywhere: `inq_` and 26 base32 characters, the later the greater. */
  readonly uid: string;
  /** Id of the key that asked; caller ids are unique within it. */
  readonly owner: string;
  /** The caller's id, or `uid`. */
  readonly id: string;
  readonly session: string;
  readonly run: string | null;
  readonly kind: InquiryKind;
  readonly task: TaskRef | null;
  readonly questions: readonly Question[];
  readonly status: Status;
  readonly reason: Reason | null;
  readonly version: number;
  /** By question id. */
  readonly resolutions: ReadonlyMap<string, Resolution>;
  /** Addresses the caller named; empty means the session's. */
  readonly to: readonly string[];
  /** People or `role:NAME` who may answer, as resolved when asked; never empty. */
  readonly respondents: readonly string[];
  readonly locale: string | null;
  readonly reversible: boolean;
  /** Values for the deadline, by question id; used only where `reversible`. */
  readonly defaults: ReadonlyMap<string, readonly string[]>;
  readonly callbackUrl: string | null;
  /** Digest of what was asked: the same content gives the same key. */
  readonly contentKey: string;
  readonly timeoutSeconds: number;
  /** Milliseconds since the epoch, as all times. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** First confirmed showing. */
  readonly shownAt: number | null;
  readonly settledAt: number | null;
  /** Who closed it: the person of the last answer, skip or cancel; null for the agent, the deadline and failures. */
  readonly settledBy: Author | null;
}

/** What is answered to one question. An option is named by its exact label. */
export type Entry = { readonly skip: true } | { readonly values: readonly Value[] };

export type InquiryEvent =
  | {
      readonly type: "answer";
      readonly entries: ReadonlyMap<string, Entry>;
      readonly by: Author;
      /** The task state the answer was given for; absent means the current one. */
      readonly stateVersion?: number;
    }
  | { readonly type: "skip"; readonly by: Author }
  | { readonly type: "cancel"; readonly reason: Exclude<CancelReason, "skipped">; readonly by?: Author }
  /** The deadline. `unseen` says why nobody saw a copy; it has no weight where one was confirmed shown or answered. */
  | { readonly type: "expire"; readonly unseen: UndeliveredReason | null }
  /** No address is left that could show it in time. */
  | { readonly type: "fail"; readonly reason: UndeliveredReason };

export type Refusal = "already_settled" | "stale" | "already_answered" | "invalid_answer";
export type Step =
  | { readonly ok: true; readonly inquiry: Inquiry }
  | { readonly ok: false; readonly code: Refusal; readonly question: string | null; readonly message: string };

type Handler<T extends InquiryEvent["type"]> = (
  inquiry: Inquiry,
  event: Extract<InquiryEvent, { type: T }>,
  now: number,
) => Step;

/** Applies one event. Never throws on data; a refused event leaves the inquiry as it was. */
export function step(inquiry: Inquiry, event: InquiryEvent, now: number): Step {
  const handler = TRANSITIONS[inquiry.status][event.type] as Handler<InquiryEvent["type"]> | undefined;
  if (!handler)
    return refuse("already_settled", null, `The inquiry is ${inquiry.status}; nothing changes it any more.`);
  return handler(inquiry, event, now);
}

export function isSettled(inquiry: Pick<Inquiry, "status">): boolean {
  return inquiry.status !== "waiting";
}

/** Questions without an answer or a skip, in their order. */
export function unanswered(inquiry: Inquiry): readonly Question[] {
  return inquiry.questions.filter((question) => !inquiry.resolutions.has(question.id));
}

function answer(inquiry: Inquiry, event: Extract<InquiryEvent, { type: "answer" }>, now: number): Step {
  if (event.stateVersion !== undefined && event.stateVersion !== inquiry.task?.stateVersion) {
    const current = inquiry.task ? `is ${inquiry.task.stateVersion}` : "does not exist: the inquiry names no task";
    return refuse("stale", null, `The answer is for stateVersion ${event.stateVersion}; the inquiry's ${current}.`);
  }
  if (event.entries.size === 0) return refuse("invalid_answer", null, "The answer names no question.");
  const resolutions = new Map(inquiry.resolutions);
  for (const [id, entry] of event.entries) {
    const question = inquiry.questions.find((one) => one.id === id);
    if (!question) {
      const ids = inquiry.questions.map((one) => one.id).join(", ");
      return refuse("invalid_answer", id, `There is no question "${id}"; the questions are: ${ids}.`);
    }
    if (inquiry.resolutions.has(id)) {
      return refuse("already_answered", id, `Question "${id}" is answered already; the first answer counts.`);
    }
    const fault = "skip" in entry ? null : faultOf(question, entry.values);
    if (fault) return refuse("invalid_answer", id, fault);
    resolutions.set(id, resolve(question, entry, event.by));
  }
  return advance({ ...inquiry, resolutions }, event.by, now);
}

/** Why these values do not answer the question, or null. */
function faultOf(question: Question, values: readonly Value[]): string | null {
  if (values.length === 0 && !question.multiSelect) return `Question "${question.id}" takes one answer, received none.`;
  if (values.length > 1 && !question.multiSelect) {
    return `Question "${question.id}" takes one answer, received ${values.length}.`;
  }
  const seen = new Set<string>();
  for (const value of values) {
    const word = value.kind === "text" ? value.text : value.label;
    if (isBlank(word)) return `Question "${question.id}" received a blank answer.`;
    if (seen.has(word)) return `Question "${question.id}" received "${word}" twice.`;
    seen.add(word);
    if (value.kind === "text" && !question.allowOther) {
      return `Question "${question.id}" is closed: "${word}" is none of ${labelsOf(question)}.`;
    }
    if (value.kind !== "text" && !question.options.some((option) => option.label === value.label)) {
      return `Question "${question.id}" has no option "${word}"; the options are ${labelsOf(question)}.`;
    }
  }
  return null;
}

function labelsOf(question: Question): string {
  return question.options.map((option) => `"${option.label}"`).join(", ");
}

function resolve(question: Question, entry: Entry, by: Author): Resolution {
  if ("skip" in entry) return { outcome: "skipped", values: [], by };
  const place = (value: Value) =>
    value.kind === "text"
      ? question.options.length
      : question.options.findIndex((option) => option.label === value.label);
  return { outcome: "answered", values: [...entry.values].sort((a, b) => place(a) - place(b)), by };
}

function skip(inquiry: Inquiry, event: Extract<InquiryEvent, { type: "skip" }>, now: number): Step {
  const resolutions = new Map(inquiry.resolutions);
  for (const question of unanswered(inquiry)) resolutions.set(question.id, resolve(question, { skip: true }, event.by));
  return advance({ ...inquiry, resolutions }, event.by, now);
}

/** One committed change: settles when no question is left. */
function advance(inquiry: Inquiry, by: Author, now: number): Step {
  if (unanswered(inquiry).length > 0) return { ok: true, inquiry: { ...inquiry, version: inquiry.version + 1 } };
  const any = [...inquiry.resolutions.values()].some((one) => one.outcome === "answered");
  return any ? settle(inquiry, "answered", null, by, now) : settle(inquiry, "cancelled", "skipped", by, now);
}

function cancel(inquiry: Inquiry, event: Extract<InquiryEvent, { type: "cancel" }>, now: number): Step {
  return settle(inquiry, "cancelled", event.reason, event.by ?? null, now);
}

function expire(inquiry: Inquiry, event: Extract<InquiryEvent, { type: "expire" }>, now: number): Step {
  const seen = inquiry.shownAt !== null || inquiry.resolutions.size > 0;
  if (event.unseen !== null && !seen) return settle(inquiry, "undelivered", event.unseen, null, now);
  return settle(withDefaults(inquiry), "timed_out", null, null, now);
}

/** Silence is never consent: values go in at the deadline only where the caller said so and the step can be undone. */
function withDefaults(inquiry: Inquiry): Inquiry {
  if (!inquiry.reversible) return inquiry;
  const resolutions = new Map(inquiry.resolutions);
  for (const question of unanswered(inquiry)) {
    const labels = inquiry.defaults.get(question.id);
    if (labels) {
      const values = labels.map((label): Value => ({ kind: "default", label }));
      resolutions.set(question.id, { outcome: "unanswered", values, by: null });
    }
  }
  return { ...inquiry, resolutions };
}

function fail(inquiry: Inquiry, event: Extract<InquiryEvent, { type: "fail" }>, now: number): Step {
  return settle(inquiry, "undelivered", event.reason, null, now);
}

function settle(inquiry: Inquiry, status: Status, reason: Reason | null, by: Author | null, now: number): Step {
  const version = inquiry.version + 1;
  return { ok: true, inquiry: { ...inquiry, status, reason, version, settledAt: now, settledBy: by } };
}

function refuse(code: Refusal, question: string | null, message: string): Step {
  return { ok: false, code, question, message };
}

/** The machine. A missing cell refuses with `already_settled`. */
export const TRANSITIONS: {
  readonly [S in Status]: { readonly [T in InquiryEvent["type"]]?: Handler<T> };
} = {
  waiting: { answer, skip, cancel, expire, fail },
  answered: {},
  cancelled: {},
  timed_out: {},
  undelivered: {},
};
