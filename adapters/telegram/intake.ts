/**
 * Hears from the platform by webhook: one request, one update, and 200 only once the host has it.
 *
 * It works in every process, whoever holds the channel. What the host could not keep, or not in time, is answered with
 * 503 and comes again, maybe to another process; the event's id makes the repeat harmless. The platform shows a chat the
 * next update only after the last was taken, so what can never be kept must be let go here, by the rule for all: proof
 * that the host works is any other update, of whichever chat.
 */
import { createHand, describe, type Ears, type Hand } from "./hand.ts";
import { chatOf, type NativeUpdate } from "./inbound.ts";
import { nap } from "./nap.ts";
import { beginTrial, judge, reportPoison, type Trial, type Verdict } from "./poison.ts";
import { createRefuser } from "./refusal.ts";
import { createReader } from "./request.ts";
import type { Identity } from "./self.ts";

/** Milliseconds in which the host has kept an update; the platform itself gives up somewhat later. */
const KEPT_WITHIN_MS = 25_000;
/** Updates whose failures are remembered; the oldest is forgotten first, for it may have been kept elsewhere. */
const MAX_TRIALS = 1_000;
/** Updates that may wait for the host; the platform sends one a chat. */
const MAX_WAITING = 1_000;

interface Waiting {
  readonly update: NativeUpdate;
  readonly settle: (taken: boolean) => void;
}

interface Desk {
  readonly ears: Ears;
  readonly identity: Identity;
  readonly life: AbortSignal;
  /** Behind the update of a chat that is with the host, by id. */
  readonly lines: Map<unknown, Waiting[]>;
  /** By update id, so that a repeat shares the outcome of the first. */
  readonly underWay: Map<number, Promise<boolean>>;
  readonly trials: Map<number, Trial>;
  /** Updates the host has taken so far. */
  taken: number;
}

/** @param life ends with the channel: what still waits is sent again */
export function createIntake(
  ears: Ears,
  identity: Identity,
  secret: string,
  life: AbortSignal,
): (request: Request) => Promise<Response> {
  const state = { lines: new Map(), underWay: new Map(), trials: new Map(), taken: 0 };
  const desk: Desk = { ears, identity, life, ...state };
  const reader = createReader(secret, ears.host.clock, life);
  const refuse = createRefuser(ears.host, life);
  return async (request) => {
    const read = await reader.read(request);
    if (life.aborted) return refuse("away");
    if ("refusal" in read) return refuse(read.refusal);
    const taken = await inTime(desk, take(desk, read.update));
    return taken ? new Response(null, { status: 200 }) : refuse("away");
  };
}

/** False when the time is over first: the work goes on, and the repeat finds it done. */
async function inTime({ ears, life }: Desk, work: Promise<boolean>): Promise<boolean> {
  const limit = nap(ears.host.clock, KEPT_WITHIN_MS, life);
  const taken = await Promise.race([work, limit.over.then(() => false)]);
  limit.end();
  return taken;
}

/** Whether the host has it, or it is let go. */
function take(desk: Desk, update: NativeUpdate): Promise<boolean> {
  const { update_id: id } = update;
  const underWay = desk.underWay.get(id);
  if (underWay !== undefined) return underWay;
  if (desk.underWay.size >= MAX_WAITING) return Promise.resolve(false);
  const outcome = lineUp(desk, update).finally(() => desk.underWay.delete(id));
  desk.underWay.set(id, outcome);
  return outcome;
}

/** Those of one chat that arrive while another is with the host go in the order of their ids. */
function lineUp(desk: Desk, update: NativeUpdate): Promise<boolean> {
  const chat = chatOf(update);
  return new Promise((settle) => {
    const line = desk.lines.get(chat);
    const waiting: Waiting = { update, settle };
    if (!line) return void move(desk, chat, waiting);
    line.push(waiting);
    line.sort((a, b) => a.update.update_id - b.update.update_id);
  });
}

/** None overtakes one that failed, unless that is suspect: then the next may prove that the host works. */
async function move(desk: Desk, chat: unknown, first: Waiting): Promise<void> {
  const line: Waiting[] = [];
  desk.lines.set(chat, line);
  for (let next: Waiting | undefined = first; next; next = line.shift()) {
    const verdict = await attempt(desk, next.update);
    next.settle(verdict === "taken" || verdict === "poison");
    if (verdict === "again") for (const behind of line.splice(0)) behind.settle(false);
  }
  desk.lines.delete(chat);
}

async function attempt(desk: Desk, update: NativeUpdate): Promise<"taken" | Verdict> {
  const { update_id: id } = update;
  const { host } = desk.ears;
  const hand = await handOf(desk);
  if (!hand || desk.life.aborted) return "again";
  const now = host.clock.now();
  if (await hand.over(update)) {
    desk.taken += 1;
    desk.trials.delete(id);
    return "taken";
  }
  const trial = desk.trials.get(id) ?? beginTrial(now, desk.taken);
  const verdict = judge(trial, host.clock.now(), desk.taken);
  if (verdict === "poison") {
    desk.trials.delete(id);
    reportPoison(host, update);
  } else remember(desk.trials, id, trial);
  return verdict;
}

/** Null while the bot cannot be asked who it is. */
async function handOf({ ears, identity, life }: Desk): Promise<Hand | null> {
  try {
    return createHand(ears, await identity.known(), life);
  } catch (error) {
    ears.host.log.warn({ channel: "telegram", error: describe(ears.api, error) }, "who the bot is cannot be asked");
    return null;
  }
}

function remember(trials: Desk["trials"], id: number, trial: Trial): void {
  trials.set(id, trial);
  const [oldest] = trials.keys();
  if (trials.size > MAX_TRIALS && oldest !== undefined) trials.delete(oldest);
}
