/**
 * Reads one update from a request that claims to be the platform's.
 *
 * It checks in the order of what it costs: nothing of a body is read before the secret has proved who sends it, and no
 * more of it than an update can be. The whole is decoded at once, so that a character cut by a chunk stays whole. A
 * refusal quotes nothing of what came.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../src/ports/clock.ts";
import type { NativeUpdate } from "./inbound.ts";
import { nap } from "./nap.ts";

/** Bytes of a body. The longest message there is, with all its entities and what it replies to, needs a tenth. */
const MAX_BYTES = 1024 * 1024;
/** Milliseconds in which a body has arrived whole, or its sender is cut off. */
const ARRIVES_WITHIN_MS = 10_000;
/** https://core.telegram.org/bots/api#setwebhook, read 2026-11-30. */
const SECRET_HEADER = "x-telegram-bot-api-secret-token";

/** Why a request is refused, in one word: its status, its code in this house and what its sender is told. */
export const REFUSALS = {
  method: { status: 405, code: "invalid_request", detail: "Updates are posted." },
  secret: { status: 401, code: "unauthorized", detail: "The secret token is missing or wrong." },
  type: { status: 415, code: "invalid_request", detail: "An update is JSON: send Content-Type: application/json." },
  size: { status: 413, code: "too_large", detail: `An update has at most ${MAX_BYTES} bytes.` },
  slow: {
    status: 408,
    code: "invalid_request",
    detail: `An update arrives within ${ARRIVES_WITHIN_MS / 1000} seconds.`,
  },
  cut: { status: 400, code: "invalid_request", detail: "The body ended before it was whole." },
  encoding: { status: 400, code: "invalid_request", detail: "The body is not UTF-8." },
  json: { status: 400, code: "invalid_request", detail: "The body is not JSON." },
  update: { status: 400, code: "invalid_request", detail: "An update is a JSON object with an integer update_id." },
} as const;

export type Refusal = keyof typeof REFUSALS;

export type Read = { readonly update: NativeUpdate } | { readonly refusal: Refusal };

export interface Reader {
  read(request: Request): Promise<Read>;
}

/** @param life ends what is being read */
export function createReader(secret: string, clock: Clock, life: AbortSignal): Reader {
  const expected = digestOf(secret);
  return {
    async read(request) {
      const refusal = refusalOf(request, expected);
      if (refusal) {
        request.body?.cancel().catch(() => {});
        return { refusal };
      }
      const body = await bytesOf(request.body, clock, life);
      return typeof body === "string" ? { refusal: body } : parse(body);
    },
  };
}

/** What the head alone tells; null: the body may be read. */
function refusalOf({ method, headers }: Request, expected: Buffer): Refusal | null {
  if (method !== "POST") return "method";
  // Digests are equally long whatever was sent, so the time taken tells nothing of the secret.
  if (!timingSafeEqual(digestOf(headers.get(SECRET_HEADER) ?? ""), expected)) return "secret";
  if (!/^application\/json\s*(;|$)/i.test(headers.get("content-type") ?? "")) return "type";
  return Number(headers.get("content-length") ?? 0) > MAX_BYTES ? "size" : null;
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

async function bytesOf(body: Request["body"], clock: Clock, life: AbortSignal): Promise<Uint8Array | Refusal> {
  if (!body) return new Uint8Array();
  const reader = body.getReader();
  const limit = nap(clock, ARRIVES_WITHIN_MS, life);
  const tooLate = limit.over.then((): Refusal => "slow");
  const bytes = await Promise.race([collect(reader), tooLate]);
  limit.end();
  if (typeof bytes === "string") reader.cancel().catch(() => {});
  return bytes;
}

async function collect(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | Refusal> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      size += chunk.value.byteLength;
      if (size > MAX_BYTES) return "size";
      chunks.push(chunk.value);
    }
    return Buffer.concat(chunks);
  } catch {
    return "cut";
  }
}

function parse(bytes: Uint8Array): Read {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return { refusal: "encoding" };
  }
  try {
    const value: unknown = JSON.parse(text);
    return isUpdate(value) ? { update: value } : { refusal: "update" };
  } catch {
    return { refusal: "json" };
  }
}

function isUpdate(value: unknown): value is NativeUpdate {
  return typeof value === "object" && value !== null && "update_id" in value && Number.isSafeInteger(value.update_id);
}
