/**
 * Keys of programs: random, shown once and kept as hashes; keys fixed from outside are compared the same way.
 *
 * Rules: a picture of the store's keys is held in memory and made anew after every change. Where other processes change
 * them too, a key that is not in it is looked for once more before it is refused, at most once a second for all of them.
 */
import { sha256 } from "../core/digest.ts";
import type { KeyView, NewKey } from "../ports/access.ts";
import type { KeyRecord } from "../ports/access-store.ts";
import type { Caller } from "../ports/asker.ts";
import type { Clock, Instant } from "../ports/clock.ts";
import type { Context } from "./context.ts";
import { mintKey, mintKeyId } from "./mint.ts";
import { refreshing } from "./refresh.ts";
import { timeOf } from "./view.ts";

export interface Keyring {
  callerOf(key: string): Promise<Caller | null>;
  add(input: NewKey): Promise<KeyView & { readonly key: string }>;
  list(): Promise<readonly KeyView[]>;
  revoke(id: string): Promise<boolean>;
  /** Reads the keys again. */
  refresh(): Promise<void>;
}

/** How often keys nobody knows may make the store be read. */
const LOOK_AGAIN_MS = 1_000;

type Surroundings = Pick<Context, "store" | "clock" | "entropy" | "settings">;

export async function createKeyring({ store, clock, entropy, settings }: Surroundings): Promise<Keyring> {
  const fixed = settings.fixedKeys.map(({ id, key, scope }): [string, Caller] => [
    sha256(key),
    { keyId: id, scope, sessions: [], kind: "main" },
  ]);
  let callers: ReadonlyMap<string, Caller> = new Map();
  const refresh = refreshing(async () => {
    const live = (await store.access.keys()).filter((record) => record.revokedAt === null);
    callers = new Map([...live.map((record): [string, Caller] => [record.hash, callerOf(record)]), ...fixed]);
  });
  const lookAgain = atMostEvery(clock, LOOK_AGAIN_MS, refresh);
  await refresh();

  return {
    refresh,

    async callerOf(key) {
      const hash = sha256(key);
      if (store.shared && !callers.has(hash)) await lookAgain();
      return callers.get(hash) ?? null;
    },

    async add(input) {
      const key = mintKey(entropy, input.scope);
      const record: KeyRecord = {
        id: mintKeyId(entropy),
        hash: sha256(key),
        scope: input.scope,
        sessions: input.sessions ?? [],
        kind: input.kind ?? "main",
        createdAt: clock.now(),
        revokedAt: null,
      };
      await store.access.addKey(record);
      await refresh();
      return { ...keyView(record), key };
    },

    list: async () => (await store.access.keys()).map(keyView),

    async revoke(id) {
      const revoked = await store.access.revokeKey(id, clock.now());
      if (revoked) await refresh();
      return revoked;
    },
  };
}

/** Work that begins at most once in that time; who comes meanwhile waits for the next time and shares it. */
function atMostEvery(clock: Clock, ms: number, work: () => Promise<void>): () => Promise<void> {
  let next: Promise<void> | null = null;
  let free: Instant = 0;
  return () => {
    next ??= reached(clock, free).then(() => {
      next = null;
      free = clock.now() + ms;
      return work();
    });
    return next;
  };
}

async function reached(clock: Clock, at: Instant): Promise<void> {
  if (clock.now() < at) await new Promise<void>((resolve) => void clock.at(at, resolve));
}

function callerOf({ id, scope, sessions, kind }: KeyRecord): Caller {
  return { keyId: id, scope, sessions, kind };
}

function keyView({ id, scope, sessions, kind, createdAt, revokedAt }: KeyRecord): KeyView {
  return {
    id,
    scope,
    sessions,
    kind,
    createdAt: timeOf(createdAt),
    ...(revokedAt !== null && { revokedAt: timeOf(revokedAt) }),
  };
}
