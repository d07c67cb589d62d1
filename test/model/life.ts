/**
 * The life of one gateway: everything it reaches the world by goes through here, so that it can be ended the hard way at
 * any call. Once dead, nothing it asked for is done any more, and what was under way never tells it its result.
 */
import type { Clock } from "../../src/ports/clock.ts";

export interface Life {
  readonly dead: () => boolean;
  /** Resolves at death. */
  readonly ended: Promise<void>;
  /** Calls under way, and all that were ever made. */
  readonly calls: { open: number; total: number };
  kill(): void;
  /** Dies in the middle of the call that is `calls` calls away, before or after it took effect. */
  killIn(calls: number, before: boolean): void;
  /** Called once at death. */
  atEnd(tidy: () => void): void;
  /** Resolves when what was under way at death has been done: databases finish what they were told. */
  over(): Promise<void>;
  call<T>(work: () => T): T;
}

const NEVER = new Promise<never>(() => {});

export function beginLife(): Life {
  const calls = { open: 0, total: 0 };
  const tidies: (() => void)[] = [];
  const working = new Set<Promise<unknown>>();
  let dead = false;
  let fuse: { at: number; before: boolean } | null = null;
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });

  function kill(): void {
    if (dead) return;
    dead = true;
    calls.open = 0;
    for (const tidy of tidies) tidy();
    end();
  }

  async function watch<T>(result: Promise<T>, dies: boolean): Promise<T> {
    calls.open += 1;
    working.add(result);
    try {
      const value = await result;
      if (dies) kill();
      return dead ? await NEVER : value;
    } catch (error) {
      if (dead) return await NEVER;
      throw error;
    } finally {
      working.delete(result);
      if (!dead) calls.open -= 1;
    }
  }

  return {
    dead: () => dead,
    ended,
    calls,
    kill,
    killIn(count, before) {
      fuse = { at: calls.total + count, before };
    },
    atEnd: (tidy) => {
      tidies.push(tidy);
    },
    async over() {
      await Promise.allSettled(working);
    },
    call<T>(work: () => T): T {
      calls.total += 1;
      const hit = fuse !== null && fuse.at === calls.total ? fuse : null;
      if (hit?.before) kill();
      if (dead) return NEVER as T;
      const result = work();
      return result instanceof Promise ? (watch(result, hit !== null) as T) : result;
    },
  };
}

/** The same port, as long as that life lasts. */
export function mortal<T extends object>(port: T, life: Life): T {
  return new Proxy(port, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member === "function")
        return (...given: unknown[]) => life.call(() => Reflect.apply(member, target, given));
      return typeof member === "object" && member !== null ? mortal(member, life) : member;
    },
  });
}

export function mortalClock(clock: Clock, life: Life): Clock {
  const pending = new Set<() => void>();
  life.atEnd(() => {
    for (const cancel of pending) cancel();
  });
  return {
    now: clock.now,
    steadySince: clock.steadySince,
    at(due, wake) {
      if (life.dead()) return () => {};
      const stop = clock.at(due, () => {
        pending.delete(cancel);
        wake();
      });
      const cancel = () => {
        stop();
        pending.delete(cancel);
      };
      pending.add(cancel);
      return cancel;
    },
  };
}
