/**
 * Is this message an answer, and to which question? Decided from where it came and what it replies to, before anybody
 * looks at what it says.
 *
 * Rules: in a group only a reply to a prompt, a mention of the bot, or the text that follows that person's Other is an
 * answer; in a direct chat plain text is one while exactly one inquiry is open there. With several open and a message
 * that replies to none, nothing is settled and the person is asked which. A text older than the prompt answers nothing.
 */

export interface OpenCopy {
  /** First confirmed showing, ms; null while unconfirmed. */
  readonly shownAt: number | null;
  /** Who is writing free text to this copy, if anybody. */
  readonly entryBy: string | null;
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

/**
 * `replied` is the copy the message replies to, if it replies to one; `open` are the copies shown in the place that this
 * person may answer, newest first.
 */
export function claim<C extends OpenCopy>(message: Message, replied: C | null, open: readonly C[]): Claim<C> {
  if (replied) return { kind: "answer", copy: replied, how: "reply" };
  const writing = open.filter((copy) => copy.entryBy === message.person);
  const [followed] = writing;
  if (followed && writing.length === 1) return { kind: "answer", copy: followed, how: "entry" };
  if (!message.direct && !message.mentioned) return { kind: "chat" };
  const fresh = open.filter((copy) => copy.shownAt === null || message.at + ROUNDING_MS > copy.shownAt);
  const [only] = fresh;
  if (!only) return { kind: "chat" };
  if (fresh.length > 1) return { kind: "which", copies: fresh };
  return { kind: "answer", copy: only, how: "bare" };
}
