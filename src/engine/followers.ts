/**
 * Who follows the events, each at a pace of its own.
 *
 * Rules: a follower reads page after page from the store, when it is ready for the next, so that a slow one holds nothing
 * and an idle one costs its memory alone. It sleeps once it has read everything, until it is told that there is something
 * new that it may see. What is asked for again from an event's position goes on right behind it.
 */
import { AskgateError } from "../core/errors.ts";
import type { Caller } from "../ports/asker.ts";
import type { EventRecord, EventRequest } from "../ports/event.ts";
import type { EventView } from "../ports/events.ts";
import type { Store } from "../ports/store.ts";
import { timeOf, viewOf } from "./view.ts";

export interface Followers {
  any(): boolean;
  follow(caller: Caller, after: Promise<string>, signal: AbortSignal): AsyncIterable<EventView>;
  /** Wakes everybody who may see one of these; null: everybody. */
  tell(events: readonly EventRecord[] | null): void;
  /** Ends them all as unavailable, and everyone who comes later. */
  stop(): void;
}

/** What a caller may see of the log. */
type Scope = Pick<EventRequest, "owner" | "sessions">;

interface Follower {
  readonly scope: Scope;
  /** There may be something to read; cleared before reading. */
  news: boolean;
  wake(): void;
}

const PAGE = 100;

interface Room {
  readonly store: Store;
  readonly followers: Set<Follower>;
  readonly look: () => void;
  stopped: boolean;
}

/** @param look is called when the log may say more than a follower could read yet */
export function createFollowers(store: Store, look: () => void): Followers {
  const followers = new Set<Follower>();
  const room: Room = { store, followers, look, stopped: false };
  return {
    any: () => followers.size > 0,
    follow: (caller, after, signal) => follow(room, scopeOf(caller), after, signal),
    tell(events) {
      for (const follower of followers) {
        if (events === null || events.some((event) => sees(follower.scope, event))) wake(follower);
      }
    },
    stop() {
      room.stopped = true;
      for (const follower of followers) wake(follower);
    },
  };
}

async function* follow(
  room: Room,
  scope: Scope,
  from: Promise<string>,
  signal: AbortSignal,
): AsyncGenerator<EventView> {
  const follower: Follower = { scope, news: true, wake: () => {} };
  const leave = () => wake(follower);
  signal.addEventListener("abort", leave);
  room.followers.add(follower);
  room.look();
  try {
    let after = await from;
    while (goesOn(room, signal)) {
      follower.news = false;
      const { items, unsettled } = await room.store.events.read({ after, ...scope, limit: PAGE });
      for (const event of items) {
        const view = await viewOfEvent(room.store, event);
        if (!goesOn(room, signal)) return;
        if (view) yield view;
        after = event.position;
      }
      if (unsettled) room.look();
      if (items.length < PAGE && goesOn(room, signal)) await newsFor(follower);
    }
  } finally {
    room.followers.delete(follower);
    signal.removeEventListener("abort", leave);
  }
}

function goesOn({ stopped }: Room, signal: AbortSignal): boolean {
  if (!signal.aborted && stopped) {
    throw new AskgateError("unavailable", "The gateway is stopping. Follow on from the last event received.");
  }
  return !signal.aborted;
}

async function newsFor(follower: Follower): Promise<void> {
  if (follower.news) return;
  await new Promise<void>((resolve) => {
    follower.wake = resolve;
  });
}

function wake(follower: Follower): void {
  follower.news = true;
  follower.wake();
}

/** The event, with its inquiry as it stands now; null: that is kept no longer. */
async function viewOfEvent(store: Store, event: EventRecord): Promise<EventView | null> {
  const [inquiry, copies] = await Promise.all([store.inquiry(event.inquiry), store.copies(event.inquiry)]);
  if (!inquiry) return null;
  return { id: event.position, type: event.type, timestamp: timeOf(event.at), data: viewOf(inquiry, copies) };
}

function scopeOf({ scope, keyId, sessions }: Caller): Scope {
  return { owner: scope === "operator" ? null : keyId, sessions: sessions.length > 0 ? sessions : null };
}

function sees({ owner, sessions }: Scope, event: EventRecord): boolean {
  return (owner === null || owner === event.owner) && (sessions === null || sessions.includes(event.session));
}
