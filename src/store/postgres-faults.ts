/**
 * What PostgreSQL cannot do, in words an operator can act on. A database that is away, full or forbidden is no bug of a
 * caller: it is told as `unavailable`, with the remedy, and passes when its cause does.
 */
import { AskgateError } from "../core/errors.ts";

/**
 * By the beginning of the code: SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html, read
 * 2026-11-30) or that of a socket.
 */
const FAULTS: readonly (readonly [code: string, what: string, remedy: string])[] = [
  ["28", "it refused the user or the password", "correct ASKGATE_DATABASE_URL"],
  ["3D000", "there is no database of that name", "create it, or correct ASKGATE_DATABASE_URL"],
  ["42501", "the user may not do that", "give the user of ASKGATE_DATABASE_URL all rights on its database and schema"],
  ["53100", "its disk is full", "free some space"],
  ["53300", "it takes no more connections", "raise max_connections, or put a pooler in front of it"],
  ["53", "it has run out of something", "see its log"],
  ["57", "it is stopping or starting", "wait, or see its log"],
  ["58", "its disk or system failed", "see its log"],
  ["25P03", "a transaction rested for too long and was ended", "see what keeps this process from going on"],
  ["55P03", "somebody else holds what is to be changed", "end the transaction that holds it"],
  ["25006", "it is read-only", "connect to the primary server"],
  ["08", "the connection was lost", "check that the server runs and can be reached"],
  ["ECONN", "it cannot be reached", "check that the server runs and ASKGATE_DATABASE_URL names it"],
  ["EPIPE", "the connection was lost", "check that the server runs and can be reached"],
  ["ETIMEDOUT", "it does not answer", "check the network between this machine and the server"],
  ["EHOST", "it cannot be reached", "check the network between this machine and the server"],
  ["ENET", "it cannot be reached", "check the network between this machine and the server"],
  ["ENOTFOUND", "its host has no such name", "correct ASKGATE_DATABASE_URL"],
  ["EAI_AGAIN", "its host's name cannot be looked up", "check the network and its name service"],
];

/** Of errors that the driver makes itself and gives no code. */
const LOST = /connection terminated|connection ended|timeout|not queryable/i;

/** Of errors about encryption. Some have no code, some one of their own, and a server's is that of a refused user. */
const ENCRYPTION = /does not support SSL|certificate|no encryption|SSL off/i;
const ENCRYPTION_FAULT = [
  "its encryption or its certificate is not as asked for",
  "set sslmode in ASKGATE_DATABASE_URL as the server wants it",
] as const;

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** Whether the connection is of no more use. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error);
  return code === "" ? error instanceof Error && LOST.test(error.message) : /^(08|57P|25006|25P03|E[A-Z])/.test(code);
}

/** What a statement was refused for may quote anything, so its words say nothing. */
function isOfEncryption(error: unknown, code: string): boolean {
  const refused = /^\d[0-9A-Z]{4}$/.test(code) && !code.startsWith("28");
  return !refused && error instanceof Error && ENCRYPTION.test(error.message);
}

function faultOf(error: unknown): readonly [what: string, remedy: string] | null {
  const code = codeOf(error);
  if (isOfEncryption(error, code)) return ENCRYPTION_FAULT;
  const known = FAULTS.find(([prefix]) => code !== "" && code.startsWith(prefix));
  if (known) return [known[1], known[2]];
  return isLost(error) ? ["it does not answer", "check that the server runs"] : null;
}

/** The same error where it is none of these. */
export function toUnavailable(error: unknown): unknown {
  const fault = faultOf(error);
  if (fault === null) return error;
  const [what, remedy] = fault;
  return new AskgateError("unavailable", `The database cannot be used: ${what}. To mend it, ${remedy}.`, [], {
    cause: error,
  });
}
