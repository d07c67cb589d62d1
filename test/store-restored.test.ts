/** A database that was restored on another PostgreSQL server: the log goes on where it was, whatever that server counts. */
import pg from "pg";
import { afterEach, expect, inject, it } from "vitest";
import { type DurableStore, openStore } from "../src/store/store.ts";
import { freshDatabase } from "../src/testing/postgres.ts";
import { inquiryOf, silent } from "../src/testing/store-samples.ts";
import { until } from "../src/testing/until.ts";

/** How far the old server had counted its transactions ahead of the new one. */
const AHEAD = 1_000_000_000;

const open: DurableStore[] = [];
afterEach(async () => {
  for (const store of open.splice(0)) await store.close();
});

async function openAt(url: string): Promise<DurableStore> {
  const store = await openStore(url, { log: silent });
  open.push(store);
  return store;
}

async function say(store: DurableStore, ...uids: readonly string[]): Promise<void> {
  for (const uid of uids) await store.commit({ create: [inquiryOf(uid)] });
}

/** What is told from behind there, once no transaction anywhere on the server keeps any of it back. */
async function heard(store: DurableStore, after: string | null) {
  const items = await until("all is told", async () => {
    const page = await store.events.read({ after, owner: null, sessions: null, limit: 100 });
    return !page.unsettled && page.items;
  });
  return { uids: items.map(({ inquiry }) => inquiry), places: items.map(({ position }) => position) };
}

/** What a dump of a server that counted that far leaves on this one. */
async function restored(url: string): Promise<void> {
  for (const store of open.splice(0)) await store.close();
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`update event set turn = turn + ${AHEAD}`);
  await client.end();
}

const elsewhere = (place = "") => place.replace(/^\d+/, (turn) => String(Number(turn) + AHEAD));

it("is told whole and in order, what happens from then on behind it, and no position leads past anything", async () => {
  const url = await freshDatabase(inject("postgres"));
  await say(await openAt(url), "inq_1", "inq_2", "inq_3");
  const before = await heard(open[0] as DurableStore, null);
  await restored(url);
  const [one, two] = await Promise.all([openAt(url), openAt(url)]);
  expect((await heard(one, null)).uids).toEqual(before.uids);
  const end = await one.events.end();
  await say(two, "inq_4");
  await say(one, "inq_5");
  expect((await heard(one, null)).uids).toEqual([...before.uids, "inq_4", "inq_5"]);
  expect((await heard(one, end)).uids).toEqual(["inq_4", "inq_5"]);
  const [first, , last] = before.places.map(elsewhere);
  expect((await heard(one, first as string)).uids).toEqual(["inq_2", "inq_3", "inq_4", "inq_5"]);
  const rest = ["inq_3", "inq_4", "inq_5"];
  expect((await heard(one, last as string)).uids).toEqual(rest);
  // Of an event that came after the dump was made, and is lost.
  expect((await heard(one, elsewhere(elsewhere(last)))).uids).toEqual(rest);
});

it("may be restored again and again, and keeps its positions where it was not", async () => {
  const url = await freshDatabase(inject("postgres"));
  await say(await openAt(url), "inq_1");
  const places: (string | undefined)[] = [];
  for (const uid of ["inq_2", "inq_3"]) {
    await restored(url);
    await say(await openAt(url), uid);
    places.push((await heard(open[0] as DurableStore, null)).places.at(-1));
  }
  expect((await heard(await openAt(url), null)).uids).toEqual(["inq_1", "inq_2", "inq_3"]);
  expect((await heard(await openAt(url), places[1] as string)).uids).toEqual([]);
  expect((await heard(await openAt(url), elsewhere(places[0]))).uids).toEqual(["inq_2", "inq_3"]);
});
