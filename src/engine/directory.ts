/**
 * Everybody known now: the settings file's people, and the accounts linked since. Whom the file gives an identity has it,
 * whoever linked it before.
 */

import type { Directory, Person } from "../core/people.ts";
import { SURFACES } from "../core/route.ts";
import type { AccessStore } from "../ports/access-store.ts";
import { refreshing } from "./refresh.ts";

export interface DirectoryKeeper {
  current(): Directory;
  /** Reads linked accounts again. */
  refresh(): Promise<void>;
  person(name: string): Person | null;
  /** Null means the owner; the first person with that role. */
  personNamed(name: string | null): string | null;
  names(): readonly string[];
}

export async function createDirectory(base: Directory, store: AccessStore): Promise<DirectoryKeeper> {
  let directory = base;

  const refresh = refreshing(async () => {
    const listed = new Set([...base.people.values()].flatMap((person) => person.identities));
    const linked = (await store.identities()).filter(({ identity }) => !listed.has(identity));
    const people = [...base.people.values()].map((person) => {
      const paired = linked.filter((one) => one.person === person.name).map((one) => one.identity);
      const surfaces = SURFACES.map((surface) => `${surface}:${person.name}`);
      return { ...person, identities: [...new Set([...person.identities, ...paired, ...surfaces])] };
    });
    directory = { ...base, people: new Map(people.map((person) => [person.name, person])) };
  });

  const person = (name: string) => directory.people.get(name) ?? null;
  await refresh();
  return {
    current: () => directory,
    refresh,
    person,
    personNamed(name) {
      if (name !== null) return person(name)?.name ?? null;
      return [...directory.people.values()].find((one) => one.roles.includes("owner"))?.name ?? null;
    },
    names: () => [...directory.people.keys()],
  };
}
