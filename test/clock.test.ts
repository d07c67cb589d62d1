/** The system clock: monotonic, and exact even where Node's own timers are not. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createClock } from "../src/clock.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) });
});

afterEach(() => {
  vi.useRealTimers();
});

it("starts at the wall clock and does not follow its corrections", () => {
  const clock = createClock();
  expect(clock.now()).toBe(Date.UTC(2026, 0, 1));
  vi.setSystemTime(0);
  vi.advanceTimersByTime(5);
  expect(clock.now()).toBe(Date.UTC(2026, 0, 1) + 5);
});

it("wakes once at the moment asked for, also when it is farther away than one timer reaches", () => {
  const clock = createClock();
  const wake = vi.fn();
  const farMs = 2 ** 31 * 2.5;
  clock.at(clock.now() + farMs, wake);
  vi.advanceTimersByTime(farMs - 1);
  expect(wake).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(wake).toHaveBeenCalledTimes(1);
});

it("wakes for a moment that has passed, but never at once", () => {
  const clock = createClock();
  const wake = vi.fn();
  clock.at(clock.now() - 1_000, wake);
  expect(wake).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(wake).toHaveBeenCalledTimes(1);
});

it("can be called off, also between two steps of a far moment", () => {
  const clock = createClock();
  const wake = vi.fn();
  const cancel = clock.at(clock.now() + 2 ** 32, wake);
  vi.advanceTimersByTime(2 ** 31);
  cancel();
  vi.advanceTimersByTime(2 ** 32);
  expect(wake).not.toHaveBeenCalled();
});
