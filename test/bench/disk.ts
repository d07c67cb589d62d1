/** What the disk can do, beside which every durable figure is to be read. */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

/** 4 KiB writes, each flushed, for one second. */
export function flushesPerSecond(folder: string): number {
  const inside = mkdtempSync(join(folder, "askgate-bench-"));
  const file = openSync(join(inside, "flush"), "w");
  const start = performance.now();
  let flushes = 0;
  for (; performance.now() - start < 1_000; flushes += 1) {
    writeSync(file, Buffer.alloc(4_096), 0, 4_096, 0);
    fdatasyncSync(file);
  }
  closeSync(file);
  rmSync(inside, { recursive: true });
  return flushes;
}
