/**
 * The log: one JSON object a line on standard error, and no secret in any of them.
 *
 * Platform libraries put tokens into addresses and error texts, so naming the fields to hide is not enough: the finished
 * line is scrubbed of every known secret and of everything that looks like one.
 */
import { pino } from "pino";
import type { Log } from "./ports/log.ts";

/** A Telegram bot token (core.telegram.org/bots/api#authorizing-your-bot), wherever it stands in a text. */
const TELEGRAM_TOKEN = /\d{5,}(?::|%3A)[\w-]{30,}/gi;
/** The address of a database, its password included. */
const DATABASE = /\b(postgres(?:ql)?:\/\/)[^\s"'`\\<>]+/gi;
const BEARER = /\b(Bearer\s+)[^\s"'\\,]+/gi;
const HIDDEN = "[hidden]";

/** Removes the given values, however JSON or an address writes them, and anything shaped like a token. */
export function createScrubber(secrets: readonly string[]): (text: string) => string {
  const written = secrets.flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
  ]);
  const known = [...new Set(written)].filter((secret) => secret !== "").sort((a, b) => b.length - a.length);
  return (text) => {
    const clean = known.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text);
    const bare = clean.replace(TELEGRAM_TOKEN, HIDDEN).replace(DATABASE, `$1${HIDDEN}`);
    return bare.replace(BEARER, `$1${HIDDEN}`);
  };
}

export interface LogOptions {
  readonly level: "silent" | "error" | "warn" | "info" | "debug";
  readonly secrets: readonly string[];
  /** Default: standard error. */
  readonly write?: (line: string) => void;
}

export function createLog(options: LogOptions): Log {
  const streamWrite = createScrubber(options.secrets);
  const out = options.write ? { write: options.write } : pino.destination({ dest: 2, sync: true });
  const logger = pino({ level: options.level, base: null, hooks: { streamWrite } }, out);
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
}
