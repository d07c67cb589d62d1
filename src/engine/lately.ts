/**
 * What ended a moment ago: words that come just after the end were meant for it, and must be told so instead of being
 * taken for an answer to something else.
 *
 * Kept in memory on purpose: after a restart such words are read like any others. It decides nothing; claim.ts does.
 */
import type { Inquiry } from "../core/inquiry.ts";
import { type Directory, type Person, peopleIn } from "../core/people.ts";
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

function newestFirst(a: Inquiry, b: Inquiry): number {
  return (b.settledAt ?? 0) - (a.settledAt ?? 0);
}

export function createLately(directory: () => Directory): Lately {
  /** By person's name, newest first, a handful each: what comes to many costs no more to look up. */
  const recent = new Map<string, readonly Inquiry[]>();
  const within = (now: Instant) => (inquiry: Inquiry) =>
    inquiry.settledAt !== null && inquiry.settledAt > now - LATE_MS;

  return {
    ended(inquiry) {
      if (inquiry.settledAt === null) return;
      const isLate = within(inquiry.settledAt);
      for (const { name } of peopleIn(directory(), inquiry.respondents)) {
        if (inquiry.settledBy?.person === name) continue;
        const others = (recent.get(name) ?? []).filter((one) => one.uid !== inquiry.uid && isLate(one));
        recent.set(name, [inquiry, ...others].sort(newestFirst).slice(0, LOOKED_AT));
      }
    },
    of: (person, now) => (recent.get(person.name) ?? []).filter(within(now)),
  };
}
