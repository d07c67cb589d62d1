/** What is up: the store by asking it, each channel by what it last reported. */

import type { ChannelState } from "../ports/channel.ts";
import type { Clock, Instant } from "../ports/clock.ts";
import type { ChannelHealth, Health } from "../ports/health.ts";
import type { Store } from "../ports/store.ts";
import { timeOf } from "./view.ts";

export interface HealthKeeper extends Health {
  report(channel: string, state: ChannelState, reason?: string): void;
  /** Whether every channel has read its platform's backlog since the start. */
  caughtUp(): boolean;
}

export function createHealth(store: Store, clock: Clock, names: Iterable<string>): HealthKeeper {
  const states = new Map<string, { state: ChannelState; since: Instant; reason?: string }>();
  const behind = new Set(names);
  for (const name of behind) states.set(name, { state: "starting", since: clock.now() });

  return {
    report(channel, state, reason) {
      const before = states.get(channel);
      const since = before?.state === state ? before.since : clock.now();
      states.set(channel, { state, since, ...(reason !== undefined && { reason }) });
      if (state === "up") behind.delete(channel);
    },

    caughtUp: () => behind.size === 0,

    async health() {
      const up = await store.nextDue("deadline").then(
        () => true,
        () => false,
      );
      const channels: Record<string, ChannelHealth> = {};
      for (const [name, { since, ...rest }] of states) channels[name] = { ...rest, since: timeOf(since) };
      return { ready: up, store: up ? "up" : "down", channels };
    },
  };
}
