/**
 * Addresses the platform has renamed (a Telegram group that became a supergroup). Settings and rows keep the old name;
 * sends go to the new one, events from the new one count as from the old.
 */
import { withoutTopic } from "../core/people.ts";
import type { AccessStore } from "../ports/access-store.ts";
import type { Instant } from "../ports/clock.ts";
import { refreshing } from "./refresh.ts";

export interface Addresses {
  /** The name to send to. */
  current(address: string): string;
  /** The name everything here knows it by. */
  known(address: string): string;
  move(from: string, to: string, at: Instant): Promise<void>;
  /** Reads the renamed addresses again. */
  refresh(): Promise<void>;
}

export async function createAddresses(store: AccessStore): Promise<Addresses> {
  /** Every earlier name of a chat to its newest, and that to its first. */
  let newest: ReadonlyMap<string, string> = new Map();
  let first: ReadonlyMap<string, string> = new Map();
  const refresh = refreshing(async () => {
    const moved = await store.movedAddresses();
    newest = new Map(moved.map(({ from, to }) => [from, to]));
    first = new Map(moved.toReversed().map(({ from, to }) => [to, from]));
  });
  await refresh();

  function renamed(address: string, nameOf: (chat: string) => string): string {
    const chat = withoutTopic(address);
    return nameOf(chat) + address.slice(chat.length);
  }
  const current = (chat: string) => newest.get(chat) ?? chat;
  const known = (chat: string) => first.get(current(chat)) ?? chat;

  return {
    refresh,
    current: (address) => renamed(address, current),
    known: (address) => renamed(address, known),
    async move(from, to, at) {
      const old = withoutTopic(from);
      if (newest.get(old) === to) return;
      await store.moveAddress(old, to, at);
      await refresh();
    },
  };
}
