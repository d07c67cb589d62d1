/** One line per implementation of the store port. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { openStore } from "../src/store/store.ts";
import { silent } from "../src/testing/store-samples.ts";
import { storeSuite } from "../src/testing/store-suite.ts";

const folder = mkdtempSync(join(tmpdir(), "askgate-store-"));
afterAll(() => rmSync(folder, { recursive: true }));

storeSuite("SQLite in memory", () => openStore("sqlite::memory:", { log: silent }));
storeSuite("SQLite in a file", () =>
  openStore(`sqlite:${join(mkdtempSync(join(folder, "one-")), "askgate.db")}`, { log: silent }),
);
