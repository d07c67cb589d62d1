/**
 * A listening socket for the gateway. Whoever is silent or slow while asking is cut; how long an answer takes is nobody's
 * limit. Closing stops new connections at once, lets running requests end for a limited time and then cuts the rest: a
 * waiting call that is cut attaches again at the next start.
 */
import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { AskgateError } from "../core/errors.ts";

export interface Listening {
  /** As `http://127.0.0.1:8787`, with the port that was really taken. */
  readonly url: string;
  close(): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** The variable that sets the port, for what is said where it cannot be had; default ASKGATE_PORT. */
  readonly portVariable?: string;
  /** Milliseconds running requests may still take when closing; default 2,000. */
  readonly drainMs?: number;
  /** Milliseconds a connection has for the headers of a request, from its first byte or from connecting; default 10,000. */
  readonly headersMs?: number;
  /** Milliseconds a request has to arrive whole, body included; default 30,000: a body of 1 MiB over a slow line. */
  readonly requestMs?: number;
}

/** Rejects with AskgateError `unavailable` where the address cannot be had, saying why and what to do. */
export async function serve(
  app: { fetch(request: Request): Promise<Response> },
  options: ListenOptions,
): Promise<Listening> {
  const {
    host,
    port,
    portVariable = "ASKGATE_PORT",
    drainMs = 2_000,
    headersMs = 10_000,
    requestMs = 30_000,
  } = options;
  const patience = {
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: headersMs / 10,
  };
  const server = createAdaptorServer({
    fetch: (request) => app.fetch(request),
    hostname: host,
    serverOptions: patience,
  }) as Server;
  const unused = unusedConnections(server);
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(explain(error, `${host}:${port}`, portVariable)));
    server.listen(port, host, resolve);
  });
  return { url: urlOf(server, host), close: () => closed(server, unused, drainMs) };
}

function urlOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Connections on which nothing was asked yet, as clients open in advance; Node does not count them as idle. */
function unusedConnections(server: Server): ReadonlySet<Socket> {
  const unused = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    unused.add(socket);
    socket.once("close", () => unused.delete(socket));
  });
  server.on("request", (request: IncomingMessage) => unused.delete(request.socket));
  return unused;
}

function closed(server: Server, unused: ReadonlySet<Socket>, drainMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), drainMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
    for (const socket of unused) socket.destroy();
  });
}

/** `PORT` stands for the variable. */
const REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: "is taken. Stop the program that uses it, or set PORT to a free port",
  EACCES: "may not be used by this account. Set PORT to 1024 or above",
  EADDRNOTAVAIL: "is not an address of this machine. Set ASKGATE_HOST to one that is, such as 127.0.0.1",
  ENOTFOUND: "is not a known host name. Set ASKGATE_HOST to an address of this machine, such as 127.0.0.1",
};

function explain(error: NodeJS.ErrnoException, address: string, portVariable: string): AskgateError {
  const remedy = REMEDIES[error.code ?? ""]?.replace("PORT", portVariable);
  return new AskgateError("unavailable", `${address} ${remedy ?? `cannot be listened on (${error.message})`}.`);
}
