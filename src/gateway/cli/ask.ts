/**
 * `ask`: one question from the shell, its answer on standard output.
 *
 * The question outlives a restart of the gateway while the command waits; an interrupt withdraws it. Killed outright,
 * the command leaves it open: asked again with the same words it finds the same question.
 */
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { Command, InvalidArgumentError } from "commander";
import type { Client } from "../../client.ts";
import { AskgateError, type ExitCode } from "../../core/errors.ts";
import type { InquiryView, ToolResult } from "../../ports/asker.ts";
import { type Cli, CliFault, Finished, interruptible } from "./cli.ts";
import { printResult } from "./outcome.ts";
import { row } from "./screen.ts";

interface AskOptions {
  readonly option?: readonly string[];
  readonly multi?: boolean;
  readonly header?: string;
  readonly timeout?: number;
  readonly to?: readonly string[];
  readonly file?: string;
  readonly id?: string;
  readonly session?: string;
  readonly run?: string;
  readonly json?: boolean;
}

const collect = (value: string, before: readonly string[] = []) => [...before, value];

export function askCommand(cli: Cli): Command {
  return new Command("ask")
    .description("ask people a question and print the answer")
    .argument("[question]", "one sentence; none with --file")
    .option("-o, --option <label>", "an answer to choose from, 2 to 4 of them; none asks for free text", collect)
    .option("--multi", "several may be chosen")
    .option("--header <words>", "a short title; default: the first words of the question")
    .option("--timeout <seconds>", "how long to wait, 30 to 3600; default 900", wholeNumber)
    .option("--to <address>", "where to ask, as telegram:100; default: the session's places", collect)
    .option("--file <path>", "read the call as JSON (as ask_user takes it) from a file, or from - for standard input")
    .option("--id <id>", "your own id for it: asking again under it finds the same question")
    .option("--session <key>", "your line of work; default main")
    .option("--run <id>", "the turn it belongs to; aborting the run cancels it")
    .action(async (question: string | undefined, options: AskOptions) => {
      throw new Finished(await ask(cli, inputOf(question, options), options.json ?? false));
    });
}

export const ASK_EXAMPLE = 'ask "Deploy where?" -o "Staging (Recommended)" -o Production';

async function ask(cli: Cli, input: object, json: boolean): Promise<ExitCode> {
  const client = cli.client("agent");
  const interrupt = interruptible();
  const detach = new AbortController();
  let tell: (id: string) => void = () => {};
  const asked = new Promise<string>((resolve) => {
    tell = resolve;
  });
  interrupt.signal.addEventListener("abort", () => {
    Promise.race([asked, pause(NAMED_WITHIN_MS, undefined, { ref: false })]).then(() => detach.abort(), detach.abort);
  });
  const onAsked = (id: string) => {
    tell(id);
    tellWhere(cli, client, id, interrupt.signal).catch(() => cli.note(row(`Asked as ${id}.`)));
  };
  try {
    return printResult(cli, await client.askUser(input, { signal: detach.signal, onAsked }), json);
  } catch (error) {
    if (!detach.signal.aborted) throw error;
    const id = await Promise.race([asked, null]);
    const settled = id === null ? null : await withdraw(client, input, id);
    if (settled !== null) return printResult(cli, settled, json);
    cli.note(id === null ? "Interrupted." : row(`Interrupted: ${id} is cancelled.`));
    return 5;
  } finally {
    interrupt.release();
  }
}

/** Cancels the question; what it came to where it was settled just before, which nobody must lose. */
async function withdraw(client: Client, input: object, id: string): Promise<ToolResult | null> {
  try {
    await client.cancel(id);
    return null;
  } catch (error) {
    if (error instanceof AskgateError && error.code === "already_settled") return client.askUser({ ...input, id });
    throw error;
  }
}

/** At an interrupt, how long the gateway may still take to name a question it may have stored already. */
const NAMED_WITHIN_MS = 2_000;

/** How long copies may be on their way before their state is told as it is. */
const ON_THEIR_WAY_MS = 3_000;
const LOOK_AGAIN_MS = 100;

/** Says where the question went, until when it waits, and how to answer it if nobody sees it. */
async function tellWhere(cli: Cli, client: Client, id: string, signal: AbortSignal): Promise<void> {
  const until = performance.now() + ON_THEIR_WAY_MS;
  let inquiry = await client.get(id);
  const moving = () => inquiry.status === "waiting" && inquiry.deliveries.some((copy) => copy.state === "pending");
  while (moving() && performance.now() < until && !signal.aborted) {
    await pause(LOOK_AGAIN_MS);
    inquiry = await client.get(id);
  }
  if (inquiry.status !== "waiting") return;
  cli.note(row(`Asked as ${id}, waiting until ${toTheSecond(inquiry.expiresAt)}. ${placesOf(inquiry)}`));
  if (!inquiry.deliveries.some((copy) => copy.state === "shown")) {
    cli.note(`Nobody sees it yet. To answer here, open another terminal and run: ${cli.program} inbox`);
  }
}

function toTheSecond(time: string): string {
  return time.replace(/\.\d+Z$/, "Z");
}

function placesOf(inquiry: InquiryView): string {
  const shown = inquiry.deliveries.filter((copy) => copy.state === "shown").map((copy) => copy.address);
  // A surface nobody has open is no news: the line after this one says how to open it.
  const others = inquiry.deliveries.filter((copy) => copy.state !== "shown" && copy.state !== "absent");
  const rest = others.map((copy) => `${copy.address} (${copy.reason ?? copy.state})`);
  const parts = [
    shown.length > 0 ? `Shown in ${shown.join(", ")}.` : "",
    rest.length > 0 ? `Not shown in ${rest.join(", ")}.` : "",
  ];
  return parts.filter((part) => part !== "").join(" ");
}

function inputOf(question: string | undefined, options: AskOptions): object {
  const place = {
    ...(options.id !== undefined && { id: options.id }),
    ...(options.session !== undefined && { session: options.session }),
    ...(options.run !== undefined && { run: options.run }),
    ...(options.to && { to: options.to }),
    ...(options.timeout !== undefined && { timeoutSeconds: options.timeout }),
  };
  if (options.file !== undefined) {
    if (question !== undefined) throw new CliFault("Give a question or --file, not both.", 2);
    return { ...readInput(options.file), ...place };
  }
  if (question === undefined) throw new CliFault(`Give a question, as: ${cliExample()}`, 2);
  const only = {
    id: "answer",
    header: options.header ?? firstWords(question),
    question,
    options: (options.option ?? []).map((label) => ({ label })),
    multiSelect: options.multi ?? false,
  };
  return { ...place, questions: [only] };
}

function cliExample(): string {
  return `askgate ${ASK_EXAMPLE}`;
}

function readInput(path: string): object {
  try {
    const input: unknown = JSON.parse(readFileSync(path === "-" ? 0 : path, "utf8"));
    if (input !== null && typeof input === "object" && !Array.isArray(input)) return input;
    throw new Error("it is not an object");
  } catch (error) {
    const why =
      error instanceof SyntaxError ? "it is not JSON" : error instanceof Error ? error.message : String(error);
    throw new CliFault(`--file ${path} cannot be used: ${why}. It takes {"questions": […]}.`, 2);
  }
}

/** A header's length in characters; a longer first word is cut where headers are read. */
const HEADER_LENGTH = 12;

function firstWords(question: string): string {
  const words = question.trim().split(/\s+/);
  let header = words[0] ?? "";
  for (const word of words.slice(1)) {
    if (`${header} ${word}`.length > HEADER_LENGTH) break;
    header += ` ${word}`;
  }
  return header.replace(/[?.,:;!]+$/, "") || header;
}

function wholeNumber(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError("It takes a whole number of seconds.");
  return Number(value);
}
