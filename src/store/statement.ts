/**
 * Statements built once and run many times: building and compiling one costs more than the database needs to run it.
 *
 * Rules: the builder sees names in place of values, so no value can decide what a statement says: what depends on one
 * is two statements. Every run of a statement gives the same set of values. It is compiled at its first run on a
 * database, in that database's dialect.
 */
import { type Compilable, type CompiledQuery, type DialectAdapter, type Kysely, type RawBuilder, sql } from "kysely";
import type { Schema } from "./schema.ts";

type Db = Kysely<Schema>;

export interface Statement<V, R> {
  all(db: Db, values: V): Promise<readonly R[]>;
  first(db: Db, values: V): Promise<R | undefined>;
  /** Resolves to how many rows were written. */
  run(db: Db, values: V): Promise<number>;
}

/** @param build may put what `at` holds wherever the query layer takes a value */
export function statement<V extends object, R>(build: (db: Db, at: V) => Compilable<R>): Statement<V, R> {
  const bindings = new WeakMap<DialectAdapter, Bind<V, R>>();
  const execute = (db: Db, values: V) => {
    const { adapter } = db.getExecutor();
    let bind = bindings.get(adapter);
    if (bind === undefined) {
      bind = compile(db, build, values);
      bindings.set(adapter, bind);
    }
    return db.executeQuery(bind(values));
  };
  return {
    all: async (db, values) => (await execute(db, values)).rows,
    first: async (db, values) => (await execute(db, values)).rows[0],
    run: async (db, values) => Number((await execute(db, values)).numAffectedRows),
  };
}

type Bind<V, R> = (values: V) => CompiledQuery<R>;

function compile<V extends object, R>(db: Db, build: (db: Db, at: V) => Compilable<R>, sample: V): Bind<V, R> {
  const nameOf = new Map<unknown, keyof V>();
  const at = Object.fromEntries(
    Object.keys(sample).map((name) => {
      const slot = Object.freeze({ slot: name });
      nameOf.set(slot, name as keyof V);
      return [name, slot];
    }),
  );
  const compiled = build(db, at as V).compile();
  const names = compiled.parameters.map((parameter) => nameOf.get(parameter) ?? null);
  return (values) => ({
    ...compiled,
    parameters: names.map((name, index) => (name === null ? compiled.parameters[index] : values[name])),
  });
}

/** A limit. SQLite plans a statement anew at every run whose limit is a bare parameter, at several times the cost. */
export function atMost(rows: number): RawBuilder<number> {
  return sql`cast(${rows} as integer)`;
}

/** An empty list holds nothing; no database but SQLite takes one. */
export function isOneOf(column: RawBuilder<string>, values: readonly string[]): RawBuilder<boolean> {
  return values.length === 0 ? sql<boolean>`1 = 0` : sql<boolean>`${column} in (${sql.join(values)})`;
}
