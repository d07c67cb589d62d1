/**
 * One claimed copy: what to do with it now, and what becomes of it.
 *
 * A copy that shows what it should is left alone; one that was never shown is sent; any other is edited, or followed by
 * a new message where the platform cannot edit. A send whose fate is unknown is never repeated under the same prompt
 * key, and only once under a new one.
 */
import { DeliveryError, type DeliveryState, moveDelivery, type Receipt } from "../core/delivery.ts";
import { digestOf } from "../core/digest.ts";
import type { FittedPrompt } from "../core/fit.ts";
import { type Inquiry, isSettled } from "../core/inquiry.ts";
import { type Limits, showsOneAtATime } from "../core/limits.ts";
import { personOf, withoutTopic } from "../core/people.ts";
import { lostCause } from "../core/route.ts";
import type { Channel } from "../ports/channel.ts";
import type { Delivery, DeliveryRow, Settlement } from "../ports/store.ts";
import { applyEvent, type Context } from "./context.ts";
import { afterFailure, beforeSend, type Outcome, rest, tooLate } from "./fate.ts";
import { passed } from "./patience.ts";
import { outlookOf, render } from "./render.ts";
import { settled, shown } from "./trail.ts";

export async function deliver(context: Context, channel: Channel, limits: Limits, row: DeliveryRow): Promise<void> {
  const inquiry = await context.store.inquiry(row.inquiry);
  if (!inquiry) throw new Error(`the outbox row ${row.id} has no inquiry`);
  if (!isSettled(inquiry) && isLost(row.delivery)) await countLoss(context, limits, row, inquiry);
  // Words typed here just after another process ended it are told so here.
  if (context.store.shared) context.lately.ended(inquiry);
  const { copy, ...outcome } = await bringUpToDate(context, channel, limits, row, inquiry);
  const over = copy.state === "closed" || copy.state === "failed";
  if (isSettled(inquiry) && over && showsOneAtATime(limits)) await ready(context, row);
  const lost = !isSettled(inquiry) && isLost(copy) && !isLost(row.delivery);
  const again = lost ? { dueAt: context.clock.now() } : {};
  const kept = await keep(context, row, { row: row.id, epoch: row.epoch, delivery: copy, ...outcome, ...again });
  if (!kept) context.log.warn({ row: row.id, inquiry: row.inquiry }, "another worker has settled this copy");
  else if (outcome.shownAt !== undefined && row.delivery.state !== "shown") {
    shown(context, inquiry, row, outcome.shownAt);
    context.happened();
  }
}

/** Tried again for so long where the store fails: the receipt of what was sent is known to nobody else. */
const KEEPING = { mostMs: 30_000, everyMs: 250 } as const;

async function keep({ store, clock, log }: Context, row: DeliveryRow, settlement: Settlement): Promise<boolean> {
  const until = clock.now() + KEEPING.mostMs;
  for (let faults = 0; ; faults += 1) {
    try {
      return await store.settle(settlement);
    } catch (error) {
      if (clock.now() >= until) throw error;
      if (faults === 0)
        log.warn(
          { row: row.id, inquiry: row.inquiry, err: error },
          "the store did not take what became of a copy; it is tried again",
        );
      await passed(clock, KEEPING.everyMs);
    }
  }
}

/** Nobody can see it there now. */
function isLost({ state }: { readonly state: DeliveryState }): boolean {
  return state === "failed" || state === "absent";
}

/**
 * A copy that was lost is looked at once more after that is stored: only then do all copies tell whether anybody is left
 * to be reached, and a crash in between loses nothing.
 */
async function countLoss(context: Context, limits: Limits, row: DeliveryRow, inquiry: Inquiry): Promise<void> {
  await giveUpIfLost(context, inquiry);
  if (row.delivery.state === "failed" && showsOneAtATime(limits)) await ready(context, row);
}

/** The next in line may be shown. */
function ready(context: Context, row: DeliveryRow): Promise<void> {
  return context.store.ready(row.delivery.address, context.clock.now());
}

async function bringUpToDate(
  context: Context,
  channel: Channel,
  limits: Limits,
  row: DeliveryRow,
  inquiry: Inquiry,
): Promise<Outcome> {
  const { delivery } = row;
  const now = context.clock.now();
  if (delivery.state !== "shown") {
    if (isSettled(inquiry) && delivery.receipt === null)
      return rest(delivery, { state: moveDelivery(delivery.state, "done") });
    const hold = isSettled(inquiry) ? null : beforeSend(context.entropy, row, limits, inquiry, now);
    if (hold) return hold;
  }
  if (row.notBefore !== null && row.notBefore > now) return tooLate(row, inquiry, row.notBefore);
  const prompt = render(context, inquiry, delivery, limits);
  const digest = digestOf(prompt);
  if (digest === delivery.digest) return upToDate(delivery, inquiry);
  try {
    const receipt = await show(context, channel, limits, delivery, { prompt, digest });
    return afterSuccess(context, row, inquiry, limits, { receipt, digest });
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    if (error.movedTo !== null) await context.addresses.move(delivery.address, error.movedTo, now);
    report(context, row, error);
    return afterFailure({ entropy: context.entropy, now: context.clock.now() }, row, limits, inquiry, error);
  }
}

/** An inbox nobody has open is no fault. */
function report({ log }: Context, row: DeliveryRow, { reason, sent, message }: DeliveryError): void {
  const fields = { row: row.id, inquiry: row.inquiry, reason, sent, detail: message };
  if (reason === "absent") log.debug(fields, "nobody has the surface open");
  else log.warn(fields, "a copy was not shown");
}

async function show(
  context: Context,
  channel: Channel,
  limits: Limits,
  delivery: Delivery,
  { prompt, digest }: { prompt: FittedPrompt; digest: string },
): Promise<Receipt> {
  const to = context.addresses.current(delivery.address);
  const { state, receipt } = delivery;
  const key = delivery.promptKey + digest.slice(0, 8);
  // What arrived of another form, or of a question now over, says something else than what is to follow it.
  const outdated = state === "shown" || delivery.plain || !prompt.open;
  const start = context.clock.now();
  const count = (outcome: string) => context.meter.sent(delivery.channel, outcome, context.clock.now() - start);
  try {
    const now =
      outdated && receipt && limits.edits
        ? await channel.edit(to, receipt, prompt)
        : await channel.send(to, prompt, { key, partial: state === "shown" ? null : receipt });
    count("ok");
    return now;
  } catch (error) {
    if (error instanceof DeliveryError) count(error.reason);
    throw error;
  }
}

function upToDate(delivery: Delivery, inquiry: Inquiry): Outcome {
  return rest(delivery, { state: isSettled(inquiry) ? moveDelivery(delivery.state, "done") : delivery.state });
}

function afterSuccess(
  context: Context,
  row: DeliveryRow,
  inquiry: Inquiry,
  limits: Limits,
  { receipt, digest }: { receipt: Receipt; digest: string },
): Outcome {
  const now = context.clock.now();
  const sent = moveDelivery(row.delivery.state, "sent");
  const state = isSettled(inquiry) ? moveDelivery(sent, "done") : sent;
  const gap = gapMs(context, limits, row.delivery.address);
  return {
    ...rest(row.delivery, { state, receipt, digest, reason: null, unknownUntil: null }),
    ...(!isSettled(inquiry) && { shownAt: now }),
    ...(gap > 0 && { notBefore: now + gap }),
  };
}

function gapMs(context: Context, limits: Limits, address: string): number {
  const direct = personOf(context.directory(), withoutTopic(address)) !== null;
  return direct ? limits.pace.perAddressMs : limits.pace.perGroupMs;
}

/** Settles the inquiry as undelivered once no copy is left that anybody could see in time. */
async function giveUpIfLost(context: Context, inquiry: Inquiry): Promise<void> {
  const copies = await context.store.copies(inquiry.uid);
  const reason = lostCause(copies.map((copy) => outlookOf(context, copy)));
  if (!reason) return;
  const failed = await applyEvent(context, inquiry, (now) => (now.shownAt === null ? { type: "fail", reason } : null));
  if (failed.outcome === "done") settled(context, failed.inquiry);
}
