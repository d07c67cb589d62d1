/** Who may answer here and now, and in which language they are spoken to. */
import type { Inquiry } from "../core/inquiry.ts";
import { type Locale, localeOf } from "../core/locales/locale.ts";
import { admits, includesPerson, type Person, personOf } from "../core/people.ts";
import type { InboundEvent } from "../ports/channel.ts";
import type { Context } from "./context.ts";

export interface Actor {
  /** Null: nobody Askgate knows. */
  readonly person: Person | null;
  /** The place lets them speak. */
  readonly admitted: boolean;
}

export function actorOf(context: Context, event: InboundEvent): Actor {
  const directory = context.directory();
  const person = personOf(directory, event.actor);
  return { person, admitted: person !== null && admits(directory, event.address, event.direct, person) };
}

/** Both at once: the place admits them and the inquiry asks them. */
export function mayAnswer(actor: Actor, inquiry: Inquiry): actor is Actor & { person: Person } {
  return actor.person !== null && actor.admitted && includesPerson(inquiry.respondents, actor.person);
}

/** The person's own language, else the inquiry's, else the gateway's. */
export function localeFor(context: Context, person: Person | null, inquiry: Inquiry | null): Locale {
  const fallback = localeOf(context.settings.locale);
  return localeOf(person?.locale ?? inquiry?.locale ?? null, fallback);
}
