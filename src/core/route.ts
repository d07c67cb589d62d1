/**
 * Where an inquiry goes: the addresses its caller named, else its session's, else its respondents' own places. Every
 * respondent's surfaces (inbox, panel) have a copy besides, for when they open.
 *
 * An inquiry that asks for something sensitive goes to the web page alone.
 */

import type { DeliveryState } from "./delivery.ts";
import type { UndeliveredReason } from "./inquiry.ts";
import { channelOf, type Directory, type Person, peopleIn } from "./people.ts";

/** Surfaces a person comes to, with one address for each person. */
export const SURFACES = ["terminal", "web"] as const;

export interface Route {
  /** Without repeats. */
  readonly addresses: readonly string[];
  readonly respondents: readonly string[];
}

export interface RouteRequest {
  readonly session: string;
  readonly to: readonly string[];
  readonly respondents: readonly string[];
  readonly sensitive: boolean;
}

/** `channels` are those that are on; an address of any other channel is kept, to fail with a reason. */
export function routeOf(directory: Directory, request: RouteRequest, channels: ReadonlySet<string>): Route {
  const session = directory.sessions.get(request.session);
  const named = request.respondents.length > 0 ? request.respondents : (session?.respondents ?? []);
  const respondents = named.length > 0 ? named : ["role:owner"];
  const people = peopleIn(directory, respondents);
  const explicit = request.to.length > 0 ? request.to : (session?.addresses ?? []);
  const places = explicit.length > 0 ? explicit : people.flatMap((person) => chatsOf(person, channels));
  const surfaces = people.flatMap((person) => SURFACES.map((surface) => `${surface}:${person.name}`));
  const all = [...places, ...surfaces.filter((address) => channels.has(channelOf(address)))];
  const addresses = [...new Set(all)];
  return {
    addresses: request.sensitive ? addresses.filter((one) => channelOf(one) === "web") : addresses,
    respondents,
  };
}

function chatsOf(person: Person, channels: ReadonlySet<string>): readonly string[] {
  const surfaces: readonly string[] = SURFACES;
  return person.identities.filter((one) => channels.has(channelOf(one)) && !surfaces.includes(channelOf(one)));
}

/** One copy, as far as it matters for whether anybody can still see the inquiry. */
export interface CopyOutlook {
  readonly state: DeliveryState;
  readonly reason: string | null;
  /** The copy is on a surface that shows only while open. */
  readonly surface: boolean;
}

/**
 * Why the inquiry can no longer reach anybody, or null while it may. A closed surface counts only where there never was
 * anything but surfaces.
 */
export function lostCause(copies: readonly CopyOutlook[]): UndeliveredReason | null {
  const surfacesOnly = copies.length > 0 && copies.every((copy) => copy.surface);
  const hope = copies.some((copy) => {
    if (copy.state === "failed" || copy.state === "closed") return false;
    const closedSurface = copy.surface && (copy.state === "absent" || copy.state === "queued");
    return closedSurface ? surfacesOnly : true;
  });
  if (hope) return null;
  if (copies.length === 0) return "no_surface";
  return copies.some((copy) => copy.reason === "rate_limited") ? "rate_limited" : "unreachable";
}

/** At the deadline, why nobody saw it; asked only where no copy was confirmed shown. */
export function unseenReason(copies: readonly CopyOutlook[]): UndeliveredReason {
  if (copies.some((copy) => copy.state === "unknown")) return "delivery_unknown";
  if (copies.length > 0 && copies.every((copy) => copy.state === "failed")) return "unreachable";
  if (copies.some((copy) => copy.state === "pending" || copy.state === "queued")) return "queued";
  return "no_surface";
}
