/** The health port: what `/readyz` and `doctor` show. */
import type { ChannelState } from "./channel.ts";

export interface ChannelHealth {
  readonly state: ChannelState;
  /** RFC 3339 UTC. */
  readonly since: string;
  readonly reason?: string;
}

export interface HealthView {
  /** True once the store serves, whatever the channels do. */
  readonly ready: boolean;
  readonly store: "up" | "down";
  readonly channels: Readonly<Record<string, ChannelHealth>>;
}

export interface Health {
  health(): Promise<HealthView>;
}
