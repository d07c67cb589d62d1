/**
 * People: who someone is on a channel, what a role means, and who may answer.
 *
 * Rules: authority comes from who acts, never from what they hold; an identity belongs to one person; no sender is
 * nobody; a group admits only whom `admit` lists, a direct chat only the person it belongs to.
 */

export interface Person {
  readonly name: string;
  /** `telegram:100` and the like; from the settings file and from pairing. */
  readonly identities: readonly string[];
  readonly roles: readonly string[];
  readonly locale: string | null;
}

export interface SessionRoute {
  /** Empty: the respondents' direct chats and surfaces. */
  readonly addresses: readonly string[];
  /** Names or `role:NAME`; empty: the owner. */
  readonly respondents: readonly string[];
  readonly kind: "main" | "subagent" | "cron";
}

/** Everything known about people and routes at one moment. */
export interface Directory {
  readonly people: ReadonlyMap<string, Person>;
  readonly sessions: ReadonlyMap<string, SessionRoute>;
  /** Group address -> names or `role:NAME`. */
  readonly admit: ReadonlyMap<string, readonly string[]>;
}

/** The person behind an identity, or null. */
export function personOf(directory: Directory, identity: string | null): Person | null {
  if (identity === null) return null;
  for (const person of directory.people.values()) if (person.identities.includes(identity)) return person;
  return null;
}

/** Whether a list of names and `role:NAME` includes the person. */
export function includesPerson(list: readonly string[], person: Person): boolean {
  return list.some((entry) =>
    entry.startsWith("role:") ? person.roles.includes(entry.slice(5)) : entry === person.name,
  );
}

/** Everybody a list of names and `role:NAME` stands for. */
export function peopleIn(directory: Directory, list: readonly string[]): readonly Person[] {
  return [...directory.people.values()].filter((person) => includesPerson(list, person));
}

/** Whether the place lets the person speak: a direct chat the person it belongs to, a group whom `admit` lists. */
export function admits(directory: Directory, address: string, direct: boolean, person: Person): boolean {
  if (direct) return person.identities.includes(withoutTopic(address));
  const list = directory.admit.get(address) ?? directory.admit.get(withoutTopic(address));
  return list !== undefined && includesPerson(list, person);
}

/** `telegram:-100/7` -> `telegram:-100`. */
export function withoutTopic(address: string): string {
  const slash = address.indexOf("/");
  return slash < 0 ? address : address.slice(0, slash);
}

/** `telegram:100` -> `telegram`. */
export function channelOf(address: string): string {
  const colon = address.indexOf(":");
  return colon < 0 ? "" : address.slice(0, colon);
}
