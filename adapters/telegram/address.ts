/**
 * Telegram's addresses: `telegram:<chat>` or `telegram:<chat>/<topic>`, ids in decimal, groups negative.
 *
 * The General topic of a forum is the chat itself: the platform refuses its number, 1, as a thread.
 */

export interface Place {
  readonly chat: number;
  /** Null: the chat, or the General topic of a forum. */
  readonly topic: number | null;
}

const ADDRESS = /^telegram:(-?[1-9]\d{0,15})(?:\/([1-9]\d{0,9}))?$/;
const GENERAL = 1;

/** Null for anything else. */
export function parseAddress(address: string): Place | null {
  const [, chat, topic] = ADDRESS.exec(address) ?? [];
  if (chat === undefined) return null;
  return { chat: Number(chat), topic: topic === undefined || Number(topic) === GENERAL ? null : Number(topic) };
}

export function formatAddress(chat: number, topic: number | null): string {
  return topic === null || topic === GENERAL ? `telegram:${chat}` : `telegram:${chat}/${topic}`;
}
