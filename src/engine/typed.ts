/**
 * A typed message: first whether it is an answer at all and to what (claim.ts), then what it says (reading.ts).
 *
 * Commands other than Askgate's own, media without words, and words of people who may not answer change nothing.
 */
import { claim } from "../core/claim.ts";
import { valueOf } from "../core/entries.ts";
import { type Author, type Inquiry, type InquiryEvent, isSettled, unanswered } from "../core/inquiry.ts";
import { type Locale, say } from "../core/locales/locale.ts";
import { channelOf, withoutTopic } from "../core/people.ts";
import { type Reading, readReply } from "../core/reading.ts";
import { isCancelWord } from "../core/reply/words.ts";
import type { InboundEvent, Reply } from "../ports/channel.ts";
import type { Copy } from "../ports/store.ts";
import { type Actor, actorOf, localeFor, mayAnswer } from "./authority.ts";
import { applyEvent, type Context } from "./context.ts";
import type { Pairing } from "./pairing.ts";
import { alreadyOver, hintFor, NOTHING, partly, spoken } from "./replies.ts";

type Typed = Extract<InboundEvent, { kind: "text" }>;

/** Looked at to tell one open inquiry from several. */
const OPEN_LOOKED_AT = 20;

interface Candidate {
  readonly copy: Copy;
  readonly shownAt: number | null;
  readonly entryBy: string | null;
}

export async function typed(context: Context, pairing: Pairing, key: string, event: Typed): Promise<Reply> {
  const actor = actorOf(context, event);
  if (!actor.person) return event.direct ? pairing.attempt(key, event) : NOTHING;
  const { person } = actor;
  const chat = withoutTopic(event.address);
  const replied = event.replyTo === null ? null : await context.store.copyByMessage(chat, event.replyTo);
  const locale = localeFor(context, person, replied?.inquiry ?? null);
  if (replied && !mayAnswer(actor, replied.inquiry)) {
    context.log.warn({ inquiry: replied.inquiry.uid, actor: event.actor }, "a reply by somebody who may not answer");
    return event.direct ? spoken(say(locale, "notice.not_yours")) : NOTHING;
  }
  const open = (await context.store.openCopies(event.address, OPEN_LOOKED_AT)).filter((copy) => mayAnswer(actor, copy.inquiry));
  const command = commandOf(event.text);
  if (command === "help") return spoken(say(locale, "help"));
  if (command === "start") return spoken(say(locale, "pair.already", { person: person.name }));
  if (command === "foreign") return NOTHING;
  const claimed = claim({ ...event, person: person.name }, replied && candidate(replied), open.map(candidate));
  if (claimed.kind === "which") return spoken(say(locale, "notice.which_plain"));
  if (claimed.kind === "chat") return event.direct && open.length === 0 ? spoken(say(locale, "notice.nothing_open")) : NOTHING;
  if (event.content === "media") return spoken(say(locale, "notice.text_only"));
  return answer(context, actor, key, event, claimed.copy.copy, claimed.how === "entry");
}

function candidate(copy: Copy): Candidate {
  return { copy, shownAt: copy.inquiry.shownAt, entryBy: copy.row.delivery.entry?.person ?? null };
}

async function answer(
  context: Context,
  actor: Actor,
  key: string,
  event: Typed,
  copy: Copy,
  followsOther: boolean,
): Promise<Reply> {
  const { inquiry, row } = copy;
  const locale = localeFor(context, actor.person, inquiry);
  if (isSettled(inquiry)) return spoken(alreadyOver(locale, inquiry, null));
  const by = { person: actor.person?.name ?? "", channel: channelOf(event.address), address: event.address };
  const entryField = row.delivery.receipt?.entry;
  const own = followsOther || (entryField !== undefined && entryField === event.replyTo);
  const asked = own ? inquiry.questions[row.delivery.entry?.question ?? -1]?.id : undefined;
  const reading = (now: Inquiry) => read(now, event.text, asked);
  const first = reading(inquiry);
  if (first.kind === "again" && first.entries.size === 0) return spoken(hintFor(locale, unanswered(inquiry), first.reason));
  const applied = await applyEvent(context, inquiry, (now) => eventOf(reading(now), by), {
    once: { key, reply: (after) => told(locale, after) },
  });
  switch (applied.outcome) {
    case "done":
      return told(locale, applied.inquiry);
    case "repeat":
      return applied.reply as Reply;
    case "moot":
      return spoken(hintFor(locale, unanswered(applied.inquiry), "ambiguous"));
    case "refused":
      return spoken(alreadyOver(locale, applied.inquiry, null));
  }
}

/** After Other the text is the person's own, whatever it looks like; otherwise it is read against what is open. */
function read(inquiry: Inquiry, text: string, asked: string | undefined): Reading {
  const question = unanswered(inquiry).find((one) => one.id === asked);
  if (!question || text.trim() === "" || isCancelWord(text)) return readReply(unanswered(inquiry), withoutSlash(text));
  return { kind: "entries", entries: new Map([[question.id, { values: [valueOf(question, text.trim())] }]]) };
}

function eventOf(reading: Reading, by: Author): InquiryEvent | null {
  if (reading.kind === "cancel") return { type: "cancel", reason: "declined", by };
  return reading.entries.size > 0 ? { type: "answer", entries: reading.entries, by } : null;
}

/** The prompt itself echoes what was recorded; words are needed only while something is left. */
function told(locale: Locale, after: Inquiry): Reply {
  return isSettled(after) ? NOTHING : spoken(partly(locale, after));
}

const OWN_COMMANDS = new Set(["/skip", "/cancel"]);

function commandOf(text: string): "help" | "start" | "foreign" | null {
  if (!text.startsWith("/")) return null;
  const [word = ""] = text.toLowerCase().split(/\s/, 1);
  if (word === "/help") return "help";
  if (word === "/start") return "start";
  return OWN_COMMANDS.has(word) ? null : "foreign";
}

function withoutSlash(text: string): string {
  return OWN_COMMANDS.has(text.trim().toLowerCase()) ? text.trim().slice(1) : text;
}
