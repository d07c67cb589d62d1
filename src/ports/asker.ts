/**
 * The asker port: what agents and operators can do, whichever way they come (HTTP, MCP, the shell, the library).
 *
 * Every method checks what the caller may see and do, and rejects with AskgateError and nothing else. Inputs are
 * `unknown` and validated here, so that every edge refuses the same things with the same words.
 */
import type { Inquiry, Status } from "../core/inquiry.ts";
import type { KeyScope, SessionKind } from "./access-store.ts";

export interface Caller {
  readonly keyId: string;
  readonly scope: KeyScope;
  /** Empty: every session. */
  readonly sessions: readonly string[];
  readonly kind: SessionKind;
}

/** The inquiry as callers see it; section 4 of the public contract, times in RFC 3339 UTC. */
export interface InquiryView {
  readonly id: string;
  readonly session: string;
  readonly kind: string;
  readonly status: Status;
  readonly reason?: string;
  readonly version: number;
  readonly task?: { readonly taskId: string; readonly currentStep?: string; readonly stateVersion: number };
  readonly run?: string;
  readonly questions: readonly QuestionView[];
  /** Present in `answered` alone. */
  readonly answers?: Readonly<Record<string, readonly string[]>>;
  readonly details?: readonly DetailView[];
  readonly createdAt: string;
  readonly timeoutSeconds: number;
  readonly shownAt?: string;
  readonly expiresAt: string;
  readonly settledAt?: string;
  readonly deliveries: readonly DeliveryView[];
}

export interface QuestionView {
  readonly id: string;
  readonly header: string;
  readonly question: string;
  readonly options: readonly { readonly label: string; readonly description?: string }[];
  readonly multiSelect: boolean;
  readonly allowOther?: false;
  readonly sensitive?: true;
}

export interface DetailView {
  readonly id: string;
  readonly outcome: "answered" | "skipped" | "unanswered";
  readonly by?: string;
  readonly channel?: string;
  readonly values: readonly (
    | { readonly kind: "option"; readonly label: string }
    | { readonly kind: "text"; readonly text: string }
    | { readonly kind: "default"; readonly label: string }
  )[];
}

export interface DeliveryView {
  readonly channel: string;
  readonly address: string;
  readonly state: string;
  readonly reason?: string;
}

/** The result of the tool `ask_user`; section 2 of the public contract. */
export type ToolResult = {
  readonly inquiry_id: string;
  readonly timeout_seconds: number;
  readonly shown_at?: string;
  readonly details?: readonly DetailView[];
} & (
  | { readonly status: "answered"; readonly answers: { readonly answers: Readonly<Record<string, readonly string[]>> } }
  | {
      readonly status: "no_answer";
      readonly reason: "timed_out" | "skipped" | "cancelled" | "undelivered" | "superseded";
      readonly cause?: string;
    }
  | { readonly status: "waiting" }
);

/** Inquiries on one page of a list. */
export const PAGE = { default: 50, max: 100 } as const;

export interface Page {
  readonly items: readonly InquiryView[];
  readonly next?: string;
}

export interface Asker {
  /** `created` is false when the same id and content existed. `idempotencyKey` serves as the id where none is given. */
  ask(caller: Caller, input: unknown, idempotencyKey?: string): Promise<{ created: boolean; inquiry: InquiryView }>;
  /**
   * Asks, or attaches to the same question already open or just settled, and waits for settlement.
   * `onAsked` is called as soon as the inquiry is stored. An aborted signal detaches only: the question stays open and
   * the promise resolves with `waiting`.
   */
  askUser(
    caller: Caller,
    input: unknown,
    options: { signal: AbortSignal; idempotencyKey?: string; onAsked?: (id: string) => void },
  ): Promise<ToolResult>;
  /** With `waitMs` returns at settlement, after that time or when the signal aborts, whichever is first. */
  get(caller: Caller, id: string, wait?: { waitMs: number; signal: AbortSignal }): Promise<InquiryView>;
  list(caller: Caller, query: { status?: string; session?: string; cursor?: string; limit?: number }): Promise<Page>;
  /** Operators only. `by` names the person it is recorded under. */
  answer(caller: Caller, id: string, input: unknown, idempotencyKey?: string): Promise<InquiryView>;
  /** Skips all unanswered questions; operators only. */
  skip(caller: Caller, id: string, idempotencyKey?: string): Promise<InquiryView>;
  cancel(caller: Caller, id: string, idempotencyKey?: string): Promise<InquiryView>;
  /** Cancels everything a run asked; returns what was cancelled. */
  abortRun(caller: Caller, run: string): Promise<{ cancelled: readonly string[] }>;
  moveTask(
    caller: Caller,
    taskId: string,
    input: unknown,
  ): Promise<{ taskId: string; currentStep?: string; stateVersion: number; superseded: readonly string[] }>;
  /** Records that the result of a wait reached the caller. */
  collect(caller: Caller, id: string): Promise<void>;
}

export type { Inquiry };
