/** Numbers by which asks are known: they stand in what people read, so that a copy tells whose it is. */

export function serialIn(shown: string): number | null {
  const found = /No\. (\d+):/.exec(shown);
  return found ? Number(found[1]) : null;
}

/** Serials of one schedule follow each other. */
const SERIALS = 1_000;

export function slotOf(serial: number): number {
  return Math.floor(serial / SERIALS);
}

export function serialOf(slot: number, count: number): number {
  return slot * SERIALS + count;
}
