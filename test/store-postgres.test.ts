/** What only PostgreSQL is asked: several processes on one database, its clock, hints, and its coming and going. */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import type { Hint } from "../src/ports/store.ts";
import { type DurableStore, openStore } from "../src/store/store.ts";
import { freshDatabase, type Postgres, startPostgres } from "../src/testing/postgres.ts";
import { inquiryOf, silent } from "../src/testing/store-samples.ts";
import { raceSuite } from "../src/testing/store-suite-races.ts";
import { timed, until } from "../src/testing/until.ts";

const open = (url: string) => openStore(url, { log: silent });

describe("two processes on one database", () => {
  let url: string;
  let stores: readonly DurableStore[] = [];

  beforeEach(async () => {
    url = await freshDatabase(inject("postgres"));
    stores = await Promise.all([open(url), open(url)]);
  });
  afterEach(async () => {
    for (const store of stores) await store.close();
    // Counted when a session ends: nobody ever waited in a circle.
    expect(await ask(url, "select deadlocks::int from pg_stat_database where datname = current_database()")).toEqual([
      { deadlocks: 0 },
    ]);
  });

  raceSuite(() => stores);

  it("tell each other what they changed, and not themselves", async () => {
    const heard: Hint[][] = [[], []];
    stores.forEach((store, index) => void store.listen((hint) => heard[index]?.push(hint)));
    const [one, two] = stores as [DurableStore, DurableStore];
    await until("both listen", async () => (await listeners(url)) === 2);
    await one.commit({ create: [inquiryOf("inq_1")] });
    await one.access.revokeKey("key_1", 1);
    await until("the other heard both", () => heard[1]?.some(({ access }) => access));
    expect(heard[1]?.flatMap(({ inquiries }) => inquiries)).toEqual(["inq_1"]);
    expect(heard[0]).toEqual([]);
    await two.commit({ create: [inquiryOf("inq_2")] });
    await until("the first heard of it", () => heard[0]?.some(({ inquiries }) => inquiries.includes("inq_2")));
  });

  it("share hints for what is changed at once, none longer than PostgreSQL passes on", async () => {
    const heard: Hint[] = [];
    const [one, two] = stores as [DurableStore, DurableStore];
    two.listen((hint) => heard.push(hint));
    await until("it listens", async () => (await listeners(url)) === 1);
    const uids = Array.from({ length: 500 }, (_, index) => `inq_${"x".repeat(22)}${index}`);
    await Promise.all(uids.map((uid) => one.commit({ create: [inquiryOf(uid)] })));
    await until("all were heard of", () => new Set(heard.flatMap(({ inquiries }) => inquiries)).size === 500);
    expect(heard.length).toBeLessThan(100);
  });

  it("go by the database's clock", async () => {
    const [one] = stores as [DurableStore, DurableStore];
    const before = Date.now();
    const time = await one.time?.();
    expect(time).toBeGreaterThanOrEqual(before - 1);
    expect(time).toBeLessThanOrEqual(Date.now() + 1);
  });

  it("bring one database up to date at the same moment", async () => {
    const fresh = await freshDatabase(inject("postgres"));
    const opened = await Promise.all(Array.from({ length: 6 }, () => open(fresh)));
    await opened[0]?.commit({ create: [inquiryOf("inq_1")] });
    expect((await opened[5]?.inquiry("inq_1"))?.uid).toBe("inq_1");
    for (const store of opened) await store.close();
  });
});

async function ask(url: string, sql: string): Promise<readonly unknown[]> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end();
  return rows;
}

/** Sessions of the database that listen. */
async function listeners(url: string): Promise<number> {
  const mine = "datname = current_database() and query ilike 'listen%'";
  return (await ask(url, `select pid from pg_stat_activity where ${mine}`)).length;
}

describe("a server that comes and goes", () => {
  let server: Postgres;
  let store: DurableStore;
  beforeAll(async () => {
    server = await startPostgres();
    store = await open(await server.database());
  });
  afterAll(async () => {
    await store.close();
    await server.stop();
  });

  it.each(["fast", "immediate"] as const)(
    "is missed while it is away, and used again after its %s restart",
    async (mode) => {
      await store.commit({ create: [inquiryOf(`inq_${mode}`)] });
      const restarted = server.restart(mode);
      const outcomes: string[] = [];
      const write = async (index: number) => {
        try {
          outcomes.push((await store.commit({ create: [inquiryOf(`inq_${mode}_${index}`)] })).outcome);
          return true;
        } catch (error) {
          expect(error).toMatchObject({ code: "unavailable" });
          outcomes.push("unavailable");
          return false;
        }
      };
      let writing = true;
      const done = restarted.finally(() => {
        writing = false;
      });
      const written: number[] = [];
      for (let index = 0; writing; index += 1) if (await write(index)) written.push(index);
      await done;
      await until("it is used again", () => write(-1));
      expect((await store.inquiry(`inq_${mode}`))?.uid).toBe(`inq_${mode}`);
      for (const index of written) expect(await store.inquiry(`inq_${mode}_${index}`)).not.toBeNull();
    },
  );
});

/** A way to the server that can fall silent: it takes what comes, and neither passes it on nor hangs up. */
async function openWay(url: string) {
  const ends: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect(Number(new URL(url).port), "127.0.0.1");
    near.pipe(far).pipe(near);
    ends.push(near, far);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const through = new URL(url);
  through.port = String((server.address() as AddressInfo).port);
  return {
    url: through.href,
    silence: () => ends.forEach((end) => void end.unpipe().pause()),
    close() {
      for (const end of ends) end.destroy();
      server.close();
    },
  };
}

it("closes within seconds though the way to the server has fallen silent", async () => {
  const url = await freshDatabase(inject("postgres"));
  const way = await openWay(url);
  const store = await open(way.url);
  store.listen(() => {});
  await until("it listens", async () => (await listeners(url)) === 1);
  await Promise.all([store.leases.renew([], 0), store.commit({ create: [inquiryOf("inq_1")] })]);
  way.silence();
  expect(await timed(store.close())).toBeLessThan(5_000);
  way.close();
});

it.each([
  ["refused connections", "postgres://ana:hush-hush@127.0.0.1:1/askgate"],
  ["a name nobody has", "postgres://ana:hush-hush@askgate.invalid/askgate"],
])("says in words what is wrong, and no password: %s", async (_, url) => {
  const refused = await open(url).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "unavailable" });
  expect(String(refused)).not.toContain("hush-hush");
  expect(String(refused)).toContain("ASKGATE_DATABASE_URL");
});
