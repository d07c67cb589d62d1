/** The meter port: what is counted and timed while the engine works. Names and labels are few and never a person's. */
import type { InboundEvent } from "./channel.ts";

export interface Meter {
  asked(kind: string): void;
  /** `ms` from the asking to the first confirmed showing. */
  shown(channel: string, ms: number): void;
  /** `ms` from the asking to the end. */
  settled(status: string, ms: number): void;
  /** One send or edit; `outcome` is `ok` or the reason of its DeliveryError. */
  sent(channel: string, outcome: string, ms: number): void;
  heard(channel: string, kind: InboundEvent["kind"]): void;
}
