/**
 * What ended a moment ago: words that come just after the end were meant for it, and must be told so instead of being
 * taken for an answer to something else.
 *
 * Kept in memory on purpose: after a restart such words are read like any others. It decides nothing; claim.ts does.
 */
import { type Inquiry, isSettled } from "../core/inquiry.ts";
import { includesPerson, type Person } from "../core/people.ts";
import type { Instant } from "../ports/clock.ts";

/** How long after the end words may still have been meant for it; as long as typing a sentence takes. */
const LATE_MS = 60_000;
/** Inquiries looked at for one message. */
const LOOKED_AT = 5;

export interface Lately {
  ended(inquiry: Inquiry): void;
  /** What asked the person and was ended by somebody or something else, newest first. */
  of(person: Person, now: Instant): readonly Inquiry[];
}

export function createLately(): Lately {
  /** By uid, in the order of their ends. */
  const recent = new Map<string, Inquiry>();
  const isLate = ({ settledAt }: Inquiry, now: Instant) => settledAt !== null && settledAt > now - LATE_MS;

  return {
    ended(inquiry) {
      if (!isSettled(inquiry) || recent.has(inquiry.uid)) return;
      recent.set(inquiry.uid, inquiry);
      for (const [uid, old] of recent) {
        if (isLate(old, inquiry.settledAt ?? 0)) break;
        recent.delete(uid);
      }
    },

    of(person, now) {
      const asked = [...recent.values()].filter((inquiry) => {
        const others = inquiry.settledBy?.person !== person.name;
        return others && isLate(inquiry, now) && includesPerson(inquiry.respondents, person);
      });
      return asked.slice(-LOOKED_AT).reverse();
    },
  };
}
