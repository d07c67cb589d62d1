/**
 * The channels this process holds, from the taking of a lease to its loss, and the work that goes with each.
 *
 * Rules: work begins after the lease is taken and ends before it is released; what another process took ends at once.
 */
import { channelLease, type Lease } from "../ports/lease.ts";
import type { Context } from "./context.ts";
import { changingHands, type HealthKeeper } from "./health.ts";
import { passed } from "./patience.ts";
import type { Renewal } from "./renewal.ts";
import type { Station } from "./station.ts";

/** How long a hand-over lets sends under way end. */
const HANDOVER_MS = 3_000;

export interface Holdings {
  has(channel: string): boolean;
  /** The epochs of the leases, by channel. */
  epochs(): ReadonlyMap<string, number>;
  /** Takes the lease, unless somebody else is faster, and begins to work. */
  take(channel: string): Promise<void>;
  /** Resolves once work has begun on everything taken so far. */
  begun(): Promise<void>;
  lose(channel: string, why: string): void;
  /** Ends the work in order, then releases the lease; one channel at a time. */
  cede(channel: string): void;
  /** Tells the other processes how the channels stand, where that has changed. */
  tell(): Promise<void>;
  /** To be called once all work has ended. */
  release(): Promise<void>;
}

interface Held {
  readonly channel: string;
  readonly lease: Lease;
  /** The note the lease carries now. */
  told: string;
}

export interface HoldingParts {
  readonly stations: ReadonlyMap<string, Station>;
  readonly health: HealthKeeper;
  readonly renewal: Renewal;
  /** Resolves when the next renewal has ended and what follows from it is done. */
  verdict(): Promise<void>;
}

export function createHoldings(context: Context, parts: HoldingParts): Holdings {
  const { stations, health, renewal } = parts;
  const held = new Map<string, Held>();
  let begun: Promise<void> = Promise.resolve();
  let ceding: Promise<void> | null = null;

  function end(mine: Held): void {
    if (held.get(mine.channel) !== mine) return;
    held.delete(mine.channel);
    health.sees(mine.channel, null, context.clock.now());
    void stations.get(mine.channel)?.end({ lost: true });
  }

  return {
    has: (channel) => held.has(channel),
    epochs: () => new Map([...held].map(([channel, { lease }]) => [channel, lease.epoch])),

    async take(channel) {
      const mine = await takeLease(context, parts, channel);
      if (!mine) return;
      held.set(channel, mine);
      const stands = () => standsStill(parts, () => held.get(channel) === mine);
      const beginning = begin(context, parts, mine, stands, () => end(mine));
      begun = begun.then(() => beginning);
    },
    begun: () => begun,

    lose(channel, why) {
      context.log.warn({ channel }, why);
      const mine = held.get(channel);
      if (mine) end(mine);
    },

    cede(channel) {
      const mine = held.get(channel);
      if (!mine || ceding !== null) return;
      const isHeld = () => held.get(channel) === mine;
      ceding = handOver(context, parts, mine, isHeld, () => held.delete(channel)).finally(() => {
        ceding = null;
      });
    },

    tell: async () => void (await Promise.all([...held.values()].map((mine) => tell(parts, mine)))),

    async release() {
      await Promise.all([...held.values()].map(({ lease }) => renewal.release(lease)));
      held.clear();
    },
  };
}

async function takeLease({ clock }: Context, parts: HoldingParts, channel: string): Promise<Held | null> {
  const standing = changingHands(parts.health.standing(channel), clock.now());
  const told = JSON.stringify(standing);
  const lease = await parts.renewal.take(channelLease(channel), told);
  if (!lease) return null;
  parts.health.begins(channel, standing);
  return { channel, lease, told };
}

async function begin(
  { log }: Context,
  { stations }: HoldingParts,
  { channel, lease }: Held,
  stands: () => Promise<boolean>,
  end: () => void,
): Promise<void> {
  try {
    await stations.get(channel)?.begin({ lease, stands });
    log.info({ channel, epoch: lease.epoch }, "this process holds the channel");
  } catch (error) {
    log.error({ channel, err: error }, "a channel could not be taken over; it is tried again");
    end();
  }
}

/** Whoever was paused past the end of its leases asks the store whether they are still its own. */
async function standsStill({ renewal, verdict }: HoldingParts, isHeld: () => boolean): Promise<boolean> {
  if (isHeld() && !renewal.stands()) await verdict();
  return isHeld() && renewal.stands();
}

async function handOver(
  { clock, log }: Context,
  { stations, renewal }: HoldingParts,
  { channel, lease }: Held,
  isHeld: () => boolean,
  forget: () => void,
): Promise<void> {
  log.info({ channel }, "the channel is handed over to a process with less to do");
  await Promise.race([stations.get(channel)?.end({ lost: false }), passed(clock, HANDOVER_MS)]);
  if (!isHeld()) return;
  forget();
  await renewal.release(lease);
}

async function tell({ health, renewal }: HoldingParts, mine: Held): Promise<void> {
  const note = JSON.stringify(health.standing(mine.channel));
  if (note === mine.told) return;
  await renewal.note(mine.lease, note);
  mine.told = note;
}
