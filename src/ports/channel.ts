/**
 * The channel port: how the engine reaches people and hears from them.
 *
 * A channel moves messages and nothing else. It decides neither what a message means nor who may answer; it never
 * retries, shortens or splits; it hands every event to the host and confirms it to the platform only afterwards.
 */
import type { ZodType } from "zod";
import type { Receipt } from "../core/delivery.ts";
import type { FittedPrompt } from "../core/fit.ts";
import type { Limits } from "../core/limits.ts";
import type { Clock, Instant } from "./clock.ts";
import type { Log } from "./log.ts";

export type { DeliveryError, Receipt } from "../core/delivery.ts";

export interface ChannelModule<C> {
  /** The first word of its addresses and identities, as `telegram` in `telegram:100`. */
  readonly name: string;
  readonly limits: Limits;
  readonly config: ZodType<C>;
  /** Must not reach the network; `listen` does. */
  open(config: C, host: ChannelHost): Promise<Channel>;
}

export interface Channel {
  /**
   * Shows a prompt. `partial` is the receipt of a broken attempt: sending resumes at the first missing part.
   * Rejects only with DeliveryError. Bounded: never longer than 20 s.
   */
  send(to: string, prompt: FittedPrompt, context: SendContext): Promise<Receipt>;
  /** Brings a shown copy up to date; the same content is a success. Not called where `limits.edits` is false. */
  edit(to: string, at: Receipt, prompt: FittedPrompt): Promise<Receipt>;
  /** Shows a short message of Askgate's own, as a reply to `replyTo` where the platform can. Best effort, may reject. */
  say(to: string, text: string, replyTo: string | null): Promise<void>;
  /**
   * Receives until aborted; returns when drained. Survives every platform fault; reports state through the host. Called
   * whenever this process comes to hold the channel, maybe again after it lost it; sends are asked of the holder alone.
   */
  listen(signal: AbortSignal): Promise<void>;
  /** Ends whatever is still under way, sends included: they reject as unreachable. */
  close(): Promise<void>;
}

export interface SendContext {
  /**
   * 24 characters, the same whenever the same content is sent again for the same copy and only then: for platforms
   * with an idempotency key (Discord's nonce takes 25).
   */
  readonly key: string;
  readonly partial: Receipt | null;
}

interface InboundBase {
  /** The same on redelivery, unique within the channel. */
  readonly eventId: string;
  /** `telegram:100`; null when the platform does not say who: nobody's word, refused. */
  readonly actor: string | null;
  /** The actor's own name on the platform, for the log and unpaired people; never an authority. */
  readonly actorName: string;
  readonly address: string;
  /** When it happened, by the platform. */
  readonly at: Instant;
  /** A private chat between the bot and the actor. */
  readonly direct: boolean;
}

export type InboundEvent = InboundBase &
  (
    | { readonly kind: "press"; readonly control: string; readonly message: string }
    | {
        readonly kind: "text";
        readonly text: string;
        readonly message: string;
        /** Native id of the message it replies to. */
        readonly replyTo: string | null;
        /** The bot was addressed by name. */
        readonly mentioned: boolean;
        /** `media` for voice, stickers, files without a caption: carries no answer. */
        readonly content: "text" | "media";
      }
    /** A surface that shows only while open was opened. */
    | { readonly kind: "opened" }
    /** The platform gave the address a new name. */
    | { readonly kind: "moved"; readonly to: string }
  );

/** What the actor is to be told. `notice` is private (a toast); `say` is a message in the chat. Null: nothing. */
export interface Reply {
  readonly notice: string | null;
  readonly say: string | null;
}

export type ChannelState = "starting" | "up" | "down" | "conflict" | "unauthorized";

export interface Mount {
  /**
   * `platform`: a webhook for the world, untouched: the channel verifies it, then reads it within bounds of its own;
   * `operator`: for this house alone.
   */
  readonly audience: "platform" | "operator";
  handle(request: Request): Promise<Response>;
}

export interface ChannelHost {
  /**
   * Handles one event; resolves after its effect is committed, with the same reply for a repeated `eventId`.
   * Rejects when it could not be stored: then the event must not be confirmed to the platform.
   */
  receive(event: InboundEvent): Promise<Reply>;
  /** `up` is said for the first time when the platform's backlog has been read. */
  report(state: ChannelState, reason?: string): void;
  /** Serves `/channels/<name>`, in every process, whoever holds the channel. Called in `open`, if at all. */
  mount(mount: Mount): void;
  readonly clock: Clock;
  readonly log: Log;
}
