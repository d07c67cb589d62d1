/**
 * Everything that comes in from people. The event's key is written in the commit of what it changes, so a repeat gets
 * the first one's reply and has no second effect; what changed nothing is simply decided again.
 */
import type { InboundEvent, Reply } from "../ports/channel.ts";
import { actorOf } from "./authority.ts";
import type { Context } from "./context.ts";
import type { Pairing } from "./pairing.ts";
import { press } from "./press.ts";
import { NOTHING } from "./replies.ts";
import { type Heard, heard } from "./trail.ts";
import { typed } from "./typed.ts";

const PASSED: Heard = { reply: NOTHING, outcome: "none", inquiry: null };

export interface Receiver {
  receive(channel: string, event: InboundEvent): Promise<Reply>;
}

export function createReceiver(context: Context, pairing: Pairing, nudge: (channel: string) => void): Receiver {
  const { store, clock, addresses } = context;

  return {
    async receive(channel, raw) {
      const event = { ...raw, address: addresses.known(raw.address) };
      const key = `in:${channel}:${event.eventId}`;
      const earlier = await store.replyOf(key);
      if (earlier) return earlier as Reply;
      const what = await handle(channel, key, event);
      // What came too late may be the same event again, whose first arrival was committed since the look above.
      const first = what.outcome === "late" ? await store.replyOf(key) : null;
      if (first) return first as Reply;
      heard(context, channel, event.kind, what);
      return what.reply;
    },
  };

  async function handle(channel: string, key: string, event: InboundEvent): Promise<Heard> {
    switch (event.kind) {
      case "press":
        return press(context, key, event);
      case "text":
        return typed(context, pairing, key, event);
      case "opened":
        if (actorOf(context, event).admitted) await reopen(channel, event);
        return PASSED;
      case "moved":
        await addresses.move(event.address, event.to, clock.now());
        await reopen(channel, event);
        return PASSED;
    }
  }

  async function reopen(channel: string, { address }: InboundEvent): Promise<void> {
    await store.reopen(address, clock.now());
    nudge(channel);
  }
}
