/**
 * Bridges that close by themselves after their test, and what the engine's tests ask on them.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import type { Store } from "../../src/ports/store.ts";
import { type Bridge, type BridgeOptions, openBridge } from "../../src/testing/bridge.ts";
import { until } from "../../src/testing/until.ts";

/** To be called once, at the top of a test file. */
export function bridges(): (options?: BridgeOptions) => Promise<Bridge> {
  const open: Bridge[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((bridge) => ended(bridge, bridge.close())));
  });
  return async (options) => {
    const bridge = await openBridge(options);
    open.push(bridge);
    return bridge;
  };
}

/** Resolves with that promise, moving the bridge's clock on meanwhile: a stop waits a little for what is under way. */
export async function ended(bridge: Bridge, closing: Promise<void>): Promise<void> {
  const done = closing.then(() => true);
  await until("it has ended", () => {
    bridge.clock.skip(500);
    return Promise.race([done, Promise.resolve(false)]);
  });
}

/** Addresses of stores in files that go away after their test. To be called once, at the top of a test file. */
export function files(): () => string {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  return () => {
    const folder = mkdtempSync(join(tmpdir(), "askgate-engine-"));
    folders.push(folder);
    return `sqlite:${join(folder, "askgate.db")}`;
  };
}

/** A question with two options, `q`, for whoever is named. */
export function question(to: string, more: object = {}) {
  const options = [{ label: "Staging" }, { label: "Production" }];
  return { questions: [{ id: "q", header: "Deploy", question: "Deploy where?", options }], to: [to], ...more };
}

type Method = Exclude<keyof Store, "access">;

/** The store with `around` in front of each method: it may count the call, keep it from happening, or never return. */
export function watched(
  store: Store,
  around: (method: Method, call: () => Promise<unknown>, given: readonly unknown[]) => Promise<unknown>,
): Store {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...given: unknown[]) => around(name as Method, () => member.apply(target, given), given);
    },
  });
}
