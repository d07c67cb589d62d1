/**
 * A look at a PostgreSQL server for whoever sets one up: whether it can serve as a database here, and whether hints pass.
 *
 * It changes nothing, needs no tables and tells findings only: what to do about each is for whoever asked.
 */
import pg from "pg";
import { settingsOf } from "./postgres.ts";
import { toUnavailable } from "./postgres-faults.ts";

export interface Checkup {
  /** As the server names it, such as `16.4`. */
  readonly version: string;
  /** 16 of `16.4`. */
  readonly major: number;
  /** Where tables are made, if the user may make any. */
  readonly schema: string | null;
  readonly mayCreate: boolean;
  readonly user: string;
  /** Milliseconds the database's clock is ahead of this machine's. */
  readonly ahead: number;
  /** Whether a notification reaches who listens: not through a pooler that gives connections away between statements. */
  readonly hears: boolean;
}

const CHANNEL = "askgate_doctor";
/** Milliseconds a notification may take. */
const HEARD_WITHIN_MS = 2_000;

/** Rejects with AskgateError `unavailable`, saying why the server cannot be used. */
export async function examinePostgres(url: string): Promise<Checkup> {
  const client = new pg.Client(settingsOf(url));
  client.on("error", () => {});
  try {
    await client.connect();
    const facts = await factsOf(client);
    return { ...facts, hears: await hears(client, url) };
  } catch (error) {
    throw toUnavailable(error);
  } finally {
    await client.end().catch(() => {});
  }
}

interface Facts {
  readonly version: string;
  readonly number: string;
  readonly schema: string | null;
  readonly may: boolean | null;
  readonly role: string;
  readonly now: number;
}

const FACTS = `select current_setting('server_version') as version, current_setting('server_version_num') as number,
  current_schema() as schema, has_schema_privilege(current_schema(), 'create') as may, current_user as role,
  (extract(epoch from clock_timestamp()) * 1000)::bigint as now`;

async function factsOf(client: pg.Client): Promise<Omit<Checkup, "hears">> {
  const asked = Date.now();
  const { rows } = await client.query<Facts>(FACTS);
  const middle = (asked + Date.now()) / 2;
  const [facts] = rows;
  if (facts === undefined) throw new Error("the server did not say what it is");
  const { version, number, schema, may, role, now } = facts;
  return {
    version,
    major: Math.floor(Number(number) / 10_000),
    schema,
    mayCreate: may === true,
    user: role,
    ahead: Math.round(now - middle),
  };
}

/** Sent over a connection of its own: within one, even such a pooler keeps both together. */
async function hears(client: pg.Client, url: string): Promise<boolean> {
  const word = crypto.randomUUID();
  const heard = new Promise<boolean>((resolve) => {
    client.on("notification", ({ payload }) => {
      if (payload === word) resolve(true);
    });
  });
  await client.query(`listen ${CHANNEL}`);
  const other = new pg.Client(settingsOf(url));
  other.on("error", () => {});
  await other.connect();
  await other.query("select pg_notify($1, $2)", [CHANNEL, word]);
  await other.end();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), HEARD_WITHIN_MS);
  });
  return Promise.race([heard, late]).finally(() => clearTimeout(timer));
}
