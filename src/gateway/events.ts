/**
 * `GET /v1/events`: what happens to inquiries, as server-sent events (WHATWG HTML, section 9.2).
 *
 * The position is known before anything is sent: a bad one still has its status, and the first block names it, so that
 * who loses the line before the first event resumes where it began. An event is fetched when the reader comes for it:
 * a slow one holds nothing here and delays nobody else. Silence is broken at each pulse, with the position where events
 * went by that were not wanted. A stream ends at a stop, or with its key at the next pulse; the client returns.
 */
import { createRoute } from "@hono/zod-openapi";
import { z } from "zod";
import { AskgateError } from "../core/errors.ts";
import type { Caller } from "../ports/asker.ts";
import type { Events, EventView } from "../ports/events.ts";
import type { Log } from "../ports/log.ts";
import { type App, keyed, taking } from "./app.ts";
import type { Metrics } from "./metrics.ts";
import { HttpRefusal } from "./problem.ts";
import type { Pulse } from "./pulse.ts";
import { event, eventsQuery } from "./wire.ts";

export interface EventsDeps {
  readonly events: Events;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly pulse: Pulse;
}

/** Milliseconds after which a client that lost its stream is to come back. */
const RETRY_MS = 1_000;

const headers = z.object({
  "Last-Event-ID": z.string().optional().meta({ description: "The `id` received last; the stream goes on behind it." }),
});

const follow = createRoute({
  method: "get",
  path: "/v1/events",
  operationId: "followEvents",
  tags: ["events"],
  summary: "What happens to inquiries, live and without gaps",
  description:
    "Server-sent events: `id` is the position, `event` the type, `data` one line of JSON, an Event. The first block has an `id` alone: where the stream begins. Silence is broken every 15 s, by a comment or by an `id` alone where what happened was not asked for. Without a position the stream tells what happens from now on.",
  request: { query: eventsQuery },
  responses: {
    200: {
      description: "A stream that ends when the gateway stops or the key is revoked; its `data` lines are Events.",
      content: { "text/event-stream": { schema: event } },
    },
    ...keyed("invalid_request", ["invalid_request", 422]),
  },
});

export function eventRoutes(app: App, deps: EventsDeps): void {
  app.openapi(taking(app, follow, { headers }), async (c) => {
    const { after, ...wanted } = c.req.valid("query");
    const position = await positionOf(deps.events, after, c.req.header("last-event-id"));
    const { caller, holds } = c.var;
    const body = streamOf(deps, { caller, holds, position, wanted, signal: c.req.raw.signal });
    return new Response(body, {
      headers: { "content-type": "text/event-stream", "x-accel-buffering": "no" },
    });
  });
}

/**
 * The header wins: a client that comes back keeps its address and adds the header. Rejects with 422 where it is no
 * position.
 */
async function positionOf(events: Events, after: string | undefined, header: string | undefined): Promise<string> {
  try {
    return await events.position(header ?? after ?? null);
  } catch (error) {
    if (!(error instanceof AskgateError) || error.code !== "invalid_request") throw error;
    throw new HttpRefusal("invalid_request", 422, error.message);
  }
}

interface Follower {
  readonly caller: Caller;
  readonly holds: () => Promise<boolean>;
  readonly position: string;
  readonly wanted: { readonly type?: string | undefined; readonly session?: string | undefined };
  readonly signal: AbortSignal;
}

/** Where a stream is in the log, and where its reader knows it to be. */
interface Place {
  at: string;
  told: string;
}

/**
 * Begins when it is first read, so that a response nobody reads leaves nothing behind. Its queue holds what the reader
 * asked for, and at most one break of silence while it does not read.
 */
function streamOf(deps: EventsDeps, follower: Follower): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const gone = new AbortController();
  const place: Place = { at: follower.position, told: follower.position };
  let told: AsyncIterator<EventView> | null = null;
  let leave = (): void => {};

  function close(controller: ReadableStreamDefaultController<Uint8Array>): void {
    if (gone.signal.aborted) return;
    leave();
    controller.close();
  }

  function beat(controller: ReadableStreamDefaultController<Uint8Array>): void {
    if (controller.desiredSize === 0) controller.enqueue(encoder.encode(silenceAt(place)));
    follower.holds().then(
      (holds) => holds || close(controller),
      (error: unknown) => deps.log.warn({ fault: String(error) }, "whether the key of a stream is good is not known"),
    );
  }

  function join(controller: ReadableStreamDefaultController<Uint8Array>): AsyncIterator<EventView> {
    const silence = deps.pulse.add(() => beat(controller));
    const unfollow = deps.metrics.follow();
    leave = () => {
      leave = () => {};
      silence();
      unfollow();
      gone.abort();
    };
    const signal = AbortSignal.any([follower.signal, gone.signal]);
    return deps.events.follow(follower.caller, follower.position, signal)[Symbol.asyncIterator]();
  }

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    if (!told) {
      told = join(controller);
      return controller.enqueue(encoder.encode(`id: ${follower.position}\nretry: ${RETRY_MS}\n\n`));
    }
    const next = await nextOf(deps.log, told, follower, place);
    if (!next) return close(controller);
    if (gone.signal.aborted) return;
    place.told = next.id;
    controller.enqueue(encoder.encode(blockOf(next)));
  }

  return new ReadableStream<Uint8Array>({ pull, cancel: () => leave() }, { highWaterMark: 0 });
}

/** The next event that is wanted; null when there will be none on this stream. */
async function nextOf(
  log: Log,
  told: AsyncIterator<EventView>,
  { wanted: { type, session }, holds }: Follower,
  place: Place,
): Promise<EventView | null> {
  try {
    for (;;) {
      const { done, value } = await told.next();
      if (done || !(await holds())) return null;
      place.at = value.id;
      if ((type ?? value.type) === value.type && (session ?? value.data.session) === value.data.session) return value;
    }
  } catch (error) {
    if (!(error instanceof AskgateError)) log.error({ fault: String(error) }, "a stream of events broke");
    return null;
  }
}

/** Who comes back goes on behind what was not wanted, instead of reading past it again. */
function silenceAt(place: Place): string {
  if (place.at === place.told) return ":\n\n";
  place.told = place.at;
  return `id: ${place.at}\n\n`;
}

function blockOf({ id, ...content }: EventView): string {
  return `id: ${id}\nevent: ${content.type}\ndata: ${JSON.stringify(content)}\n\n`;
}
