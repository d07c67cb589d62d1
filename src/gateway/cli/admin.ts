/** `pair` and `keys`: who may answer from where, and which programs may ask. */
import { Command, Option } from "commander";
import type { KeyView, NewKey } from "../../ports/access.ts";
import type { Cli } from "./cli.ts";
import { row } from "./screen.ts";

export function pairCommand(cli: Cli): Command {
  return new Command("pair")
    .description("print a code with which a person links an account by direct message")
    .argument("<channel>", "telegram, for example")
    .option("--person <name>", "who gets linked; default: the owner")
    .action(async (channel: string, { person, json }: { person?: string; json?: boolean }) => {
      const pairing = await cli.client("operator").pair(channel, person);
      if (json) return cli.out(JSON.stringify(pairing));
      cli.out(pairing.code);
      cli.note(
        `${pairing.person}: send this code to the bot in a direct message. It works once, until ${pairing.expiresAt}.`,
      );
    });
}

export function keysCommand(cli: Cli): Command {
  return new Command("keys")
    .description("add, list and revoke keys")
    .addCommand(add(cli))
    .addCommand(list(cli))
    .addCommand(revoke(cli));
}

interface AddOptions extends NewKey {
  readonly session?: readonly string[];
  readonly json?: boolean;
}

function add(cli: Cli): Command {
  return new Command("add")
    .description("make a key; it is printed this once and stored hashed")
    .addOption(new Option("--scope <scope>", "what it may do").choices(["agent", "operator"]).makeOptionMandatory())
    .option(
      "--session <key>",
      "a session it may use; repeat it for more; default: every session",
      (value, before: string[] = []) => [...before, value],
    )
    .addOption(
      new Option("--kind <kind>", "only main may ask people").choices(["main", "subagent", "cron"]).default("main"),
    )
    .action(async ({ scope, session = [], kind = "main", json }: AddOptions) => {
      const { id, key, sessions, ...made } = await cli.client("operator").addKey({ scope, sessions: session, kind });
      cli.out(json ? JSON.stringify({ id, key, scope: made.scope, sessions, kind: made.kind }) : key);
      if (!json) cli.note(`Key ${id}. Keep it now: it is not shown again.`);
    });
}

function list(cli: Cli): Command {
  return new Command("list")
    .description("list keys, without the keys themselves")
    .action(async ({ json }: { json?: boolean }) => {
      const keys = await cli.client("operator").keys();
      if (json) return cli.out(JSON.stringify({ items: keys }));
      for (const key of keys) cli.out(row(lineOf(key)));
      if (keys.length === 0) cli.note("There are only those of the data folder or the environment.");
    });
}

function lineOf(key: KeyView): string {
  const sessions = key.sessions.length > 0 ? key.sessions.join(",") : "every session";
  return `${key.id}  ${key.scope}  ${key.kind}  ${sessions}${key.revokedAt ? `  revoked ${key.revokedAt}` : ""}`;
}

function revoke(cli: Cli): Command {
  return new Command("revoke")
    .description("revoke a key at once")
    .argument("<id>")
    .action(async (id: string, { json }: { json?: boolean }) => {
      await cli.client("operator").revokeKey(id);
      if (json) cli.out(JSON.stringify({ id, revoked: true }));
      else cli.note(`Key ${id} is revoked.`);
    });
}
