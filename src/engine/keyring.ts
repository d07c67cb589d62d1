/** Keys of programs: random, shown once and kept as hashes; keys fixed from outside are compared the same way. */
import { sha256 } from "../core/digest.ts";
import type { KeyView, NewKey } from "../ports/access.ts";
import type { Caller } from "../ports/asker.ts";
import type { KeyRecord } from "../ports/store.ts";
import type { Context } from "./context.ts";
import { mintKey, mintKeyId } from "./mint.ts";
import { timeOf } from "./view.ts";

export interface Keyring {
  callerOf(key: string): Caller | null;
  add(input: NewKey): Promise<KeyView & { readonly key: string }>;
  list(): Promise<readonly KeyView[]>;
  revoke(id: string): Promise<boolean>;
}

export async function createKeyring({ store, clock, entropy, settings }: Context): Promise<Keyring> {
  const callers = new Map<string, Caller>();
  const live = (await store.access.keys()).filter((record) => record.revokedAt === null);
  for (const record of live) callers.set(record.hash, callerOf(record));
  for (const { id, key, scope } of settings.fixedKeys) {
    callers.set(sha256(key), { keyId: id, scope, sessions: [], kind: "main" });
  }

  return {
    callerOf: (key) => callers.get(sha256(key)) ?? null,

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
      callers.set(record.hash, callerOf(record));
      return { ...keyView(record), key };
    },

    list: async () => (await store.access.keys()).map(keyView),

    async revoke(id) {
      const revoked = await store.access.revokeKey(id, clock.now());
      for (const [hash, { keyId }] of callers) if (revoked && keyId === id) callers.delete(hash);
      return revoked;
    },
  };
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
