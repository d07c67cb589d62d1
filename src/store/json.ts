/**
 * Structured columns: JSON in text, checked when read.
 *
 * Rules: what was not written by this program is refused with the table, row and column, never guessed at; maps are
 * stored as lists of entries, because an object would lose a key such as `__proto__`.
 */

export type Guard<T> = (value: unknown) => value is T;

export const isText: Guard<string> = (value): value is string => typeof value === "string";
export const isNumber: Guard<number> = (value): value is number => typeof value === "number";
export const isBoolean: Guard<boolean> = (value): value is boolean => typeof value === "boolean";
export const isAnything: Guard<unknown> = (value): value is unknown => value !== undefined;

export function orNull<T>(guard: Guard<T>): Guard<T | null> {
  return (value): value is T | null => value === null || guard(value);
}

export function oneOf<const T extends string>(...words: readonly T[]): Guard<T> {
  return (value): value is T => words.some((word) => word === value);
}

export function listOf<T>(guard: Guard<T>): Guard<readonly T[]> {
  return (value): value is readonly T[] => Array.isArray(value) && value.every(guard);
}

export function pairOf<A, B>(first: Guard<A>, second: Guard<B>): Guard<readonly [A, B]> {
  return (value): value is readonly [A, B] =>
    Array.isArray(value) && value.length === 2 && first(value[0]) && second(value[1]);
}

/** An object with these properties; more are let through, so that an older program reads a newer row. */
export function shape<T extends object>(guards: { readonly [K in keyof T]-?: Guard<T[K]> }): Guard<T> {
  const properties: [string, Guard<unknown>][] = Object.entries(guards);
  return (value): value is T => {
    if (typeof value !== "object" || value === null) return false;
    const record = value as Readonly<Record<string, unknown>>;
    return properties.every(([name, guard]) => guard(record[name]));
  };
}

/** `where` names the column and row, as `inquiry.questions of inq_1`. */
export function readJson<T>(text: string, guard: Guard<T>, where: string): T {
  const value = parsed(text);
  if (guard(value)) return value;
  throw new Error(
    `${where} is not what Askgate stores there: the database was changed by something else or is damaged.`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
