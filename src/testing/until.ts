/**
 * Waiting in tests: for a condition, never for a time. What did not come to pass is named with the last thing seen.
 */

/** Milliseconds a condition may take; generous, because a busy machine is not a fault. */
const PATIENCE_MS = 5_000;
const LOOK_EVERY_MS = 5;

/** Resolves with the first value of `look` that is neither null, undefined nor false. */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  patienceMs = PATIENCE_MS,
): Promise<Exclude<T, null | undefined | false>> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const value = await look();
    if (value !== null && value !== undefined && value !== false) return value as Exclude<T, null | undefined | false>;
    if (performance.now() > end) throw new Error(`waited ${patienceMs} ms in vain until ${what}`);
    await new Promise((wake) => setTimeout(wake, LOOK_EVERY_MS));
  }
}

/** How long something took, in milliseconds. */
export async function timed(work: Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work;
  return performance.now() - start;
}
