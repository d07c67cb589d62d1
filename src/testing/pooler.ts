/**
 * A small connection pooler before a real PostgreSQL, with the rules of transaction pooling and the faults of a network.
 *
 * A server connection is lent to a client for one transaction. What a session would keep beyond it is lost: LISTEN, SET,
 * prepared statements, temporary tables, advisory locks. `transparent` gives each client a server connection of its own
 * instead. Both count, delay, halt and break at exact steps. No TLS, no COPY, no cancelling; clients need no password
 * in pooled mode, and log in with the server itself in transparent mode.
 */
import { createServer, type Server, type Socket } from "node:net";
import { setTimeout as after } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { Link, openPool } from "./pooler-link.ts";
import { databaseOf } from "./pooler-login.ts";
import { type House, Session } from "./pooler-session.ts";

/**
 * Called with a statement's SQL and its number, from 1 over all clients; `statements()` then is at least that number.
 * What waits for it waits until it resolves. If it throws, the statement or answer is lost: the connections of this
 * client are cut on both sides.
 */
export type StatementHook = (sql: string, index: number) => void | Promise<void>;

export interface PoolerOptions {
  /** Server connections at most. Default 10. Means nothing in transparent mode. */
  readonly poolSize?: number;
  /** Milliseconds added to each round trip, while the server connection is lent. Default 0. */
  readonly delayMs?: number;
  /** One server connection per client, for as long as the client stays. Default false. */
  readonly transparent?: boolean;
  /** Before a statement goes to the server. */
  readonly onStatement?: StatementHook;
  /** After the server answered a statement and before the client learns of it. */
  readonly onAnswer?: StatementHook;
}

export interface Pooler {
  /** As the URL it was started with, at the pooler's address. */
  readonly url: string;
  readonly port: number;
  /** SQL statements that passed, BEGIN and COMMIT included. */
  statements(): number;
  /** Changes `delayMs` from now on. */
  delay(ms: number): void;
  /** Destroys every connection, both sides. New ones are taken. */
  cut(): void;
  /** From now on nothing passes either way: connections are taken, and closed by clients, and nobody hears of it. */
  pause(): void;
  resume(): void;
  /** Whether new connections are refused (ECONNREFUSED). Those that exist stay. */
  refuse(on: boolean): Promise<void>;
  stop(): Promise<void>;
}

export async function startPooler(server: string, options: PoolerOptions = {}): Promise<Pooler> {
  const target = new URL(server);
  const pool = options.transparent ? null : openPool(target, options.poolSize ?? 10);
  const gate = openGate();
  const traffic = openTraffic(options, gate.passed);
  const house: House = {
    ...traffic.house,
    database: databaseOf(target),
    pool,
    connect: () => new Link(target),
    gate: gate.passed,
  };
  const sessions = new Set<Session>();
  const port = await freePort();
  let listener: Server | null = await listen(port, admit);

  function admit(socket: Socket): void {
    const session = new Session(house, socket);
    sessions.add(session);
    socket.once("close", () => gate.passed().then(() => sessions.delete(session)));
  }

  function cut(): void {
    for (const session of sessions) session.destroy();
    pool?.cut();
  }

  async function refuse(on: boolean): Promise<void> {
    if (on) listener?.close();
    if (on) listener = null;
    else listener ??= await listen(port, admit);
  }

  return {
    url: addressed(target, port),
    port,
    statements: traffic.statements,
    delay: traffic.delay,
    cut,
    pause: gate.shut,
    resume: gate.open,
    refuse,
    async stop() {
      await refuse(true);
      cut();
      gate.open();
    },
  };
}

interface Traffic {
  readonly house: Pick<House, "pass" | "answered">;
  statements(): number;
  delay(ms: number): void;
}

/** What happens to each statement on its way there and back. */
function openTraffic(options: PoolerOptions, gate: () => Promise<void>): Traffic {
  let delayMs = options.delayMs ?? 0;
  let statements = 0;
  return {
    statements: () => statements,
    delay(ms) {
      delayMs = ms;
    },
    house: {
      async pass(texts, each) {
        if (delayMs > 0) await after(delayMs);
        for (const sql of texts) {
          const statement = { sql, index: ++statements };
          each(statement);
          await options.onStatement?.(sql, statement.index);
        }
        await gate();
      },
      async answered({ sql, index }) {
        await options.onAnswer?.(sql, index);
      },
    },
  };
}

interface Gate {
  passed(): Promise<void>;
  shut(): void;
  open(): void;
}

function openGate(): Gate {
  let isShut = false;
  let waiting: (() => void)[] = [];
  return {
    async passed() {
      while (isShut) await new Promise<void>((go) => waiting.push(go));
    },
    shut() {
      isShut = true;
    },
    open() {
      isShut = false;
      for (const go of waiting) go();
      waiting = [];
    },
  };
}

function listen(port: number, admit: (socket: Socket) => void): Promise<Server> {
  const server = createServer(admit);
  return new Promise((done, fail) => {
    server.once("error", fail);
    server.listen(port, "127.0.0.1", () => done(server));
  });
}

function addressed(target: URL, port: number): string {
  const url = new URL(target);
  url.host = `127.0.0.1:${port}`;
  return url.href;
}
