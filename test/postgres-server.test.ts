import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import pg from "pg";
import { expect, test } from "vitest";
import { startPostgres } from "../src/testing/postgres.ts";
import { until } from "../src/testing/until.ts";

async function ask(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client.query(sql).then(
    ({ rows }) => client.end().then(() => rows),
    (fault: unknown) => client.end().then(() => Promise.reject(fault)),
  );
}

function answers(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, "127.0.0.1", () => done(true));
    socket.once("error", () => done(false));
    socket.once("connect", () => socket.destroy());
  });
}

test("a server keeps what was committed through kills and restarts, and leaves nothing behind", async () => {
  const server = await startPostgres();
  const url = await server.database();
  const [{ folder } = {}] = await ask(url, "select current_setting('data_directory') folder");
  await ask(url, "create table kept (n int)");

  await ask(url, "insert into kept values (1)");
  await server.kill();
  await expect(ask(url, "select 1")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  await server.restart("fast");
  await ask(url, "insert into kept values (2)");
  await server.restart("immediate");
  await ask(url, "insert into kept values (3)");
  await server.restart("fast");
  expect(await ask(url, "select n from kept order by n")).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);

  await server.stop();
  await server.stop();
  expect(await answers(server.port)).toBe(false);
  expect(existsSync(String(folder))).toBe(false);
}, 60_000);

test.each(["SIGINT", "SIGTERM", "SIGKILL"] as const)(
  "%s to its owner leaves nothing behind",
  async (signal) => {
    const owner = spawn(process.execPath, ["--import", "tsx", "test/fixtures/postgres-owner.ts"]);
    const [line] = await once(owner.stdout, "data");
    const url = String(line).trim();
    const [{ folder } = {}] = await ask(url, "select current_setting('data_directory') folder");
    owner.kill(signal);
    await until("the folder is gone", () => !existsSync(String(folder)), 15_000);
    expect(await answers(Number(new URL(url).port))).toBe(false);
  },
  60_000,
);

test("a server named by a URL is never killed or restarted, and loses only what was made there", async () => {
  const host = await startPostgres();
  const guest = await startPostgres({ url: host.url });
  const names = "select datname from pg_database where datname like 'askgate_test_%'";
  const own = await host.database();
  const made = await guest.database();
  await expect(guest.kill()).rejects.toThrow("belongs to others");
  await expect(guest.restart("fast")).rejects.toThrow("belongs to others");
  expect(await ask(made, "select 1 as one")).toEqual([{ one: 1 }]);
  await guest.stop();
  expect(await ask(host.url, names)).toEqual([{ datname: new URL(own).pathname.slice(1) }]);
  await host.stop();
}, 60_000);
