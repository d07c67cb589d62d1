/** The databases a play can run on. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "../../src/ports/store.ts";
import { openStore } from "../../src/store/store.ts";
import { silentLog } from "../../src/testing/asker-engine.ts";
import { startPostgres } from "../../src/testing/postgres.ts";
import type { Database } from "./world.ts";

/** In memory: whoever opens it gets the same one, since a second would be another. */
export async function inMemory(): Promise<Database> {
  const store = await openStore("sqlite::memory:", { log: silentLog });
  return { open: async () => store, close: () => store.close() };
}

export async function inFile(): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), "askgate-model-"));
  const store = await openStore(`sqlite:${join(folder, "askgate.db")}`, { log: silentLog });
  return {
    open: async () => store,
    async close() {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A database of its own each time, on the server of that URL's administrator. */
export function onPostgres(url: string): () => Promise<Database> {
  return async () => {
    const server = await startPostgres({ url });
    return postgresAt(await server.database(), () => server.stop());
  };
}

/**
 * Without waiting for the disk: what survives a power cut is proved elsewhere, and here it would be all the time there is.
 *
 * @param gone drops it
 */
export async function postgresAt(database: string, gone: () => Promise<void>): Promise<Database> {
  const url = `${database}?options=${encodeURIComponent("-c synchronous_commit=off")}`;
  const open: Store[] = [];
  return {
    async open() {
      const store = await openStore(url, { log: silentLog });
      open.push(store);
      return store;
    },
    async close() {
      for (const store of open) await store.close();
      await gone();
    },
  };
}
