/**
 * The lines in which polled updates wait for the host, one per chat, and how much of them the platform may forget.
 *
 * A chat's updates go in order and however slow one is, only its own chat waits. The offset stops at the first update
 * the host does not have, so a crash loses none; what the platform shows again meanwhile is not handed over again. It
 * shows no more than a hundred from there, which bounds what waits here. What the host cannot keep is tried again until
 * it is kept or judged to be poison; where no other chat proves that the host works, the update behind it is tried out
 * of turn.
 */
import type { ChannelHost } from "../../src/ports/channel.ts";
import { chatOf, type NativeUpdate } from "./inbound.ts";
import { type Nap, nap } from "./nap.ts";
import { beginTrial, judge, reportPoison } from "./poison.ts";

/** Waits between the attempts at one update, doubling; ten attempts take 65 seconds. */
const RETRY = { firstMs: 1_000, maxMs: 10_000 } as const;

export interface Lines {
  /** Where the next poll starts; what that confirms is forgotten here. Null: wherever the platform does. */
  offset(): number | null;
  /** Lines up what is new in the answer to that poll, in its order; the result counts them. */
  join(updates: readonly NativeUpdate[]): number;
  /** Whether nothing up to this id waits. */
  past(id: number): boolean;
  /** Resolves when nothing waits any more, the time is over or listening ends. */
  rest(ms: number): Promise<void>;
  /** After the end of listening: resolves when no update is with the host any more, with what is done but unconfirmed. */
  ended(): Promise<ReadonlySet<number>>;
}

interface Hall {
  readonly over: (update: NativeUpdate) => Promise<boolean>;
  readonly host: ChannelHost;
  readonly signal: AbortSignal;
  /** What the next poll does not confirm yet, by id, ascending; false: it waits. */
  readonly seen: Map<number, boolean>;
  readonly lines: Map<unknown, NativeUpdate[]>;
  readonly running: Set<Promise<void>>;
  /** Done with, and confirmed by a poll whose answer is not here yet, or by none: the next answer may show it again. */
  readonly done: Set<number>;
  waiting: number;
  /** Updates the host has taken so far. */
  taken: number;
  resting: Nap | null;
}

/**
 * @param over hands an update to the host; false when it could not be kept; never rejects
 * @param before what the listening before this one `ended` with
 */
export function openLines(
  over: Hall["over"],
  host: ChannelHost,
  signal: AbortSignal,
  before: ReadonlySet<number>,
): Lines {
  const empty = { seen: new Map(), lines: new Map(), running: new Set<Promise<void>>() } as const;
  const hall: Hall = { over, host, signal, ...empty, done: new Set(before), waiting: 0, taken: 0, resting: null };
  let offset: number | null = null;
  return {
    offset() {
      for (const [id, done] of hall.seen) {
        if (!done) break;
        hall.seen.delete(id);
        hall.done.add(id);
        offset = id + 1;
      }
      return offset;
    },
    join(updates) {
      // An empty answer confirms the offset, and ids may start anew after a week of silence: then it would hide updates.
      if (updates.length === 0 && hall.waiting === 0) offset = null;
      const fresh = updates.filter(({ update_id }) => !hall.seen.has(update_id));
      for (const update of fresh) {
        if (hall.done.has(update.update_id)) hall.seen.set(update.update_id, true);
        else lineUp(hall, update);
      }
      hall.done.clear();
      return fresh.length;
    },
    past: (id) => [...hall.seen].every(([other, done]) => done || other > id),
    async rest(ms) {
      if (hall.waiting === 0) return;
      hall.resting = nap(host.clock, ms, signal);
      await hall.resting.over;
    },
    async ended() {
      await Promise.all(hall.running);
      for (const [id, done] of hall.seen) if (done) hall.done.add(id);
      return hall.done;
    },
  };
}

function lineUp(hall: Hall, update: NativeUpdate): void {
  hall.seen.set(update.update_id, false);
  hall.waiting += 1;
  const chat = chatOf(update);
  const line = hall.lines.get(chat);
  if (line) {
    line.push(update);
    return;
  }
  const moving = move(hall, chat, [update]).finally(() => hall.running.delete(moving));
  hall.running.add(moving);
}

/** Until the line is empty or listening ends; what is with the host by then is still waited for. */
async function move(hall: Hall, chat: unknown, line: NativeUpdate[]): Promise<void> {
  hall.lines.set(chat, line);
  for (let first = line[0]; first && !hall.signal.aborted; first = line[0]) await serve(hall, line, first);
  hall.lines.delete(chat);
}

/** Until the first of the line is taken, let go, or listening ends. */
async function serve(hall: Hall, line: NativeUpdate[], first: NativeUpdate): Promise<void> {
  const { host, signal } = hall;
  const trial = beginTrial(host.clock.now(), hall.taken);
  while (!(await attempt(hall, line, first))) {
    const verdict = judge(trial, host.clock.now(), hall.taken);
    if (verdict === "poison") {
      reportPoison(host, first);
      return leave(hall, line, first);
    }
    const [, next] = line;
    if (verdict === "suspect" && next && !signal.aborted) await attempt(hall, line, next);
    await nap(host.clock, Math.min(RETRY.maxMs, RETRY.firstMs * 2 ** (trial.failures - 1)), signal).over;
    if (signal.aborted) return;
  }
}

async function attempt(hall: Hall, line: NativeUpdate[], update: NativeUpdate): Promise<boolean> {
  const taken = await hall.over(update);
  if (taken) {
    hall.taken += 1;
    leave(hall, line, update);
  }
  return taken;
}

function leave(hall: Hall, line: NativeUpdate[], update: NativeUpdate): void {
  line.splice(line.indexOf(update), 1);
  hall.seen.set(update.update_id, true);
  hall.waiting -= 1;
  if (hall.waiting === 0) hall.resting?.end();
}
