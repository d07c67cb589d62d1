/**
 * Reading again what the store holds and others may have changed, one read at a time.
 *
 * Rules: a call always gets a read that begins after it, so that nothing older is ever kept over something newer; calls
 * that come while one waits share it.
 */
export function refreshing(read: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  return () => {
    next ??= last.then(() => {
      next = null;
      const reading = read();
      last = reading.catch(() => {});
      return reading;
    });
    return next;
  };
}
