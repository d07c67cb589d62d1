/**
 * A typed message: first whether it is an answer at all and to what (claim.ts), then what it says (reading.ts).
 *
 * Commands other than Askgate's own, media without words, and words of people who may not answer change nothing.
 */
import { claim, type Standing } from "../core/claim.ts";
import { valueFor } from "../core/entries.ts";
import { type Author, type Inquiry, type InquiryEvent, isSettled, type Refusal, unanswered } from "../core/inquiry.ts";
import { type Locale, say } from "../core/locales/locale.ts";
import { channelOf, type Person, withoutTopic } from "../core/people.ts";
import { type Reading, readReply } from "../core/reading.ts";
import { isBlank } from "../core/reply/fold.ts";
import { isCancelWord } from "../core/reply/words.ts";
import type { InboundEvent, Reply } from "../ports/channel.ts";
import type { Copy, DeliveryRow } from "../ports/store.ts";
import { type Actor, actorOf, localeFor, mayAnswer } from "./authority.ts";
import { type Applied, applyEvent, type Context } from "./context.ts";
import type { Pairing } from "./pairing.ts";
import { doubtfulUntil } from "./quiet.ts";
import { alreadyOver, hintFor, NOTHING, partly, spoken, wholly } from "./replies.ts";
import type { Heard } from "./trail.ts";

type Typed = Extract<InboundEvent, { kind: "text" }>;

/** Looked at to tell one open inquiry from several. */
const OPEN_LOOKED_AT = 20;

interface Candidate {
  readonly copy: Copy;
  readonly shownAt: number;
  readonly entryBy: string | null;
  readonly expired: boolean;
}

export async function typed(context: Context, pairing: Pairing, key: string, event: Typed): Promise<Heard> {
  const actor = actorOf(context, event);
  const { person } = actor;
  if (!person) return aside(event.direct ? await pairing.attempt(event) : NOTHING);
  const replied = await repliedTo(context, event);
  const locale = localeFor(context, person, replied?.inquiry ?? null);
  if (replied && !mayAnswer(actor, replied.inquiry)) {
    context.log.warn({ inquiry: replied.inquiry.uid, actor: event.actor }, "a reply by somebody who may not answer");
    const reply = event.direct ? spoken(say(locale, "notice.not_yours")) : NOTHING;
    return { reply, outcome: "not admitted", inquiry: replied.inquiry };
  }
  const command = commandReply(locale, person, event.text);
  if (command) return aside(command);
  const here = replied ? { open: [], late: [] } : await standing(context, actor, event);
  const claimed = claim({ ...event, person: person.name }, replied && candidate(replied), here);
  // A reply is about what it replies to; where nobody knows that message, it may be a question whose receipt was lost.
  const astray = claimed.kind === "answer" && claimed.how !== "reply" && event.replyTo !== null;
  if (astray || claimed.kind === "which") return aside(spoken(say(locale, "notice.which")));
  if (claimed.kind === "chat")
    return aside(here.open.length === 0 && event.direct ? spoken(say(locale, "notice.nothing_open")) : NOTHING);
  const { copy } = claimed.copy;
  const { inquiry } = copy;
  if (isSettled(inquiry)) return { reply: await tooLate(context, person, copy), outcome: "late", inquiry };
  if (event.content === "media") return unclear(inquiry, spoken(say(locale, "notice.text_only")));
  return answer(context, actor, key, event, copy, claimed.how === "entry");
}

function aside(reply: Reply): Heard {
  return { reply, outcome: "none", inquiry: null };
}

function unclear(inquiry: Inquiry, reply: Reply): Heard {
  return { reply, outcome: "unclear", inquiry };
}

/** The copy the message replies to. It can be read and answered before its receipt is stored. */
async function repliedTo(context: Context, { address, replyTo }: Typed): Promise<Copy | null> {
  if (replyTo === null) return null;
  const find = () => context.store.copyByMessage(withoutTopic(address), replyTo);
  const found = await find();
  if (found) return found;
  await context.quiet(address);
  return find();
}

/** What stands in the place for this person, or stood there a moment ago. */
async function standing(context: Context, actor: Actor, { address }: Typed): Promise<Standing<Candidate>> {
  await context.quiet(address);
  const copies = [
    ...(await context.store.openCopies(address, OPEN_LOOKED_AT, doubtfulUntil(context.clock.now()))),
    ...(await endedHere(context, address, actor)),
  ];
  const theirs = copies.filter(({ inquiry }) => mayAnswer(actor, inquiry)).map(candidate);
  return {
    open: theirs.filter(({ copy }) => !isSettled(copy.inquiry)),
    late: theirs.filter(({ copy }) => isSettled(copy.inquiry)),
  };
}

/** The copies shown here of what ended a moment ago. */
async function endedHere(context: Context, address: string, { person }: Actor): Promise<readonly Copy[]> {
  const ended = person ? context.lately.of(person, context.clock.now()) : [];
  const copies = ended.map(async (inquiry) => {
    const rows = await context.store.copies(inquiry.uid);
    return rows
      .filter(({ delivery }) => delivery.address === address && delivery.receipt !== null)
      .map((row) => ({ row, inquiry }));
  });
  return (await Promise.all(copies)).flat();
}

/** Told once: what this person was writing to is over, and the words after these are about something else. */
async function tooLate(context: Context, person: Person, { row, inquiry }: Copy): Promise<Reply> {
  if (row.delivery.entry?.person === person.name) {
    await context.store.commit({ entry: { row: row.id, entry: null, at: context.clock.now() } });
  }
  return spoken(alreadyOver(localeFor(context, person, inquiry), inquiry, null));
}

function candidate(copy: Copy): Candidate {
  return {
    copy,
    shownAt: copy.row.delivery.receipt?.postedAt ?? copy.inquiry.shownAt ?? copy.inquiry.createdAt,
    entryBy: copy.row.delivery.entry?.person ?? null,
    expired: copy.inquiry.status === "timed_out",
  };
}

async function answer(
  context: Context,
  actor: Actor,
  key: string,
  event: Typed,
  copy: Copy,
  followsOther: boolean,
): Promise<Heard> {
  const { inquiry, row } = copy;
  const locale = localeFor(context, actor.person, inquiry);
  const by = { person: actor.person?.name ?? "", channel: channelOf(event.address), address: event.address };
  const entryField = row.delivery.receipt?.entry;
  const own = followsOther || (entryField !== undefined && entryField === event.replyTo);
  const asked = own ? inquiry.questions[row.delivery.entry?.question ?? -1]?.id : undefined;
  const reading = (now: Inquiry) => read(now, event.text, asked);
  const first = reading(inquiry);
  if (first.kind === "again" && first.entries.size === 0)
    return unclear(inquiry, spoken(hintFor(locale, inquiry, first.reason)));
  // Over meanwhile: what was read before is refused with the reason, where a reading against nothing would only confuse.
  const applied = await applyEvent(context, inquiry, (now) => eventOf(isSettled(now) ? first : reading(now), by), {
    once: { key, reply: (after) => told(locale, after, row) },
  });
  if (applied.outcome === "repeat") return { reply: applied.reply as Reply, outcome: "repeat", inquiry: null };
  return judged(locale, row, applied);
}

function judged(locale: Locale, row: DeliveryRow, applied: Exclude<Applied, { outcome: "repeat" }>): Heard {
  const { inquiry } = applied;
  switch (applied.outcome) {
    case "done":
      return {
        reply: told(locale, inquiry, row),
        outcome: inquiry.reason === "declined" ? "declined" : "recorded",
        inquiry,
      };
    case "moot":
      return unclear(inquiry, spoken(hintFor(locale, inquiry, "ambiguous")));
    case "refused": {
      const reply = spoken(refusal(locale, inquiry, applied.refusal.code));
      return { reply, outcome: applied.refusal.code === "invalid_answer" ? "unclear" : "late", inquiry };
    }
  }
}

/** Lost to whoever came first, or no answer at all. */
function refusal(locale: Locale, inquiry: Inquiry, code: Refusal): string {
  return code === "invalid_answer" ? hintFor(locale, inquiry, "empty") : alreadyOver(locale, inquiry, null);
}

/** After Other the text is the person's own, whatever it looks like; otherwise it is read against what is open. */
function read(inquiry: Inquiry, given: string, asked: string | undefined): Reading {
  const question = unanswered(inquiry).find((one) => one.id === asked);
  const text = withoutSlash(given);
  if (!question || text !== given || isBlank(text) || isCancelWord(text)) return readReply(inquiry, text);
  return { kind: "entries", entries: new Map([[question.id, { values: [valueFor(question, text.trim())] }]]) };
}

function eventOf(reading: Reading, by: Author): InquiryEvent | null {
  if (reading.kind === "cancel") return { type: "cancel", reason: "declined", by };
  return reading.entries.size > 0 ? { type: "answer", entries: reading.entries, by } : null;
}

/** The prompt itself echoes what was recorded; words are needed while something is left, and where nobody knows the prompt. */
function told(locale: Locale, after: Inquiry, { delivery }: DeliveryRow): Reply {
  if (!isSettled(after)) return spoken(partly(locale, after));
  return delivery.receipt === null ? spoken(wholly(locale, after)) : NOTHING;
}

/** A slash and one word, as platforms know them; a path like `/etc/hosts` is somebody's words. */
const COMMAND = /^\/[a-z0-9_]{1,32}(?=\s|$)/i;
const OWN_COMMANDS = new Set(["/skip", "/cancel"]);

/** Null: no command, or one that stands for a word. Commands of others are nobody's answer. */
function commandReply(locale: Locale, person: Person, text: string): Reply | null {
  const word = COMMAND.exec(text)?.[0].toLowerCase();
  if (word === undefined) return null;
  if (word === "/help") return spoken(say(locale, "help"));
  if (word === "/start") return spoken(say(locale, "pair.already", { person: person.name }));
  return OWN_COMMANDS.has(word) ? null : NOTHING;
}

function withoutSlash(text: string): string {
  return OWN_COMMANDS.has(text.trim().toLowerCase()) ? text.trim().slice(1) : text;
}
