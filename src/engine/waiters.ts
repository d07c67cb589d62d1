/**
 * Who waits for which inquiry. A waiter costs memory alone: nothing is polled for it. The commit that settles an
 * inquiry calls `settled`, and every waiter of it resolves with that state.
 */
import type { Inquiry } from "../core/inquiry.ts";
import type { Clock, Instant } from "../ports/clock.ts";

export interface Waiters {
  /** Whether anybody waits for it in this process, or is about to. */
  live(uid: string): boolean;
  /** Counts as waiting until the result is called: for the moment between storing an inquiry and waiting for it. */
  hold(uid: string): () => void;
  /** Resolves at settlement, at `until`, or when the signal aborts; null for the last two. Registers synchronously. */
  wait(uid: string, until: Instant | null, signal: AbortSignal): Promise<Inquiry | null>;
  settled(inquiry: Inquiry): void;
  /** Ends every wait, as if its signal had aborted. */
  close(): void;
}

type Waiter = (inquiry: Inquiry | null) => void;

export function createWaiters(clock: Clock): Waiters {
  const waiting = new Map<string, Set<Waiter>>();
  const held = new Set<string>();

  function wait(uid: string, until: Instant | null, signal: AbortSignal): Promise<Inquiry | null> {
    if (signal.aborted) return Promise.resolve(null);
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

  return {
    live: (uid) => waiting.has(uid) || held.has(uid),
    hold(uid) {
      held.add(uid);
      return () => held.delete(uid);
    },
    wait,
    settled(inquiry) {
      for (const waiter of [...(waiting.get(inquiry.uid) ?? [])]) waiter(inquiry);
    },
    close() {
      for (const waiters of [...waiting.values()]) for (const waiter of [...waiters]) waiter(null);
    },
  };
}
