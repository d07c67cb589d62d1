/**
 * The suite of the whole bridge: the engine, a real store and one channel, from the agent's ask to the person's screen
 * and back. It runs on every channel, the hostile ones included, for what holds there holds anywhere.
 */
import { describe, test } from "vitest";
import { ANSWERING } from "./bridge-answering.ts";
import { BRIDGE_SHOWING } from "./bridge-showing.ts";
import { type BridgeCase, bridgeOffers, playBridge } from "./bridge-stage.ts";
import type { Subject } from "./loopback.ts";

export const BRIDGE_CASES: readonly BridgeCase[] = [...BRIDGE_SHOWING, ...ANSWERING];

/** Milliseconds a case may take; platforms pace bots to a message a second. */
const PATIENCE_MS = 30_000;

export function bridgeCasesFor(subject: Subject): readonly BridgeCase[] {
  const offers = bridgeOffers(subject);
  return BRIDGE_CASES.filter(({ needs }) => needs.every((need) => offers.has(need)));
}

export function bridgeSuite(subject: Subject): void {
  describe.concurrent(`Askgate over ${subject.name}`, () => {
    for (const one of bridgeCasesFor(subject)) test(one.name, () => playBridge(subject, one), PATIENCE_MS);
  });
}
