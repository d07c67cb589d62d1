/**
 * Several processes on one store, as far as the engine can tell, over a store that one process has for itself: each is
 * given the same store, which says that it is shared.
 *
 * Hints come from whoever changed something to everybody else, or are lost when the test wants that.
 */
import type { AccessStore } from "../ports/access-store.ts";
import type { Hint, Store } from "../ports/store.ts";

export interface SharedStore {
  /** The store as one more process opens it. */
  open(): Store;
  /** Whether hints arrive. Default true. */
  hints(arrive: boolean): void;
}

export function sharedStore(store: Store): SharedStore {
  const ears = new Map<Store, (hint: Hint) => void>();
  let arrive = true;

  function tell(from: Store, hint: Hint): void {
    if (arrive) for (const [to, hear] of ears) if (to !== from) hear(hint);
  }

  function open(): Store {
    const mine: Store = {
      ...store,
      shared: true,
      async commit(change) {
        const result = await store.commit(change);
        const touched = [...(change.create ?? []), ...(change.update ?? []).map(({ inquiry }) => inquiry)];
        if (touched.length > 0) tell(mine, { inquiries: touched.map(({ uid }) => uid), access: false });
        return result;
      },
      access: tellingOf(store.access, () => tell(mine, { inquiries: [], access: true })),
      listen(hear) {
        ears.set(mine, hear);
        return () => void ears.delete(mine);
      },
    };
    return mine;
  }

  return {
    open,
    hints(now) {
      arrive = now;
    },
  };
}

function tellingOf(access: AccessStore, tell: () => void): AccessStore {
  async function then<T>(change: Promise<T>): Promise<T> {
    const result = await change;
    tell();
    return result;
  }
  return {
    ...access,
    addKey: (key) => then(access.addKey(key)),
    revokeKey: (id, at) => then(access.revokeKey(id, at)),
    pair: (attempt) => then(access.pair(attempt)),
    moveAddress: (from, to, at) => then(access.moveAddress(from, to, at)),
  };
}
