/**
 * Who waits for which inquiry. A waiter costs memory alone: nothing is polled for it. The commit that settles an
 * inquiry calls `settled`, and every waiter of it resolves with that state.
 */
import type { Inquiry } from "../core/inquiry.ts";
import type { Clock, Instant } from "../ports/clock.ts";

export interface Waiters {
  /** Whether anybody waits for it in this process. */
  live(uid: string): boolean;
  /** Every inquiry somebody waits for. */
  uids(): readonly string[];
  /** Resolves at settlement, at `until`, or when the signal aborts; null for the last two. Registers synchronously. */
  wait(uid: string, until: Instant | null, signal: AbortSignal): Promise<Inquiry | null>;
  settled(inquiry: Inquiry): void;
  /** Ends the waits for one that was never stored, as if their signals had aborted. */
  drop(uid: string): void;
  /** Ends every wait, as if its signal had aborted, and each one that would begin later. */
  close(): void;
}

type Waiter = (inquiry: Inquiry | null) => void;

export function createWaiters(clock: Clock): Waiters {
  const waiting = new Map<string, Set<Waiter>>();
  let closed = false;

  function wait(uid: string, until: Instant | null, signal: AbortSignal): Promise<Inquiry | null> {
    if (closed || signal.aborted) return Promise.resolve(null);
    return new Promise((resolve) => {
      const others = waiting.get(uid) ?? new Set();
      waiting.set(uid, others);
      const done: Waiter = (inquiry) => {
        if (!others.delete(done)) return;
        if (others.size === 0) waiting.delete(uid);
        cancelTimer?.();
        signal.removeEventListener("abort", detach);
        resolve(inquiry);
      };
      const detach = () => done(null);
      const cancelTimer = until === null ? null : clock.at(until, detach);
      others.add(done);
      signal.addEventListener("abort", detach);
    });
  }

  function end(uid: string, inquiry: Inquiry | null): void {
    for (const waiter of [...(waiting.get(uid) ?? [])]) waiter(inquiry);
  }

  return {
    live: (uid) => waiting.has(uid),
    uids: () => [...waiting.keys()],
    wait,
    settled: (inquiry) => end(inquiry.uid, inquiry),
    drop: (uid) => end(uid, null),
    close() {
      closed = true;
      for (const uid of [...waiting.keys()]) end(uid, null);
    },
  };
}
