/**
 * `doctor`: looks at everything that can keep a question from its person, and says what to do about each.
 *
 * Rules: every check ends in a line, whatever breaks; a secret is never part of one. Exit code 1 if any check failed.
 */
import { existsSync, statSync } from "node:fs";
import { Command } from "commander";
import { type Cli, Finished, gatewayUrl } from "./cli.ts";
import { keyPath } from "./data-folder.ts";
import { database } from "./doctor-database.ts";
import { telegram } from "./doctor-telegram.ts";
import { type Finding, wordsOf } from "./finding.ts";
import { row } from "./screen.ts";

const MARKS = { ok: "ok   ", note: "note ", fault: "FAULT" } as const;

export function doctorCommand(cli: Cli): Command {
  return new Command("doctor")
    .description("check tokens, permissions, webhooks, clock and database, and say what to do about each")
    .action(async ({ json }: { json?: boolean }) => {
      const findings = (await Promise.all(CHECKS.map((check) => check(cli)))).flat();
      if (json) cli.out(JSON.stringify({ findings }));
      else for (const one of findings) cli.out(lineOf(one));
      if (findings.some((one) => one.state === "fault")) throw new Finished(1);
    });
}

function lineOf({ check, state, finding, next }: Finding): string {
  return `${MARKS[state]}  ${row(`${check}: ${finding}`)}${next ? `\n       ${row(next)}` : ""}`;
}

type Check = (cli: Cli) => Finding[] | Promise<Finding[]>;

const CHECKS: readonly Check[] = [node, folder, keys, database, gateway, telegram];

/** The oldest Node.js it runs on; package.json says the same. */
const OLDEST_NODE = [20, 19] as const;

function node(): Finding[] {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const enough = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  const finding = `Node.js ${process.versions.node}`;
  if (enough) return [{ check: "node", state: "ok", finding }];
  return [{ check: "node", state: "fault", finding, next: `Install Node.js ${OLDEST_NODE.join(".")} or newer.` }];
}

function folder(cli: Cli): Finding[] {
  const { data } = cli.config();
  if (!existsSync(data)) {
    return [
      { check: "data folder", state: "note", finding: `${data} does not exist yet`, next: "The first start makes it." },
    ];
  }
  return [rights("data folder", data, 0o700)];
}

/** Whoever can read the folder can answer for the owner. */
function rights(check: string, path: string, wanted: number): Finding {
  const mode = statSync(path).mode & 0o777;
  const shown = `${path} has mode ${mode.toString(8).padStart(4, "0")}`;
  if (process.platform === "win32" || (mode & ~wanted) === 0) return { check, state: "ok", finding: shown };
  const next = `Others can read it and answer for its owner. Run: chmod ${wanted.toString(8)} '${path}'`;
  return { check, state: "fault", finding: shown, next };
}

function keys(cli: Cli): Finding[] {
  const { data, keys: given } = cli.config();
  return (["agent", "operator"] as const).map((name) => {
    const check = `${name} key`;
    if (given[name] !== null) return { check, state: "ok", finding: "set in the environment" };
    const path = keyPath(data, name);
    if (existsSync(path)) return rights(check, path, 0o600);
    return { check, state: "note", finding: `${path} does not exist yet`, next: "The first start makes it." };
  });
}

async function gateway(cli: Cli): Promise<Finding[]> {
  const check = "gateway";
  try {
    const url = gatewayUrl(cli.config(), cli.program);
    const asked = Date.now();
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(5_000) });
    const skew = clockOf(response, asked);
    const health = await cli.client("operator").health();
    const channels = Object.entries(health.channels).map(([name, { state, reason, since }]): Finding => {
      const finding = `${state} since ${since}${reason ? `: ${reason}` : ""}`;
      if (state === "up" || state === "starting") return { check: `channel ${name}`, state: "ok", finding };
      return { check: `channel ${name}`, state: "fault", finding, next: CHANNEL_REMEDIES[state] };
    });
    const ready = health.ready ? "ready" : "not ready: its store does not serve";
    return [{ check, state: health.ready ? "ok" : "fault", finding: `${url} is ${ready}` }, skew, ...channels];
  } catch (error) {
    return [{ check, state: "note", finding: wordsOf(error) }];
  }
}

const CHANNEL_REMEDIES = {
  down: "Check the network to the platform; the gateway keeps trying.",
  conflict: "Another program uses this token. Stop it, or give Askgate a bot of its own.",
  unauthorized: "The token is refused. Put the right one into .env and start again.",
} as const;

/** Beyond this, deadlines look wrong to people. */
const LARGEST_SKEW_MS = 5_000;

/** The clock of this machine against that of whoever answered; the header has whole seconds. */
function clockOf(response: Response, asked: number): Finding {
  const theirs = Date.parse(response.headers.get("date") ?? "");
  const skew = Number.isNaN(theirs) ? 0 : Math.round(Math.abs(theirs - asked) / 1000);
  const finding = `this machine and the gateway are ${skew} s apart`;
  if (skew * 1000 <= LARGEST_SKEW_MS) return { check: "clock", state: "ok", finding };
  return { check: "clock", state: "fault", finding, next: "Set both clocks by a time server." };
}
