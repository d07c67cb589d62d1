/**
 * Real PostgreSQL for tests: a server of one's own, or one that already runs, and fresh databases in it.
 *
 * One's own is durable as in production (fsync on) and can be restarted and killed at its port. It orders text by a
 * language (ICU, en-US), as most servers do, so that code which needs the order of bytes must ask for it. On a server
 * of somebody else databases are made and dropped, and nothing else is touched.
 */
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import pg from "pg";
import { openPostgresServer } from "./postgres-server.ts";

export interface Postgres {
  /** Of its administrator, at the database `postgres`. */
  readonly url: string;
  readonly port: number;
  /** URL of a fresh, empty database. It is gone after `stop`, or after `dropDatabase`. */
  database(): Promise<string>;
  /** Idempotent. Leaves no process, folder or database behind. */
  stop(): Promise<void>;
  /** SIGKILL for the server and each of its processes at one moment; resolves when none runs. `restart` recovers it. */
  kill(): Promise<void>;
  /** Stops as `pg_ctl -m` does (`fast` ends sessions and writes all, `immediate` is a crash) and starts again at its port. */
  restart(mode: RestartMode): Promise<void>;
}

export type RestartMode = "fast" | "immediate";

export interface PostgresOptions {
  /** Administrator URL of a running server to use instead of starting one. Such a server is never killed or restarted. */
  readonly url?: string | undefined;
  /** Settings of postgresql.conf, over ours. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Makes databases for whoever posts to `address`, see `freshDatabase`. */
export interface DatabaseDesk {
  readonly address: string;
  close(): Promise<void>;
}

export async function startPostgres(options: PostgresOptions = {}): Promise<Postgres> {
  if (options.url) return guestOf(options.url);
  const server = await openPostgresServer(options.settings ?? {});
  return { ...server, database: () => createDatabase(server.url) };
}

/** A fresh, empty database of the server which a whole test run shares: `freshDatabase(inject("postgres"))`. */
export async function freshDatabase(desk: string): Promise<string> {
  const response = await fetch(desk, { method: "POST" });
  const text = await response.text();
  if (!response.ok) throw new Error(`no database for this test: ${text}`);
  return text;
}

/**
 * Drops a database with the sessions in it, for long runs that need not keep 8 MB for each. It costs a checkpoint of
 * the whole server, up to seconds: the few of an ordinary test are left to the server's end.
 */
export async function dropDatabase(url: string): Promise<void> {
  const admin = new URL(url);
  const name = decodeURIComponent(admin.pathname.slice(1));
  admin.pathname = "/postgres";
  await runSql(admin.href, `DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)} WITH (FORCE)`);
}

/** Starts PostgreSQL when the first database is asked for: test runs that need none do not pay for one. */
export async function openDatabaseDesk(start: () => Promise<Postgres>): Promise<DatabaseDesk> {
  let started: Promise<Postgres> | null = null;
  const desk = createServer((request, response) => {
    request.resume();
    started ??= start();
    started
      .then((postgres) => postgres.database())
      .then((url) => response.end(url))
      .catch((fault: unknown) => response.writeHead(500).end(String(fault)));
  });
  await new Promise<void>((done) => desk.listen(0, "127.0.0.1", done));
  return {
    address: `http://127.0.0.1:${(desk.address() as AddressInfo).port}/`,
    async close() {
      desk.close();
      desk.closeAllConnections();
      await started?.then(
        (postgres) => postgres.stop(),
        () => undefined,
      );
    },
  };
}

function guestOf(url: string): Postgres {
  const made: Promise<string>[] = [];
  const refuse = async (): Promise<never> => {
    throw new Error("This PostgreSQL was named by a URL and belongs to others: start one without `url` to kill it.");
  };
  return {
    url,
    port: Number(new URL(url).port || 5432),
    database() {
      const database = createDatabase(url);
      made.push(database);
      return database;
    },
    async stop() {
      const settled = await Promise.allSettled(made.splice(0));
      for (const one of settled) if (one.status === "fulfilled") await dropDatabase(one.value);
    },
    kill: refuse,
    restart: refuse,
  };
}

/** `wal_log` writes 7 MB of log; `file_copy` would make two checkpoints and so wait for all that other tests wrote. */
async function createDatabase(admin: string): Promise<string> {
  const name = `askgate_test_${randomBytes(6).toString("hex")}`;
  await runSql(admin, `CREATE DATABASE ${name} TEMPLATE template0 STRATEGY wal_log`);
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return url.href;
}

async function runSql(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
