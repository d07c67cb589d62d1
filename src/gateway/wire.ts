/**
 * The public shapes of what the gateway answers, once: the routes, `openapi.json` and the tests read them from here.
 *
 * The ports own the meaning, these schemas the form: `Shape` makes a field that a port gains, loses or retypes a
 * compile error. Bodies that the ports validate themselves are described here and never checked twice.
 */
import { z } from "zod";
import { name as nameInput } from "../core/question.ts";
import type { KeyView, NewKey } from "../ports/access.ts";
import {
  type DeliveryView,
  type DetailView,
  type InquiryView,
  PAGE,
  type Page,
  type QuestionView,
  type ToolResult,
} from "../ports/asker.ts";
import type { EventView } from "../ports/events.ts";
import type { HealthView } from "../ports/health.ts";

/** T where a field that may be absent may also be undefined, which is what an optional schema gives. */
type Loose<T> = T extends readonly (infer E)[]
  ? readonly Loose<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Loose<T[K]> | (object extends Pick<T, K> ? undefined : never) }
    : T;

/** Exactly the fields of T, each with a schema of its type. */
type Shape<T> = { readonly [K in keyof T]-?: z.ZodType<Loose<T[K]> | undefined> };

const time = z.iso.datetime().meta({ description: "RFC 3339, UTC" });
const words = z.array(z.string()).readonly();
const answers = z.record(z.string(), words).meta({
  id: "Answers",
  description: "By question id: the labels, or the person's own words. Empty: a multi-select answered with none.",
});

const question = z
  .strictObject({
    id: z.string(),
    header: z.string(),
    question: z.string(),
    options: z.array(z.strictObject({ label: z.string(), description: z.string().optional() })).readonly(),
    multiSelect: z.boolean(),
    allowOther: z.literal(false).optional().meta({ description: "Present where the list is closed." }),
    sensitive: z.literal(true).optional(),
  } satisfies Shape<QuestionView>)
  .meta({ id: "InquiryQuestion" });

const detail = z
  .strictObject({
    id: z.string(),
    outcome: z.enum(["answered", "skipped", "unanswered"]),
    by: z.string().optional().meta({ description: "The person's name." }),
    channel: z.string().optional(),
    values: z
      .array(
        z.discriminatedUnion("kind", [
          z.strictObject({ kind: z.literal("option"), label: z.string() }),
          z.strictObject({ kind: z.literal("text"), text: z.string() }),
          z.strictObject({ kind: z.literal("default"), label: z.string() }),
        ]),
      )
      .readonly(),
  } satisfies Shape<DetailView>)
  .meta({ id: "Detail" });

const delivery = z
  .strictObject({
    channel: z.string(),
    address: z.string(),
    state: z.string(),
    reason: z.string().optional(),
  } satisfies Shape<DeliveryView>)
  .meta({ id: "Delivery" });

const task = z.strictObject({
  taskId: z.string(),
  currentStep: z.string().optional(),
  stateVersion: z.int(),
});

const status = z.enum(["waiting", "answered", "cancelled", "timed_out", "undelivered"]);

export const inquiry = z
  .strictObject({
    id: z.string(),
    session: z.string(),
    kind: z.string(),
    status,
    reason: z.string().optional(),
    version: z.int().meta({ description: "Rises by one with each committed answer, skip or settlement." }),
    task: task.optional(),
    run: z.string().optional(),
    questions: z.array(question).readonly(),
    answers: answers.optional().meta({ description: "Present in `answered` alone." }),
    details: z.array(detail).readonly().optional(),
    createdAt: time,
    timeoutSeconds: z.int(),
    shownAt: time.optional(),
    expiresAt: time,
    settledAt: time.optional(),
    deliveries: z.array(delivery).readonly(),
  } satisfies Shape<InquiryView>)
  .meta({ id: "Inquiry" });

/** Every type there is: one that the port gains is a compile error here. */
const EVENT_TYPES = Object.keys({
  "inquiry.created": true,
  "inquiry.delivered": true,
  "inquiry.answered": true,
  "inquiry.cancelled": true,
  "inquiry.timed_out": true,
  "inquiry.undelivered": true,
} satisfies Record<EventView["type"], true>) as EventView["type"][];

/** What one line of `data` holds; the position stands beside it, as the event's `id`. */
export const event = z
  .strictObject({
    type: z.enum(EVENT_TYPES),
    timestamp: time.meta({ description: "When it happened; RFC 3339, UTC" }),
    data: inquiry,
  } satisfies Shape<Omit<EventView, "id">>)
  .meta({ id: "Event", description: "The inquiry stands in it as it was when the event was told." });

export const page = z
  .strictObject({ items: z.array(inquiry).readonly(), next: z.string().optional() } satisfies Shape<Page>)
  .meta({ id: "InquiryPage" });

const outcome = {
  inquiry_id: z.string(),
  timeout_seconds: z.int(),
  shown_at: time.optional(),
  details: z.array(detail).readonly().optional(),
};

export const toolResult = z
  .discriminatedUnion("status", [
    z.strictObject({ ...outcome, status: z.literal("answered"), answers: z.strictObject({ answers }) }),
    z.strictObject({
      ...outcome,
      status: z.literal("no_answer"),
      reason: z.enum(["timed_out", "skipped", "cancelled", "undelivered", "superseded"]),
      cause: z.string().optional(),
    }),
    z.strictObject({ ...outcome, status: z.literal("waiting") }),
  ])
  .meta({ id: "ToolResult" });

/** The port's result, checked to be one the schema knows. */
export type Result = Extract<ToolResult, z.infer<typeof toolResult>>;

export const problem = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string().meta({ description: "Stable; what programs decide on." }),
    detail: z.string(),
    issues: z
      .array(
        z.strictObject({
          path: z.string().meta({ description: "As `questions[0].options`; empty for the whole input." }),
          rule: z.string(),
          limit: z.union([z.string(), z.number()]).optional(),
          received: z.string(),
          message: z.string(),
        }),
      )
      .readonly()
      .optional(),
    instance: z.string().optional().meta({ description: "Names the request in the gateway's log." }),
  })
  .meta({ id: "Problem" });

export type Problem = z.infer<typeof problem>;

export const health = z
  .strictObject({
    ready: z.boolean(),
    store: z.enum(["up", "down"]),
    channels: z.record(
      z.string(),
      z.strictObject({
        state: z.enum(["starting", "up", "down", "conflict", "unauthorized"]),
        since: time,
        reason: z.string().optional(),
      }),
    ),
  } satisfies Shape<HealthView>)
  .meta({ id: "Health" });

export const alive = z.strictObject({ status: z.literal("ok") }).meta({ id: "Alive" });

const scope = z.enum(["agent", "operator"], "must be agent or operator");
const sessions = words.meta({ description: "Empty: every session." });
const kind = z.enum(["main", "subagent", "cron"], "must be main, subagent or cron");

/** A name in a path, a header or a body of the gateway's own: what an inquiry's id may be, and nothing more. */
export const name = nameInput("A name of one line.");

export const keyInput = known("a key", {
  scope,
  sessions: z.array(name, "must be an array of session names").max(100, "must be at most 100 names").optional(),
  kind: kind.optional(),
} satisfies Shape<NewKey>).meta({ id: "NewKey" });

const keyFields = {
  id: z.string(),
  scope,
  sessions,
  kind,
  createdAt: time,
  revokedAt: time.optional(),
} satisfies Shape<KeyView>;

export const key = z.strictObject(keyFields).meta({ id: "Key" });
export const newKey = z
  .strictObject({ ...keyFields, key: z.string().meta({ description: "Shown this once; stored hashed." }) })
  .meta({ id: "KeyWithSecret" });
export const keys = z.strictObject({ items: z.array(key).readonly() }).meta({ id: "Keys" });

export const pairingInput = known("a pairing", { channel: name, person: name.optional() }).meta({ id: "NewPairing" });
export const pairing = z
  .strictObject({ code: z.string(), person: z.string(), channel: z.string(), expiresAt: time })
  .meta({ id: "Pairing" });

export const taskMoved = z
  .strictObject({ ...task.shape, superseded: words.meta({ description: "Inquiries that ended because of it." }) })
  .meta({ id: "TaskMoved" });
export const aborted = z
  .strictObject({ cancelled: words.meta({ description: "Ids of the inquiries that ended because of it." }) })
  .meta({ id: "Aborted" });

/** The part of a list request that is in the address. */
export const listQuery = known("a list request", {
  status: oneOf(status.options).optional(),
  session: once("Only of this session.").optional(),
  cursor: once("`next` of the page before.").optional(),
  limit: wholeNumber(1, PAGE.max)
    .optional()
    .meta({ description: `Inquiries on the page; default ${PAGE.default}.` }),
});

/** Seconds a read may wait; short enough for proxies that give up after a minute. */
export const waitQuery = known("a read", {
  wait: wholeNumber(0, 50).optional().meta({ description: "Seconds to wait for settlement; default 0." }),
});

export const eventsQuery = known("a stream of events", {
  after: once("As the header Last-Event-ID, for clients that cannot send one.").optional(),
  session: once("Only of this session.").optional(),
  type: oneOf(EVENT_TYPES).optional(),
});

function oneOf<T extends string>(words: readonly T[]) {
  return z.enum(words, `must be one of ${words.join(", ")}`);
}

function once(description: string) {
  return z.string("must be given once").meta({ description });
}

function wholeNumber(min: number, max: number) {
  const must = `must be a whole number, ${min} to ${max}`;
  return z.coerce.number(must).int(must).min(min, must).max(max, must);
}

/** An object that refuses unknown fields and says which it knows. */
function known<S extends z.ZodRawShape>(what: string, shape: S) {
  const fields = Object.keys(shape).join(", ");
  return z.strictObject(shape, `is not a field of ${what}: the fields are ${fields}`);
}

/** The same value where a field that is absent is never `undefined`, as the ports want it. */
export function present<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}
