/**
 * The access port: who may make keys, link accounts and open people's surfaces. A key that names sessions sees those
 * alone, whatever its scope; everything here reaches beyond them.
 */
import { AskgateError } from "../core/errors.ts";
import { channelOf } from "../core/people.ts";
import type { Access } from "../ports/access.ts";
import type { Caller } from "../ports/asker.ts";
import type { DirectoryKeeper } from "./directory.ts";
import type { Keyring } from "./keyring.ts";
import type { Pairing } from "./pairing.ts";

export function createAccess(keyring: Keyring, keeper: DirectoryKeeper, pairing: Pairing): Access {
  return {
    authenticate: keyring.callerOf,
    mayAdminister,
    async addKey(caller, input) {
      requireAdministrator(caller, "make keys");
      return keyring.add(input);
    },
    async keys(caller) {
      requireAdministrator(caller, "list keys");
      return keyring.list();
    },
    async revokeKey(caller, id) {
      requireAdministrator(caller, "revoke keys");
      return keyring.revoke(id);
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

function mayAdminister(caller: Caller): boolean {
  return caller.scope === "operator" && caller.sessions.length === 0;
}

function requireAdministrator(caller: Caller, what: string): void {
  if (mayAdminister(caller)) return;
  throw new AskgateError("forbidden", `This key may not ${what}; use an operator key that is not limited to sessions.`);
}
