/**
 * How the tables came to be: numbered, only ever added to, safe when several processes start at once.
 *
 * Rules: a migration that has shipped is never edited; the CHECKs repeat the invariants of the core, so that no bug can
 * store a state that does not exist; the SQL is what SQLite and PostgreSQL share. Partial indexes speak of NULL, or of
 * states that queue.ts spells out in the same words, because nothing can be proved of a query's parameters.
 */
import { type Kysely, type Migration, Migrator, type RawBuilder, sql } from "kysely";
import { concurrent } from "./locks.ts";
import type { Schema } from "./schema.ts";

const TABLES = [
  sql`create table inquiry (
    uid text primary key,
    owner text not null,
    given_id text not null,
    session text not null,
    run text,
    kind text not null check (kind in ('question', 'clarification', 'approval', 'escalation')),
    task_id text,
    current_step text,
    state_version bigint,
    questions text not null,
    status text not null check (status in ('waiting', 'answered', 'cancelled', 'timed_out', 'undelivered')),
    reason text,
    version bigint not null,
    resolutions text not null,
    sent_to text not null,
    respondents text not null,
    locale text,
    reversible integer not null check (reversible in (0, 1)),
    defaults text not null,
    callback_url text,
    content_key text not null,
    timeout_seconds bigint not null,
    created_at bigint not null,
    expires_at bigint not null,
    shown_at bigint,
    settled_at bigint,
    settled_by text,
    collected_at bigint,
    unique (given_id, owner),
    check ((status = 'waiting') = (settled_at is null)),
    check ((status in ('cancelled', 'undelivered')) = (reason is not null)),
    check ((task_id is null) = (state_version is null)),
    check (task_id is not null or current_step is null),
    check (settled_by is null or settled_at is not null)
  )`,
  sql`create table address (
    address text primary key,
    channel text not null,
    not_before bigint not null,
    next_at bigint
  )`,
  sql`create table outbox (
    id text primary key,
    lane text not null check (lane in ('delivery', 'deadline', 'callback')),
    inquiry text not null references inquiry (uid),
    due_at bigint,
    attempts bigint not null,
    epoch bigint not null,
    claimed_until bigint,
    woken_at bigint,
    adopted_epoch bigint,
    reopened_epoch bigint,
    turn integer not null check (turn in (0, 1)),
    asked_at bigint not null,
    lives_until bigint,
    channel text,
    address text references address (address),
    state text check (state in ('pending', 'queued', 'absent', 'unknown', 'shown', 'failed', 'closed')),
    state_reason text,
    prompt_key text unique,
    digest text,
    receipt text,
    entry text,
    plain integer check (plain in (0, 1)),
    unknown_until bigint,
    check (claimed_until is not null or woken_at is null),
    check (claimed_until is null or due_at is not null),
    check (
      (lane = 'delivery' and channel is not null and address is not null and state is not null
        and prompt_key is not null and plain is not null)
      or (lane <> 'delivery' and channel is null and address is null and state is null and state_reason is null
        and prompt_key is null and digest is null and receipt is null and entry is null and plain is null
        and unknown_until is null and lives_until is null)
    )
  )`,
  sql`create table message (
    chat text not null,
    message text not null,
    copy text not null,
    primary key (chat, message)
  )`,
  sql`create table task (
    owner text not null,
    task_id text not null,
    current_step text,
    state_version bigint not null,
    primary key (owner, task_id)
  )`,
  sql`create table once (key text primary key, reply text not null, at bigint not null)`,
  sql`create table access_key (
    id text primary key,
    hash text not null unique,
    scope text not null check (scope in ('agent', 'operator')),
    sessions text not null,
    kind text not null check (kind in ('main', 'subagent', 'cron')),
    created_at bigint not null,
    revoked_at bigint
  )`,
  sql`create table pairing (
    hash text primary key,
    channel text not null,
    person text not null,
    expires_at bigint not null,
    failures bigint not null
  )`,
  sql`create table identity (identity text primary key, person text not null, paired_at bigint not null)`,
  sql`create table moved_address (old_name text primary key, new_name text not null, moved_at bigint not null)`,
];

const INDEXES = [
  sql`create index inquiry_newest on inquiry (created_at, uid)`,
  sql`create index inquiry_of_owner on inquiry (owner, created_at, uid)`,
  sql`create index inquiry_of_session on inquiry (session, created_at, uid)`,
  sql`create index inquiry_waiting on inquiry (created_at, uid) where settled_at is null`,
  sql`create index inquiry_same_waiting on inquiry (content_key, created_at) where settled_at is null`,
  sql`create index inquiry_same_settled on inquiry (content_key, settled_at)
    where settled_at is not null and collected_at is null`,
  sql`create index inquiry_of_task on inquiry (task_id, owner) where task_id is not null and settled_at is null`,
  sql`create index inquiry_of_run on inquiry (run) where run is not null and settled_at is null`,
  sql`create index outbox_of_inquiry on outbox (inquiry)`,
  sql`create index outbox_due on outbox (lane, due_at) where address is null and due_at is not null`,
  sql`create index outbox_due_at_address on outbox (address, due_at) where address is not null and due_at is not null`,
  sql`create index outbox_mortal on outbox (address, lives_until, due_at) where lives_until is not null and due_at is not null`,
  sql`create index outbox_claimed on outbox (address, claimed_until) where claimed_until is not null`,
  sql`create index outbox_front on outbox (address) where state in ('pending', 'unknown', 'shown')`,
  sql`create index outbox_open on outbox (address, asked_at) where state in ('unknown', 'shown')`,
  sql`create index outbox_line on outbox (address, turn, asked_at) where state in ('absent', 'queued')`,
  sql`create index address_next on address (channel, next_at) where next_at is not null`,
];

/** On SQLite the order of `seq` is the order of the commits; on PostgreSQL see events.ts. */
const EVENT_PLACE = {
  sqlite: sql`turn bigint not null default 0, seq integer primary key autoincrement`,
  postgres: sql`turn bigint not null default (pg_current_xact_id()::text::bigint),
    seq bigint not null generated by default as identity, primary key (turn, seq)`,
};

const machines = (place: RawBuilder<unknown>) => [
  sql`create table event (
    ${place},
    type text not null,
    at bigint not null,
    inquiry text not null,
    owner text not null,
    session text not null
  )`,
  sql`create table lease (
    name text primary key,
    holder text not null,
    epoch bigint not null,
    until bigint not null,
    note text not null
  )`,
  sql`alter table inquiry add column waited_by text`,
  sql`alter table outbox add column interrupted integer not null default 0 check (interrupted in (0, 1))`,
];

const MIGRATIONS: Readonly<Record<string, Migration>> = {
  "0001_spine": {
    async up(db) {
      for (const statement of [...TABLES, ...INDEXES]) await statement.execute(db);
    },
  },
  "0002_machines": {
    async up(db) {
      for (const statement of machines(concurrent(db) ? EVENT_PLACE.postgres : EVENT_PLACE.sqlite)) {
        await statement.execute(db);
      }
    },
  },
};

/** Brings the database up to date. Several processes may call it at once: one does the work, the others find it done. */
export async function migrate(db: Kysely<Schema>): Promise<readonly string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } });
  const { error, results } = await migrator.migrateToLatest();
  if (error !== undefined) {
    throw new Error(
      "The database could not be brought up to date, and nothing of it was changed. If a newer Askgate has used it, " +
        `run that version; otherwise mend what stands in the way: ${wordsOf(error)}`,
      { cause: error },
    );
  }
  return (results ?? []).map((one) => one.migrationName);
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
