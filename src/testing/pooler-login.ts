/**
 * Logs a connection in as a client of PostgreSQL: no password, a plain one, or SCRAM-SHA-256 (RFC 5802, RFC 7677).
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { leadingStrings, type Message, write, writeStartup } from "./pooler-wire.ts";

/** What the server asks for in an Authentication message. */
const ASKS = { nothing: 0, password: 3, sasl: 10, saslContinue: 11, saslFinal: 12 } as const;

/** Answers the server's messages until it is ready; true then. What is not about logging in is left alone. */
export type Login = (message: Message) => boolean;

export function startLogin(url: URL, send: (bytes: Buffer) => void): Login {
  const password = decodeURIComponent(url.password);
  const nonce = randomBytes(18).toString("base64");
  send(
    writeStartup({
      user: decodeURIComponent(url.username),
      database: databaseOf(url),
      client_encoding: "UTF8",
    }),
  );

  function answer(message: Message): void {
    const asked = message.bytes.readInt32BE(5);
    const text = message.bytes.toString("utf8", 9);
    if (asked === ASKS.password) send(write("p", password));
    else if (asked === ASKS.sasl) send(firstWord(nonce));
    else if (asked === ASKS.saslContinue) send(write("p", Buffer.from(proof(password, nonce, text))));
    else if (asked !== ASKS.nothing && asked !== ASKS.saslFinal) {
      throw new Error(`The server asks for a password in a way this pooler does not know (${asked}).`);
    }
  }

  return (message) => {
    if (message.type === "E") throw new Error(`The server refused the pooler: ${errorText(message)}`);
    if (message.type === "R") answer(message);
    return message.type === "Z";
  };
}

export function databaseOf(url: URL): string {
  return decodeURIComponent(url.pathname.slice(1));
}

function firstWord(nonce: string): Buffer {
  const bare = Buffer.from(`n,,n=,r=${nonce}`);
  return write("p", "SCRAM-SHA-256", bare.length, bare);
}

function proof(password: string, nonce: string, challenge: string): string {
  const [, whole = "", salt = "", rounds = ""] = /^r=([^,]+),s=([^,]+),i=(\d+)/.exec(challenge) ?? [];
  const salted = pbkdf2Sync(password, Buffer.from(salt, "base64"), Number(rounds), 32, "sha256");
  const clientKey = hmac(salted, "Client Key");
  const storedKey = createHash("sha256").update(clientKey).digest();
  const last = `c=biws,r=${whole}`;
  const signature = hmac(storedKey, `n=,r=${nonce},${challenge},${last}`);
  const sum = Buffer.from(clientKey.map((byte, at) => byte ^ (signature[at] ?? 0)));
  return `${last},p=${sum.toString("base64")}`;
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function errorText(message: Message): string {
  return (
    leadingStrings(message, 20)
      .find((field) => field.startsWith("M"))
      ?.slice(1) ?? "without a word"
  );
}
