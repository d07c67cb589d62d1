/**
 * One call to a gateway: the request, its answer as JSON, and what every failure becomes.
 *
 * A problem document is thrown as the AskgateError it names, a connection that failed as `Unreachable`. Nothing is
 * repeated here.
 */
import { AskgateError, ERRORS, type ErrorCode, type Issue } from "./core/errors.ts";

export interface CallOptions {
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal | undefined;
  /** Sees the headers of a response that is not a refusal, before its body has come. */
  readonly onHeaders?: (response: Response) => void;
}

export type Call = (
  method: string,
  path: string,
  options?: CallOptions,
) => Promise<{ response: Response; body: unknown }>;

const DROPPED = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/** The connection failed, before or in the middle of the answer; whether the gateway acted is not known. */
export class Unreachable extends AskgateError {
  /** There was a connection, and it broke; false where none could be made at all. */
  readonly dropped: boolean;

  constructor(url: string, cause: unknown) {
    const { code, message } = rootOf(cause);
    super(
      "unavailable",
      `The gateway at ${url} cannot be reached (${message}). Is it running? Start it with: askgate serve`,
    );
    this.name = "Unreachable";
    this.dropped = DROPPED.has(code);
  }
}

export function createCall(options: { url: string; key: string; fetch?: typeof fetch }): Call {
  const base = options.url.replace(/\/+$/, "");
  const send = options.fetch ?? fetch;
  return async (method, path, { body, idempotencyKey, signal, onHeaders } = {}) => {
    const headers: Record<string, string> = { authorization: `Bearer ${options.key}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    if (idempotencyKey !== undefined) headers["idempotency-key"] = idempotencyKey;
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    try {
      const response = await send(`${base}${path}`, { method, headers, ...json, ...(signal ? { signal } : {}) });
      if (response.ok) onHeaders?.(response);
      return { response, body: read(response, await response.text()) };
    } catch (error) {
      if (error instanceof AskgateError) throw error;
      signal?.throwIfAborted();
      throw new Unreachable(base, error);
    }
  };
}

/** The JSON of an answer; a problem document is thrown as what it says, also one that came after the headers. */
function read(response: Response, text: string): unknown {
  const body = text.trim() === "" ? null : parse(text);
  if (response.ok && !isProblem(body)) return body;
  if (isProblem(body)) throw new AskgateError(codeOf(body.code), body.detail, body.issues ?? []);
  // Not ready is an answer about health, not a refusal.
  if (response.status === 503 && typeof body === "object" && body !== null && "ready" in body) return body;
  throw new AskgateError("unavailable", `${response.url} answered ${response.status}, which no gateway of ours does.`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new AskgateError("unavailable", "What answered does not speak JSON: the address is not a gateway's.");
  }
}

interface ProblemBody {
  readonly code: string;
  readonly detail: string;
  readonly issues?: readonly Issue[];
}

function isProblem(body: unknown): body is ProblemBody {
  if (typeof body !== "object" || body === null) return false;
  return "code" in body && "detail" in body && "status" in body && typeof body.status === "number";
}

/** A code of a newer gateway is not known here. */
function codeOf(code: string): ErrorCode {
  return Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : "internal";
}

/** Fetch hides the reason in `cause`, sometimes two deep. */
function rootOf(error: unknown): { code: string; message: string } {
  if (!(error instanceof Error)) return { code: "", message: String(error) };
  if (error.cause instanceof Error) return rootOf(error.cause);
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return { code, message: error.message || code };
}
