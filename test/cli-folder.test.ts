/** The data folder: one gateway holds it, a dead one does not, and one that lost it touches nothing any more. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { holdFolder, readRecord } from "../src/gateway/cli/data-folder.ts";
import { clearAway, makeFolder, run, serve } from "./fixtures/commands.ts";

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

afterAll(clearAway);

describe("the lock of a data folder", () => {
  const record = (data: string, pid: number) =>
    writeFileSync(join(data, "gateway.json"), JSON.stringify({ url: null, pid, host: hostname() }));
  /** Another gateway's: the process that started this one certainly lives. */
  const takeOver = (data: string) => {
    rmdirSync(join(data, "gateway.lock"));
    mkdirSync(join(data, "gateway.lock"));
    record(data, process.ppid);
  };
  const noLoss = (error: Error) => {
    throw error;
  };
  let release: () => Promise<void> = async () => {};
  afterEach(async () => {
    await release();
    release = async () => {};
  });

  it("of a process that is gone is taken over at once", async () => {
    const data = makeFolder();
    mkdirSync(join(data, "gateway.lock"), { recursive: true });
    const dead = spawn(process.execPath, ["-e", ""]);
    await once(dead, "close");
    record(data, dead.pid ?? 0);
    const began = performance.now();
    ({ release } = await holdFolder(data, noLoss));
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(readRecord(data)).toMatchObject({ pid: process.pid, url: null });
  });

  it("of a process with the id that is ours now, as in a restarted container, is taken over too", async () => {
    const data = makeFolder();
    mkdirSync(join(data, "gateway.lock"), { recursive: true });
    record(data, process.pid);
    ({ release } = await holdFolder(data, noLoss));
    expect(existsSync(join(data, "gateway.lock"))).toBe(true);
  });

  it("is left alone, and the record with it, once another gateway has it, whether that was noticed or not", async () => {
    const data = makeFolder();
    let lost = false;
    const held = await holdFolder(data, () => {
      lost = true;
    });
    takeOver(data);
    for (const noticed of [false, true]) {
      if (noticed) await vi.waitFor(() => expect(lost).toBe(true), { timeout: 10_000 });
      await held.release();
      expect(readRecord(data)).toMatchObject({ pid: process.ppid });
      expect(existsSync(join(data, "gateway.lock"))).toBe(true);
    }
  });
});

describe("the name of a process", () => {
  it("is made at the first start, its owner's alone, and the same at every later one", async () => {
    const data = makeFolder();
    const names: string[] = [];
    for (let start = 0; start < 3; start += 1) {
      const held = await holdFolder(data, () => {});
      names.push(held.process);
      await held.release();
    }
    expect(names[0]).toMatch(/^[0-9a-f]{16}$/);
    expect(new Set(names).size).toBe(1);
    expect(statSync(join(data, "process")).mode & 0o777).toBe(0o600);
    const other = await holdFolder(makeFolder(), () => {});
    expect(other.process).not.toBe(names[0]);
    await other.release();
  });

  it("is made anew where the file holds none", async () => {
    const data = makeFolder();
    mkdirSync(data, { recursive: true });
    writeFileSync(join(data, "process"), "../lease\n");
    const held = await holdFolder(data, () => {});
    expect(held.process).toMatch(/^[0-9a-f]{16}$/);
    expect(readFileSync(join(data, "process"), "utf8").trim()).toBe(held.process);
    await held.release();
  });
});

it("a gateway that stood still so long that another took its folder stops, says so, and leaves the other alone", async () => {
  const data = makeFolder();
  const first = await serve(data);
  first.child.kill("SIGSTOP");
  const second = await serve(data);
  const own = readRecord(data);
  expect(own?.pid).toBe(second.child.pid);
  first.child.kill("SIGCONT");
  expect(await first.end).toBe(1);
  expect(first.err()).toContain(`Another gateway took over ${data}`);
  expect(first.err()).not.toMatch(/released|at .*:\d+:\d+/);
  expect(readRecord(data)).toEqual(own);
  expect(existsSync(join(data, "gateway.lock"))).toBe(true);
  const listed = run(data, ["list"]);
  expect(await listed.end).toBe(0);
  second.child.kill("SIGTERM");
  expect(await second.end).toBe(0);
  expect(existsSync(join(data, "gateway.json"))).toBe(false);
});
