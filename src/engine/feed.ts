/**
 * What happened, told on: to callers who wait here for what another process ended, and to whoever follows the events.
 *
 * Rules: the log of events in the store is the truth, read in its own order by one loop per process; hints and local
 * commits only make it look sooner. Nothing is read for nobody: where no other process works on the store, the loop rests
 * unless somebody follows.
 */
import { AskgateError } from "../core/errors.ts";
import { isSettled } from "../core/inquiry.ts";
import type { Instant } from "../ports/clock.ts";
import type { EventRecord } from "../ports/event.ts";
import type { Events } from "../ports/events.ts";
import type { Hint, Store } from "../ports/store.ts";
import type { Context } from "./context.ts";
import { createFollowers, type Followers } from "./followers.ts";
import { createLoop } from "./loop.ts";

export interface Feed {
  readonly events: Events;
  /** What another process says it changed. */
  hear(hint: Hint): void;
  /** Something was committed here; costs nothing while nobody follows. */
  nudge(): void;
  start(): void;
  /** Ends every follower as unavailable; resolves when nothing is being read any more. */
  stop(): Promise<void>;
}

const PAGE = 1_000;
/** When followers are looked for again where the order of the newest events is not yet certain. */
const UNSETTLED_MS = 25;
/** How old the picture of keys, linked accounts and renamed addresses may be where other processes change them too. */
const ACCESS_MS = 5_000;

/** @param refreshAccess reads keys, linked accounts and renamed addresses again */
export function createFeed(context: Context, refreshAccess: () => Promise<void>): Feed {
  const { store, clock, log } = context;
  const followers = createFollowers(store, () => loop.nudge());
  const reader = createReader(context, followers);
  let accessDue: Instant = clock.now() + ACCESS_MS;

  const loop = createLoop(clock, log, "events", async () => {
    if (!store.shared && !followers.any()) return reader.rest();
    const next = await reader.look();
    if (store.shared && clock.now() >= accessDue) {
      accessDue = clock.now() + ACCESS_MS;
      await refreshAccess();
    }
    return next;
  });

  return {
    events: eventsOver(store, followers),
    hear({ inquiries, access }) {
      for (const uid of inquiries) {
        wakeWaiters(context, uid).catch((error: unknown) =>
          log.warn({ inquiry: uid, err: error }, "a hint led nowhere"),
        );
      }
      if (access) accessDue = 0;
      if (access || followers.any()) loop.nudge();
    },
    nudge() {
      if (followers.any()) loop.nudge();
    },
    start: loop.nudge,
    stop() {
      followers.stop();
      return loop.stop();
    },
  };
}

interface Reader {
  /** Reads on and tells whom it concerns; resolves to when to look again, null: when something happens. */
  look(): Promise<Instant | null>;
  /** Forgets where it was: what happens from here on concerns nobody. */
  rest(): null;
}

function createReader(context: Context, followers: Followers): Reader {
  const { store, clock, waiters } = context;
  let position: string | null = null;

  /** What happened before the place where reading begins is looked up by those whom it concerns. */
  async function begin(): Promise<string> {
    const end = await store.events.end();
    followers.tell(null);
    if (store.shared) await Promise.all(waiters.uids().map((uid) => wakeWaiters(context, uid)));
    return end;
  }

  return {
    async look() {
      const after = position ?? (await begin());
      const { items, unsettled } = await store.events.read({ after, owner: null, sessions: null, limit: PAGE });
      if (store.shared) await Promise.all(items.filter(isEnd).map(({ inquiry }) => wakeWaiters(context, inquiry)));
      followers.tell(items);
      // Some transaction keeps the log back, maybe for long and on another database: whoever waits here must not wait with it.
      if (store.shared && unsettled && items.length === 0) await wakeByState(context);
      position = items.at(-1)?.position ?? after;
      if (items.length === PAGE) return clock.now();
      return unsettled && followers.any() ? clock.now() + UNSETTLED_MS : null;
    },
    rest() {
      position = null;
      return null;
    },
  };
}

const BEYOND =
  "This position lies beyond the end of the log of events, so it is of another database; leave it out to begin at the end.";

/** Of two positions of the log, as `turn.seq`. */
function isBehind(position: string, other: string): boolean {
  const [turn = 0, seq = 0] = position.split(".").map(Number);
  const [otherTurn = 0, otherSeq = 0] = other.split(".").map(Number);
  return turn === otherTurn ? seq > otherSeq : turn > otherTurn;
}

function eventsOver({ events }: Store, followers: Followers): Events {
  return {
    async position(after) {
      const end = await events.end();
      if (after === null) return end;
      await events.read({ after, owner: null, sessions: null, limit: 1 });
      if (isBehind(after, end)) throw new AskgateError("invalid_request", BEYOND);
      return after;
    },
    follow(caller, after, signal) {
      const from = after === null ? events.end() : Promise.resolve(after);
      // Nobody may ever come to read on from it.
      from.catch(() => {});
      return followers.follow(caller, from, signal);
    },
  };
}

function isEnd({ type }: EventRecord): boolean {
  return type !== "inquiry.created" && type !== "inquiry.delivered";
}

/** Inquiries asked about at once. */
const CHUNK = 500;

async function wakeByState(context: Context): Promise<void> {
  const uids = context.waiters.uids();
  for (let from = 0; from < uids.length; from += CHUNK) {
    const settled = await context.store.settledAmong(uids.slice(from, from + CHUNK));
    await Promise.all(settled.map((uid) => wakeWaiters(context, uid)));
  }
}

/** Costs nothing where nobody waits for it. Who asks waits before the inquiry is stored: then there is none yet. */
async function wakeWaiters(context: Context, uid: string): Promise<void> {
  if (!context.waiters.live(uid)) return;
  const inquiry = await context.store.inquiry(uid);
  if (!inquiry || !isSettled(inquiry)) return;
  context.waiters.settled(inquiry);
  context.lately.ended(inquiry);
}
