/**
 * A channel in the test's hands: what is sent stays under way until the test says how it ended, and an edit stands at
 * once. Closing it ends what is under way, as it does on every platform. It shows what the engine does while a platform is
 * slow or silent.
 */
import * as z from "zod";
import { DeliveryError, type Receipt } from "../../src/core/delivery.ts";
import type { FittedPrompt } from "../../src/core/fit.ts";
import type { Limits } from "../../src/core/limits.ts";
import { type ChannelSource, channelSource } from "../../src/engine/engine.ts";
import type { ChannelModule, InboundEvent, Reply } from "../../src/ports/channel.ts";

const LIMITS: Limits = {
  text: { max: 4096, unit: "codePoints" },
  buttons: null,
  edits: true,
  replies: true,
  entryField: false,
  attendance: "always",
  pace: { perSecond: null, perAddressMs: 0, perGroupMs: 0 },
  repeat: "blind",
  unknownWaitMs: 30_000,
};

/** One send, from when the engine asked for it. */
export interface Sending {
  readonly to: string;
  readonly prompt: FittedPrompt;
  arrives(receipt?: Receipt): void;
  fails(error: DeliveryError): void;
}

export interface HeldChannel {
  readonly source: ChannelSource;
  /** Every send so far, oldest first. */
  readonly sendings: readonly Sending[];
  /** Every edit so far, oldest first. */
  readonly edits: readonly { readonly at: Receipt; readonly prompt: FittedPrompt }[];
  /** An event from the platform; to be called once the engine has started. */
  happens(event: InboundEvent): Promise<Reply>;
}

/** Addresses are `held:1`, `held:2`, …; `onSend` is told of each send as it begins. */
export function heldChannel(limits: Partial<Limits> = {}, onSend: (sending: Sending) => void = () => {}): HeldChannel {
  const sendings: Sending[] = [];
  const edits: { at: Receipt; prompt: FittedPrompt }[] = [];
  let receive: HeldChannel["happens"] = () => Promise.reject(new Error("the engine has not started"));
  const module: ChannelModule<unknown> = {
    name: "held",
    limits: { ...LIMITS, ...limits },
    config: z.unknown(),
    async open(_, host) {
      receive = (event) => host.receive(event);
      return {
        send: (to, prompt) =>
          new Promise((resolve, reject) => {
            const number = sendings.length + 1;
            const arrives = (receipt: Receipt = { parts: [`m${number}`] }) => resolve(receipt);
            const sending = { to, prompt, arrives, fails: reject };
            sendings.push(sending);
            onSend(sending);
          }),
        async edit(_to, at, prompt) {
          edits.push({ at, prompt });
          return at;
        },
        say: async () => {},
        async listen(signal) {
          host.report("up");
          await new Promise((over) => signal.addEventListener("abort", over));
        },
        async close() {
          for (const { fails } of sendings) fails(new DeliveryError("unreachable", { sent: "unknown" }));
        },
      };
    },
  };
  return { source: channelSource(module, null), sendings, edits, happens: (event) => receive(event) };
}
