/**
 * Request bodies: counted while they arrive and never held beyond their limit; those of the gateway's own calls are JSON.
 */
import { AskgateError } from "../core/errors.ts";
import { HttpRefusal } from "./problem.ts";

/** Bytes. Three questions of the longest kind need a tenth of it. */
export const MAX_BODY_BYTES = 256 * 1024;

/** The JSON value of the body. Rejects with 415, 413 or `invalid_request`. */
export async function readJson(request: Request): Promise<unknown> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type)) {
    const received = type === "" ? "none" : `"${type}"`;
    throw new HttpRefusal(
      "invalid_request",
      415,
      `The body must be JSON: send Content-Type: application/json, not ${received}.`,
    );
  }
  const text = decoded(await readBytes(request));
  try {
    return JSON.parse(text);
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    throw new AskgateError("invalid_request", `The body is not JSON: ${fault}`);
  }
}

/** What is not UTF-8 is refused: people would be shown, and programs given, something else than was sent. */
function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new AskgateError("invalid_request", "The body is not UTF-8, as JSON must be: encode it so.");
  }
}

async function readBytes(request: Request): Promise<Uint8Array> {
  const { body } = limited(request);
  if (!body) return new Uint8Array();
  try {
    return new Uint8Array(await new Response(body).arrayBuffer());
  } catch (error) {
    if (error instanceof AskgateError || !request.signal.aborted) throw error;
    throw new AskgateError("invalid_request", "The connection ended before the body did.");
  }
}

/** The same request; reading more of its body than that many bytes fails with `too_large`. */
export function limited(request: Request): Request {
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  if (!request.body) return request;
  let bytes = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > MAX_BODY_BYTES) throw tooLarge();
      controller.enqueue(chunk);
    },
  });
  const { url, method, headers, signal } = request;
  return new Request(url, { method, headers, signal, body: request.body.pipeThrough(counter), duplex: "half" });
}

/** The rest of the body is not read, so the connection cannot be used again. */
function tooLarge(): HttpRefusal {
  const message = `The body is larger than the ${MAX_BODY_BYTES} bytes allowed.`;
  return new HttpRefusal("too_large", 413, message, { connection: "close" });
}
