/**
 * A long history, loaded straight into the tables: settled inquiries with their closed copies, messages and events, as
 * years of use leave them. It is made from one that the store wrote itself, so that no column is guessed.
 */
import { sql } from "kysely";
import { openDatabase, openStore } from "../../src/store/store.ts";
import { workersPartOf } from "../../src/testing/store-driver.ts";
import { copyOf, inquiryOf, settled, silent } from "../../src/testing/store-samples.ts";

const PATTERN = "inq_pattern";
const BATCH = 50_000;

/** @param count settled inquiries; the database must be there and may hold others */
export async function loadHistory(url: string, count: number, told: (done: number) => void): Promise<void> {
  await writePattern(url);
  const { db, url: remote } = await openDatabase(url, { log: silent });
  const series = (from: number, to: number) =>
    remote === null
      ? sql`(with recursive n (i) as (select ${sql.lit(from)} union all select i + 1 from n where i < ${sql.lit(to)}) select i from n)`
      : sql`(select i from generate_series(${sql.lit(from)}, ${sql.lit(to)}) as i)`;
  for (let done = 0; done < count; done += BATCH) {
    const to = Math.min(count, done + BATCH);
    await db.transaction().execute(async (trx) => {
      for (const [table, changes] of Object.entries(COPIES)) {
        const columns = (await trx.introspection.getTables()).find(({ name }) => name === table)?.columns ?? [];
        const names = columns
          .map(({ name }) => name)
          .filter((name) => table !== "event" || (name !== "seq" && name !== "turn"));
        const values = names.map((name) =>
          changes[name] === undefined ? sql.ref(`p.${name}`) : sql.raw(changes[name]),
        );
        const key = sql.ref(`p.${KEYS[table] ?? ""}`);
        await sql`insert into ${sql.table(table)} (${sql.join(names.map((name) => sql.ref(name)))})
          select ${sql.join(values)} from ${sql.table(table)} as p cross join ${series(done + 1, to)} as s
          where ${key} = ${KEYED[table] ?? PATTERN}`.execute(trx);
      }
    });
    told(to);
  }
  if (remote !== null) await sql`vacuum analyze`.execute(db);
  await db.destroy();
}

/** By table: the columns that differ from one copy of the pattern to the next. Ids sort as they were made. */
const COPIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  inquiry: {
    uid: "'inq_h' || (10000000 + s.i)",
    given_id: "'inq_h' || (10000000 + s.i)",
    content_key: "'content ' || s.i",
    created_at: "1000000000000 + s.i * 1000",
    expires_at: "1000000900000 + s.i * 1000",
    shown_at: "1000000000100 + s.i * 1000",
    settled_at: "1000000060000 + s.i * 1000",
    collected_at: "1000000060100 + s.i * 1000",
  },
  outbox: {
    id: "'h' || (10000000 + s.i)",
    inquiry: "'inq_h' || (10000000 + s.i)",
    prompt_key: "'key' || s.i",
    asked_at: "1000000000000 + s.i * 1000",
  },
  message: { message: "'h' || s.i", copy: "'h' || (10000000 + s.i)" },
  event: { inquiry: "'inq_h' || (10000000 + s.i)", at: "1000000060000 + s.i * 1000" },
};

const KEYS: Readonly<Record<string, string>> = {
  inquiry: "uid",
  outbox: "inquiry",
  message: "message",
  event: "inquiry",
};
const KEYED: Readonly<Record<string, string>> = { message: "pattern" };

async function writePattern(url: string): Promise<void> {
  const store = await openStore(url, { log: silent });
  const inquiry = inquiryOf(PATTERN);
  await store.commit({ create: [inquiry], add: [copyOf(inquiry, "history:1")] });
  const [row] = await store.claim({ lane: "delivery", channel: "history", limit: 1, now: 2_000, leaseMs: 1_000 });
  if (!row?.delivery) throw new Error("the pattern was not claimed");
  const shown = { state: "shown", digest: "shown", receipt: { parts: ["pattern"] } } as const;
  const rest = { row: row.id, epoch: row.epoch, dueAt: null, attempts: 0 };
  await store.settle({ ...rest, shownAt: 2_000, delivery: { ...workersPartOf(row.delivery), ...shown } });
  await store.commit({ update: [{ from: 1, inquiry: settled(inquiry) }], wake: [{ inquiry: PATTERN, at: 3_000 }] });
  const [again] = await store.claim({ lane: "delivery", channel: "history", limit: 1, now: 3_000, leaseMs: 1_000 });
  if (!again?.delivery) throw new Error("the pattern was not claimed again");
  const closed = { ...workersPartOf(again.delivery), ...shown, state: "closed" } as const;
  await store.settle({ ...rest, epoch: again.epoch, delivery: closed });
  await store.close();
}
