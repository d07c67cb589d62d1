/** What people do on the platform, and what goes wrong there. */
import { decodeControl } from "../../src/core/control.ts";
import { channelOf } from "../../src/core/people.ts";
import type { InboundEvent, Reply } from "../../src/ports/channel.ts";
import { deedOf, meanings, settleSaid } from "./answering.ts";
import { type Ask, askOf, openOf, type Part, pickFrom, type Said } from "./part.ts";
import { CHANNELS, type Message } from "./platform.ts";
import type { Claim, Deed, Performed, Word } from "./reference.ts";
import { wordsFor } from "./sayings.ts";
import type { Act, Who } from "./schedule.ts";
import { must } from "./violation.ts";

type Press = Extract<Act, { act: "press" }>;
type Write = Extract<Act, { act: "write" }>;
type Heard = "recorded" | "over" | "old" | "not theirs" | "writing" | "quiet" | "asked again" | "lost";

/** What a reply says, by the words people read. */
function heardIn(reply: Reply | null): Heard {
  if (reply === null) return "lost";
  const words = reply.notice ?? reply.say;
  if (words === null) return "quiet";
  if (/^(Recorded|Skipped|Cancelled)/.test(words)) return "recorded";
  if (/^(Already answered|This question is closed already)/.test(words)) return "over";
  if (/^This button no longer/.test(words)) return "old";
  if (/^This question is for somebody else|^I do not take answers/.test(words)) return "not theirs";
  if (/^(Write your answer now|Back to the options|.* is writing an answer)/.test(words)) return "writing";
  return "asked again";
}

function mayAnswer(part: Part, one: Ask, who: Who, address: string): boolean {
  const own = address === part.cast.group || address === part.cast.identity(who, channelOf(address));
  return own && one.respondents.includes(part.cast.nameOf(who));
}

function eventBase(part: Part, who: Who, address: string, at: number) {
  part.count += 1;
  return {
    eventId: `e${part.number}.${part.count}`,
    actor: part.cast.identity(who, channelOf(address)),
    ...{ actorName: who, address, at, direct: address !== part.cast.group },
  };
}

/** The gateway knows of this message, and nothing has gone wrong where it stands. */
function isSure(part: Part, message: Message): boolean {
  const { platform, gateway } = part.world;
  return message.confirmedTo === gateway().life && !message.deleted && !platform.troubled.has(message.address);
}

export async function press(part: Part, act: Press): Promise<readonly Claim[]> {
  const shown = part.world.platform.messagesOf(part.number).filter((message) => act.stale || !message.deleted);
  const controls = shown.flatMap((message) =>
    (act.stale ? [...message.history] : message.controls).map((control) => ({ message, control })),
  );
  const chosen = pickFrom(controls, act.pick);
  const one = chosen && askOf(part, chosen.message);
  const control = chosen && decodeControl(chosen.control);
  if (!chosen || !one || !control) return [];
  const { message } = chosen;
  const event: InboundEvent = {
    ...eventBase(part, act.who, message.address, part.world.clock.now()),
    ...{ kind: "press", control: chosen.control, message: message.id },
  };
  const may = mayAnswer(part, one, act.who, message.address);
  const sure = may && !act.stale && isSure(part, message);
  const deed = pressed(part, one, control, act.who, message.address);
  const what = `${act.who} presses ${chosen.control} of #${one.serial}`;
  const counts = (heard: Heard) => heard === "recorded";
  return happens(part, { event, what, twice: act.twice, counts }, (reply, repeated) => {
    const heard = heardIn(reply);
    const proved = may && ["recorded", "over", "writing"].includes(heard);
    if (proved) part.proofs.push({ serial: one.serial, address: message.address });
    message.proved ||= proved;
    if (heard === "writing") part.writing.add(`${message.address} ${act.who}`);
    must(
      !sure || repeated || heard !== "old",
      "a button that is shown works",
      () => `${chosen.control} of #${one.serial}`,
    );
    must(may || heard !== "recorded", "answers come only from those asked", () => `${act.who} for #${one.serial}`);
    return { deeds: deedsFor(heard, deed), allows: (performed) => asPressed(performed, heard) };
  });
}

function pressed(
  part: Part,
  one: Ask,
  control: NonNullable<ReturnType<typeof decodeControl>>,
  who: Who,
  address: string,
): Deed {
  const question = one.draft.questions[control.question];
  const by = { by: part.cast.nameOf(who), channel: channelOf(address) };
  if (!question || control.act.kind === "other" || control.act.kind === "back") return { type: "nothing" };
  const label = control.act.kind === "option" ? (question.options[control.act.index] ?? "") : "";
  const entry = control.act.kind === "option" ? ([{ kind: "option", label }] as const) : ("skip" as const);
  return { type: "answer", serial: one.serial, entries: { [question.id]: entry }, ...by };
}

function deedsFor(heard: Heard, deed: Deed): readonly Deed[] {
  if (heard === "recorded") return [deed];
  if (heard === "over" || heard === "lost") return [deed, { type: "nothing" }];
  return [{ type: "nothing" }];
}

function asPressed({ code }: Performed, heard: Heard): boolean {
  switch (heard) {
    case "recorded":
      return code === "done";
    case "over":
      return code === "already_settled" || code === "already_answered" || code === "nothing";
    case "lost":
      return true;
    default:
      return code === "nothing";
  }
}

export async function write(part: Part, act: Write): Promise<readonly Claim[]> {
  const shown = part.world.platform.messagesOf(part.number).filter((message) => message.open && !message.deleted);
  const message = pickFrom(shown, act.pick);
  const one = message && askOf(part, message);
  if (!message || !one) return [];
  const channel = channelOf(message.address);
  const address = message.address === part.cast.group ? message.address : part.cast.identity(act.who, channel);
  const replies = act.replies && address === message.address && (CHANNELS[channel]?.replies ?? false);
  const words = wordsFor(act.say, one.draft.questions, openOf(part, one));
  part.count += 1;
  const event: InboundEvent = {
    ...eventBase(part, act.who, address, part.world.clock.now()),
    ...{ kind: "text", text: words, message: `w${part.count}`, mentioned: false, content: "text" },
    replyTo: replies ? message.id : null,
  };
  const may = mayAnswer(part, one, act.who, address);
  const sure = replies && may && isSure(part, message) && part.alone;
  const what = `${act.who} writes ${JSON.stringify(words)} at ${address}${replies ? ` in reply to #${one.serial}` : ""}`;
  const alone = sure && !part.writing.has(`${address} ${act.who}`);
  const counts = (heard: Heard) => heard === "recorded" || (alone && heard === "quiet");
  return happens(part, { event, what, twice: act.twice, counts }, (reply, repeated) => {
    const heard = heardIn(reply);
    const targets = replies ? [one] : part.asks;
    const meant = targets.flatMap((target) => readingsFor(part, target, act.who, address, words));
    const firm = alone && !repeated;
    return {
      deeds: firm ? firmDeeds(meant, heard) : [...meant, { type: "nothing" }],
      allows: (after) => asWritten(after, heard),
    };
  });
}

/** Clear words to a question that is surely there have their effect, or lose to whoever came first. */
function firmDeeds(meant: readonly Deed[], heard: Heard): readonly Deed[] {
  return heard === "asked again" ? [...meant, { type: "nothing" }] : meant;
}

/**
 * Everything these words may mean for that inquiry there; nothing where the person may not answer it. In an entry field
 * they are the person's own; words meant for another question may be anything.
 */
function readingsFor(part: Part, target: Ask, who: Who, address: string, words: string): readonly Deed[] {
  if (!mayAnswer(part, target, who, address)) return [];
  const by = { by: part.cast.nameOf(who), channel: channelOf(address) };
  const read = meanings(part, target, words, "declined").map((meaning) => deedOf(target.serial, meaning, by));
  const astray = target.draft.questions.length === 1 && /^\d: /.test(words);
  if (!part.writing.has(`${address} ${who}`) && !astray) return read;
  const own = target.draft.questions.flatMap(({ id, options, many }): Deed[] => {
    const said = (entry: readonly Word[]): Deed => ({
      ...{ type: "answer", serial: target.serial, entries: { [id]: entry }, ...by },
    });
    const option = (label: string): Word => ({ kind: "option", label });
    const numbers = options.filter((_, index) => new RegExp(`\\b${index + 1}\\b`).test(words));
    const whole = said([options.includes(words) ? option(words) : { kind: "text", text: words }]);
    return [whole, ...(many ? [said(numbers.map(option))] : []), ...options.map((label) => said([option(label)]))];
  });
  return [...read, ...own];
}

function asWritten({ code, after }: Performed, heard: Heard): boolean {
  switch (heard) {
    case "quiet":
      return code === "nothing" || (code === "done" && after?.status !== "waiting");
    case "recorded":
      return code === "done";
    case "lost":
      return true;
    default:
      return code !== "done";
  }
}

interface Happening {
  readonly event: InboundEvent;
  readonly what: string;
  readonly twice: boolean;
  /** What tells of an effect. */
  readonly counts: (heard: Heard) => boolean;
}

/** The event arrives, once or twice at a time, and is kept to arrive again later. */
async function happens(
  part: Part,
  { event, what, twice, counts }: Happening,
  claim: (reply: Reply | null, repeated: boolean) => Omit<Claim, "what">,
): Promise<readonly Claim[]> {
  const again = (): Promise<Reply | null> => part.world.platform.happen(channelOf(event.address), event);
  const one: Said = {
    ...{ what, again, replies: [], unsure: false, times: 0 },
    claim: (reply, repeated) => ({
      what: `${what}: ${JSON.stringify(reply)}`,
      ...claim(reply as Reply | null, repeated),
    }),
    counts: (reply) => counts(heardIn(reply as Reply | null)),
  };
  const replies = await Promise.all(twice ? [again(), again()] : [again()]);
  part.said.push(one);
  return settleSaid(one, replies);
}

/** Something that was said before arrives once more. */
export async function repeat(part: Part, { pick }: Extract<Act, { act: "repeat" }>): Promise<readonly Claim[]> {
  const one = pickFrom(part.said, pick);
  if (!one) return [];
  const claims = settleSaid(one, [await one.again()]);
  return claims.map((claim) => ({ ...claim, what: `again: ${claim.what}` }));
}

export function mishap(part: Part, { place, what }: Extract<Act, { act: "mishap" }>): void {
  const address = part.cast.places[place];
  if (address !== undefined) part.world.platform.mishap(address, what);
}

export async function surface(part: Part, { who, open }: Extract<Act, { act: "surface" }>): Promise<void> {
  const address = part.cast.identity(who, "terminal");
  part.world.platform.open(address, open);
  if (!open) return;
  const event: InboundEvent = { ...eventBase(part, who, address, part.world.clock.now()), kind: "opened" };
  await part.world.platform.happen("terminal", event);
}

export function remove(part: Part, { pick }: Extract<Act, { act: "delete" }>): void {
  const shown = part.world.platform.messagesOf(part.number).filter((message) => !message.deleted);
  const message = pickFrom(shown, pick);
  if (message) part.world.platform.remove(message);
}
