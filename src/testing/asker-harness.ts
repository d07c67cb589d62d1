/**
 * What the contract of asking needs of whoever is under test: the calls, each under five kinds of key, a person on a
 * real channel, and time.
 *
 * The calls are those of the HTTP client, so that one suite stands in front of the engine, the gateway and the command
 * line alike: a call gives its JSON or rejects with AskgateError, and nothing else is looked at.
 */
import { expect, it } from "vitest";
import type { Client } from "../client.ts";
import { AskgateError, type ErrorCode, type Issue } from "../core/errors.ts";
import type { ToolResult } from "../ports/asker.ts";

export type Calls = Pick<
  Client,
  "ask" | "askUser" | "get" | "list" | "answer" | "skip" | "cancel" | "abortRun" | "moveTask"
>;

/**
 * - `agent`, `other`: two agent keys for every session.
 * - `scoped`: an agent key for the session `support` alone.
 * - `subagent`: an agent key of kind `subagent`.
 * - `operator`: an operator key.
 */
export type Who = "agent" | "other" | "scoped" | "subagent" | "operator";

/** The owner, called `ana`, in her own chat, where inquiries go that name no address. */
export interface RespondentHarness {
  /** Resolves once a copy of the inquiry is in the chat. */
  sees(inquiry: string): Promise<void>;
  /** Chooses the option of that label. */
  answers(inquiry: string, question: string, label: string): Promise<void>;
  /** Declines the inquiry. */
  cancels(inquiry: string): Promise<void>;
}

export interface AskerHarness {
  as(who: Who): Calls;
  readonly person: RespondentHarness;
  /** Resolves once no waiting call is left, as far as the engine knows. */
  quiet(): Promise<void>;
  /** Lets that many milliseconds pass. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * What not every way to ask has words for.
 *
 * - `idempotency key`: a call carries a key of its own.
 * - `answer as JSON`: an answer of any shape, right or wrong, with skips and the task's state beside it.
 * - `ask without waiting`: a question nobody waits for.
 * - `abort run`, `move task`, `page size`: the calls and the parameter of those names.
 */
export type Ability =
  | "idempotency key"
  | "answer as JSON"
  | "ask without waiting"
  | "abort run"
  | "move task"
  | "page size";

/** Opens a fresh engine with nothing in it. */
export interface OpenAsker {
  (): Promise<AskerHarness>;
  /** Cases that need one of these are left out, and told in `leftOut`. */
  readonly lacks?: readonly Ability[];
}

const left = new WeakMap<OpenAsker, Map<Ability, string[]>>();

/** Names of the cases left out so far for want of the ability. */
export function leftOut(open: OpenAsker, ability: Ability): readonly string[] {
  return left.get(open)?.get(ability) ?? [];
}

/** One case on a harness of its own. */
export function behaviour(name: string, open: OpenAsker, body: (harness: AskerHarness) => Promise<void>): void {
  behaviourGiven(null, name, open, body);
}

/** One case that needs an ability; null needs none. */
export function behaviourGiven(
  ability: Ability | null,
  name: string,
  open: OpenAsker,
  body: (harness: AskerHarness) => Promise<void>,
): void {
  if (ability !== null && open.lacks?.includes(ability)) {
    const all = left.get(open) ?? new Map<Ability, string[]>();
    left.set(open, all.set(ability, [...(all.get(ability) ?? []), name]));
    return;
  }
  it(name, async () => {
    const harness = await open();
    try {
      await body(harness);
    } finally {
      await harness.close();
    }
  });
}

export interface AskedQuestion {
  readonly id: string;
  readonly header: string;
  readonly question: string;
  readonly options: readonly { readonly label: string }[];
}

/** A question with two options, the first recommended. */
export function deploy<T extends object>(changes: T): AskedQuestion & T;
export function deploy(): AskedQuestion;
export function deploy(changes: object = {}): AskedQuestion {
  const options = [{ label: "Staging (Recommended)" }, { label: "Production" }];
  return { id: "target", header: "Deploy", question: "Where shall this go?", options, ...changes };
}

export function inquiryOf(changes: object = {}): { questions: readonly AskedQuestion[] } {
  return { questions: [deploy()], ...changes };
}

export interface Refused {
  readonly code: ErrorCode;
  readonly message: string;
  readonly issues: readonly Issue[];
}

/** What the call was refused with; fails when it was not. */
export async function refusal(call: Promise<unknown>): Promise<Refused> {
  const outcome = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ("value" in outcome) throw new Error(`not refused, but answered ${JSON.stringify(outcome.value)}`);
  expect(outcome.error).toBeInstanceOf(AskgateError);
  return outcome.error as AskgateError;
}

export interface WaitingCall {
  readonly id: string;
  readonly result: Promise<ToolResult>;
  /** Ends the wait, not the question. */
  detach(): Promise<void>;
}

/** Starts the tool call; resolves once it waits (or has its result at once). */
export async function startAsking(
  harness: AskerHarness,
  input: unknown,
  options: { who?: Who; idempotencyKey?: string } = {},
): Promise<WaitingCall> {
  const { who = "agent", ...rest } = options;
  const gone = new AbortController();
  let named: (id: string) => void = () => {};
  const asked = new Promise<string>((resolve) => {
    named = resolve;
  });
  const result = harness.as(who).askUser(input, { ...rest, signal: gone.signal, onAsked: named });
  result.catch(() => {});
  const id = await Promise.race([asked, result.then((one) => one.inquiry_id)]);
  const detach = async (): Promise<void> => {
    gone.abort();
    await Promise.allSettled([result]);
    await harness.quiet();
  };
  return { id, result, detach };
}
