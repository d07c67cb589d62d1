/**
 * Ends a process and its children at one moment, as a power cut ends them: none can react to the death of another.
 */
import { type ChildProcess, execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { until } from "./until.ts";

interface Running {
  readonly pid: number;
  readonly parent: number;
  /** `Z` and `X` are dead and only not yet forgotten. */
  readonly state: string;
}

/** Stops the parent first, so that it neither forks nor mourns while its children are counted and killed. */
export async function killFamily(parent: ChildProcess): Promise<void> {
  if (parent.pid === undefined || !parent.kill("SIGSTOP")) return;
  const family = new Set([parent.pid]);
  for (const one of await running()) if (one.parent === parent.pid) family.add(one.pid);
  for (const pid of family) process.kill(pid, "SIGKILL");
  await until("the killed processes are gone", async () => !(await running()).some(({ pid }) => family.has(pid)));
}

async function running(): Promise<readonly Running[]> {
  const all = process.platform === "linux" ? await fromProc() : await fromPs();
  return all.filter(({ state }) => !/^[ZX]/.test(state));
}

/** `ps` is missing in small images. The second field, the name in brackets, may hold blanks and brackets. */
async function fromProc(): Promise<readonly Running[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, "utf8").catch(() => null)));
  return stats.flatMap((stat) => {
    const [, pid, state = "", parent] = /^(\d+) \(.*\) (\S) (\d+) /s.exec(stat ?? "") ?? [];
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), state }];
  });
}

async function fromPs(): Promise<readonly Running[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid=,state="]);
  return stdout
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .map(([pid, parent, state = ""]) => ({ pid: Number(pid), parent: Number(parent), state }));
}
