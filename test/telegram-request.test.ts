/** How little of a body is read before a request is refused, and that what is refused is let go of. */
import { expect, it } from "vitest";
import { createReader } from "../adapters/telegram/request.ts";
import { skippingClock } from "../src/testing/skipping-clock.ts";

const SECRET = "the_secret-of-the-webhook";
const SIGNED = { "x-telegram-bot-api-secret-token": SECRET, "content-type": "application/json" };
const CHUNK_BYTES = 64 * 1024;

const clock = skippingClock();
const reader = createReader(SECRET, clock, new AbortController().signal);

/** A request whose body never ends, in chunks or in silence, and what was done to it. */
function endless(headers: object, chunk: Uint8Array | null) {
  const fate = { chunks: 0, cancelled: false };
  const source = {
    cancel() {
      fate.cancelled = true;
    },
    pull(stream: { enqueue(chunk: Uint8Array): void }) {
      if (chunk === null) return;
      fate.chunks += 1;
      stream.enqueue(chunk);
    },
  };
  const body = new ReadableStream(source, { highWaterMark: 0 });
  const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
  return { request: new Request("http://askgate.test/channels/telegram", init), fate };
}

it.each([
  ["is not signed", { ...SIGNED, "x-telegram-bot-api-secret-token": "" }, "secret", 0],
  ["is of another kind", { ...SIGNED, "content-type": "text/plain" }, "type", 0],
  ["is said to be huge", { ...SIGNED, "content-length": "2000000" }, "size", 0],
  ["turns out to be huge", SIGNED, "size", 17],
])("a body that %s is read no further than that shows", async (_, headers, refusal, chunks) => {
  const { request, fate } = endless(headers, new Uint8Array(CHUNK_BYTES));
  expect(await reader.read(request)).toEqual({ refusal });
  expect(fate).toEqual({ chunks, cancelled: true });
});

it("a body nobody finishes is let go of after ten seconds", async () => {
  const { request, fate } = endless(SIGNED, null);
  const read = reader.read(request);
  clock.skip(10_001);
  expect(await read).toEqual({ refusal: "slow" });
  expect(fate.cancelled).toBe(true);
});
