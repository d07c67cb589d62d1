/**
 * Which process waits for which inquiry, where several work on one store: a caller of another process finds a question
 * of its own only when no caller of this one waits for it any more.
 *
 * Rules: within this process the waiters decide, and a store that is not shared is not asked. What is given up is given
 * up behind the caller's back; taking it again waits for that, so that the later of the two stands.
 */
import type { Context } from "./context.ts";

export interface Attendance {
  /** Whether a caller here may wait for it, while its waiter is registered: false when one of another process does. */
  attend(uid: string): Promise<boolean>;
  /** To be called after a wait that may have been the last one here. Never fails and never delays. */
  leave(uid: string): void;
}

export function createAttendance(context: Context): Attendance {
  const { store, clock, log, waiters } = context;
  const leaving = new Map<string, Promise<void>>();
  return {
    async attend(uid) {
      if (!store.shared) return true;
      await leaving.get(uid);
      return store.attend(uid, context.process, clock.now());
    },
    leave(uid) {
      if (!store.shared || waiters.live(uid)) return;
      const left = store
        .leave(uid, context.process)
        .catch((error: unknown) => log.warn({ inquiry: uid, err: error }, "a wait that ended could not be given up"))
        .finally(() => {
          if (leaving.get(uid) === left) leaving.delete(uid);
        });
      leaving.set(uid, left);
    },
  };
}
