/**
 * Who works on which channel: what one process decides from everybody's leases as its last renewal showed them.
 *
 * Rules: a channel belongs to whoever holds its lease under the epoch it knows; one that is free goes to the process
 * with the least to do, and only to another when that one does not come for it; two apart is too far apart, and one
 * channel at a time moves over. Nothing here waits, reads a clock or touches the store.
 */
import type { Instant } from "../ports/clock.ts";
import { channelLease, type Lease, presenceOf } from "../ports/lease.ts";

/** A lease lasts this long from its last renewal; renewed each second, so that four may fail. */
export const LEASE_TTL_MS = 5_000;
/** Not renewed for this long, its holder may be dead: what people did meanwhile may be unread. */
export const OVERDUE_MS = 2_500;
/** How long a free channel is left to the process that should have it. */
export const LEFT_MS = 3_000;

export interface Outlook {
  /** The name of this process. */
  readonly self: string;
  /** The epoch of its own presence. */
  readonly presence: number;
  /** The channels that are on here. */
  readonly channels: readonly string[];
  /** The epochs this process works under, by channel. */
  readonly held: ReadonlyMap<string, number>;
  readonly leases: readonly Lease[];
  /** Since when this process has seen a channel free. */
  readonly freeSince: ReadonlyMap<string, Instant>;
  readonly now: Instant;
  /** Time jumped a moment ago: an end that has passed tells nothing of its holder. */
  readonly unsteady: boolean;
}

export interface Plan {
  /** Another process of the same name has started: it is the one that lives, and its leases must be left alone. */
  readonly replaced: boolean;
  /** Work on these has to end at once: they are somebody else's. */
  readonly lost: readonly string[];
  readonly take: readonly string[];
  /** To be ended in order and released, for a process that has less to do. */
  readonly cede: string | null;
  readonly freeSince: ReadonlyMap<string, Instant>;
}

/** Another process that lives. */
interface Peer {
  readonly channels: readonly string[];
  readonly load: number;
}

export function planLeases(seen: Outlook): Plan {
  const leases = new Map(seen.leases.map((lease) => [lease.name, lease]));
  const freeSince = freeChannels(seen, leases);
  const replaced = isReplaced(seen, leases);
  if (replaced) return { replaced, lost: [...seen.held.keys()], take: [], cede: null, freeSince };
  const lost = [...seen.held.keys()].filter((channel) => !isOurs(seen, leases, channel));
  const peers = peersOf(seen);
  const keep = [...seen.held.keys()].filter((channel) => !lost.includes(channel));
  const take = channelsToTake(seen, leases, freeSince, peers, keep.length);
  const cede = lost.length + take.length === 0 ? channelToCede(keep, peers) : null;
  return { replaced, lost, take, cede, freeSince };
}

/** The note of a process's presence. */
export function presenceNote(channels: readonly string[]): string {
  return JSON.stringify({ channels });
}

function isReplaced({ self, presence, now }: Outlook, leases: ReadonlyMap<string, Lease>): boolean {
  const lease = leases.get(presenceOf(self));
  return lease !== undefined && lease.epoch !== presence && lease.until > now;
}

function isOurs({ self, held }: Outlook, leases: ReadonlyMap<string, Lease>, channel: string): boolean {
  const lease = leases.get(channelLease(channel));
  return lease?.holder === self && lease.epoch === held.get(channel) && lease.until > 0;
}

function freeChannels(seen: Outlook, leases: ReadonlyMap<string, Lease>): ReadonlyMap<string, Instant> {
  const free = seen.channels.filter((channel) => {
    const lease = leases.get(channelLease(channel));
    return lease === undefined || lease.until === 0 || (lease.until <= seen.now && !seen.unsteady);
  });
  return new Map(free.map((channel) => [channel, seen.freeSince.get(channel) ?? seen.now]));
}

function peersOf({ self, leases, now }: Outlook): readonly Peer[] {
  const live = leases.filter((lease) => lease.until > now && lease.holder !== self);
  return live.flatMap(({ name, holder, note }) => {
    if (name !== presenceOf(holder)) return [];
    const load = live.filter((lease) => lease.holder === holder && lease.name !== name).length;
    return [{ channels: channelsIn(note), load }];
  });
}

/** Also what an earlier call has taken without learning of it: it is this process's own. */
function channelsToTake(
  seen: Outlook,
  leases: ReadonlyMap<string, Lease>,
  freeSince: ReadonlyMap<string, Instant>,
  peers: readonly Peer[],
  held: number,
): readonly string[] {
  const take: string[] = [];
  for (const channel of seen.channels) {
    if (seen.held.has(channel)) continue;
    const lease = leases.get(channelLease(channel));
    const own = lease?.holder === seen.self && lease.until > 0;
    const since = freeSince.get(channel);
    const load = held + take.length;
    const isLeast = peers.every((peer) => peer.load >= load || !peer.channels.includes(channel));
    if (own || (since !== undefined && (isLeast || seen.now - since >= LEFT_MS))) take.push(channel);
  }
  return take;
}

function channelToCede(held: readonly string[], peers: readonly Peer[]): string | null {
  const idlest = [...peers].filter(({ load }) => held.length - load >= 2).sort((a, b) => a.load - b.load);
  for (const { channels } of idlest) {
    const channel = held.findLast((one) => channels.includes(one));
    if (channel !== undefined) return channel;
  }
  return null;
}

function channelsIn(note: string): readonly string[] {
  try {
    const { channels } = JSON.parse(note) as { channels?: unknown };
    return Array.isArray(channels) ? channels.filter((channel) => typeof channel === "string") : [];
  } catch {
    return [];
  }
}
