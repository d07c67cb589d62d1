/** What programs do to what was asked: answer, skip, cancel, abort a run, move a task on. */
import { AskgateError } from "../../src/core/errors.ts";
import type { InquiryView } from "../../src/ports/asker.ts";
import { FIRST_STATE } from "./asking.ts";
import { AGENT, OPERATOR } from "./cast.ts";
import { type Ask, openOf, type Part, pickFrom, type Said, unlessDead } from "./part.ts";
import { type Asked, type Claim, type Deed, text } from "./reference.ts";
import { entriesFor, inWords, meaningOf, wordsFor } from "./sayings.ts";
import type { Act, Saying } from "./schedule.ts";
import { must } from "./violation.ts";
import type { Gateway } from "./world.ts";

type Answered = { readonly view: InquiryView } | { readonly code: string } | null;
type Call = (gateway: Gateway) => Promise<InquiryView>;

export async function answer(part: Part, act: Extract<Act, { act: "answer" }>): Promise<readonly Claim[]> {
  const one = pickFrom(
    part.asks.filter((ask) => ask.id !== null),
    act.pick,
  );
  if (!one?.id) return [];
  const { id, serial } = one;
  const key = act.keyed || act.twice ? `answer ${serial}.${part.said.length}` : undefined;
  const by = { by: "operator", channel: "http" };
  const open = openOf(part, one);
  if (act.typed) {
    const words = wordsFor(act.say, one.draft.questions, open);
    const deeds = meanings(part, one, words, "operator").map((entries) =>
      wholly(one, deedOf(serial, entries, by), part),
    );
    return said(part, act.twice, {
      what: `operator writes ${JSON.stringify(words)} to #${serial}`,
      ...{ key, deeds, call: ({ engine }) => engine.asker.answer(OPERATOR, id, { text: words }, key) },
    });
  }
  const entries =
    act.say === "first" && open.length === 0 ? entriesFor("first", one.draft.questions) : entriesFor(act.say, open);
  const stateVersion = versionFor(act.say, one);
  const input = {
    answers: Object.fromEntries(
      Object.entries(entries).flatMap(([q, entry]) => (entry === "skip" ? [] : [[q, inWords(entry)]])),
    ),
    skip: Object.keys(entries).filter((q) => entries[q] === "skip"),
    ...stateVersion,
  };
  return said(part, act.twice, {
    what: `operator answers #${serial} with ${JSON.stringify(input)}`,
    deeds: [{ type: "answer", serial, entries, ...by, ...stateVersion }],
    ...{ key, call: ({ engine }) => engine.asker.answer(OPERATOR, id, input, key) },
  });
}

/** Over HTTP a text that leaves a question open is refused as a whole. */
function wholly(one: Ask, deed: Deed, part: Part): Deed {
  if (deed.type !== "answer") return deed;
  const left = openOf(part, one).filter(({ id }) => !deed.entries[id]);
  return left.length > 0 && part.alone ? { ...deed, entries: {} } : deed;
}

/** Some answers name the state they are for, rightly or not. */
function versionFor(say: Saying, { draft }: Ask): { stateVersion?: number } {
  if (say !== "label" && say !== "several") return {};
  const current = draft.task?.stateVersion ?? FIRST_STATE;
  return { stateVersion: say === "label" ? current : current - 1 };
}

/** What words may mean: to what was open when the round began, or to what others have left of it since. */
export function meanings(part: Part, one: Ask, words: string, cancels: "operator" | "declined") {
  const open = openOf(part, one);
  const left = part.alone ? [open] : subsets(open);
  return left.map((some) => {
    const meaning = meaningOf(words, one.draft.questions, some);
    return meaning?.kind === "cancel" ? ({ kind: "cancel", reason: cancels } as const) : meaning;
  });
}

export function deedOf(
  serial: number,
  meaning: ReturnType<typeof meanings>[number],
  by: { readonly by: string; readonly channel: string },
): Deed {
  if (meaning?.kind === "cancel") return { type: "cancel", serial, reason: meaning.reason };
  return { type: "answer", serial, entries: meaning?.entries ?? {}, ...by };
}

function subsets(open: readonly Asked[]): readonly (readonly Asked[])[] {
  const [first, ...others] = open;
  if (!first) return [[]];
  const some = subsets(others);
  return [...some.map((left) => [first, ...left]), ...some];
}

export function close(part: Part, { pick, how, keyed }: Extract<Act, { act: "close" }>): Promise<readonly Claim[]> {
  const one = pickFrom(
    part.asks.filter((ask) => ask.id !== null),
    pick,
  );
  if (!one?.id) return Promise.resolve([]);
  const { id, serial } = one;
  const key = keyed ? `close ${serial}.${part.said.length}` : undefined;
  const by = { by: "operator", channel: "http" };
  const what = `${how} closes #${serial}`;
  if (how === "skip") {
    const call: Call = ({ engine }) => engine.asker.skip(OPERATOR, id, key);
    return said(part, false, { what, key, call, deeds: [{ type: "skip", serial, ...by }] });
  }
  const caller = how === "agent" ? AGENT : OPERATOR;
  const reason = how === "agent" ? "aborted" : "operator";
  const call: Call = ({ engine }) => engine.asker.cancel(caller, id, key);
  return said(part, false, { what, key, call, deeds: [{ type: "cancel", serial, reason }] });
}

interface Sayable {
  readonly what: string;
  readonly key: string | undefined;
  readonly deeds: readonly Deed[];
  readonly call: Call;
}

/** Says it, once or twice at a time, and keeps it to be said again where a key makes that harmless. */
async function said(part: Part, twice: boolean, { what, key, deeds, call }: Sayable): Promise<readonly Claim[]> {
  const again = (): Promise<Answered> =>
    unlessDead(part, call).then(
      (view) => view && { view },
      (error: unknown) => {
        if (error instanceof AskgateError) return { code: error.code };
        throw error;
      },
    );
  const one: Said = {
    ...{ what, again, replies: [], unsure: false, times: 0 },
    claim: (reply) => ({
      what,
      deeds: withNothing(deeds, reply),
      allows: (after) => asAnswered(after, reply as Answered),
    }),
    counts: (reply) => reply !== null && "view" in (reply as object),
  };
  if (key !== undefined) part.said.push(one);
  return settleSaid(one, await Promise.all(twice ? [again(), again()] : [again()]));
}

function withNothing(deeds: readonly Deed[], reply: unknown): readonly Deed[] {
  return reply === null ? [...deeds, { type: "nothing" }] : deeds;
}

function asAnswered({ code, after }: Parameters<Claim["allows"]>[0], reply: Answered): boolean {
  if (reply === null) return true;
  if ("code" in reply) return code === reply.code;
  return code === "done" && after?.version === reply.view.version && after.status === reply.view.status;
}

/** Of replies to the same thing said, all that tell of an effect tell the same; the first of them is the effect. */
export function settleSaid(one: Said, replies: readonly unknown[]): readonly Claim[] {
  const counting = replies.filter(one.counts);
  const known = [...one.replies, ...counting];
  const before = one.replies.length > 0;
  const repeated = one.times++ > 0;
  one.replies = known.slice(0, 1);
  const [first] = known;
  const unsure = one.unsure;
  one.unsure ||= replies.includes(null);
  if (first === undefined) return replies.map((reply) => one.claim(reply, repeated));
  for (const reply of replies) {
    if (reply === null) continue;
    must(
      text(reply) === text(first),
      "the same key gets the same reply",
      () => `${one.what}: ${text(first)}, then ${text(reply)}`,
    );
  }
  if (before) return [];
  const claim = one.claim(first, repeated);
  if (!unsure) return [claim];
  const allows: Claim["allows"] = (performed) => performed.code === "nothing" || claim.allows(performed);
  return [{ ...claim, deeds: [...claim.deeds, { type: "nothing" }], allows }];
}

export async function abortRun(part: Part): Promise<Claim> {
  const { run } = part.cast;
  const reply = await unlessDead(part, ({ engine }) => engine.asker.abortRun(AGENT, run));
  return closing(part, "abort the run", { type: "abort", run }, reply && { closed: reply.cancelled });
}

export async function moveTask(part: Part, { by }: Extract<Act, { act: "move task" }>): Promise<Claim> {
  const { taskId } = part.cast;
  const stateVersion = (part.slot.tasks.get(taskId) ?? FIRST_STATE) + by;
  const deed: Deed = { type: "move", task: { taskId, stateVersion } };
  const reply = await unlessDead(part, ({ engine }) => engine.asker.moveTask(AGENT, taskId, { stateVersion })).then(
    (moved) => moved && { closed: moved.superseded },
    (error: unknown) => {
      if (error instanceof AskgateError) return { code: error.code };
      throw error;
    },
  );
  return closing(part, `move the task to ${stateVersion}`, deed, reply);
}

function closing(
  part: Part,
  what: string,
  deed: Deed,
  reply: { readonly closed: readonly string[] } | { readonly code: string } | null,
): Claim {
  if (reply === null) return { what, deeds: [deed, { type: "nothing" }], allows: () => true };
  if ("code" in reply) return { what, deeds: [deed], allows: ({ code }) => code === reply.code };
  const serials = new Set(part.asks.flatMap((one) => (one.id && reply.closed.includes(one.id) ? [one.serial] : [])));
  return {
    ...{ what: `${what}: ${[...serials]}`, deeds: [deed] },
    allows: ({ code, closed = [] }) =>
      code === "done" && closed.length === reply.closed.length && closed.every((serial) => serials.has(serial)),
  };
}
