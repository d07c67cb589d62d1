/**
 * What a platform looks like from the person's side, so that one suite can stand in front of every channel.
 *
 * A loopback is a real little platform: it keeps the messages it accepted, refuses what its model refuses, and plays
 * faults on demand. It shows what a person would read, after the platform's own rendering, and never what the adapter
 * meant. A subject says what the channel can do (its limits) and which faults the loopback can play; from these alone
 * the suites choose their cases.
 */
import type { Limits } from "../core/limits.ts";
import type { Channel, ChannelHost } from "../ports/channel.ts";

/** Where a test talks to a person: a private chat between the bot and the actor. */
export interface Place {
  /** As `telegram:100`. */
  readonly address: string;
  /** The person's identity there. */
  readonly actor: string;
}

/** One native message as the person sees it. */
export interface Seen {
  readonly id: string;
  /** Rendered: what markup was understood is gone, what was escaped is itself again. */
  readonly text: string;
  readonly buttons: readonly SeenButton[];
}

export interface SeenButton {
  readonly label: string;
  readonly control: string;
}

/**
 * - `rate limited`: refused with a wait of `WAIT_MS`.
 * - `out of reach`: no connection; nothing arrived.
 * - `receipt lost`: it arrived, the platform's answer did not.
 * - `chat gone`, `token refused`, `content refused`: refused for good.
 * - `chat moved`: the address has the name `moved` of the loopback from now on.
 * - `surface closed`: nobody has the surface open.
 * - `event repeated`: the person's next event is delivered twice.
 * - `listening interrupted`: the line on which events arrive breaks once.
 * - `stranger`: somebody Askgate does not know can do the same things; no fault, but a platform may not allow it.
 */
export type Play =
  | "rate limited"
  | "out of reach"
  | "receipt lost"
  | "chat gone"
  | "token refused"
  | "content refused"
  | "chat moved"
  | "surface closed"
  | "event repeated"
  | "listening interrupted"
  | "stranger";

/** The wait a rate-limited platform names, in milliseconds; whole seconds, as platforms name them. */
export const WAIT_MS = 3_000;

/** What somebody on the platform can do. */
export interface Hand {
  press(message: Seen, button: SeenButton): Promise<void>;
  write(text: string, replyTo?: Seen): Promise<void>;
}

/** The hand is the person's own. */
export interface Loopback extends Hand {
  /** Opens the channel under test against this platform. */
  open(host: ChannelHost): Promise<Channel>;
  readonly place: Place;
  /** The new name after `chat moved`. */
  readonly moved: string;
  /** Oldest first. */
  shown(): Promise<readonly Seen[]>;
  /** Whether an entry field for free text stands open. */
  entryOpen(): Promise<boolean>;
  /** Null where nobody but the person can get in. */
  readonly stranger: Hand | null;
  /** Private notices the person got, oldest first. */
  notices(): Promise<readonly string[]>;
  /** The fault meets the first call after `spared` further ones; faults of a chat last until the loopback ends. */
  play(fault: Play, spared?: number): void;
  close(): Promise<void>;
}

export interface Subject {
  readonly name: string;
  readonly limits: Limits;
  readonly plays: readonly Play[];
  /** A fresh platform with one person in it. */
  start(): Promise<Loopback>;
}
