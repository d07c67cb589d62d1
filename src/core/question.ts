/**
 * The question: what an agent asks, as the engine keeps it, and the door it comes through.
 *
 * The schemas here are the only statement of what `ask_user` and `POST /v1/inquiries` take; the tool's JSON schema,
 * the OpenAPI document and the types derive from them. The door tells all faults of an input at once, fills in every
 * default, and never changes a word that is handed back: labels stay as authored, order stays.
 */
import { z } from "zod";
import { incoherences, isLabel } from "./coherence.ts";
import { digestOf } from "./digest.ts";
import type { Issue } from "./errors.ts";
import { shapeFaults, writeIssues } from "./fault.ts";
import { cutHeader, HEADER } from "./header.ts";
import { measure } from "./limits.ts";
import { isBlank } from "./reply/fold.ts";
import { meansOther } from "./reply/words.ts";

export interface Option {
  readonly label: string;
  readonly description: string | null;
}

/** A question after normalisation at the door; every default is filled in. */
export interface Question {
  /** `^[a-z][a-z0-9_]*$`, at most 64 characters, unique in the call. */
  readonly id: string;
  readonly header: string;
  readonly question: string;
  /** 2 to 4, or none when free text alone is asked for. */
  readonly options: readonly Option[];
  readonly multiSelect: boolean;
  /** False closes the list: no free text. */
  readonly allowOther: boolean;
  /** Asked on the web page only, without echo. */
  readonly sensitive: boolean;
}

/** What one call asks for, every default filled in; field by field as the inquiry keeps it. */
export interface NewInquiryInput {
  readonly id: string | null;
  readonly session: string | null;
  readonly run: string | null;
  readonly kind: "question" | "clarification";
  readonly task: { readonly taskId: string; readonly currentStep: string | null; readonly stateVersion: number } | null;
  readonly questions: readonly Question[];
  /** Seconds, 30 to 3,600; the effective value. */
  readonly timeoutSeconds: number;
  /** Addresses; empty means the session's. */
  readonly to: readonly string[];
  /** Names or `role:NAME`; empty means the session's. */
  readonly respondents: readonly string[];
  readonly locale: string | null;
  readonly reversible: boolean;
  /** Values for the deadline, by question id, as authored labels. */
  readonly defaults: ReadonlyMap<string, readonly string[]>;
  readonly callbackUrl: string | null;
}

export const TIMEOUT_SECONDS = { min: 30, max: 3_600, default: 900 } as const;

const UNSAFE_IN_NAME = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;
const LOCALE = /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4}$/;
const ADDRESS = /^[a-z][a-z0-9]*:\S/;

/** Authored text: not blank, at most `max` code points (which is also what JSON Schema's maxLength counts). */
function text(max: number, description: string) {
  return z
    .string("must be text")
    .check(({ value, issues }) => {
      const over = measure(value, "codePoints") - max;
      const refuse = (rule: string, limit: number, message: string) =>
        issues.push({ code: "custom", input: value, message, params: { rule, limit } });
      if (isBlank(value)) refuse("blank", 1, "must not be blank: write what people are to read");
      else if (over > 0) refuse("max", max, `must be at most ${max} characters long: shorten it by ${over}`);
    })
    .meta({ minLength: 1, maxLength: max, description });
}

/** A name a caller gives: 1 to 200 code points on one line, which the path of an address can hold. */
export function name(description: string) {
  return text(200, description)
    .refine((value) => !UNSAFE_IN_NAME.test(value) && value === value.trim(), {
      error: "must be one line without control characters or outer spaces: remove them",
      params: { rule: "pattern" },
    })
    .refine((value) => value !== "." && value !== "..", {
      error: "must not be . or .., which addresses cannot hold: choose another",
      params: { rule: "pattern" },
    });
}

/** An object that refuses unknown keys and says which it knows. */
function strict<S extends z.ZodRawShape>(what: string, shape: S) {
  const fields = Object.keys(shape).join(", ");
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code === "unrecognized_keys") return `is not a field of ${what}: remove it; the fields are ${fields}`;
      return `must be an object, ${what} with the fields ${fields}`;
    },
  });
}

function list<T extends z.ZodType>(of: T, min: number, max: number, what: string, size = `${min} to ${max}`) {
  return z
    .array(of, `must be an array of ${size} ${what}`)
    .min(min, `must hold ${size} ${what}: add what is missing`)
    .max(max, `must hold ${size} ${what}: keep those that matter most`);
}

const flag = z.boolean("must be true or false");

const option = strict("an option", {
  label: text(200, "What the person chooses, in a few words; comes back exactly as written."),
  description: text(500, "What choosing it means, in one sentence.").optional(),
});

const asked = {
  id: z
    .string("must be text")
    .regex(/^[a-z][a-z0-9_]*$/, "must match ^[a-z][a-z0-9_]*$: begin with a-z, go on with a-z, 0-9 and _ alone")
    .max(64, "must be at most 64 characters long: shorten it")
    .meta({ description: "Names the answer; unique in the call, as `deploy_target`." }),
  header: z
    .string("must be text")
    .refine((value) => !isBlank(cutHeader(value)), {
      error: `must not be blank within its first ${HEADER.graphemes} characters: name the subject in a word or two`,
      params: { rule: "blank", limit: 1 },
    })
    .meta({ minLength: 1, description: "The subject in a word or two; shown as a chip, cut to 12 characters." }),
  question: text(4_000, "The question, one sentence."),
  multiSelect: flag.optional().meta({ description: "Whether several options may be chosen; default false." }),
};

const toolQuestion = strict("a question", {
  ...asked,
  options: list(option, 2, 4, "options").meta({
    description: "2 to 4 options, the recommended one first; never one that means Other, free text is always open.",
  }),
});

const callerQuestion = strict("a question", {
  ...asked,
  options: list(option.meta({ id: "Option" }), 0, 4, "options", "2 to 4").refine((value) => value.length !== 1, {
    error: "must hold 2 to 4 options, or none to ask for free text alone: add the alternative",
    params: { rule: "min", limit: 2 },
  }),
  allowOther: flag.optional().meta({ description: "False closes the list: no free text. Default true." }),
  sensitive: flag.optional().meta({ description: "Asks on the web page only, without echo. Default false." }),
}).meta({ id: "Question" });

const timeoutSeconds = z
  .number(`must be a whole number of seconds, ${TIMEOUT_SECONDS.min} to ${TIMEOUT_SECONDS.max}, or absent for 900`)
  .refine(Number.isInteger, {
    error: `must be a whole number of seconds, ${TIMEOUT_SECONDS.min} to ${TIMEOUT_SECONDS.max}: round it`,
    params: { rule: "type", limit: "integer" },
  })
  .meta({ type: "integer" })
  .nullish()
  .meta({ description: "How long to wait for a person; clamped to 30..3600, default 900." });

/** The input of the tool `ask_user` as models see it. */
export const askUserInput = strict("ask_user", {
  questions: list(toolQuestion, 1, 3, "questions"),
  timeoutSeconds,
});

const task = strict("a task", {
  taskId: name("The caller's name for the task."),
  currentStep: name("The step the task stands at.").optional(),
  stateVersion: z
    .int("must be a whole number, 0 or more")
    .min(0, "must be a whole number, 0 or more: count the task's states up")
    .meta({ description: "Rises whenever the task moves on; belongs to the task, not the inquiry." }),
});

const onTimeout = strict("onTimeout", {
  use: z.record(
    z.string(),
    list(z.string("must be text"), 0, 4, "labels"),
    "must be an object from question id to labels",
  ),
});

/** The body of `POST /v1/inquiries`, of `POST /v1/ask_user` and of the library's `ask`. */
export const inquiryInput = strict("an inquiry", {
  questions: list(callerQuestion, 1, 3, "questions"),
  timeoutSeconds,
  id: name("The caller's id; the same id and content is the same inquiry.").optional(),
  session: name("The line of work the answer belongs to; default `main`.").optional(),
  run: name("The turn of the agent; aborting it cancels what it asked.").optional(),
  kind: z
    .enum(["question", "clarification"], "must be question or clarification: approvals and escalations are the gate's")
    .optional(),
  task: task.meta({ id: "Task" }).optional(),
  to: list(name("An address.").regex(ADDRESS, "must be an address as telegram:100"), 0, 20, "addresses").optional(),
  respondents: list(name("A person or role:NAME."), 0, 50, "people").optional(),
  locale: z.string("must be text").regex(LOCALE, "must be a BCP 47 language tag as en or pt-BR").optional(),
  reversible: flag.optional(),
  onTimeout: onTimeout.optional(),
  callbackUrl: z
    .url({ protocol: /^https?$/, error: "must be an absolute http or https URL" })
    .max(2_000, "must be at most 2000 characters long")
    .optional(),
}).meta({ id: "NewInquiry" });

export type ReadResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** Reads what HTTP, the command line and the library send. Never throws on data; tells all faults, in path order. */
export function readInquiry(raw: unknown): ReadResult<NewInquiryInput> {
  return read(inquiryInput, raw);
}

/** The same for arguments a model wrote: only the tool's own fields are known. */
export function readAskUser(raw: unknown): ReadResult<NewInquiryInput> {
  return read(askUserInput, raw);
}

function read(schema: typeof inquiryInput | typeof askUserInput, raw: unknown): ReadResult<NewInquiryInput> {
  const shape = schema.safeParse(raw, { reportInput: true });
  const issues = writeIssues([...shapeFaults(shape.error?.issues ?? []), ...incoherences(raw)]);
  if (!shape.success || issues.length > 0) return { ok: false, issues };
  return { ok: true, value: normalise(shape.data) };
}

function normalise(input: z.infer<typeof inquiryInput>): NewInquiryInput {
  const questions = input.questions.map(normaliseQuestion);
  const { task } = input;
  return {
    id: input.id ?? null,
    session: input.session ?? null,
    run: input.run ?? null,
    kind: input.kind ?? "question",
    task: task ? { ...task, currentStep: task.currentStep ?? null } : null,
    questions,
    timeoutSeconds: clampTimeout(input.timeoutSeconds ?? TIMEOUT_SECONDS.default),
    to: input.to ?? [],
    respondents: input.respondents ?? [],
    locale: input.locale ?? null,
    reversible: input.reversible ?? false,
    defaults: defaultsOf(questions, input.onTimeout?.use ?? {}),
    callbackUrl: input.callbackUrl ?? null,
  };
}

function normaliseQuestion(input: z.infer<typeof callerQuestion>): Question {
  const options = input.options.filter((one) => !meansOther(one.label));
  return {
    id: input.id,
    header: cutHeader(input.header),
    question: input.question,
    options: options.map((one) => ({ label: one.label, description: one.description ?? null })),
    multiSelect: input.multiSelect ?? false,
    allowOther: input.allowOther ?? true,
    sensitive: input.sensitive ?? false,
  };
}

function clampTimeout(seconds: number): number {
  return Math.min(TIMEOUT_SECONDS.max, Math.max(TIMEOUT_SECONDS.min, seconds));
}

/** Labels may come without the recommendation mark; kept is the label as authored, in option order. */
function defaultsOf(questions: readonly Question[], use: Readonly<Record<string, readonly string[]>>) {
  const defaults = new Map<string, readonly string[]>();
  for (const { id, options } of questions) {
    const wanted = Object.hasOwn(use, id) ? use[id] : undefined;
    if (!wanted) continue;
    const labels = options.map((one) => one.label);
    defaults.set(
      id,
      labels.filter((label) => wanted.some((word) => isLabel(word, label))),
    );
  }
  return defaults;
}

/**
 * The digest of what is asked. Two calls of one key are the same ask when their id, or else their session, run and
 * task, agree and this does too. Everything that changes what people see, who is asked, or what happens at the end is
 * in it, the clamped timeout and the callback included: a caller that would get another deadline or no callback must
 * hear `id_conflict`. Id, session and run are not: they are compared by themselves, and a retry after a restart
 * comes with the same id in a new run.
 */
export function contentKeyOf(input: NewInquiryInput): string {
  const { id: _id, session: _session, run: _run, defaults, ...content } = input;
  return digestOf({ ...content, defaults: Object.fromEntries(defaults) });
}
