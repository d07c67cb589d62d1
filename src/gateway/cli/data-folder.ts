/**
 * The data folder: who may read it, the two keys made for it, its process's name, and which gateway runs on it.
 *
 * Rules: the folder is its owner's alone (0700), key files too (0600); one gateway for each folder, held by a lock that
 * a killed process cannot keep; several gateways on one database have a folder each. The name in `process` outlives
 * restarts, so that a gateway finds what was its own; `gateway.json` tells the commands where it listens.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import lockfile from "proper-lockfile";
import * as z from "zod";
import { AskgateError } from "../../core/errors.ts";

export type KeyName = "agent" | "operator";

export function keyPath(data: string, name: KeyName): string {
  return join(data, `${name}.key`);
}

/** The key in the folder, or null. */
export function readKey(data: string, name: KeyName): string | null {
  const path = keyPath(data, name);
  return existsSync(path) ? readFileSync(path, "utf8").trim() : null;
}

/** The key in the folder, made if there is none. Only while holding the folder. */
export function ensureKey(data: string, name: KeyName, mint: () => string): string {
  const existing = readKey(data, name);
  if (existing) return existing;
  const key = mint();
  writeWhole(keyPath(data, name), key);
  return key;
}

/** By it the others of a database know this gateway; never two gateways at a time. */
const PROCESS_NAME = /^[0-9a-f]{16}$/;

/** The name in the folder, made if there is none that can be one. Only while holding the folder. */
function ensureProcessName(data: string): string {
  const path = join(data, "process");
  const existing = existsSync(path) ? readFileSync(path, "utf8").trim() : "";
  if (PROCESS_NAME.test(existing)) return existing;
  const name = randomBytes(8).toString("hex");
  writeWhole(path, name);
  return name;
}

const recordSchema = z.object({
  /** Null while it starts. */
  url: z.string().nullable(),
  pid: z.int(),
  /** Process ids mean something on one machine only. */
  host: z.string(),
});

export type GatewayRecord = z.infer<typeof recordSchema>;

const recordPath = (data: string) => join(data, "gateway.json");
const lockPath = (data: string) => join(data, "gateway.lock");

export function readRecord(data: string): GatewayRecord | null {
  return readRecordAt(recordPath(data));
}

function readRecordAt(path: string): GatewayRecord | null {
  if (!existsSync(path)) return null;
  try {
    return recordSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return null;
  }
}

/** Whether the process that wrote the record is known to be gone. */
export function isDead(record: GatewayRecord): boolean {
  if (record.host !== hostname()) return false;
  try {
    process.kill(record.pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

export interface HeldFolder {
  /** The name of the process that has this folder, the same at every start. */
  readonly process: string;
  /** Tells the commands where the gateway listens. */
  announce(url: string): void;
  /** Gives the folder back; does nothing once it belongs to another gateway. */
  release(): Promise<void>;
}

/** A lock not refreshed for this long belongs to nobody. */
const STALE_MS = 10_000;
const LOOK_AGAIN_MS = 50;

/**
 * Takes the folder for one gateway, making it if need be. Rejects with `unavailable` naming the gateway that has it.
 * `onLost` is called if another process took it over, which happens only to one that did not run for 10 s: it must stop.
 */
export async function holdFolder(data: string, onLost: (error: Error) => void): Promise<HeldFolder> {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  let lost = false;
  const unlock = await lockFolder(data, (error) => {
    lost = true;
    onLost(error);
  });
  const write = (url: string | null) => writeRecord(data, { url, pid: process.pid, host: hostname() });
  write(null);
  return {
    process: ensureProcessName(data),
    announce: write,
    async release() {
      const record = readRecord(data);
      if (lost || (record !== null && !bearsOurId(record))) return;
      rmSync(recordPath(data), { force: true });
      await unlock();
    },
  };
}

async function lockFolder(data: string, onLost: (error: Error) => void): Promise<() => Promise<void>> {
  const options = {
    lockfilePath: lockPath(data),
    realpath: false,
    stale: STALE_MS,
    update: 2_000,
    onCompromised: onLost,
  };
  const patience = performance.now() + STALE_MS + 1_000;
  for (;;) {
    const unlock = await lockfile.lock(data, options).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ELOCKED") return null;
      throw error;
    });
    if (unlock) return unlock;
    const record = readRecord(data);
    if (record && (isDead(record) || bearsOurId(record))) removeDeadLock(data, record);
    else if (performance.now() > patience || (record && (await answers(record)))) throw inUse(data, record);
    else await pause(LOOK_AGAIN_MS);
  }
}

/** Ours, or a predecessor's: a restarted container gives the same process id again, and whoever had it is gone. */
function bearsOurId(record: GatewayRecord): boolean {
  return record.host === hostname() && record.pid === process.pid;
}

/** Of several that find the same dead gateway, the one that renames its record removes its lock. */
function removeDeadLock(data: string, dead: GatewayRecord): void {
  const aside = `${recordPath(data)}.${process.pid}`;
  try {
    renameSync(recordPath(data), aside);
  } catch {
    return;
  }
  const taken = readRecordAt(aside);
  if (taken && taken.pid !== dead.pid) {
    renameSync(aside, recordPath(data));
    return;
  }
  rmdirSync(lockPath(data));
  rmSync(aside, { force: true });
}

async function answers(record: GatewayRecord): Promise<boolean> {
  if (record.url === null) return false;
  try {
    return (await fetch(`${record.url}/healthz`, { signal: AbortSignal.timeout(1_000) })).ok;
  } catch {
    return false;
  }
}

function inUse(data: string, record: GatewayRecord | null): AskgateError {
  const where = record ? ` at ${record.url ?? "an address it has not told yet"} (process ${record.pid})` : "";
  return new AskgateError(
    "unavailable",
    `A gateway runs on ${data} already${where}. Use that one. A second one, on the same database too, needs a data ` +
      "folder of its own: set ASKGATE_DATA.",
  );
}

function writeRecord(data: string, record: GatewayRecord): void {
  writeWhole(recordPath(data), JSON.stringify(record));
}

/** For its owner alone, and never half. */
function writeWhole(path: string, text: string): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${text}\n`, { mode: 0o600 });
  renameSync(draft, path);
}
