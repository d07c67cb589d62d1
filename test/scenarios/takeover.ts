/** Who holds a channel of a PostgreSQL store, by the lease in the database, and how long another takes to take it over. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { channelLease } from "../../src/ports/lease.ts";
import { until } from "../../src/testing/until.ts";
import type { Chance } from "./chance.ts";
import type { Deed } from "./deed.ts";
import { newDeed } from "./kills.ts";
import type { Node, Stage } from "./stage.ts";

const PATIENCE_MS = 30_000;

/** The node that sends and listens on Telegram, once leases have spread. */
export async function holderOf({ nodes, databaseUrl }: Pick<Stage, "nodes" | "databaseUrl">): Promise<Node> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const rowOf = "select holder from lease where name = $1 and until > 0";
    return await until(
      "somebody holds the channel",
      async () => {
        const { rows } = await client.query(rowOf, [channelLease("telegram")]);
        return nodes.find(
          ({ folder }) => readFileSync(join(folder, "data", "process"), "utf8").trim() === rows[0]?.holder,
        );
      },
      PATIENCE_MS,
    );
  } finally {
    await client.end();
  }
}

/** Kills the holder; resolves with the milliseconds until the other node has shown a new question, and with that question. */
export async function takeOver(
  stage: Stage,
  chance: Chance,
): Promise<{ readonly ms: number; readonly deed: Deed; readonly killed: Node }> {
  const killed = await holderOf(stage);
  const other = stage.nodes.find((node) => node !== killed) ?? stage.node;
  const since = performance.now();
  await killed.gateway().kill();
  killed.ended();
  const deed = newDeed({ stage, chance }, "press", 600, other);
  deed.ask();
  await deed.shown().catch((error: unknown) => {
    const { process, said } = other.gateway();
    throw new Error(
      `${error}; killed ${killed.name}, ${other.name} ended with ${process.exitCode ?? process.signalCode}:\n${said()}`,
    );
  });
  return { ms: performance.now() - since, deed, killed };
}
