/**
 * A pause by the clock port that can be cut short: by the end of listening, or by whoever waits for something better.
 *
 * It leaves no timer and no listener behind, however it ends.
 */
import type { Clock } from "../../src/ports/clock.ts";

export interface Nap {
  /** Resolves when the time is over, the signal aborts or somebody calls `end`; never rejects. */
  readonly over: Promise<void>;
  end(): void;
}

export function nap(clock: Clock, ms: number, signal: AbortSignal): Nap {
  let end = () => {};
  const over = new Promise<void>((resolve) => {
    if (signal.aborted) return resolve();
    end = () => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.at(clock.now() + ms, end);
    signal.addEventListener("abort", end);
  });
  return { over, end };
}
