/**
 * Problem documents (RFC 9457): the one form in which the gateway refuses.
 *
 * What is an AskgateError is said as it is. Anything else is a fault of ours: it is logged under a request id, and the
 * caller learns that id and nothing more.
 */
import type { z } from "zod";
import { AskgateError, ERRORS, type ErrorCode } from "../core/errors.ts";
import { shapeFaults, writeIssues } from "../core/fault.ts";
import type { Log } from "../ports/log.ts";
import type { Problem } from "./wire.ts";

/** A refusal that HTTP words more exactly than the catalogue: another status, or headers that belong to it. */
export class HttpRefusal extends AskgateError {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(code, message);
    this.name = "HttpRefusal";
    this.status = status;
    this.headers = headers;
  }
}

export function problemResponse(error: unknown, log: Log): Response {
  const { status, headers, document } = describe(error, log);
  return new Response(JSON.stringify(document), {
    status,
    headers: { "content-type": "application/problem+json", ...headers },
  });
}

/** The document alone, for a response whose status is already sent. */
export function problemDocument(error: unknown, log: Log): Problem {
  return describe(error, log).document;
}

function describe(
  error: unknown,
  log: Log,
): { status: number; headers: Readonly<Record<string, string>>; document: Problem } {
  if (!(error instanceof AskgateError)) return describeFault(error, log);
  const { status, headers } = error instanceof HttpRefusal ? error : { status: ERRORS[error.code].status, headers: {} };
  const issues = error.issues.length > 0 ? { issues: error.issues } : {};
  return { status, headers, document: { ...head(error.code, status), detail: error.message, ...issues } };
}

function describeFault(error: unknown, log: Log): ReturnType<typeof describe> {
  const request = crypto.randomUUID();
  const fault = error instanceof Error ? (error.stack ?? error.message) : String(error);
  log.error({ request, fault }, "a request failed");
  const { status, meaning } = ERRORS.internal;
  const document = { ...head("internal", status), detail: meaning, instance: `urn:uuid:${request}` };
  return { status, headers: {}, document };
}

function head(code: ErrorCode, status: number): Pick<Problem, "type" | "title" | "status" | "code"> {
  return { type: `urn:askgate:error:${code}`, title: ERRORS[code].meaning, status, code };
}

/** The faults of an input that the gateway reads itself; all of them at once. */
export function invalidRequest(error: z.ZodError, input: unknown): AskgateError {
  const received = error.issues.map((issue) => ({ ...issue, input: issue.path.reduce(at, input) }));
  const issues = writeIssues(shapeFaults(received));
  return new AskgateError("invalid_request", issues.map((issue) => issue.message).join(" "), issues);
}

function at(value: unknown, step: PropertyKey): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, step) : undefined;
}
