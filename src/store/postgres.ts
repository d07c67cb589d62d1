/**
 * PostgreSQL, by its driver's pool: what the query layer needs of it, and its clock.
 *
 * Rules: no statement is prepared under a name and no session state is relied on, so that a pooler in transaction mode
 * may stand between; a connection that failed, or let a statement wait for too long, is closed and never lent again.
 */
import { Socket } from "node:net";
import { type Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient, sql } from "kysely";
import pg from "pg";
import type { Log } from "../ports/log.ts";
import { isLost } from "./postgres-faults.ts";
import type { Schema } from "./schema.ts";

/** Connections to the database per process; transactions beyond that wait for one. */
export const POOL_SIZE = 10;
/** Milliseconds until a server that does not answer counts as gone, for a connection and for a statement. */
const CONNECT_MS = 10_000;
const STATEMENT_MS = 20_000;
/** Milliseconds a server has to answer a goodbye. */
const GOODBYE_MS = 1_000;
/**
 * Milliseconds after which the server ends a transaction whose process says nothing, and a wait for somebody else's
 * locks: a process that was stopped or cut off in the middle must not keep what it held from those who take over.
 */
const SILENCE_MS = 3_000;
const LOCK_MS = 4_000;
const BEGIN = `begin; set local idle_in_transaction_session_timeout = ${SILENCE_MS}; set local lock_timeout = ${LOCK_MS}`;

/** Whole numbers of eight bytes as numbers: times and counters stay far below 2^53. */
const types = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as "text"),
};

export function settingsOf(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: "askgate",
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_MS,
    types: types as pg.CustomTypesConfig,
  };
}

/** Lines to one server, each for one connection. */
export interface Lines {
  stream(): Socket;
  /** Says goodbye on all of them, and cuts those on which nobody answers: a server that is cut off never would. */
  end(goodbye: () => Promise<void>): Promise<void>;
}

export function openLines(): Lines {
  const sockets = new Set<Socket>();
  return {
    stream() {
      const socket = new Socket();
      sockets.add(socket);
      return socket.once("close", () => sockets.delete(socket));
    },
    async end(goodbye) {
      const cut = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, GOODBYE_MS);
      await goodbye().finally(() => clearTimeout(cut));
    },
  };
}

export interface PostgresOptions {
  /** Connections at most; default `POOL_SIZE`. */
  readonly connections?: number;
  /** Transactions may rest and wait for as long as they like, as those that move a whole database do. Default false. */
  readonly patient?: boolean;
}

export function postgresDialect(url: string, log: Log, options: PostgresOptions = {}): PostgresDialect {
  const { connections = POOL_SIZE, patient = false } = options;
  // A queue for a connection is no fault of the server: only making one is limited, by the clients' own setting.
  const { connectionTimeoutMillis: _, ...settings } = settingsOf(url);
  const lines = openLines();
  const { stream } = lines;
  const pool = new pg.Pool({ ...settings, stream, max: connections, Client: Connecting } as pg.PoolConfig);
  pool.on("error", (error) => log.warn({ err: error.message }, "an idle database connection was lost"));
  return new PostgresDialect({ pool: careful(pool, lines, patient ? "begin" : BEGIN) });
}

class Connecting extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super({ ...config, connectionTimeoutMillis: CONNECT_MS });
  }
}

/** Closes a connection on which something failed for good, and fails what follows on it at once. */
function careful(pool: pg.Pool, lines: Lines, begin: string): PostgresPool {
  return {
    end: () => lines.end(() => pool.end()),
    async connect() {
      const client = await pool.connect();
      let broken: unknown = null;
      const ended = (error: unknown) => {
        broken ??= error;
      };
      client.on("error", ended);
      const query = async (text: string, values: readonly unknown[]) => {
        if (broken !== null) throw broken;
        try {
          return await client.query(text === "begin" ? begin : text, [...values]);
        } catch (error) {
          if (isLost(error)) broken = error;
          throw error;
        }
      };
      const release = () => {
        client.off("error", ended);
        client.release(broken !== null);
      };
      // The query layer asks for cursors as well, which nothing here reads by.
      return { query: query as unknown as PostgresPoolClient["query"], release };
    },
  };
}

const CLOCK = sql<{ now: number }>`select (extract(epoch from clock_timestamp()) * 1000)::bigint as now`;

/** Milliseconds since the epoch, by the database. */
export async function databaseTime(db: Kysely<Schema>): Promise<number> {
  const { rows } = await CLOCK.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("the database did not say what time it is");
  return row.now;
}
