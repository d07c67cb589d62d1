/**
 * What a request that is not taken is told, and what the log says of it.
 *
 * The world may post here, so the log grows with time and never with the requests: the first refusal of a kind is told
 * at once, those that follow are counted and told together. Neither quotes anything of what came.
 */
import type { ChannelHost } from "../../src/ports/channel.ts";
import { nap } from "./nap.ts";
import { REFUSALS } from "./request.ts";

/** Seconds after which the platform is asked to come again: left alone it doubles its waits to minutes. */
const AGAIN_AFTER_SECONDS = 5;
/** Milliseconds between two lines of the log about one reason. */
const LINE_EVERY_MS = 30_000;

const REASONS = {
  ...REFUSALS,
  away: { status: 503, code: "unavailable", detail: "The update could not be kept; send it again." },
} as const;

/** The refusals of the house that occur here, in its own words. */
const TITLES = {
  invalid_request: "The request is not readable as what this call takes.",
  unauthorized: "No valid key came with the request.",
  too_large: "The request body is larger than allowed.",
  unavailable: "The gateway is starting, stopping or cannot reach its store.",
} as const;

export type Reason = keyof typeof REASONS;

/** Of some bodies the rest was never read, so their connection cannot be used again. */
const GO_AWAY = { connection: "close" } as const;

/** Headers that belong to a reason. */
const HEADERS: { readonly [R in Reason]?: Readonly<Record<string, string>> } = {
  away: { "retry-after": String(AGAIN_AFTER_SECONDS) },
  method: { ...GO_AWAY, allow: "POST" },
};

/** @param life ends the counting */
export function createRefuser(host: ChannelHost, life: AbortSignal): (reason: Reason) => Response {
  const note = createTally(host, life);
  return (reason) => {
    note(reason);
    const { status, code, detail } = REASONS[reason];
    const headers = { "content-type": "application/problem+json", ...(HEADERS[reason] ?? GO_AWAY) };
    const problem = { type: `urn:askgate:error:${code}`, title: TITLES[code], status, code, detail };
    return new Response(JSON.stringify(problem), { status, headers });
  };
}

function createTally({ clock, log }: ChannelHost, life: AbortSignal): (reason: Reason) => void {
  /** Refusals since the last line, by reason. */
  const untold = new Map<Reason, number>();

  function tell(reason: Reason, requests: number): void {
    log.warn(
      { channel: "telegram", status: REASONS[reason].status, reason, requests },
      "webhook requests were refused",
    );
  }

  async function count(reason: Reason): Promise<void> {
    for (let requests = 1; requests > 0; requests = untold.get(reason) ?? 0) {
      tell(reason, requests);
      untold.set(reason, 0);
      await nap(clock, LINE_EVERY_MS, life).over;
    }
    untold.delete(reason);
  }

  return (reason) => {
    const before = untold.get(reason);
    if (before === undefined) void count(reason);
    else untold.set(reason, before + 1);
  };
}
