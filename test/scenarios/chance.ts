/**
 * Chance that can be had again: a stream of numbers from one seed (mulberry32, in the public domain). The seed is
 * printed with every run; SEED sets it.
 */
export interface Chance {
  readonly seed: number;
  /** A whole number of 0 to `below` - 1. */
  below(below: number): number;
  pick<T>(items: readonly [T, ...T[]]): T;
  yes(): boolean;
}

export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return { seed, below, pick: (items) => items[below(items.length)] ?? items[0], yes: () => next() < 0.5 };
}

/** Of the environment, else new. */
export function seedOf(): number {
  return process.env.SEED === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(process.env.SEED);
}
