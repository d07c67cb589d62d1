/** How long a gateway takes from `npm start` to answering that it is ready, and what it holds in memory then. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

export interface Start {
  readonly readyMs: number;
  readonly residentMb: number;
}

/** Starts on the folder's `bench.db`, waits until ready, lets it settle for a while, and ends it. */
export async function startOn(folder: string, settings: object): Promise<Start> {
  const data = join(folder, "data");
  const config = join(folder, "app.json");
  writeFileSync(config, JSON.stringify(settings));
  const { PATH, HOME } = process.env;
  const database = { ASKGATE_DATABASE_URL: `sqlite:${join(folder, "bench.db")}` };
  const env = { PATH, HOME, ASKGATE_DATA: data, ASKGATE_CONFIG: config, ASKGATE_PORT: "0", ...database };
  const started = performance.now();
  const child = spawn("npm", ["start"], { env, stdio: "ignore", detached: true });
  const url = await announced(join(data, "gateway.json"));
  while (!(await ready(url))) await pause(5);
  const readyMs = performance.now() - started;
  await pause(3_000);
  const residentMb = residentOf(JSON.parse(readFileSync(join(data, "gateway.json"), "utf8")).pid);
  await end(child);
  return { readyMs, residentMb };
}

/** The record is there before the gateway listens, without an address. */
async function announced(record: string): Promise<string> {
  for (;;) {
    const url = existsSync(record) ? JSON.parse(readFileSync(record, "utf8")).url : null;
    if (url !== null) return url;
    await pause(5);
  }
}

function ready(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    (response) => response.ok,
    () => false,
  );
}

/** Megabytes in memory, as the kernel counts them. */
function residentOf(pid: number): number {
  const [, kib = "NaN"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) / 1_024;
}

async function end(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
  await gone;
}
