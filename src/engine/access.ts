/** The access port: keys are random, shown once and kept as hashes; keys fixed from outside are compared the same way. */
import { sha256 } from "../core/digest.ts";
import { AskgateError } from "../core/errors.ts";
import { channelOf } from "../core/people.ts";
import type { Access, KeyView } from "../ports/access.ts";
import type { Caller } from "../ports/asker.ts";
import type { KeyRecord } from "../ports/store.ts";
import type { Context } from "./context.ts";
import type { DirectoryKeeper } from "./directory.ts";
import { mintKey, mintKeyId } from "./mint.ts";
import type { Pairing } from "./pairing.ts";
import { timeOf } from "./view.ts";

export async function createAccess(context: Context, keeper: DirectoryKeeper, pairing: Pairing): Promise<Access> {
  const { store, clock, entropy, settings } = context;
  const callers = new Map<string, Caller>();
  for (const record of await store.access.keys())
    if (record.revokedAt === null) callers.set(record.hash, callerOf(record));
  for (const { id, key, scope } of settings.fixedKeys)
    callers.set(sha256(key), { keyId: id, scope, sessions: [], kind: "main" });

  return {
    async authenticate(key) {
      return callers.get(sha256(key)) ?? null;
    },

    mayAdminister,

    async addKey(caller, input) {
      requireAdministrator(caller, "make keys");
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

    async keys(caller) {
      requireAdministrator(caller, "list keys");
      return (await store.access.keys()).map(keyView);
    },

    async revokeKey(caller, id) {
      requireAdministrator(caller, "revoke keys");
      const revoked = await store.access.revokeKey(id, clock.now());
      for (const [hash, caller] of callers) if (revoked && caller.keyId === id) callers.delete(hash);
      return revoked;
    },

    async pair(caller, channel, person) {
      requireAdministrator(caller, "link accounts");
      return pairing.pair(channel, person);
    },
    personNamed: keeper.personNamed,

    paired(channel) {
      const people = [...keeper.current().people.values()];
      return people.some((person) => person.identities.some((identity) => channelOf(identity) === channel));
    },
  };
}

/** A key that names sessions sees those alone, whatever its scope; all of these reach beyond. */
function mayAdminister(caller: Caller): boolean {
  return caller.scope === "operator" && caller.sessions.length === 0;
}

function requireAdministrator(caller: Caller, what: string): void {
  if (mayAdminister(caller)) return;
  throw new AskgateError("forbidden", `This key may not ${what}; use an operator key that is not limited to sessions.`);
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
