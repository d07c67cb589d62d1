/** From the state of an inquiry and one of its copies to what that copy is to show: presented, then fitted. */
import { type EntryField, type FittedPrompt, fit } from "../core/fit.ts";
import type { Inquiry } from "../core/inquiry.ts";
import type { Limits } from "../core/limits.ts";
import { channelOf, type Directory, peopleIn, personOf, withoutTopic } from "../core/people.ts";
import { present } from "../core/prompt.ts";
import type { CopyOutlook } from "../core/route.ts";
import type { Delivery, DeliveryRow } from "../ports/store.ts";
import { localeFor } from "./authority.ts";
import type { Context } from "./context.ts";

export function render(context: Context, inquiry: Inquiry, delivery: Delivery, limits: Limits): FittedPrompt {
  const directory = context.directory();
  const reader = personOf(directory, withoutTopic(delivery.address));
  const direct = reader !== null;
  const audience = direct ? [] : peopleIn(directory, inquiry.respondents).map((person) => person.name);
  const prompt = present({
    inquiry,
    locale: localeFor(context, reader, inquiry),
    promptFor: {
      direct,
      groupAudience: audience,
      entry: delivery.entry,
      address: delivery.address,
      nativeReplies: limits.replies,
      shortId: null,
    },
  });
  const fitted = fit(prompt, limits, delivery.promptKey, { plain: delivery.plain });
  return direct ? fitted : { ...fitted, entry: entryFor(directory, fitted.entry, delivery) };
}

/** In a group the entry field opens for the one who asked for it. */
function entryFor(
  directory: Directory,
  entry: EntryField | null,
  { entry: mode, channel }: Delivery,
): EntryField | null {
  const person = directory.people.get(mode?.person ?? "");
  const identity = person?.identities.find((one) => channelOf(one) === channel);
  return entry && person && identity ? { ...entry, only: { identity, name: person.name } } : entry;
}

export function outlookOf(context: Context, { delivery }: DeliveryRow): CopyOutlook {
  const surface = context.channels.get(channelOf(delivery.address))?.attendance === "when open";
  return { state: delivery.state, reason: delivery.reason, surface };
}
