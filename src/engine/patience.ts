/** Waiting by the clock's port: for a while, and for an answer that may never come. */
import type { Clock } from "../ports/clock.ts";

/** Patience is counted in steps: one timer that a jump of time sets off proves nothing. */
const STEPS = 4;

export function passed(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.at(clock.now() + ms, resolve);
  });
}

/** Rejects when there is no answer within `ms`. */
export function within<T>(clock: Clock, ms: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let left = STEPS;
    let cancel = () => {};
    const step = () => {
      if (left-- === 0) reject(new Error(`There was no answer within ${ms} ms.`));
      else cancel = clock.at(clock.now() + ms / STEPS, step);
    };
    step();
    answer.then(resolve, reject).finally(() => cancel());
  });
}
