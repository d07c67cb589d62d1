/**
 * The contract suite of channels: what every adapter promises, played in front of its loopback platform.
 *
 * The engine is not here: whatever passes can be trusted by it. Cases are data; which of them run follows from the
 * subject's limits and from the faults its platform can play.
 */
import { describe, test } from "vitest";
import { type Case, casesFor, play } from "./channel-case.ts";
import { FAILING } from "./channel-failing.ts";
import { HEARING } from "./channel-hearing.ts";
import { SHOWING } from "./channel-showing.ts";
import type { Subject } from "./loopback.ts";

export const CHANNEL_CASES: readonly Case[] = [...SHOWING, ...HEARING, ...FAILING];

export function channelSuite(subject: Subject): void {
  describe.concurrent(`${subject.name} keeps the channel contract`, () => {
    for (const one of casesFor(subject, CHANNEL_CASES)) test(one.name, () => play(subject, one));
  });
}
