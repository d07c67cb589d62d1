/**
 * One call of the Bot API, bounded in time, through telegraf's client.
 *
 * It never retries and never lets the token into an error: the platform takes it in the URL, and client libraries like
 * to quote URLs. Answers are checked for their shape before anybody believes them.
 */
import { setMaxListeners } from "node:events";
import { Telegram } from "telegraf";
import type { Telegram as Methods, Opts } from "telegraf/types";

/** A shorter one is no secret, and taking it out would riddle the text with holes. */
const SHORTEST_SECRET = 8;

export interface Api {
  /** Rejects with telegraf's errors; `signal` ends it. */
  call<M extends keyof Methods>(method: M, payload: Opts<M>, signal: AbortSignal): Promise<unknown>;
  /** The text without the token and other secrets. */
  scrub(text: string): string;
}

/** @param webhookSecret another text to keep out of errors */
export function createApi(token: string, apiRoot: string, webhookSecret = ""): Api {
  // A sub-path is lost without the slash, and a webhook's answer would swallow errors.
  const client = new Telegram(token, { apiRoot: `${apiRoot.replace(/\/+$/, "")}/`, webhookReply: false });
  const secrets = [token, ...token.split(":").slice(1), webhookSecret].filter(
    ({ length }) => length >= SHORTEST_SECRET,
  );
  return {
    call: async (method, payload, signal) => client.callApi(method, payload, { signal: signal as AbortSignal & Shim }),
    scrub: (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, "<token>"), text),
  };
}

/** Telegraf is typed against an AbortSignal older than the one of Node. */
type Shim = NonNullable<NonNullable<Parameters<Telegram["callApi"]>[2]>["signal"]>;

/** Gives the work a signal that aborts with `stop` or after `ms` of real time, whichever is first. */
export async function bounded<T>(stop: AbortSignal, ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  // Many calls at once hang on one signal, which is no leak.
  setMaxListeners(0, stop);
  const controller = new AbortController();
  const timeout = AbortSignal.timeout(ms);
  const end = () => controller.abort();
  if (stop.aborted) end();
  stop.addEventListener("abort", end);
  timeout.addEventListener("abort", end);
  try {
    return await work(controller.signal);
  } finally {
    stop.removeEventListener("abort", end);
    timeout.removeEventListener("abort", end);
  }
}
