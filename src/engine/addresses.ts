/**
 * Addresses the platform has renamed (a Telegram group that became a supergroup). Settings and rows keep the old name;
 * sends go to the new one, events from the new one count as from the old.
 */
import { withoutTopic } from "../core/people.ts";
import type { Instant } from "../ports/clock.ts";
import type { AccessStore } from "../ports/store.ts";

export interface Addresses {
  /** The name to send to. */
  current(address: string): string;
  /** The name everything here knows it by. */
  known(address: string): string;
  move(from: string, to: string, at: Instant): Promise<void>;
}

export async function createAddresses(store: AccessStore): Promise<Addresses> {
  const forward = new Map<string, string>();
  const backward = new Map<string, string>();
  const learn = (from: string, to: string) => {
    forward.set(from, to);
    backward.set(to, backward.get(from) ?? from);
    for (const [earlier, target] of forward) if (target === from) forward.set(earlier, to);
  };
  for (const { from, to } of await store.movedAddresses()) learn(from, to);

  const rename = (names: ReadonlyMap<string, string>, address: string) => {
    const chat = withoutTopic(address);
    const name = names.get(chat);
    return name === undefined ? address : name + address.slice(chat.length);
  };

  return {
    current: (address) => rename(forward, address),
    known: (address) => rename(backward, address),
    async move(from, to, at) {
      const old = withoutTopic(from);
      if (forward.get(old) === to) return;
      await store.moveAddress(old, to, at);
      learn(old, to);
    },
  };
}
