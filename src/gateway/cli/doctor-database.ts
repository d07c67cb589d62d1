/** What `doctor` says about the database: whether it serves, and, of one that several gateways share, how well. */
import type { Cli, DatabaseCheck } from "./cli.ts";
import { type Finding, wordsOf } from "./finding.ts";

export async function database(cli: Cli): Promise<Finding[]> {
  const check = "database";
  try {
    const { finding, server } = await cli.deps.tryDatabase();
    if (server === undefined) return [{ check, state: "ok", finding }];
    return [version(finding, server), rights(server), clock(server), hints(server)];
  } catch (error) {
    const next = "Correct ASKGATE_DATABASE_URL, or the rights and the free space of its disk.";
    const told = /To mend it,/.test(wordsOf(error));
    return [{ check, state: "fault", finding: wordsOf(error), ...(!told && { next }) }];
  }
}

type Server = NonNullable<DatabaseCheck["server"]>;

/** The oldest PostgreSQL it is run on. */
const OLDEST_MAJOR = 14;

function version(where: string, { version: name, major }: Server): Finding {
  const finding = `${where} is PostgreSQL ${name}`;
  if (major >= OLDEST_MAJOR) return { check: "database", state: "ok", finding };
  return { check: "database", state: "fault", finding, next: `Upgrade it to PostgreSQL ${OLDEST_MAJOR} or newer.` };
}

function rights({ mayCreate, schema, user }: Server): Finding {
  const check = "database rights";
  if (mayCreate) return { check, state: "ok", finding: `${user} may create tables in the schema ${schema}` };
  const next =
    schema === null
      ? `Create a schema and name it to the user: ALTER ROLE ${user} SET search_path = that schema.`
      : `Run as its owner: GRANT CREATE ON SCHEMA ${schema} TO ${user}`;
  const where = schema === null ? "no schema of its search path is there" : `it may not in the schema ${schema}`;
  return { check, state: "fault", finding: `${user} cannot create tables: ${where}`, next };
}

/** Beyond this a clock that jumps is put right at once, and deadlines look wrong to people. */
const LARGEST_SKEW_MS = 60_000;

function clock({ ahead }: Server): Finding {
  const check = "database clock";
  const seconds = Math.round(Math.abs(ahead) / 1_000);
  const finding = `it is ${seconds} s ${ahead < 0 ? "behind" : "ahead of"} this machine`;
  if (Math.abs(ahead) <= LARGEST_SKEW_MS) return { check, state: "ok", finding };
  return { check, state: "fault", finding, next: "Gateways go by the database's clock. Set both by a time server." };
}

function hints({ hears }: Server): Finding {
  const check = "database hints";
  if (hears) return { check, state: "ok", finding: "notifications pass, so gateways hear of each other at once" };
  const next =
    "A pooler in transaction mode passes none on. Gateways look each second instead; for less delay give " +
    "ASKGATE_DATABASE_URL the address of the server itself, or of a pool in session mode.";
  return { check, state: "note", finding: "notifications do not pass", next };
}
