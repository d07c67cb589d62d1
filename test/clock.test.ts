/** The system clock on a machine whose clocks are set, stopped and put to sleep: it never runs backwards. */
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { createClock } from "../src/clock.ts";
import { START, simulate } from "./fixtures/machine.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function watchLog() {
  const lines: string[] = [];
  return { lines, warn: (_: object, message: string) => void lines.push(message), debug: () => {} };
}

function onTheWall() {
  const world = simulate();
  const log = watchLog();
  return { world, log, clock: createClock({ machine: world.machine, log }) };
}

async function onTheDatabase(apart = 0) {
  const world = simulate();
  world.line.time += apart;
  const log = watchLog();
  const clock = createClock({ machine: world.machine, reference: world.reference, log });
  await clock.begin();
  return { world, log, clock };
}

describe("a clock by the wall clock", () => {
  it("starts there, is steady since, and leaves small corrections alone", async () => {
    const { world, clock } = onTheWall();
    expect(clock.now()).toBe(START);
    for (const correction of [59_000, -118_000, 60_000]) {
      const before = clock.now();
      world.set(correction);
      await world.pass(5);
      expect(clock.now()).toBe(before + 5);
    }
    expect(clock.steadySince()).toBe(START);
  });

  it.each([
    ["a sleep of an hour", HOUR],
    ["a clock set 61 s ahead", 61_000],
  ])("jumps ahead after %s, wakes who is due, and is steady since then", async (_name, ms) => {
    const { world, log, clock } = onTheWall();
    const [inTheGap, later] = [vi.fn(), vi.fn()];
    clock.at(START + 30_000, inTheGap);
    clock.at(START + ms + 30_000, later);
    await world.pass(10_000);
    world.sleep(ms);
    expect(clock.now()).toBe(START + 10_000 + ms);
    expect(clock.steadySince()).toBe(START + 10_000 + ms);
    expect(inTheGap).not.toHaveBeenCalled();
    await world.pass(1);
    expect(inTheGap).toHaveBeenCalledTimes(1);
    await world.pass(19_998);
    expect(later).not.toHaveBeenCalled();
    await world.pass(1);
    expect(later).toHaveBeenCalledTimes(1);
    expect(log.lines).toEqual([expect.stringContaining("jumped ahead")]);
  });

  it("notices a sleep within a second while somebody waits, though nobody reads it", async () => {
    const { world, clock } = onTheWall();
    const wake = vi.fn();
    clock.at(START + 10 * MINUTE, wake);
    await world.pass(500);
    world.sleep(HOUR);
    await world.pass(1_000);
    expect(wake).toHaveBeenCalledTimes(1);
    expect(clock.steadySince()).toBeGreaterThan(START + HOUR);
  });

  it("goes on evenly when the wall clock is set back an hour, says so once, and lets it catch up", async () => {
    const { world, log, clock } = onTheWall();
    world.set(-HOUR);
    for (let at = 1; at <= 3; at += 1) {
      await world.pass(1_000);
      expect(clock.now()).toBe(START + at * 1_000);
    }
    expect(log.lines).toEqual([expect.stringContaining("went back")]);
    world.set(HOUR);
    expect(clock.now()).toBe(START + 3_000);
    expect(clock.steadySince()).toBe(START);
    expect(log.lines).toHaveLength(1);
  });

  it("is steady anew after the process stood still for more than a minute", async () => {
    const { world, log, clock } = onTheWall();
    const wake = vi.fn();
    clock.at(START + 30_000, wake);
    world.stop(5 * MINUTE);
    await world.pass(1);
    expect(wake).toHaveBeenCalledTimes(1);
    expect(clock.steadySince()).toBe(START + 5 * MINUTE);
    expect(log.lines).toEqual([expect.stringContaining("stood still")]);
  });
});

describe("a clock by the database's", () => {
  it.each([10 * MINUTE, -10 * MINUTE])("starts there, however wrong this machine is (%i ms)", async (apart) => {
    const { clock } = await onTheDatabase(apart);
    expect(clock.now()).toBe(START + apart);
    expect(clock.steadySince()).toBe(START + apart);
  });

  it("does not begin while the database tells no time", async () => {
    const world = simulate();
    world.line.broken = true;
    const clock = createClock({ machine: world.machine, reference: world.reference });
    await expect(clock.begin()).rejects.toThrow("the line is cut");
    expect(world.timers()).toBe(0);
  });

  it("jumps ahead when the database is found 10 min ahead, and is steady since then", async () => {
    const { world, log, clock } = await onTheDatabase();
    const wake = vi.fn();
    clock.at(START + 5 * MINUTE, wake);
    world.line.time += 10 * MINUTE;
    await world.pass(10_000);
    expect(clock.now()).toBe(START + 10 * MINUTE + 10_000);
    await world.pass(1);
    expect(wake).toHaveBeenCalledTimes(1);
    expect(clock.steadySince()).toBe(START + 10 * MINUTE + 10_000);
    expect(log.lines).toEqual([expect.stringContaining("jumped ahead")]);
  });

  it("goes on evenly when the database is found 10 min behind, and says so once", async () => {
    const { world, log, clock } = await onTheDatabase();
    world.line.time -= 10 * MINUTE;
    await world.pass(60_000);
    expect(clock.now()).toBe(START + 60_000);
    expect(log.lines).toEqual([expect.stringContaining("went back")]);
  });

  it("follows a small step forward at once and a small one backward by running slower", async () => {
    const { world, clock } = await onTheDatabase();
    world.line.time += 4_000;
    await world.pass(10_000);
    expect(clock.now()).toBe(world.line.time);
    world.line.time -= 4_000;
    await world.pass(10_000);
    expect(clock.now()).toBe(world.line.time + 4_000);
    await world.pass(4_000);
    expect(clock.now()).toBe(world.line.time + 2_000);
    await world.pass(4_000);
    expect(clock.now()).toBe(world.line.time);
    await world.pass(60_000);
    expect(clock.now()).toBe(world.line.time);
    expect(clock.steadySince()).toBe(START);
  });

  it("wakes nobody early while it runs slower", async () => {
    const { world, clock } = await onTheDatabase();
    world.line.time -= 2_000;
    await world.pass(10_000);
    const at = clock.now() + 3_000;
    const woken: number[] = [];
    clock.at(at, () => woken.push(clock.now()));
    await world.pass(4_999);
    expect(woken).toEqual([]);
    await world.pass(1);
    expect(woken).toEqual([at]);
  });

  it("looks at the database at once after a sleep, and leaves a wall clock that was set alone", async () => {
    const { world, clock } = await onTheDatabase();
    world.set(HOUR);
    clock.now();
    await world.pass(1);
    expect(clock.now()).toBe(START + 1);
    world.sleep(HOUR);
    clock.now();
    await world.pass(1);
    expect(clock.now()).toBe(START + HOUR + 2);
  });

  it("takes the middle of the shortest way, and no notice of what lies within its doubt or comes too late", async () => {
    const { world, clock } = await onTheDatabase();
    const offset = () => clock.now() - world.line.time;
    world.line.ways = [
      [300, 0],
      [4, 4],
      [0, 500],
    ];
    await world.pass(10_000);
    expect(offset()).toBe(0);
    world.line.ways = [
      [80, 0],
      [90, 0],
      [100, 0],
    ];
    await world.pass(10_000);
    expect(offset()).toBe(0);
    world.line.time += 30_000;
    world.line.ways = [
      [0, 1_500],
      [0, 1_500],
      [0, 1_500],
      [0, 0],
    ];
    await world.pass(14_500);
    expect(offset()).toBe(-30_000);
    await world.pass(10_000);
    expect(offset()).toBe(0);
  });

  it("is changed by no reading that fails, and goes on looking", async () => {
    const { world, clock } = await onTheDatabase();
    world.line.broken = true;
    world.line.time += HOUR;
    await world.pass(35_000);
    expect(clock.now()).toBe(START + 35_000);
    world.line.broken = false;
    await world.pass(10_000);
    expect(clock.now()).toBe(START + HOUR + 45_000);
  });

  it("looks no more once it was ended", async () => {
    const { world, clock } = await onTheDatabase();
    const wake = vi.fn();
    clock.at(START + 1_000, wake);
    clock.end();
    const { readings } = world.line;
    await world.pass(MINUTE);
    expect(world.line.readings).toBe(readings);
    expect(wake).not.toHaveBeenCalled();
    expect(world.timers()).toBe(0);
  });
});

describe("a timer", () => {
  it("wakes once, at the moment and never before, however far away it is", async () => {
    const { world, clock } = onTheWall();
    const wake = vi.fn();
    clock.at(START + 10 * HOUR, wake);
    await world.pass(10 * HOUR - 1);
    expect(wake).not.toHaveBeenCalled();
    await world.pass(1);
    expect(wake).toHaveBeenCalledTimes(1);
    await world.pass(HOUR);
    expect(wake).toHaveBeenCalledTimes(1);
    expect(world.timers()).toBe(0);
  });

  it("wakes for a moment that has passed, but never at once", async () => {
    const { world, clock } = onTheWall();
    const wake = vi.fn();
    clock.at(START - 1_000, wake);
    expect(wake).not.toHaveBeenCalled();
    await world.pass(1);
    expect(wake).toHaveBeenCalledTimes(1);
  });

  it("wakes thousands in their order, those of one moment as they were set, and none that was called off", async () => {
    const { world, clock } = onTheWall();
    const woken: [number, number][] = [];
    const expected: [number, number][] = [];
    for (let index = 0; index < 5_000; index += 1) {
      const at = START + ((index * 7_919) % 1_000);
      const cancel = clock.at(at, () => woken.push([at, index]));
      if (index % 3 === 0) cancel();
      else expected.push([at, index]);
    }
    expected.sort(([a, i], [b, j]) => a - b || i - j);
    await world.pass(1_000);
    expect(woken).toEqual(expected);
  });

  it("keeps to the real clock, and keeps no process alive", async () => {
    const clock = createClock();
    const began = performance.now();
    const at = clock.now() + 30;
    await new Promise<void>((resolve) => clock.at(at, resolve));
    expect(clock.now()).toBeGreaterThanOrEqual(at);
    expect(performance.now() - began).toBeGreaterThanOrEqual(29);
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1_000);
  });
});

describe("whatever happens to the clocks around it", () => {
  const HAPPENINGS: Readonly<Record<string, (world: ReturnType<typeof simulate>, ms: number) => void>> = {
    pass: () => {},
    sleep: (world, ms) => world.sleep(Math.abs(ms)),
    stop: (world, ms) => world.stop(Math.abs(ms)),
    set: (world, ms) => world.set(ms),
    step: ({ line }, ms) => {
      line.time += ms;
    },
    way: ({ line }, ms) => {
      line.ways = [
        [Math.abs(ms % 900), Math.abs(ms % 700)],
        [1, 2],
      ];
    },
    cut: ({ line }) => {
      line.broken = !line.broken;
    },
  };
  const ms = fc.oneof(fc.integer({ min: -5_000, max: 5_000 }), fc.integer({ min: -3 * HOUR, max: 3 * HOUR }));
  const happening = fc.record({ what: fc.constantFrom(...Object.keys(HAPPENINGS)), ms });
  const seed = Number(process.env.CLOCK_SEED ?? Date.now() % 1_000_000);

  async function live(byDatabase: boolean, happenings: readonly { what: string; ms: number }[]): Promise<void> {
    const { world, clock } = byDatabase ? await onTheDatabase(1_234) : onTheWall();
    let last = clock.now();
    const look = () => {
      const now = clock.now();
      expect(now).toBeGreaterThanOrEqual(last);
      expect(clock.steadySince()).toBeLessThanOrEqual(now);
      last = now;
    };
    for (const { what, ms } of happenings) {
      const at = last + Math.abs(ms % 30_000);
      let woken = 0;
      clock.at(at, () => {
        woken += 1;
        look();
        expect(last).toBeGreaterThanOrEqual(at);
        expect(woken).toBe(1);
      });
      HAPPENINGS[what]?.(world, ms);
      look();
      await world.pass(Math.abs(ms % 25_000));
      look();
    }
    const rest: number[] = [];
    clock.at(last + 10, () => rest.push(clock.now()));
    await world.pass(2 * MINUTE + 20);
    expect(rest).toHaveLength(1);
  }

  it(`it never runs backwards, and wakes everybody once and nobody early (seed ${seed})`, async () => {
    const lives = fc.asyncProperty(fc.boolean(), fc.array(happening, { maxLength: 25 }), live);
    await fc.assert(lives, { numRuns: 200, seed });
  });
});
