/**
 * Stages whose database has a trap: inside the gateway, beside the SQLite driver, or on the way to the PostgreSQL
 * server. Either kills the gateway at the statement it was told and touches nothing else.
 */
import type { Gateway } from "./gateway.ts";
import type { Preload, Programs } from "./programs.ts";
import { openStage, type Stage } from "./stage.ts";
import { createTrap, type Snare } from "./trap.ts";
import { openWatchedServer } from "./watched-server.ts";

export type StoreKind = "sqlite" | "postgres";

export interface Trapped {
  readonly stage: Stage;
  /** The database as the gateway reaches it. */
  readonly watchedUrl: string;
  snareDatabase(snare: Snare | null): Promise<void>;
  /** Starts a gateway, or another command, whose trap is armed before its first statement. */
  launchInto(snare: Snare | null, command?: readonly string[]): Promise<Gateway>;
  /** The works done so far, each named by its transaction, and the writing statements of no known work. */
  noted(): { readonly works: readonly string[]; readonly others: readonly string[] };
  close(): Promise<void>;
}

export interface TrappedOptions {
  readonly programs: Programs;
  readonly preloads?: readonly Preload[];
  /** A fresh database; asked for PostgreSQL alone. */
  readonly database: () => Promise<string>;
}

export function openTrapped(kind: StoreKind, options: TrappedOptions): Promise<Trapped> {
  return kind === "sqlite" ? onSqlite(options) : onPostgres(options);
}

async function onSqlite({ programs, preloads = [] }: TrappedOptions): Promise<Trapped> {
  const stage = await openStage({ programs, preloads: ["sqliteTrap", ...preloads] });
  return {
    stage,
    watchedUrl: stage.databaseUrl,
    snareDatabase: (snare) => stage.node.gateway().arm(snare),
    launchInto: async (snare, command) =>
      stage.node.launch(snare === null ? {} : { SCENARIO_SNARE: JSON.stringify(snare) }, command),
    noted() {
      const { noted } = stage.node.gateway();
      return { works: noted.flatMap(({ works }) => works), others: noted.flatMap(({ others }) => others) };
    },
    close: () => stage.close(),
  };
}

async function onPostgres({ programs, preloads = [], database }: TrappedOptions): Promise<Trapped> {
  const [works, others]: [string[], string[]] = [[], []];
  const trap = createTrap({
    spring() {
      stage.node.gateway().signal("SIGKILL");
      throw new Error("killed at this statement");
    },
    note(done, rest) {
      works.push(...done);
      others.push(...rest);
    },
  });
  const directUrl = await database();
  const server = await openWatchedServer(directUrl, trap);
  const stage = await openStage({ programs, preloads, databaseUrls: [server.url], directUrl });
  return {
    stage,
    watchedUrl: server.url,
    snareDatabase: async (snare) => trap.arm(snare),
    async launchInto(snare, command) {
      trap.arm(snare);
      return stage.node.launch({}, command);
    },
    noted: () => ({ works, others }),
    async close() {
      await stage.close();
      await server.close();
    },
  };
}
