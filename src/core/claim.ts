/**
 * Is this message an answer, and to which question? Decided from where it came and what it replies to, before anybody
 * looks at what it says.
 *
 * Rules: in a group only a reply to a prompt, a mention of the bot, or the text that follows that person's Other is an
 * answer; in a direct chat plain text is one while exactly one inquiry is open there. With several open and a message
 * that replies to none, nothing is settled and the person is asked which; one whose deadline passed a moment ago counts
 * as one of them, so that late words never answer something else. A text older than the prompt answers nothing.
 */

export interface OpenCopy {
  /** When it was shown, ms, by the platform's clock where it tells; while unconfirmed, when it was asked. */
  readonly shownAt: number;
  /** Who is writing free text to this copy, if anybody. */
  readonly entryBy: string | null;
  /** Its deadline passed. */
  readonly expired: boolean;
}

export interface Message {
  readonly person: string;
  /** When it was written, ms; platforms give whole seconds. */
  readonly at: number;
  readonly direct: boolean;
  readonly mentioned: boolean;
}

export type Claim<C> =
  | { readonly kind: "answer"; readonly copy: C; readonly how: "reply" | "entry" | "bare" }
  | { readonly kind: "which"; readonly copies: readonly C[] }
  | { readonly kind: "chat" };

/** Platforms round the time of a message down to whole seconds. */
const ROUNDING_MS = 1_000;

/** The copies of one place that a person may answer, or could a moment ago; newest first. */
export interface Standing<C> {
  readonly open: readonly C[];
  /** Ended by somebody or something else while this person may have been typing. */
  readonly late: readonly C[];
}

/** `replied` is the copy the message replies to, if it replies to one. */
export function claim<C extends OpenCopy>(message: Message, replied: C | null, { open, late }: Standing<C>): Claim<C> {
  if (replied) return { kind: "answer", copy: replied, how: "reply" };
  const writing = [...open, ...late].filter((copy) => copy.entryBy === message.person);
  const [followed] = writing;
  if (followed && writing.length === 1) return { kind: "answer", copy: followed, how: "entry" };
  if (!message.direct && !message.mentioned) return { kind: "chat" };
  const isFresh = (copy: C) => message.at + ROUNDING_MS > copy.shownAt;
  const fresh = open.filter(isFresh);
  const missed = late.filter(isFresh);
  const [only = missed[0]] = fresh;
  if (!only) return { kind: "chat" };
  const meant = fresh.length > 0 ? [...fresh, ...missed.filter((copy) => copy.expired)] : [only];
  if (meant.length > 1) return { kind: "which", copies: meant };
  return { kind: "answer", copy: only, how: "bare" };
}
