/** One line per implementation of the store port. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, inject } from "vitest";
import { openStore } from "../src/store/store.ts";
import { startPooler } from "../src/testing/pooler.ts";
import { freshDatabase } from "../src/testing/postgres.ts";
import { silent } from "../src/testing/store-samples.ts";
import { storeSuite } from "../src/testing/store-suite.ts";

const folder = mkdtempSync(join(tmpdir(), "askgate-store-"));
afterAll(() => rmSync(folder, { recursive: true }));

storeSuite("SQLite in memory", () => openStore("sqlite::memory:", { log: silent }));
storeSuite("SQLite in a file", () =>
  openStore(`sqlite:${join(mkdtempSync(join(folder, "one-")), "askgate.db")}`, { log: silent }),
);
const direct = emptied();
storeSuite("PostgreSQL", async () => openStore(await direct(), { log: silent }));
const pooled = emptied();
storeSuite("PostgreSQL behind a pooler in transaction mode", async () => {
  const pooler = await startPooler(await pooled(), { poolSize: 4 });
  const store = await openStore(pooler.url, { log: silent });
  const close = async () => {
    await store.close();
    await pooler.stop();
  };
  return { ...store, close };
});

/** The URL of one database, empty at each call: emptying costs a fraction of making another. */
function emptied(): () => Promise<string> {
  let made: string | null = null;
  return async () => {
    if (made === null) {
      made = await freshDatabase(inject("postgres"));
      return made;
    }
    const client = new pg.Client(made);
    await client.connect();
    const names =
      "select string_agg(format('%I', tablename), ', ') as all from pg_tables where schemaname = 'public' and tablename not like 'kysely%'";
    const { rows } = await client.query<{ all: string }>(names);
    await client.query(`truncate ${rows[0]?.all} restart identity`);
    await client.end();
    return made;
  };
}
