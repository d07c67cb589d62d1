/** What a database that cannot be used says: the file, the reason, the remedy, and a code callers know. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AskgateError } from "../src/core/errors.ts";
import { toUnavailable } from "../src/store/postgres-faults.ts";
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

const coded = (code: string, message: string) => Object.assign(new Error(message), { code });

test.each([
  ["a server without encryption", new Error("The server does not support SSL connections")],
  ["a certificate of its own making", coded("DEPTH_ZERO_SELF_SIGNED_CERT", "self-signed certificate")],
  ["a certificate of another host", coded("ERR_TLS_CERT_ALTNAME_INVALID", "does not match certificate's altnames")],
  ["a server that wants encryption", coded("28000", 'no pg_hba.conf entry for host "::1", user "a", no encryption')],
])("%s is told with the setting that mends it", (_, error) => {
  expect(toUnavailable(error)).toMatchObject({
    code: "unavailable",
    message: expect.stringMatching(/To mend it, set sslmode in ASKGATE_DATABASE_URL as the server wants it\.$/),
  });
});

test("a statement that was refused is no fault of the encryption, whatever it quotes", () => {
  const error = coded("22P02", 'invalid input syntax for type bigint: "certificate"');
  expect(toUnavailable(error)).toBe(error);
});

test("a database that a newer version has used is told with what is in the way", async () => {
  await (await open()).close();
  const Database = createRequire(import.meta.url)(DRIVER) as new (path: string) => Held;
  const other = new Database(file());
  other.exec("insert into kysely_migration (name, timestamp) values ('0999_later', '2099-01-01T00:00:00.000Z')");
  other.close();
  const { message } = await faultOf(open());
  expect(message).toMatch(/If a newer Askgate has used it, run that version; .*0999_later/);
});
