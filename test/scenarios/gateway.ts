/**
 * One gateway as a real process: started on a data folder and a database, killed without warning, started again.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { readRecord } from "../../src/gateway/cli/data-folder.ts";
import { until } from "../../src/testing/until.ts";
import type { Preload, Programs } from "./programs.ts";
import type { Snare, Work } from "./trap.ts";

export const PATIENCE_MS = 60_000;

export interface GatewayOptions {
  readonly programs: Programs;
  /** Holds `data` and `app.json`. */
  readonly folder: string;
  readonly preloads?: readonly Preload[];
  readonly env: Readonly<Record<string, string>>;
  readonly command?: readonly string[];
}

export interface Noted {
  readonly works: readonly Work[];
  /** Writing statements of no known work. */
  readonly others: readonly string[];
}

export interface Gateway {
  readonly process: ChildProcess;
  /** Resolves once it listens; rejects when it ends before. */
  readonly listening: Promise<string>;
  /** Resolves when it is gone, however it went. */
  readonly gone: Promise<void>;
  /** Transactions that its database trap noted. */
  readonly noted: readonly Noted[];
  /** What it wrote to stderr. */
  said(): string;
  signal(name: NodeJS.Signals): void;
  kill(): Promise<void>;
  /** Through the preload `sqliteTrap`. */
  arm(snare: Snare | null): Promise<void>;
}

export function startGateway({ programs, folder, preloads = [], env, command = ["serve"] }: GatewayOptions): Gateway {
  const { PATH, HOME } = process.env;
  const data = join(folder, "data");
  const child = spawn(process.execPath, [...programs.arguments(["leash", ...preloads]), ...command], {
    env: { PATH, HOME, ASKGATE_LOG_LEVEL: "warn", ASKGATE_PORT: "0", ASKGATE_DATA: data, ...env },
    stdio: ["ignore", "ignore", "pipe", "pipe", ...(preloads.includes("sqliteTrap") ? (["ipc"] as const) : [])],
  });
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    said += chunk;
  });
  const noted: Noted[] = [];
  child.on("message", (message: Noted | { readonly armed: true }) => {
    if ("works" in message) noted.push(message);
  });
  const gone = once(child, "exit").then(() => undefined);
  const listening = listens(child, data, () => said);
  // Whoever starts it to see it die does not ask where it listens.
  listening.catch(() => {});
  return {
    process: child,
    listening,
    gone,
    noted,
    said: () => said,
    signal: (name) => void child.kill(name),
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
    async arm(snare) {
      const armed = new Promise<void>((resolve) => {
        const hear = (message: object) => {
          if (!("armed" in message)) return;
          child.off("message", hear);
          resolve();
        };
        child.on("message", hear);
      });
      child.send({ arm: snare });
      await Promise.race([armed, gone]);
    },
  };
}

function listens(child: ChildProcess, data: string, said: () => string): Promise<string> {
  const over = () => child.exitCode !== null || child.signalCode !== null;
  return until(
    "the gateway listens",
    () => {
      const record = readRecord(data);
      if (record?.pid === child.pid && record?.url) return record.url;
      if (over())
        throw new Error(`the gateway ended before it listened (${child.signalCode ?? child.exitCode}):\n${said()}`);
      return null;
    },
    PATIENCE_MS,
  );
}
