/**
 * The pulse: white space for every response that waits, so that no proxy or client takes silence for a dead line.
 *
 * One timer serves all of them, and none runs while nobody waits. A line's first beat comes within one interval.
 */
import type { Clock } from "../ports/clock.ts";

/** Milliseconds; half of what the most impatient proxies allow. */
export const PULSE_MS = 15_000;

export interface Pulse {
  /** Calls `beat` at every tick until the result is called. */
  add(beat: () => void): () => void;
}

export function createPulse(clock: Clock): Pulse {
  const beats = new Set<() => void>();
  let stop: (() => void) | null = null;
  const schedule = (): void => {
    stop = clock.at(clock.now() + PULSE_MS, () => {
      for (const beat of beats) beat();
      schedule();
    });
  };
  return {
    add(beat) {
      beats.add(beat);
      if (!stop) schedule();
      return () => {
        beats.delete(beat);
        if (beats.size > 0 || !stop) return;
        stop();
        stop = null;
      };
    },
  };
}
