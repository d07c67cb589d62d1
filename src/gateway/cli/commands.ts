/** The command line: a table of commands, each with an example, and what they all have in common. */
import { Command } from "commander";
import type { ExitCode } from "../../core/errors.ts";
import { keysCommand, pairCommand } from "./admin.ts";
import { ASK_EXAMPLE, askCommand } from "./ask.ts";
import { type Cli, type CliDeps, createCli, runToExit } from "./cli.ts";
import { demoCommand } from "./demo.ts";
import { doctorCommand } from "./doctor.ts";
import { inboxCommand } from "./inbox.ts";
import { answerCommand, cancelCommand, listCommand, showCommand, skipCommand, waitCommand } from "./inquiries.ts";
import { migrateCommand } from "./migrate.ts";
import { parseCommand } from "./parse.ts";
import { serveCommand } from "./serve.ts";

interface Entry {
  readonly make: (cli: Cli) => Command;
  /** What to type, after the program's name. */
  readonly example: string;
}

const COMMANDS: readonly Entry[] = [
  { make: serveCommand, example: "serve" },
  { make: inboxCommand, example: "inbox --person ana" },
  { make: demoCommand, example: "demo" },
  { make: askCommand, example: ASK_EXAMPLE },
  { make: waitCommand, example: "wait inq_01h" },
  { make: showCommand, example: "show inq_01h --json" },
  { make: listCommand, example: "list --status waiting" },
  { make: skipCommand, example: "skip inq_01h" },
  { make: cancelCommand, example: "cancel inq_01h" },
  { make: answerCommand, example: "answer inq_01h --set answer=Production" },
  { make: parseCommand, example: "parse < replies.jsonl" },
  { make: pairCommand, example: "pair telegram --person ana" },
  { make: keysCommand, example: "keys add --scope agent --session deploys --json" },
  { make: migrateCommand, example: "migrate --from sqlite:data/askgate.db" },
  { make: doctorCommand, example: "doctor" },
];

const EXIT_CODES = `
Exit codes: 0 answered or done, 1 failure, 2 wrong use, 3 undelivered, 4 timed out, 5 skipped or cancelled.`;

/** Runs one command line; resolves with its exit code and throws nothing. */
export function runCli(argv: readonly string[], deps: CliDeps): Promise<ExitCode> {
  return runCommand(argv, createCli(deps));
}

/** The same with what the commands work with given. */
export function runCommand(argv: readonly string[], cli: Cli): Promise<ExitCode> {
  const program = new Command("askgate").description("Ask people, wherever they are, and get the answer back once.");
  for (const { make, example } of COMMANDS) {
    const command = make(cli);
    command.addHelpText("after", `\nExample:\n  ${cli.program} ${example}`);
    program.addCommand(command);
  }
  program.addHelpText("after", EXIT_CODES);
  return runToExit(cli, finish(program), argv);
}

/** Every command that does something speaks JSON; none ends the process by itself. */
function finish(command: Command): Command {
  command.exitOverride();
  command.showHelpAfterError("(--help says how)");
  for (const child of command.commands) finish(child);
  if (command.commands.length === 0) command.option("--json", "results as JSON");
  return command;
}
