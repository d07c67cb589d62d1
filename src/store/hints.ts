/**
 * Hints between the processes of one PostgreSQL database, by NOTIFY.
 *
 * Rules: a hint is sent after the commit, never in it, since that would make commits wait for each other; what is to be
 * told within a short while shares one. Nobody relies on a hint: a lost connection, or a pooler that passes none on,
 * costs the polling interval and nothing else.
 */
import pg from "pg";
import type { Log } from "../ports/log.ts";
import type { Hint } from "../ports/store.ts";
import { isText, listOf, oneOf, readJson, shape } from "./json.ts";
import { openLines, settingsOf } from "./postgres.ts";

const CHANNEL = "askgate";
/** Milliseconds in which what is to be told is gathered. */
const GATHER_MS = 20;
/** Inquiries in one hint: 8,000 bytes at most are passed on (https://www.postgresql.org/docs/current/sql-notify.html). */
const MOST = 200;
const RECONNECT_MS = 2_000;

export interface Hints {
  /** To be called after a commit. */
  tell(inquiries: readonly string[], access?: boolean): void;
  listen(hear: (hint: Hint) => void): () => void;
  close(): Promise<void>;
}

interface Wire {
  readonly from: string;
  readonly inquiries: readonly string[];
  readonly access: "yes" | "no";
}

const isWire = shape<Wire>({ from: isText, inquiries: listOf(isText), access: oneOf("yes", "no") });

/** @param notify sends one text on the channel of that name; rejects when it cannot */
export function openHints(url: string, notify: (channel: string, text: string) => Promise<void>, log: Log): Hints {
  const from = crypto.randomUUID();
  const sender = gathering(async ({ inquiries, access }) => {
    const text: Wire = { from, inquiries, access: access ? "yes" : "no" };
    await notify(CHANNEL, JSON.stringify(text)).catch((error: unknown) => {
      log.debug({ err: error }, "other processes were not told; they look by themselves");
    });
  });
  const ears = new Set<(hint: Hint) => void>();
  let ear: { close(): Promise<void> } | null = null;

  function heard(text: string): void {
    const { from: sent, inquiries, access } = readJson(text, isWire, `the notification on ${CHANNEL}`);
    if (sent === from) return;
    for (const hear of ears) hear({ inquiries, access: access === "yes" });
  }

  return {
    tell: sender.tell,
    listen(hear) {
      ears.add(hear);
      ear ??= openEar(url, heard, log);
      return () => ears.delete(hear);
    },
    async close() {
      ears.clear();
      await Promise.all([sender.close(), ear?.close()]);
    },
  };
}

/** Sends at once what comes after a quiet while, then at most once per interval. */
function gathering(send: (hint: Hint) => Promise<void>) {
  const waiting = new Set<string>();
  let access = false;
  let sending: Promise<void> | null = null;
  let closed = false;

  async function run(): Promise<void> {
    while (waiting.size > 0 || access) {
      const inquiries = [...waiting].slice(0, MOST);
      for (const one of inquiries) waiting.delete(one);
      const hint = { inquiries, access };
      access = false;
      await send(hint);
      if (!closed) await new Promise((resolve) => setTimeout(resolve, GATHER_MS));
    }
    sending = null;
  }

  return {
    tell(inquiries: readonly string[], changed = false): void {
      for (const one of inquiries) waiting.add(one);
      access ||= changed;
      if (!closed && (waiting.size > 0 || access)) sending ??= run();
    },
    async close(): Promise<void> {
      closed = true;
      await sending;
    },
  };
}

/** A connection of its own that listens, made anew whenever it is lost. */
function openEar(url: string, heard: (text: string) => void, log: Log) {
  const lines = openLines();
  let client: pg.Client | null = null;
  let retry: NodeJS.Timeout | null = null;
  let closed = false;

  async function connect(): Promise<void> {
    const { query_timeout: _, ...settings } = settingsOf(url);
    const next = new pg.Client({ ...settings, stream: lines.stream });
    client = next;
    next.on("notification", ({ payload = "" }) => take(payload));
    next.on("error", (error) => lost(next, error));
    next.on("end", () => lost(next, null));
    await next.connect();
    await next.query(`listen ${CHANNEL}`);
  }

  function take(text: string): void {
    try {
      heard(text);
    } catch (error) {
      log.warn({ err: error }, "a notification was not understood");
    }
  }

  function lost(which: pg.Client, error: unknown): void {
    if (closed || client !== which) return;
    client = null;
    log.debug({ err: error }, "no hints of other processes for a while; this one looks by itself");
    which.end().catch(() => {});
    retry = setTimeout(begin, RECONNECT_MS);
    retry.unref();
  }

  function begin(): void {
    connect().catch((error: unknown) => {
      if (client !== null) lost(client, error);
    });
  }

  begin();
  return {
    async close(): Promise<void> {
      closed = true;
      if (retry !== null) clearTimeout(retry);
      await lines.end(async () => client?.end()).catch(() => {});
    },
  };
}
