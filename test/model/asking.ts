/** What agents do: ask, ask again, wait, drop the wait, take the result. */
import { AskgateError } from "../../src/core/errors.ts";
import type { InquiryView } from "../../src/ports/asker.ts";
import { AGENT, inputOf, questionsOf } from "./cast.ts";
import { type Ask, mint, type Part, pickFrom, unlessDead, type Wait } from "./part.ts";
import type { Claim, Known, Performed, Task } from "./reference.ts";
import type { Act } from "./schedule.ts";
import { broken, must } from "./violation.ts";

type Asking = Extract<Act, { act: "ask" }>;

/** How long a settled result is handed to a repeated call. */
const ATTACH_MS = 10 * 60_000;
/** Where tasks begin, so that there are states before it. */
export const FIRST_STATE = 5;

export async function ask(part: Part, act: Asking): Promise<Claim> {
  const made = prepared(part, act);
  part.asks.push(made);
  const [first] = made.places;
  if (act.meets !== null && first !== undefined) part.world.platform.mishap(first, act.meets);
  const what = `ask #${made.serial}`;
  const ended = await (act.waits ? wait(part, made) : plainly(part, made));
  return { what, deeds: asksOrNothing(made, ended), allows: (performed) => asAsked(performed, ended) };
}

/** What the caller learnt: the inquiry is stored, refused for that reason, or nobody knows. */
type Ended = { readonly id: string; readonly view?: InquiryView } | { readonly code: string } | null;

function asksOrNothing({ draft }: Ask, ended: Ended): Claim["deeds"] {
  if (ended === null) return [{ type: "nothing" }, { type: "ask", draft }];
  return [{ type: "ask", draft }];
}

function asAsked({ code, after }: Performed, ended: Ended): boolean {
  if (ended === null) return true;
  if ("code" in ended) return code === ended.code;
  const { view } = ended;
  return code === "done" && (view === undefined || (view.version === after?.version && view.status === after.status));
}

function prepared(part: Part, act: Asking): Ask {
  const serial = mint(part);
  const { cast, world } = part;
  const questions = questionsOf(act.form);
  const state = part.slot.tasks.get(cast.taskId) ?? FIRST_STATE;
  const task: Task | null = act.task === null ? null : { taskId: cast.taskId, stateVersion: state + act.task };
  const respondents = act.onlyAna ? [cast.nameOf("ana")] : [cast.nameOf("ana"), cast.nameOf("ben")];
  const places = act.places.flatMap((one) => cast.places[one] ?? []);
  const defaults = act.form === "reversible" ? { one: ["Alder"] } : {};
  const input = {
    questions: inputOf(serial, questions),
    session: cast.session,
    timeoutSeconds: act.timeout,
    to: places,
    ...(act.named && { id: `id${serial}` }),
    ...(act.run && { run: cast.run }),
    ...(task && { task }),
    ...(act.onlyAna && { respondents }),
    ...(act.form === "reversible" && { reversible: true, onTimeout: { use: defaults } }),
  };
  const draft: Known = {
    ...{ serial, questions, task, defaults, run: act.run ? cast.run : null },
    ...{ status: "waiting", reason: null, version: 1, resolved: {} },
  };
  const key = act.keyed && !act.named ? `key${serial}` : undefined;
  const askedAt = world.clock.now();
  return { serial, content: serial, id: null, input, key, draft, places, respondents, askedAt, collected: false };
}

async function plainly(part: Part, made: Ask): Promise<Ended> {
  try {
    const answer = await unlessDead(part, ({ engine }) => engine.asker.ask(AGENT, made.input, made.key));
    if (!answer) return null;
    must(answer.created, "created once", () => `#${made.serial} was not new`);
    made.id = answer.inquiry.id;
    return { id: made.id, view: answer.inquiry };
  } catch (error) {
    return { code: codeOf(error) };
  }
}

export function codeOf(error: unknown): string {
  if (error instanceof AskgateError) return error.code;
  throw error;
}

/** Asks and goes on as soon as it is stored; the end of the wait is recorded when it comes. */
async function wait(part: Part, made: Ask): Promise<Ended> {
  let stored: (ended: Ended) => void = () => {};
  const asked = new Promise<Ended>((resolve) => {
    stored = resolve;
  });
  const leave = new AbortController();
  const gateway = part.world.gateway();
  const one: Wait = { ask: made, gateway, leave, end: null };
  const call = gateway.engine.asker.askUser(AGENT, made.input, {
    signal: leave.signal,
    ...(made.key !== undefined && { idempotencyKey: made.key }),
    onAsked(id) {
      made.id = id;
      part.waits.push(one);
      stored({ id });
    },
  });
  call.then(
    (result) => end({ result }),
    (error: unknown) => {
      end({ error });
      stored({ code: error instanceof AskgateError ? error.code : String(error) });
    },
  );
  const end = (how: NonNullable<Wait["end"]>) => {
    if (one.end !== null) throw broken("a waiter resolves once", `#${made.serial}`);
    one.end = how;
  };
  return Promise.race([asked, gateway.life.ended.then(() => null)]);
}

/** The same id and content once more, or other content under it. */
export async function askAgain(part: Part, { pick, otherwise }: Extract<Act, { act: "ask again" }>): Promise<void> {
  const known = part.asks.filter((one) => one.id !== null && (one.key !== undefined || "id" in one.input));
  const made = pickFrom(known, pick);
  if (!made) return;
  const input = otherwise ? { ...made.input, timeoutSeconds: 77 } : made.input;
  try {
    const answer = await unlessDead(part, ({ engine }) => engine.asker.ask(AGENT, input, made.key));
    if (!answer) return;
    must(!otherwise, "id conflict", () => `other content was taken under the id of #${made.serial}`);
    const same = !answer.created && answer.inquiry.id === made.id;
    must(same, "the same id is the same inquiry", () => `#${made.serial} was asked anew`);
  } catch (error) {
    if (codeOf(error) !== "id_conflict" || !otherwise) throw error;
  }
}

/** The same waiting call without an id: takes what nobody waits for, else asks anew. Only where nothing else happens. */
export async function attach(part: Part, { pick, collects }: Extract<Act, { act: "attach" }>): Promise<Claim | null> {
  const unnamed = part.asks.filter((one) => one.id !== null && one.key === undefined && !("id" in one.input));
  const first = pickFrom(unnamed, pick);
  if (!first || !part.alone) return null;
  if (collects) await collect(part, first);
  const alike = part.asks.filter((one) => one.content === first.content);
  const free = alike.filter((one) => isFree(part, one)).map((one) => one.id);
  const serial = mint(part);
  const draft = { ...first.draft, serial };
  const made: Ask = { ...first, serial, draft, id: null, collected: false, askedAt: part.world.clock.now() };
  const ended = await wait(part, made);
  if (ended && "id" in ended && alike.some((one) => one.id === ended.id)) {
    must(free.includes(ended.id), "attaches to what nobody waits for or has", () => `#${first.serial} was handed out`);
    return null;
  }
  part.asks.push(made);
  must(free.length === 0 || ended === null, "attaches", () => `#${first.serial} was asked anew though free`);
  return {
    what: `ask #${serial}, like #${first.serial}`,
    deeds: asksOrNothing(made, ended),
    allows: (performed) => asAsked(performed, ended),
  };
}

function isFree(part: Part, one: Ask): boolean {
  const view = part.seen.get(one.serial);
  if (!view || view.status === "cancelled" || one.collected) return false;
  const lives = ({ ask: waited, end, gateway }: Wait) => waited.id === one.id && !end && !gateway.life.dead();
  if (part.waits.some(lives)) return false;
  return view.settledAt === undefined || Date.parse(view.settledAt) > part.world.clock.now() - ATTACH_MS;
}

/** The result reached its caller: it is not handed out again. */
async function collect(part: Part, one: Ask): Promise<void> {
  const { id } = one;
  if (id === null || part.seen.get(one.serial)?.settledAt === undefined) return;
  await unlessDead(part, ({ engine }) => engine.asker.collect(AGENT, id));
  one.collected = true;
}

export function drop(part: Part, { pick }: Extract<Act, { act: "drop" }>): void {
  const live = part.waits.filter((one) => one.end === null && !one.gateway.life.dead());
  pickFrom(live, pick)?.leave.abort();
}
