/** Time and chance, as ports: nothing below the edges reads a clock or a random source by itself. */

/** Milliseconds since the epoch, never running backwards within one process. */
export type Instant = number;

export interface Clock {
  now(): Instant;
  /**
   * Since when time has passed evenly: the start, or the last moment the clock was found more than 60 s behind (the
   * machine slept) and put right. What was due in the gap was never late for anybody: it gets a start's grace.
   */
  steadySince(): Instant;
  /** Calls `wake` once at or soon after `at`; the result cancels it. Never calls back synchronously. */
  at(at: Instant, wake: () => void): () => void;
}

export interface Entropy {
  /** Cryptographically strong random bytes. */
  bytes(length: number): Uint8Array;
}
