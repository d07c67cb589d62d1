/** A meter that keeps nothing, for tests that measure nothing. */
import type { Meter } from "../ports/meter.ts";

const nothing = () => {};

export const silentMeter: Meter = { asked: nothing, shown: nothing, settled: nothing, sent: nothing, heard: nothing };
