/**
 * The HTTP client: the asker and access ports, spoken to a gateway over the network.
 *
 * Every failure is an AskgateError: the gateway's own with its code and issues, and `unavailable` where it cannot be
 * reached. Only waiting is repeated, never a change: a dropped wait asks again for the same inquiry by its id, so a
 * broken connection or a restarted gateway costs neither the question nor a second one.
 */
import { type Call, createCall, Unreachable } from "./client-call.ts";
import { AskgateError } from "./core/errors.ts";
import type { KeyView, NewKey } from "./ports/access.ts";
import type { InquiryView, Page, ToolResult } from "./ports/asker.ts";
import type { HealthView } from "./ports/health.ts";

export interface ClientOptions {
  /** Where the gateway listens, as `http://127.0.0.1:8787`. */
  readonly url: string;
  /** An agent's or an operator's key. */
  readonly key: string;
  /** Default: the global one. */
  readonly fetch?: typeof fetch;
  /** Milliseconds a wait outlives an unreachable gateway; default 60,000, enough for a restart. */
  readonly patienceMs?: number;
}

export interface Repeatable {
  /** The same key and content gets the first response again. */
  readonly idempotencyKey?: string;
}

export interface Waiting {
  /** Aborting detaches and rejects with its reason; the question stays open. */
  readonly signal?: AbortSignal;
}

export interface AskUserOptions extends Repeatable, Waiting {
  /** Called once, with the inquiry's id, as soon as it is stored. */
  readonly onAsked?: (id: string) => void;
}

export interface TaskMoved {
  readonly taskId: string;
  readonly currentStep?: string;
  readonly stateVersion: number;
  readonly superseded: readonly string[];
}

export interface Pairing {
  readonly code: string;
  readonly person: string;
  readonly channel: string;
  /** RFC 3339 UTC. */
  readonly expiresAt: string;
}

export interface Client {
  ask(input: unknown, options?: Repeatable): Promise<{ created: boolean; inquiry: InquiryView }>;
  /** Asks and waits for the outcome, however long that takes. Never resolves with `waiting`. */
  askUser(input: unknown, options?: AskUserOptions): Promise<ToolResult>;
  /** With `waitSeconds` (0 to 50) returns at settlement or after that time. */
  get(id: string, options?: { readonly waitSeconds?: number } & Waiting): Promise<InquiryView>;
  /** Resolves once the inquiry is settled. */
  settled(id: string, options?: Waiting): Promise<InquiryView>;
  list(query?: { status?: string; session?: string; cursor?: string; limit?: number }): Promise<Page>;
  /** Operators only. */
  answer(id: string, input: unknown, options?: Repeatable): Promise<InquiryView>;
  /** Operators only. */
  skip(id: string, options?: Repeatable): Promise<InquiryView>;
  cancel(id: string, options?: Repeatable): Promise<InquiryView>;
  abortRun(run: string): Promise<{ cancelled: readonly string[] }>;
  moveTask(taskId: string, input: unknown): Promise<TaskMoved>;
  health(): Promise<HealthView>;
  /** The calls below are for operators only. */
  addKey(input: NewKey): Promise<KeyView & { readonly key: string }>;
  keys(): Promise<readonly KeyView[]>;
  revokeKey(id: string): Promise<void>;
  /** Without a person: the owner. */
  pair(channel: string, person?: string): Promise<Pairing>;
}

/** Milliseconds between two attempts to reach a gateway that went away. */
const RETRY_MS = 500;
const DEFAULT_PATIENCE_MS = 60_000;
/** Seconds of one waiting read; the longest the gateway takes. */
const WAIT_SECONDS = 50;

export function createClient(options: ClientOptions): Client {
  const call = createCall(options);
  const patience = options.patienceMs ?? DEFAULT_PATIENCE_MS;
  const one = (id: string) => `/v1/inquiries/${encodeURIComponent(id)}`;
  return {
    async ask(input, repeat) {
      const { response, body } = await call("POST", "/v1/inquiries", { body: input, ...repeat });
      return { created: response.status === 201, inquiry: body as InquiryView };
    },
    askUser: (input, ask) => askUser(call, input, ask ?? {}, patience),
    get: async (id, { waitSeconds, signal } = {}) =>
      (await call("GET", `${one(id)}${query({ wait: waitSeconds })}`, { signal })).body as InquiryView,
    settled: (id, waiting) => settled(call, `${one(id)}${query({ wait: WAIT_SECONDS })}`, waiting ?? {}, patience),
    list: async (filter = {}) => (await call("GET", `/v1/inquiries${query(filter)}`)).body as Page,
    answer: async (id, input, repeat) =>
      (await call("POST", `${one(id)}/answers`, { body: input, ...repeat })).body as InquiryView,
    skip: async (id, repeat) => (await call("POST", `${one(id)}/skip`, { ...repeat })).body as InquiryView,
    cancel: async (id, repeat) => (await call("POST", `${one(id)}/cancel`, { ...repeat })).body as InquiryView,
    abortRun: async (run) =>
      (await call("POST", `/v1/runs/${encodeURIComponent(run)}/abort`)).body as { cancelled: readonly string[] },
    moveTask: async (taskId, input) =>
      (await call("PATCH", `/v1/tasks/${encodeURIComponent(taskId)}`, { body: input })).body as TaskMoved,
    health: async () => (await call("GET", "/readyz")).body as HealthView,
    ...administration(call),
  };
}

function administration(call: Call): Pick<Client, "addKey" | "keys" | "revokeKey" | "pair"> {
  return {
    addKey: async (input) =>
      (await call("POST", "/v1/keys", { body: input })).body as KeyView & { readonly key: string },
    keys: async () => ((await call("GET", "/v1/keys")).body as { items: readonly KeyView[] }).items,
    revokeKey: async (id) => {
      await call("DELETE", `/v1/keys/${encodeURIComponent(id)}`);
    },
    pair: async (channel, person) =>
      (await call("POST", "/v1/pairings", { body: { channel, person } })).body as Pairing,
  };
}

/**
 * The tool call, repeated when the connection breaks. Until the gateway has named the inquiry, a repeat finds it by its
 * content; from then on by its id.
 */
async function askUser(call: Call, input: unknown, options: AskUserOptions, patience: number): Promise<ToolResult> {
  const { idempotencyKey, signal, onAsked } = options;
  let id: string | null = null;
  const onHeaders = (response: Response): void => {
    const first = id === null;
    id ??= idOf(response.headers.get("location"));
    if (first && id !== null) onAsked?.(id);
  };
  const repeat = idempotencyKey === undefined ? {} : { idempotencyKey };
  return persist(signal, patience, async (reached) => {
    const body = id === null || repeat.idempotencyKey !== undefined ? input : { ...(input as object), id };
    const seen = (response: Response): void => {
      reached();
      onHeaders(response);
    };
    const answer = await call("POST", "/v1/ask_user", { body, signal, onHeaders: seen, ...repeat });
    const result = answer.body as ToolResult;
    return result.status === "waiting" ? null : result;
  });
}

function idOf(location: string | null): string | null {
  return location === null ? null : decodeURIComponent(location.slice(location.lastIndexOf("/") + 1));
}

async function settled(call: Call, path: string, waiting: Waiting, patience: number): Promise<InquiryView> {
  return persist(waiting.signal, patience, async (reached) => {
    const inquiry = (await call("GET", path, { signal: waiting.signal, onHeaders: reached })).body as InquiryView;
    return inquiry.status === "waiting" ? null : inquiry;
  });
}

/**
 * Repeats an attempt that may be repeated until it gives a value. One that cannot be connected to is an error at first;
 * once there was a connection, even one that broke, it may be away for `patience` milliseconds at a stretch.
 */
async function persist<T>(
  signal: AbortSignal | undefined,
  patience: number,
  attempt: (reached: () => void) => Promise<T | null>,
): Promise<T> {
  let lostAt: number | null = null;
  let everReached = false;
  const reached = (): void => {
    lostAt = null;
    everReached = true;
  };
  for (;;) {
    try {
      const value = await attempt(reached);
      if (value !== null) return value;
    } catch (error) {
      everReached ||= error instanceof Unreachable && error.dropped;
      const passing = isAway(error) && everReached;
      lostAt ??= performance.now();
      if (!passing || performance.now() - lostAt >= patience) throw error;
    }
    await pause(RETRY_MS, signal);
  }
}

/** Out of reach, or starting or stopping. */
function isAway(error: unknown): boolean {
  return error instanceof AskgateError && error.code === "unavailable";
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

function query(fields: Readonly<Record<string, string | number | undefined>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) parameters.set(name, String(value));
  return parameters.size > 0 ? `?${parameters}` : "";
}
