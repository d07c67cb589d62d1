/**
 * A pressed control. Authority comes from who pressed, never from holding the button: a payload that no live copy
 * carries, or pressed in another chat than its copy, changes nothing, and a stranger's press neither.
 */
import { type Control, decodeControl } from "../core/control.ts";
import type { Receipt } from "../core/delivery.ts";
import { type Author, type Entry, type Inquiry, isSettled } from "../core/inquiry.ts";
import { type Locale, say } from "../core/locales/locale.ts";
import { channelOf, withoutTopic } from "../core/people.ts";
import type { Question } from "../core/question.ts";
import type { InboundEvent, Reply } from "../ports/channel.ts";
import type { Commit, Copy } from "../ports/store.ts";
import { actorOf, localeFor, mayAnswer } from "./authority.ts";
import { applyEvent, type Context } from "./context.ts";
import { alreadyOver, notice, recorded } from "./replies.ts";
import { type Heard, shown } from "./trail.ts";

type Press = Extract<InboundEvent, { kind: "press" }>;

/** A press that stands: everything about it is checked but whether it comes first. */
interface Valid {
  readonly key: string;
  readonly copy: Copy;
  readonly question: Question;
  readonly control: Control;
  readonly by: Author;
  readonly locale: Locale;
  /** Proof that a copy of unknown fate is there. */
  readonly adopt: Pick<Commit, "adopt">;
}

export async function press(context: Context, key: string, event: Press): Promise<Heard> {
  const control = decodeControl(event.control);
  const copy = control && (await context.store.copyByKey(control.promptKey));
  const actor = actorOf(context, event);
  const locale = localeFor(context, actor.person, copy?.inquiry ?? null);
  const question = copy?.inquiry.questions[control?.question ?? -1];
  if (!control || !copy || !question || !sameChat(copy, event) || !fits(control, question)) {
    return { reply: notice(say(locale, "notice.old_button")), outcome: "none", inquiry: null };
  }
  if (!mayAnswer(actor, copy.inquiry)) {
    context.log.warn(
      { inquiry: copy.inquiry.uid, actor: event.actor, address: event.address },
      "a press by somebody who may not answer",
    );
    const known = actor.person !== null && !actor.admitted;
    const reply = notice(say(locale, known ? "notice.group_not_admitted" : "notice.not_yours"));
    return { reply, outcome: "not admitted", inquiry: copy.inquiry };
  }
  const by = { person: actor.person.name, channel: channelOf(event.address), address: event.address };
  const adopt = adoption(context, copy, event);
  const valid = { key, copy, question, control, by, locale, adopt };
  if (isSettled(copy.inquiry) || copy.inquiry.resolutions.has(question.id)) {
    if (adopt.adopt) await commitAnd(context, copy.inquiry, adopt);
    return { reply: notice(alreadyOver(locale, copy.inquiry, question.id)), outcome: "late", inquiry: copy.inquiry };
  }
  return act(context, valid);
}

function act(context: Context, valid: Valid): Promise<Heard> {
  const { control, question } = valid;
  switch (control.act.kind) {
    case "option": {
      const label = question.options[control.act.index]?.label ?? "";
      return resolve(context, valid, { values: [{ kind: "option", label }] });
    }
    case "skip":
      return resolve(context, valid, { skip: true });
    case "other":
      return write(context, valid, true);
    case "back":
      return write(context, valid, false);
  }
}

/** Commits the answer or skip; loses truthfully to whoever came first. */
async function resolve(context: Context, valid: Valid, entry: Entry): Promise<Heard> {
  const { copy, question, by, locale, key, adopt } = valid;
  const entries = new Map([[question.id, entry]]);
  const applied = await applyEvent(context, copy.inquiry, () => ({ type: "answer", entries, by }), {
    once: { key, reply: (after) => notice(recorded(locale, after, question.id)) },
    also: adopt,
  });
  if (applied.outcome === "repeat") return { reply: applied.reply as Reply, outcome: "repeat", inquiry: null };
  const { inquiry } = applied;
  switch (applied.outcome) {
    case "done":
      if (adopt.adopt) shown(context, copy.inquiry, copy.row, adopt.adopt.at);
      return { reply: notice(recorded(locale, inquiry, question.id)), outcome: "recorded", inquiry };
    case "moot":
    case "refused":
      if (adopt.adopt) await commitAnd(context, inquiry, adopt);
      return { reply: notice(alreadyOver(locale, inquiry, question.id)), outcome: "late", inquiry };
  }
}

/** Opens or leaves the entry field of this copy; one person writes there at a time, and only they leave it. */
async function write(context: Context, valid: Valid, open: boolean): Promise<Heard> {
  const { copy, control, by, locale, key, adopt } = valid;
  const writer = copy.row.delivery.entry?.person ?? by.person;
  if (writer !== by.person) {
    const reply = notice(say(locale, "notice.being_written", { person: writer }));
    return { reply, outcome: "entry", inquiry: copy.inquiry };
  }
  const reply = notice(say(locale, open ? "notice.write_now" : "notice.back"));
  const at = context.clock.now();
  const entry = open ? { question: control.question, person: by.person } : null;
  await commitAnd(context, copy.inquiry, {
    ...adopt,
    once: { key, reply, at },
    entry: { row: copy.row.id, entry, at },
  });
  if (adopt.adopt) shown(context, copy.inquiry, copy.row, at);
  return { reply, outcome: "entry", inquiry: copy.inquiry };
}

async function commitAnd(context: Context, inquiry: Inquiry, commit: Commit): Promise<void> {
  await context.store.commit(commit);
  context.changed(inquiry);
}

/** Payloads of a message forwarded or forged elsewhere do not count. */
function sameChat(copy: Copy, event: Press): boolean {
  return withoutTopic(copy.row.delivery.address) === withoutTopic(event.address);
}

function fits(control: Control, question: Question): boolean {
  if (control.act.kind === "option") return control.act.index < question.options.length && !question.multiSelect;
  return control.act.kind === "other" ? question.allowOther : true;
}

function adoption(context: Context, { row }: Copy, event: Press): Pick<Commit, "adopt"> {
  const { state, receipt, promptKey } = row.delivery;
  const known = receipt?.parts.includes(event.message) ?? false;
  if (state === "shown" || (state === "closed" && known)) return {};
  const found: Receipt = known && receipt ? receipt : { ...receipt, parts: [...(receipt?.parts ?? []), event.message] };
  return { adopt: { row: row.id, promptKey, receipt: found, at: context.clock.now() } };
}
