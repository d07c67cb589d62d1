/**
 * SQLite as a dialect: one file, one connection, every commit on the disk before it is acknowledged.
 *
 * Rules: WAL with synchronous=FULL, so that a kill or a power cut loses nothing acknowledged; a transaction takes the
 * write lock when it begins, because one that upgrades later fails instead of waiting; the driver is chosen by Node's
 * version and never by trying, since the wrong one ends the process instead of throwing.
 */
import { closeSync, mkdirSync, openSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  type SqliteStatement,
  type TransactionSettings,
} from "kysely";
import { toUnavailable } from "./sqlite-faults.ts";

interface SqliteFile extends SqliteDatabase {
  readonly inTransaction: boolean;
  pragma(text: string): unknown;
}

type OpenFile = new (path: string, options: { readonly timeout: number }) => SqliteFile;

/** How long another process may hold the write lock before an operation fails. */
const BUSY_TIMEOUT_MS = 5_000;

/** Pages of the file kept in memory, in KiB: the indexes of some hundred thousand inquiries. */
const CACHE_KIB = 65_536;

/** Distinct statements kept prepared; more than the store has, list lengths included. */
const PREPARED = 1_000;

/** `path` is a file, created with its folder, or `:memory:`. */
export function sqliteDialect(path: string): Dialect {
  const config = { database: prepared(openFile(path), path) };
  const dialect = new SqliteDialect(config);
  return {
    createDriver: () => new LockingFirst(config),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createAdapter: () => new TransactionalDdl(),
  };
}

/** Every transaction that may write begins with the write lock. */
class LockingFirst extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection, settings?: TransactionSettings): Promise<void> {
    const begin = settings?.accessMode === "read only" ? "begin" : "begin immediate";
    await connection.executeQuery(CompiledQuery.raw(begin));
  }
}

/** SQLite rolls schema changes back like any others, so a migration is one transaction and racing ones queue up. */
class TransactionalDdl extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

function openFile(path: string): SqliteFile {
  const file = path === ":memory:" ? path : resolve(path);
  if (file !== ":memory:") makePrivate(file);
  const Driver = loadDriver();
  try {
    const database = new Driver(file, { timeout: BUSY_TIMEOUT_MS });
    database.pragma("journal_mode = WAL");
    database.pragma("synchronous = FULL");
    database.pragma("foreign_keys = ON");
    database.pragma(`cache_size = -${CACHE_KIB}`);
    return database;
  } catch (error) {
    throw toUnavailable(error, file);
  }
}

/** For its owner alone, before the first page is written; the log beside it takes the file's rights. */
function makePrivate(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  closeSync(openSync(file, "a", 0o600));
}

function loadDriver(): OpenFile {
  const major = Number(process.versions.node.split(".")[0]);
  const name = major >= 22 ? "better-sqlite3" : "better-sqlite3-node20";
  try {
    return createRequire(import.meta.url)(name);
  } catch (cause) {
    throw new Error(
      `The SQLite driver "${name}" is not installed for Node ${process.versions.node}: run "npm install" with this ` +
        "version of Node, or set ASKGATE_DATABASE_URL to another database.",
      { cause },
    );
  }
}

/** Keeps statements prepared. */
function prepared(file: SqliteFile, path: string): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    close: () => file.close(),
    prepare(sql) {
      const known = statements.get(sql);
      if (known) return known;
      if (statements.size >= PREPARED) statements.clear();
      const statement = guarded(file, file.prepare(sql), sql === "rollback", path);
      statements.set(sql, statement);
      return statement;
    },
  };
}

/** Tells faults in words; a transaction SQLite has rolled back by itself is not rolled back again, which would hide why. */
function guarded(file: SqliteFile, statement: SqliteStatement, rollsBack: boolean, path: string): SqliteStatement {
  const telling = <R>(call: () => R): R => {
    try {
      return call();
    } catch (error) {
      throw toUnavailable(error, path);
    }
  };
  return {
    reader: statement.reader,
    all: (parameters) => telling(() => statement.all(parameters)),
    iterate: (parameters) => statement.iterate(parameters),
    run: (parameters) =>
      rollsBack && !file.inTransaction ? { changes: 0, lastInsertRowid: 0 } : telling(() => statement.run(parameters)),
  };
}
