/** What must hold whenever the gateway rests, beyond what the reference says of each inquiry by itself. */
import { decodeControl } from "../../src/core/control.ts";
import { channelOf } from "../../src/core/people.ts";
import type { InquiryView, ToolResult } from "../../src/ports/asker.ts";
import type { Ask, Part, Wait } from "./part.ts";
import { CHANNELS, type Message } from "./platform.ts";
import { text } from "./reference.ts";
import { must } from "./violation.ts";
import type { World } from "./world.ts";

/** A deadline may be this late outside the grace. */
const LATE_MS = 1_000;
const GRACE_MS = 10_000;

/** A gateway, from its start to its end. */
export interface Lifetime {
  readonly from: number;
  until: number;
}

export function checkEnds(part: Part, lives: readonly Lifetime[], before: ReadonlyMap<number, InquiryView>): void {
  for (const [serial, view] of part.seen) {
    if (view.status === "waiting") checkStillDue(part, serial, view);
    else if (before.get(serial)?.status !== view.status) checkDeadline(serial, view, lives);
  }
}

function checkStillDue({ world }: Part, serial: number, view: InquiryView): void {
  const latest = Math.max(Date.parse(view.expiresAt), world.graceEnd()) + LATE_MS;
  must(world.clock.now() <= latest, "no deadline is missed", () => `#${serial} waits since ${view.expiresAt}`);
}

/** The reasons an inquiry can only have got at its deadline. */
const AT_DEADLINE = new Set(["delivery_unknown", "queued"]);

function checkDeadline(serial: number, view: InquiryView, lives: readonly Lifetime[]): void {
  const { status, reason, shownAt, settledAt = "" } = view;
  const [ended, due] = [Date.parse(settledAt), Date.parse(view.expiresAt)];
  const shown = shownAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(shownAt);
  // Of two things at one moment nobody can tell which came first.
  if (status === "undelivered")
    must(shown >= ended, "undelivered only when nobody could see it", () => `#${serial}: ${reason}`);
  const partly = view.details?.some((detail) => detail.outcome !== "unanswered") ?? false;
  if (status === "timed_out")
    must(shown <= ended || partly, "timed out only when somebody could see it", () => `#${serial}`);
  if (status !== "timed_out" && !(status === "undelivered" && AT_DEADLINE.has(reason ?? ""))) return;
  must(ended >= due, "no deadline is early", () => `#${serial} by ${due - ended} ms`);
  const life = lives.find(({ from, until }) => from <= ended && ended <= until);
  must(life !== undefined && ended >= life.from + GRACE_MS, "nothing expires in the grace", () => `#${serial}`);
  const latest = Math.max(due, life.from + GRACE_MS) + LATE_MS;
  must(ended <= latest, "no deadline is late", () => `#${serial} by ${ended - due} ms`);
}

/** Whoever waits is told when it is over, once and the truth. */
export function checkWaiters(part: Part): void {
  for (const one of part.waits) {
    const view = [...part.seen].find(
      ([serial]) => serial === one.ask.serial || part.asks.find((ask) => ask.serial === serial)?.id === one.ask.id,
    )?.[1];
    if (view) checkWaiter(one, view);
  }
}

function checkWaiter({ ask, gateway, leave, end }: Wait, view: InquiryView): void {
  const over = view.status !== "waiting";
  if (end === null) {
    must(!over || gateway.life.dead(), "every waiter is told", () => `of #${ask.serial}, which is ${view.status}`);
    must(!leave.signal.aborted || gateway.life.dead(), "a dropped wait ends", () => `of #${ask.serial}`);
    return;
  }
  if ("error" in end) {
    const code = (end.error as { code?: string }).code;
    must(
      code === "unavailable" && gateway.life.dead(),
      "a wait ends with the end",
      () => `#${ask.serial}: ${end.error}`,
    );
    return;
  }
  if (end.result.status === "waiting") {
    must(leave.signal.aborted, "a wait ends with the end", () => `#${ask.serial} went on waiting`);
    return;
  }
  must(
    text(endOf(end.result)) === text(endOfView(view)),
    "a waiter learns the final state",
    () => `#${ask.serial}: told ${text(endOf(end.result))}, is ${text(endOfView(view))}`,
  );
}

function endOf(result: ToolResult): unknown {
  const { details, inquiry_id: id, status } = result;
  const why = result.status === "no_answer" ? (result.cause ?? result.reason) : undefined;
  return { id, status, details, why, answers: result.status === "answered" ? result.answers.answers : undefined };
}

function endOfView({ id, status, details, reason, answers }: InquiryView): unknown {
  const why = status === "answered" ? undefined : (reason ?? status);
  return { id, status: status === "answered" ? status : "no_answer", details, why, answers };
}

/** What people see agrees with what is stored. */
export async function checkCopies(part: Part): Promise<void> {
  const { world } = part;
  for (const { serial, address } of part.proofs) {
    const view = part.seen.get(serial);
    must(view === undefined || view.shownAt !== undefined, "a press proves a copy", () => `#${serial} at ${address}`);
  }
  part.proofs.length = 0;
  for (const one of part.asks) {
    const view = part.seen.get(one.serial);
    if (!view) continue;
    const messages = world.platform.messagesOf(part.number).filter((message) => message.serial === one.content);
    const alike = part.asks.filter(({ content }) => content === one.content).length > 1;
    const confirmed = messages.some((message) => part.confirmed.before.has(message));
    must(!confirmed || alike || view.shownAt !== undefined, "what was shown counts as shown", () => `#${one.serial}`);
    if (view.status === "waiting") await checkOpen(part, one, view, messages);
  }
  checkLines(part);
}

async function checkOpen(part: Part, one: Ask, view: InquiryView, messages: readonly Message[]): Promise<void> {
  const { store } = part.world;
  for (const { address, state } of view.deliveries) {
    const open = messages.filter((message) => message.address === address && message.open && !message.deleted);
    if (open.length < 2) continue;
    const keys = open.map((message) => decodeControl(message.controls[0] ?? "")?.promptKey ?? "");
    const live = await Promise.all(keys.map((key) => store.copyByKey(key)));
    const count = live.filter((copy) => copy?.inquiry.id === one.id).length;
    must(count < 2, "one answerable prompt at most", () => `#${one.serial} has ${count} at ${address} (${state})`);
  }
  if (!view.deliveries.some(({ state }) => state === "pending")) return;
  const [inquiry] = await store.inquiriesById(view.id, null);
  for (const { id, dueAt, delivery } of inquiry ? await store.copies(inquiry.uid) : []) {
    must(
      delivery.state !== "pending" || dueAt !== null,
      "what is to be sent is due",
      () => `copy ${id} of #${one.serial}`,
    );
  }
}

/** Where one shows at a time, one does, and the line moves on once what was there says that it is over. */
function checkLines(part: Part): void {
  const lines = new Map<string, string[]>();
  for (const { status, deliveries } of part.seen.values()) {
    for (const { address, state, channel } of deliveries) {
      const stands = status === "waiting" ? state : ["closed", "failed"].includes(state) ? null : "closing";
      if (stands === null || (channel !== "mute" && channel !== "terminal")) continue;
      lines.set(address, [...(lines.get(address) ?? []), stands]);
    }
  }
  for (const [address, states] of lines) {
    const front = states.filter((state) => ["pending", "unknown", "shown"].includes(state)).length;
    must(front <= 1, "one at a time", () => `slot ${part.number}, ${address}: ${states}`);
    const isFree = front === 0 && !states.includes("closing") && !states.includes("absent");
    must(
      !isFree || !states.includes("queued"),
      "the line moves on",
      () => `slot ${part.number}, ${address}: ${states}`,
    );
  }
}

/** The lanes: a deadline for everything that waits and for nothing else, and nothing overdue that nobody looks at. */
export async function checkLanes(world: World, parts: readonly Part[]): Promise<void> {
  const now = world.clock.now();
  const waiting = parts.flatMap((part) => [...part.seen.values()].filter(({ status }) => status === "waiting"));
  const first = Math.min(...waiting.map((view) => Date.parse(view.expiresAt)));
  const due = await world.store.nextDue("deadline");
  must((due === null) === (waiting.length === 0), "what waits has a deadline, nothing else has", () => `${due}`);
  if (due !== null) {
    must(
      due === first || (due > first && (due <= now + LATE_MS || first <= world.clock.now())),
      "what waits has its deadline",
      () => `${due}, not ${first}`,
    );
  }
  for (const channel of Object.keys(CHANNELS)) {
    const next = await world.store.nextDue("delivery", channel);
    const oldest = now - LATE_MS;
    must(
      next === null || next > oldest,
      "what is due is looked at",
      () => `${channel}: due for ${now - (next ?? 0)} ms`,
    );
  }
}

/** When nothing is due any more: everything is over and everybody can see that. */
export async function checkRest(world: World, parts: readonly Part[]): Promise<void> {
  for (const channel of Object.keys(CHANNELS)) {
    const next = await world.store.nextDue("delivery", channel);
    must(next === null, "nothing stays claimed or due", () => `${channel}: in ${(next ?? 0) - world.clock.now()} ms`);
  }
  for (const part of parts) {
    for (const [serial, view] of part.seen) {
      must(view.status !== "waiting", "everything ends", () => `#${serial}`);
      for (const delivery of view.deliveries) {
        const over = delivery.state === "closed" || delivery.state === "failed";
        must(over, "every copy is closed or given up", () => `#${serial}: ${text(delivery)}`);
        if (delivery.reason === undefined) checkClosed(part, serial, delivery.address);
      }
    }
    await checkUnheld(part);
  }
}

function checkClosed(part: Part, serial: number, address: string): void {
  const content = part.asks.find((one) => one.serial === serial)?.content;
  if (content !== serial || part.asks.filter((one) => one.content === content).length > 1) return;
  const all = part.world.platform.messagesOf(part.number);
  const here = all.filter((message) => message.serial === serial && message.address === address);
  const last = CHANNELS[channelOf(address)]?.edits === false ? here.slice(-1) : here;
  const open = last.filter(
    (message) => message.open && (message.confirmedTo !== null || message.proved) && !message.deleted,
  );
  must(open.length === 0, "no copy shows controls of what is over", () => `#${serial}: ${open[0]?.id} at ${address}`);
}

/** Right after a new gateway has begun: it holds nothing but what stalls. */
export async function checkUnheld({ world, cast }: Part): Promise<void> {
  for (const address of cast.places.filter((one) => !world.platform.stalling.has(one))) {
    const held = await world.store.inFlight(address, world.clock.now());
    must(!held, "no claim outlives its holder", () => address);
  }
}
