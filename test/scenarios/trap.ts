/**
 * What a database is asked to do, told from its statements, and a trap at one of them.
 *
 * Works are kinds of transactions, named by a statement they hold. A trap springs at the commit of the n-th transaction
 * of its work, so "before" means everything written and nothing kept, "after" means kept and nobody told yet; a work
 * that is one statement (a look-up, a change of the schema) is met at that statement. Reads the text alone and changes
 * nothing; the same for every dialect.
 */

/** By the statement that names the work. The first that matches counts. */
const WORKS = {
  create: /^insert into "inquiry"/i,
  answer: /^update "inquiry" set "(?:status|reason|version|resolutions)"/i,
  collect: /^update "inquiry" set "collected_at"/i,
  claim: /^(?:with .*)?update "outbox" set "epoch" = "(?:outbox"\.")?epoch" \+/is,
  settle: /^update "outbox" set "claimed_until" = \S+, "woken_at" = /i,
  "look up": /^select "reply" from "once"/i,
  schema: /^(?:create|alter|drop)\s+(?:table|(?:unique )?index)/i,
  recover: /^update "outbox" set "claimed_until" = \S+, "due_at" = /i,
  era: /^update event set turn = /i,
  migration: /^insert into "kysely_migration/i,
  lease: /^(?:insert into|update|delete from) "lease"/i,
  attend: /^update "inquiry" set "waited_by"/i,
  prune: /^delete from "(?:once|pairing)"/i,
} as const;

export type Work = keyof typeof WORKS;

/** Met at the statement, not at the commit. */
const AT_ONCE: ReadonlySet<Work> = new Set(["look up", "schema"]);

export interface Snare {
  readonly work: Work;
  readonly when: "before" | "after";
  /** 1: the next one. */
  readonly nth: number;
}

/** One connection to a database. */
export interface Watched {
  /** A statement is about to run. */
  before(sql: string): void;
  /** It has run; nobody was told yet. */
  after(sql: string): void;
}

export interface Trap {
  /** Null disarms. */
  arm(snare: Snare | null): void;
  connection(): Watched;
}

export interface TrapOptions {
  readonly spring: () => void;
  /** Hears of every transaction and single statement that wrote: its works; where it has none, its writing statements. */
  readonly note?: (works: readonly Work[], others: readonly string[]) => void;
}

const BEGIN = /^(?:begin|start transaction)/i;
const COMMIT = /^(?:commit|end)\b/i;
const ROLLBACK = /^rollback/i;
const WRITES = /^(?:insert|update|delete|create|alter|drop|with .*(?:insert into|update|delete from))\b/is;

export function workOf(sql: string): Work | null {
  for (const [work, pattern] of Object.entries(WORKS)) if (pattern.test(sql)) return work as Work;
  return null;
}

export function createTrap({ spring, note = () => {} }: TrapOptions): Trap {
  let armed: Snare | null = null;
  let left = 0;

  /** Springs if this is the moment; counts it. */
  function reach(works: ReadonlySet<Work>, when: Snare["when"]): void {
    if (armed !== null && armed.when === when && works.has(armed.work) && --left === 0) spring();
  }

  return {
    arm(snare) {
      armed = snare;
      left = snare?.nth ?? 0;
    },
    connection: () => watch(reach, note),
  };
}

function watch(
  reach: (works: ReadonlySet<Work>, when: Snare["when"]) => void,
  note: NonNullable<TrapOptions["note"]>,
): Watched {
  let open: Set<Work> | null = null;
  let others: string[] = [];

  /** What a commit, or a statement outside of a transaction, completes. */
  function completes(sql: string): ReadonlySet<Work> {
    const work = workOf(sql);
    if (COMMIT.test(sql)) return open ?? new Set();
    if (work !== null && (open === null || AT_ONCE.has(work))) return new Set([work]);
    return new Set();
  }

  function remember(sql: string): void {
    const work = workOf(sql);
    if (work === null && WRITES.test(sql)) others.push(sql);
    if (BEGIN.test(sql)) open = new Set();
    else if (work !== null && !AT_ONCE.has(work)) open?.add(work);
    if (COMMIT.test(sql) || ROLLBACK.test(sql)) open = null;
  }

  return {
    before: (sql) => reach(completes(sql), "before"),
    after(sql) {
      const done = completes(sql);
      reach(done, "after");
      remember(sql);
      if (done.size > 0) note([...done], []);
      else if (open === null && others.length > 0) note([], others);
      if (open === null) others = [];
    },
  };
}
