/** What a database that cannot be used says: the file, the reason, the remedy, and a code callers know. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AskgateError } from "../src/core/errors.ts";
import { openStore } from "../src/store/store.ts";
import { copyOf, inquiryOf, silent } from "../src/testing/store-samples.ts";

interface Held {
  exec(sql: string): void;
  close(): void;
}

const DRIVER = Number(process.versions.node.split(".")[0]) >= 22 ? "better-sqlite3" : "better-sqlite3-node20";

let folder: string;
const file = () => join(folder, "askgate.db");
const open = () => openStore(`sqlite:${file()}`, { log: silent });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "askgate-faults-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function faultOf(work: Promise<unknown>): Promise<AskgateError> {
  return work.then(
    () => expect.fail("nothing failed"),
    (error: AskgateError) => error,
  );
}

test("a file that is no database is named, with what to do", async () => {
  writeFileSync(file(), "These are the notes of somebody, and not pages of a database at all.".repeat(20));
  const fault = await faultOf(open());
  expect(fault).toMatchObject({ code: "unavailable" });
  expect(fault.message).toBe(
    `The database ${file()} cannot be used: it is not a database. To mend it, move it away, or set ASKGATE_DATABASE_URL to another file.`,
  );
});

test("a file another process holds is told as such, and counts again when it is free", async () => {
  const store = await open();
  const Database = createRequire(import.meta.url)(DRIVER) as new (path: string) => Held;
  const other = new Database(file());
  other.exec("begin immediate");
  const inquiry = inquiryOf("inq_late");
  const fault = await faultOf(store.commit({ create: [inquiry], add: [copyOf(inquiry, "telegram:1")] }));
  expect(fault).toMatchObject({ code: "unavailable" });
  expect(fault.message).toMatch(/cannot be used: another process holds it\. To mend it, end that process\.$/);
  other.exec("rollback");
  other.close();
  expect(await store.commit({ create: [inquiry] })).toEqual({ outcome: "done" });
  await store.close();
});
