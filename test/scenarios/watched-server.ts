/**
 * A way to PostgreSQL on which every statement is watched. Each connection gets a pooler of its own, so that statements
 * of transactions that run side by side can be told apart; what a trap stops there is lost on both sides.
 */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type Pooler, startPooler } from "../../src/testing/pooler.ts";
import type { Trap } from "./trap.ts";

export interface WatchedServer {
  /** As the URL it was opened with, at the watched address. */
  readonly url: string;
  close(): Promise<void>;
}

export async function openWatchedServer(server: string, trap: Trap): Promise<WatchedServer> {
  const poolers = new Set<Promise<Pooler>>();
  const front = createServer((client) => {
    const watched = trap.connection();
    const hooks = { onStatement: (sql: string) => watched.before(sql), onAnswer: (sql: string) => watched.after(sql) };
    const pooler = startPooler(server, { transparent: true, ...hooks });
    poolers.add(pooler);
    void join(client, pooler).finally(() => poolers.delete(pooler));
  });
  await new Promise<void>((listening) => front.listen(0, "127.0.0.1", listening));
  const url = new URL(server);
  url.host = `127.0.0.1:${(front.address() as AddressInfo).port}`;
  return {
    url: url.href,
    async close() {
      front.close();
      for (const pooler of poolers) await (await pooler).stop();
    },
  };
}

/** Resolves when the client is gone and its pooler has stopped. */
async function join(client: Socket, starting: Promise<Pooler>): Promise<void> {
  client.on("error", () => client.destroy());
  const pooler = await starting;
  const link = connect(pooler.port, "127.0.0.1");
  link.on("error", () => link.destroy());
  client.pipe(link).pipe(client);
  await Promise.race([client, link].map((socket) => new Promise((closed) => socket.once("close", closed))));
  client.destroy();
  link.destroy();
  await pooler.stop();
}
