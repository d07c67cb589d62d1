import { once } from "node:events";
import { connect } from "node:net";
import pg from "pg";
import { afterEach, beforeAll, describe, expect, inject, test } from "vitest";
import { type Pooler, type PoolerOptions, startPooler } from "../src/testing/pooler.ts";
import { type Message, messageReader, write, writeStartup } from "../src/testing/pooler-wire.ts";
import { freshDatabase } from "../src/testing/postgres.ts";
import { timed, until } from "../src/testing/until.ts";

let database = "";
const endings: (() => unknown)[] = [];

beforeAll(async () => {
  database = await freshDatabase(inject("postgres"));
});

afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function poolerOf(options: PoolerOptions = {}): Promise<Pooler> {
  const pooler = await startPooler(database, options);
  endings.push(() => pooler.stop());
  return pooler;
}

/** A client whose broken line is told to whoever waits for an answer, and to nobody else. */
async function clientOf(url: string, config: pg.ClientConfig = {}): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, ...config });
  client.on("error", () => undefined);
  await client.connect();
  endings.push(() => client.end().catch(() => undefined));
  return client;
}

/** Like the death of its process: no word to the server. */
function vanish(client: pg.Client): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

async function tableAt(url: string): Promise<string> {
  const client = await clientOf(url);
  const name = `t_${Math.random().toString(36).slice(2)}`;
  await client.query(`create table ${name} (n int)`);
  await client.query(`insert into ${name} values (0)`);
  endings.push(async () => (await clientOf(url)).query(`drop table ${name}`));
  return name;
}

async function valueIn(client: pg.Client, table: string): Promise<unknown> {
  return (await client.query(`select n from ${table}`)).rows[0]?.n;
}

/** Sessions of this database which wait for a lock; the server is shared with other tests. */
const WAITING = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;

/** How a client learns that its line is cut, by whether it was just sending. */
const CUT = /terminated|ECONNRESET/;

/** `vanish` may reach the server a moment later; until then its locks are held. */
const LOCK_PATIENCE = "set local lock_timeout = '5s'";

const poolers: readonly (readonly [string, () => Promise<string>])[] = [
  ["the pooler of the tests", async () => (await poolerOf({ poolSize: 3 })).url],
  ...(process.env.PGBOUNCER_URL ? [["PgBouncer", async () => process.env.PGBOUNCER_URL ?? ""] as const] : []),
];

describe.each(poolers)("%s in transaction mode", (_name, start) => {
  test("keeps transactions apart and whole", async () => {
    const url = await start();
    const table = await tableAt(url);
    const [one, two] = [await clientOf(url), await clientOf(url)];
    const backend = async () => (await one.query("select pg_backend_pid() pid")).rows[0].pid;

    await one.query("begin");
    const first = await backend();
    await one.query(`update ${table} set n = 1`);
    expect(await valueIn(two, table)).toBe(0);
    expect(await backend()).toBe(first);
    await one.query("commit");
    expect(await valueIn(two, table)).toBe(1);

    await one.query("begin");
    await one.query(`update ${table} set n = 2`);
    await expect(one.query("select no_such_column")).rejects.toMatchObject({ code: "42703" });
    await expect(one.query("select 1")).rejects.toMatchObject({ code: "25P02" });
    await one.query("rollback");
    expect(await valueIn(two, table)).toBe(1);
  });

  test("lets more clients than server connections make progress", async () => {
    const url = await start();
    const table = await tableAt(url);
    const clients = await Promise.all(Array.from({ length: 12 }, () => clientOf(url)));
    const work = async (client: pg.Client) => {
      for (let turn = 0; turn < 5; turn += 1) {
        await client.query("begin");
        await client.query(`update ${table} set n = n + $1`, [1]);
        await client.query("commit");
      }
    };
    await Promise.all(clients.map(work));
    expect(await valueIn(await clientOf(url), table)).toBe(60);
  });

  test("runs unnamed statements with parameters", async () => {
    const client = await clientOf(await start());
    const add = "select $1::int + $2::int as sum";
    expect((await client.query(add, [1, 2])).rows).toEqual([{ sum: 3 }]);
    await client.query("begin");
    expect((await client.query(add, [3, 4])).rows).toEqual([{ sum: 7 }]);
    await client.query("commit");
  });

  test("rolls back the transaction of a client which vanished", async () => {
    const url = await start();
    const table = await tableAt(url);
    const lost = await clientOf(url);
    await lost.query("begin");
    await lost.query(`update ${table} set n = 100`);
    vanish(lost);

    const next = await clientOf(url);
    await next.query("begin");
    await next.query(LOCK_PATIENCE);
    await next.query(`update ${table} set n = n + 1`);
    await next.query("commit");
    expect(await valueIn(next, table)).toBe(1);
  });
});

describe("a lent server connection", () => {
  test("is one of poolSize, and waited for", async () => {
    const { url } = await poolerOf({ poolSize: 1 });
    const [holder, other] = [await clientOf(url), await clientOf(url)];
    const order: string[] = [];
    await holder.query("begin");
    const waiting = other.query("select 1").then(() => order.push("other"));
    await holder.query("select 1");
    order.push("holder");
    await holder.query("commit");
    await waiting;
    expect(order).toEqual(["holder", "other"]);
  });

  test.each([
    ["a setting", "set statement_timeout = '77s'", "show statement_timeout", [{ statement_timeout: "0" }]],
    ["a setting by call", "select set_config('a.b', 'c', false)", "select current_setting('a.b', true) v", [{ v: "" }]],
    ["a temporary table", "create temp table mine ()", "select to_regclass('mine') t", [{ t: null }]],
    [
      "an advisory lock",
      "select pg_advisory_lock(7)",
      "select * from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()",
      [],
    ],
    ["an ear", "listen hint", "select * from pg_listening_channels()", []],
  ])("forgets %s", async (_what, leave, look, found) => {
    const client = await clientOf((await poolerOf({ poolSize: 1 })).url);
    await client.query(leave);
    expect((await client.query(look)).rows).toEqual(found);
  });

  test("forgets prepared statements with a name", async () => {
    const client = await clientOf((await poolerOf()).url);
    const query = { name: "one", text: "select 1 as one" };
    expect((await client.query(query)).rows).toEqual([{ one: 1 }]);
    await expect(client.query(query)).rejects.toMatchObject({ code: "26000" });
  });

  test("does not outlive the server's end, but the next transaction finds a new one", async () => {
    const { url } = await poolerOf({ poolSize: 1 });
    const [client, other] = [await clientOf(url), await clientOf(url)];
    await client.query("begin");
    const { pid } = (await client.query("select pg_backend_pid() pid")).rows[0];
    const waiting = other.query("select 1 as one");
    await (await clientOf(database)).query("select pg_terminate_backend($1)", [pid]);
    await expect(client.query("commit")).rejects.toThrow();
    expect((await waiting).rows).toEqual([{ one: 1 }]);
  });

  test("refuses settings of a session, as PgBouncer does", async () => {
    const { url } = await poolerOf();
    await expect(clientOf(url, { statement_timeout: 1_000 })).rejects.toMatchObject({ code: "08P01" });
    const elsewhere = new URL(url);
    elsewhere.pathname = "/elsewhere";
    await expect(clientOf(elsewhere.href)).rejects.toMatchObject({ code: "3D000" });
  });
});

describe("LISTEN", () => {
  test.each([
    ["hears nothing through a pool", false],
    ["hears in transparent mode", true],
  ])("%s", async (_name, transparent) => {
    const { url } = await poolerOf({ transparent });
    const heard: string[] = [];
    const ears = [await clientOf(url), await clientOf(database)] as const;
    for (const ear of ears) {
      ear.on("notification", ({ payload }) => heard.push(`${ear === ears[0] ? "through" : "direct"} ${payload}`));
      await ear.query("listen hint");
    }
    await (await clientOf(url)).query("notify hint, 'x'");
    await until("the direct ear hears", () => heard.includes("direct x"));
    if (transparent) await until("the other hears", () => heard.includes("through x"));
    await ears[0].query("select 1");
    expect(heard.includes("through x")).toBe(transparent);
  });

  test("in transparent mode the session keeps the rest too", async () => {
    const client = await clientOf((await poolerOf({ transparent: true })).url, { statement_timeout: 77_000 });
    const query = { name: "one", text: "show statement_timeout" };
    for (const _turn of [1, 2]) expect((await client.query(query)).rows).toEqual([{ statement_timeout: "77s" }]);
  });
});

describe.each([
  ["pooled", false],
  ["transparent", true],
])("the controls, %s", (_name, transparent) => {
  test("count statements and show each before it passes and after it is answered", async () => {
    const steps: string[] = [];
    const pooler = await poolerOf({
      transparent,
      onStatement: (sql, index) => void steps.push(`${index} ${sql}`),
      onAnswer: (sql, index) => void steps.push(`${index} ${sql} answered`),
    });
    const client = await clientOf(pooler.url);
    await client.query("begin");
    await client.query("select $1::int", [1]);
    await client.query("select 1/$1::int", [0]).catch(() => undefined);
    await client.query("rollback");
    expect(pooler.statements()).toBe(4);
    expect(steps).toEqual(
      ["1 begin", "2 select $1::int", "3 select 1/$1::int", "4 rollback"].flatMap((step) => [step, `${step} answered`]),
    );
  });

  test("stand between the steps of a commit", async () => {
    const table = await tableAt(database);
    const witness = await clientOf(database);
    const seen: unknown[] = [];
    const look = async (sql: string) => {
      if (sql === "commit") seen.push(await valueIn(witness, table));
    };
    const client = await clientOf((await poolerOf({ transparent, onStatement: look, onAnswer: look })).url);
    await client.query("begin");
    await client.query(`update ${table} set n = 1`);
    await client.query("commit").then(() => seen.push("told"));
    expect(seen).toEqual([0, 1, "told"]);
  });

  test.each([
    ["before it reached the server", "onStatement", 0],
    ["after it was done", "onAnswer", 1],
  ] as const)("lose a commit %s", async (_when, hook, left) => {
    const table = await tableAt(database);
    const lose = (sql: string) => {
      if (sql === "commit") throw new Error("lost");
    };
    const client = await clientOf((await poolerOf({ transparent, [hook]: lose })).url);
    await client.query("begin");
    await client.query(`update ${table} set n = 1`);
    await expect(client.query("commit")).rejects.toThrow(CUT);
    expect(await valueIn(await clientOf(database), table)).toBe(left);
  });

  test("delay each round trip", async () => {
    const pooler = await poolerOf({ transparent });
    const client = await clientOf(pooler.url);
    pooler.delay(40);
    const trips = async () => {
      await client.query("select 1");
      await client.query("select $1::int", [1]);
    };
    expect(await timed(trips())).toBeGreaterThanOrEqual(2 * 39);
  });

  test("cut every connection on both sides", async () => {
    const pooler = await poolerOf({ transparent });
    const witness = await clientOf(database);
    const [idle, busy] = [await clientOf(pooler.url), await clientOf(pooler.url)];
    await idle.query("begin");
    const { pid } = (await idle.query("select pg_backend_pid() pid")).rows[0];
    const isThere = async () =>
      (await witness.query("select 1 from pg_stat_activity where pid = $1", [pid])).rowCount === 1;

    await witness.query("select pg_advisory_lock(1)");
    const waiting = busy.query("select pg_advisory_lock(1)");
    waiting.catch(() => undefined);
    await until("it waits", async () => (await witness.query(WAITING)).rowCount);
    pooler.cut();
    await expect(waiting).rejects.toThrow(CUT);
    await until("the server has let go", async () => !(await isThere()));
    expect((await (await clientOf(pooler.url)).query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });

  test("pause: connections are taken and nothing is answered until resume", async () => {
    const pooler = await poolerOf({ transparent });
    const client = await clientOf(pooler.url);
    pooler.pause();
    let answered = 0;
    const asked = client.query("select 1").then(() => (answered += 1));
    const socket = connect(pooler.port, "127.0.0.1");
    endings.push(() => socket.destroy());
    await once(socket, "connect");
    const joining = clientOf(pooler.url).then(() => (answered += 1));
    await (await clientOf(database)).query("select 1");
    expect(answered).toBe(0);
    pooler.resume();
    await Promise.all([asked, joining]);
    expect(answered).toBe(2);
  });

  test("pause: the server does not learn that a client is gone before resume", async () => {
    const pooler = await poolerOf({ transparent });
    const table = await tableAt(database);
    const witness = await clientOf(database);
    const isLocked = () =>
      witness.query(`select 1 from ${table} for update nowait`).then(
        () => false,
        (fault: { code: string }) => fault.code === "55P03",
      );
    const client = await clientOf(pooler.url);
    await client.query("begin");
    await client.query(`update ${table} set n = 1`);
    pooler.pause();
    const gone = new Promise((done) => client.once("end", done));
    vanish(client);
    await gone;
    expect(await isLocked()).toBe(true);
    pooler.resume();
    await until("the lock is free", async () => !(await isLocked()));
    expect(await valueIn(witness, table)).toBe(0);
  });

  test("refuse new connections and leave those which exist", async () => {
    const pooler = await poolerOf({ transparent });
    const client = await clientOf(pooler.url);
    await pooler.refuse(true);
    await expect(clientOf(pooler.url)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    await pooler.refuse(false);
    expect((await (await clientOf(pooler.url)).query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });
});

test("what a client flushes without ending the round is passed on and answered", async () => {
  const pooler = await poolerOf();
  const heard: Message[] = [];
  const socket = connect(pooler.port, "127.0.0.1");
  endings.push(() => socket.destroy());
  socket.on(
    "data",
    messageReader("server", (message) => heard.push(message)),
  );
  const types = () => heard.map(({ type }) => type).join("");
  socket.write(writeStartup({ user: "postgres", database: new URL(database).pathname.slice(1) }));
  await until("ready", () => /^RS+KZ$/.test(types()));
  heard.length = 0;

  const none = Buffer.alloc(2);
  socket.write(Buffer.concat([write("P", "", "select 1", none), write("D", Buffer.from("S"), ""), write("H")]));
  await until("described", () => types() === "1tT");
  socket.write(Buffer.concat([write("B", "", "", none, none, none), write("E", "", 0), write("H")]));
  await until("executed", () => types() === "1tT2DC");
  socket.write(write("S"));
  await until("ready again", () => types() === "1tT2DCZ");
  expect(pooler.statements()).toBe(1);
});
