/**
 * The one catalogue of what can go wrong.
 *
 * A code is public API: stable, machine-readable, the same over HTTP, the command line and the library.
 * A message is for people and models: it names the field, the rule, the value and the remedy, and may change.
 * Anything thrown that is not an AskgateError is a bug in Askgate.
 */

/** Exit codes of the command line: 0 done, 1 failure, 2 wrong use, 3 undelivered, 4 timed out, 5 skipped or cancelled. */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5;

interface Entry {
  readonly status: number;
  readonly exit: ExitCode;
  readonly meaning: string;
}

export const ERRORS = {
  invalid_request: { status: 400, exit: 2, meaning: "The request is not readable as what this call takes." },
  unauthorized: { status: 401, exit: 1, meaning: "No valid key came with the request." },
  forbidden: { status: 403, exit: 1, meaning: "This key may not do that." },
  main_session_only: { status: 403, exit: 1, meaning: "Only sessions of kind main may ask people." },
  not_found: { status: 404, exit: 1, meaning: "Nothing of that id is visible to this key." },
  id_conflict: { status: 409, exit: 1, meaning: "The id is taken by an inquiry of other content." },
  already_answered: { status: 409, exit: 1, meaning: "The question has its answer; the first one counts." },
  already_settled: { status: 409, exit: 1, meaning: "The inquiry is over; nothing changes it any more." },
  stale: { status: 409, exit: 1, meaning: "The task has moved on to a newer state." },
  too_large: { status: 413, exit: 2, meaning: "The request body is larger than allowed." },
  invalid_inquiry: { status: 422, exit: 2, meaning: "The questions break one or more rules; see issues." },
  invalid_answer: { status: 422, exit: 2, meaning: "The answer does not fit the question; nothing was recorded." },
  internal: { status: 500, exit: 1, meaning: "Askgate failed; the fault is logged under the given request id." },
  unavailable: { status: 503, exit: 1, meaning: "The gateway is starting, stopping or cannot reach its store." },
} as const satisfies Record<string, Entry>;

export type ErrorCode = keyof typeof ERRORS;

/** One fault of an input. `received` is a short rendering of the value, never a secret. */
export interface Issue {
  /** Where, as `questions[0].options`; empty for the whole input. */
  readonly path: string;
  /** The rule broken, a stable word: `type`, `required`, `min`, `max`, `blank`, `pattern`, `unique`, `unknown_key`, … */
  readonly rule: string;
  readonly limit?: string | number;
  readonly received: string;
  readonly message: string;
}

export class AskgateError extends Error {
  readonly code: ErrorCode;
  readonly issues: readonly Issue[];

  constructor(
    code: ErrorCode,
    message: string = ERRORS[code].meaning,
    issues: readonly Issue[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "AskgateError";
    this.code = code;
    this.issues = issues;
  }
}
