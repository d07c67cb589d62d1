/**
 * A person's open line to the gateway: prompts and messages come in, typed lines go out.
 *
 * Rules: a prompt is confirmed only after it was shown; a line that did not get through is sent again under the same id
 * until it does, so that nothing typed is lost and nothing counts twice. The link outlives a restart of the gateway.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import * as z from "zod";
import { AskgateError } from "../../core/errors.ts";
import type { Cli } from "./cli.ts";
import { readEvents, type ServerEvent } from "./sse.ts";

const promptEvent = z.object({
  id: z.string(),
  open: z.boolean(),
  parts: z.array(z.array(z.object({ text: z.string(), style: z.string() }))),
});
const helloEvent = z.object({ person: z.string() });
const messageEvent = z.object({ text: z.string() });
const replyBody = z.object({ notice: z.string().nullable(), say: z.string().nullable() });

export type PromptSpan = z.infer<typeof promptEvent>["parts"][number][number];

export interface Surface {
  /** Called at every connection; `again` after the first. */
  opened(person: string, again: boolean): void;
  /** One prompt, in parts; it counts as seen when this returns. */
  prompt(parts: readonly (readonly PromptSpan[])[]): void;
  message(text: string): void;
  /** The connection broke; it is looked for until it is back. */
  lost(): void;
  /** The gateway is there and does not serve the inbox now, in its own words; it is asked until it does. */
  unserved(why: string): void;
}

export interface Link {
  /** Resolves when what was shown last is a question that is open, or when the signal aborts. */
  untilOpen(signal: AbortSignal): Promise<void>;
  /** Hands in a typed line and gives what is to be said to it; null once its outcome has been shown instead. */
  say(text: string): Promise<string | null>;
  /** Ends when the signal aborts; rejects when the gateway refuses the link or is not there at first. */
  readonly done: Promise<void>;
}

const RETRY_MS = 250;
/** How often a gateway that does not serve the inbox is asked again. */
const UNSERVED_MS = 1_000;
/** How long the outcome of a line that nothing is said to is waited for: a command of others has none. */
const OUTCOME_MS = 3_000;

export function openLink(cli: Cli, person: string | null, surface: Surface, signal: AbortSignal): Link {
  const path = `/channels/terminal${person === null ? "" : `?person=${encodeURIComponent(person)}`}`;
  let isOpen = false;
  let waiting: (() => void)[] = [];
  const confirmed = (open: boolean) => {
    isOpen = open;
    const all = waiting;
    waiting = [];
    for (const resolve of all) resolve();
  };
  const nextPrompt = () => new Promise<void>((resolve) => waiting.push(resolve));
  const post = async (body: object): Promise<Response> => {
    const headers = { "content-type": "application/json" };
    return refused(await cli.request(path, { method: "POST", headers, body: JSON.stringify(body), signal }));
  };
  return {
    done: hold(cli, path, surface, { post, confirmed }, signal),
    async untilOpen(enough) {
      const aborted = new Promise((resolve) => enough.addEventListener("abort", resolve, { once: true }));
      while (!isOpen && !enough.aborted) await Promise.race([nextPrompt(), aborted]);
    },
    async say(text) {
      const id = randomUUID();
      const outcome = nextPrompt();
      const response = await untilSent(() => post({ kind: "text", id, text }), signal);
      const reply = replyBody.parse(await response.json());
      const said = reply.say ?? reply.notice;
      if (said === null) await Promise.race([outcome, pause(OUTCOME_MS, undefined, { ref: false })]);
      return said;
    },
  };
}

interface Back {
  readonly post: (body: object) => Promise<Response>;
  /** Called when a prompt was shown and the gateway knows it, with whether it asks for an answer. */
  readonly confirmed: (open: boolean) => void;
}

async function hold(cli: Cli, path: string, surface: Surface, back: Back, signal: AbortSignal): Promise<void> {
  let connected = false;
  /** What was told of the line since it stood last; empty: that it is lost. */
  let trouble: string | null = null;
  let last = "";
  const take = async ({ event, data }: ServerEvent) => {
    const value: unknown = JSON.parse(data);
    if (event === "hello") {
      surface.opened(helloEvent.parse(value).person, connected);
      connected = true;
      trouble = null;
    } else if (event === "message") {
      surface.message(messageEvent.parse(value).text);
    } else if (event === "prompt") {
      const { id, open, parts } = promptEvent.parse(value);
      if (id !== last) surface.prompt(parts);
      last = id;
      await back.post({ kind: "seen", id });
      back.confirmed(open);
    }
  };
  const unserved = (why: string) => {
    if (why !== trouble) surface.unserved(why);
    trouble = why;
  };
  while (!signal.aborted) {
    try {
      const response = await served(cli, path, unserved, signal);
      if (response.body) for await (const event of readEvents(response.body)) await take(event);
    } catch (error) {
      if (signal.aborted) return;
      const answered = connected || trouble !== null;
      if (!answered || !passes(error)) throw error;
    }
    if (signal.aborted) return;
    if (trouble === null) surface.lost();
    trouble ??= "";
    await untilSent(async () => refused(await cli.request("/healthz", { signal })), signal).catch(() => {});
  }
}

/** The stream, once the gateway serves the inbox; `tell` hears at each refusal why it does not yet. */
async function served(cli: Cli, path: string, tell: (why: string) => void, signal: AbortSignal): Promise<Response> {
  for (;;) {
    const response = await cli.request(path, { signal });
    if (response.status !== 503) return refused(response);
    tell(await detailOf(response));
    await pause(UNSERVED_MS, undefined, { signal });
  }
}

async function untilSent(attempt: () => Promise<Response>, signal: AbortSignal): Promise<Response> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted || !passes(error)) throw error;
      await pause(RETRY_MS, undefined, { signal });
    }
  }
}

/** The gateway is away or starting; anything it says itself is final. */
function passes(error: unknown): boolean {
  return error instanceof AskgateError ? error.code === "unavailable" : error instanceof TypeError;
}

/** Turns a refusal into its error. */
async function refused(response: Response): Promise<Response> {
  if (response.ok) return response;
  const detail = await detailOf(response);
  const code = response.status === 401 ? "unauthorized" : response.status === 404 ? "not_found" : "invalid_request";
  throw new AskgateError(response.status >= 500 ? "unavailable" : code, detail);
}

async function detailOf(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => null);
  return z.object({ detail: z.string() }).safeParse(body).data?.detail ?? `The gateway answered ${response.status}.`;
}
