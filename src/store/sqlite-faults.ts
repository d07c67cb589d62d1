/**
 * What SQLite cannot do, in words an operator can act on. A full disk or a locked file is no bug of a caller: it is told
 * as `unavailable`, with the file and the remedy, and passes when its cause does.
 */
import { AskgateError } from "../core/errors.ts";

/** By the beginning of SQLite's result code (https://sqlite.org/rescode.html, read 2026-11-30). */
const FAULTS: readonly (readonly [code: string, what: string, remedy: string])[] = [
  ["SQLITE_FULL", "the disk is full", "free some space"],
  ["SQLITE_IOERR", "the disk could not be read or written", "check the disk and the folder"],
  ["SQLITE_BUSY", "another process holds it", "end that process"],
  ["SQLITE_READONLY", "it may not be written", "give its owner the right to write the file and its folder"],
  ["SQLITE_CANTOPEN", "it could not be opened", "check that it is a file in a folder that exists"],
  ["SQLITE_NOTADB", "it is not a database", "move it away, or set ASKGATE_DATABASE_URL to another file"],
  ["SQLITE_CORRUPT", "it is damaged", "restore it from a backup, or move it away to begin anew"],
];

/** The same error where it is none of these. */
export function toUnavailable(error: unknown, file: string): unknown {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const fault = FAULTS.find(([prefix]) => code.startsWith(prefix));
  if (!fault) return error;
  const [, what, remedy] = fault;
  return new AskgateError("unavailable", `The database ${file} cannot be used: ${what}. To mend it, ${remedy}.`, [], {
    cause: error,
  });
}
