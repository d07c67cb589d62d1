/**
 * A channel host that keeps what it is told: small, real, and nothing of the engine.
 *
 * It honours the port: the same reply for a repeated event, a rejection for what it could not keep. It decides nothing;
 * a test says what to reply and which event to refuse.
 */
import type { ChannelHost, ChannelState, InboundEvent, Reply } from "../ports/channel.ts";
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";

export interface RecordingHost extends ChannelHost {
  /** Everything accepted, repeats included, in order of arrival. */
  readonly arrivals: readonly InboundEvent[];
  /** Everything refused, in order of arrival. */
  readonly refused: readonly InboundEvent[];
  readonly states: readonly ChannelState[];
  /** What `mount` was given; null before. */
  handler(): ((request: Request) => Promise<Response>) | null;
  /** The reply to events first seen from now on. */
  replyWith(reply: Partial<Reply>): void;
  /** Refuses the next event, as when the store is away. */
  refuseNext(): void;
}

export const SILENCE: Reply = { notice: null, say: null };

export const systemClock: Clock = {
  now: () => Date.now(),
  steadySince: () => 0,
  at(at, wake) {
    const timer = setTimeout(wake, Math.max(0, at - Date.now()));
    return () => clearTimeout(timer);
  },
};

const quiet: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export function recordingHost(): RecordingHost {
  const arrivals: InboundEvent[] = [];
  const refused: InboundEvent[] = [];
  const states: ChannelState[] = [];
  const replies = new Map<string, Reply>();
  let mounted: ((request: Request) => Promise<Response>) | null = null;
  let reply = SILENCE;
  let refusals = 0;

  async function receive(event: InboundEvent): Promise<Reply> {
    if (refusals > 0) {
      refusals -= 1;
      refused.push(event);
      throw new Error("The store is away; nothing was kept.");
    }
    arrivals.push(event);
    const known = replies.get(event.eventId) ?? reply;
    replies.set(event.eventId, known);
    return known;
  }

  return {
    arrivals,
    refused,
    states,
    clock: systemClock,
    log: quiet,
    receive,
    report(state) {
      states.push(state);
    },
    mount({ handle }) {
      mounted = handle;
    },
    handler: () => mounted,
    replyWith(next) {
      reply = { ...SILENCE, ...next };
    },
    refuseNext() {
      refusals += 1;
    },
  };
}

/** Each event once, in order of first arrival. */
export function distinct(events: readonly InboundEvent[]): readonly InboundEvent[] {
  return [...new Map(events.map((event) => [event.eventId, event])).values()];
}
