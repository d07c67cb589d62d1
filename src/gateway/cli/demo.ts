/**
 * `demo`: a scripted agent asks two questions through the real gateway, the person answers right here.
 *
 * Without a keyboard the answers come from standard input, and where that has none, the first option is taken, so that
 * the demo also runs unattended. A gateway is started on the data folder if none runs, and stopped at the end.
 */
import { Command } from "commander";
import { localeOf, say } from "../../core/locales/locale.ts";
import type { ToolResult } from "../../ports/asker.ts";
import { type Cli, CliFault, interruptible } from "./cli.ts";
import { isDead, readRecord } from "./data-folder.ts";
import { openScreen, render, row, type Screen } from "./screen.ts";
import { type Link, openLink } from "./terminal-link.ts";

const QUESTIONS = [
  {
    id: "deploy_target",
    header: "Deploy",
    question: "The build is green. Where shall it go?",
    options: [
      { label: "Staging (Recommended)", description: "Nobody outside sees it" },
      { label: "Production", description: "Everybody does" },
    ],
  },
  {
    id: "announce",
    header: "Announce",
    question: "Who should hear about it?",
    multiSelect: true,
    options: [{ label: "The team" }, { label: "Support" }, { label: "Customers" }],
  },
];

/** One performance: both sides of it, and where it is shown. */
interface Stage {
  readonly cli: Cli;
  readonly screen: Screen;
  readonly link: Link;
  readonly lines: Lines;
  readonly signal: AbortSignal;
  tell(text: string): void;
}

export function demoCommand(cli: Cli): Command {
  return new Command("demo")
    .description("watch an agent ask, and answer it here")
    .action(async ({ json = false }: { json?: boolean }) => {
      const own = await startIfNone(cli);
      const interrupt = interruptible();
      try {
        const answers = await play(cli, interrupt.signal, json);
        if (json) cli.out(JSON.stringify(answers));
      } catch (error) {
        throw interrupt.signal.aborted ? new CliFault("Interrupted.", 5) : error;
      } finally {
        interrupt.release();
        await own?.stop();
      }
    });
}

async function startIfNone(cli: Cli) {
  const { url, data } = cli.config();
  const record = readRecord(data);
  if (url !== null || (record && !isDead(record))) return null;
  cli.note(`Starting a gateway on ${data} for the demo.`);
  return cli.deps.startGateway();
}

async function play(cli: Cli, interrupted: AbortSignal, json: boolean): Promise<object> {
  const locale = localeOf(cli.config().locale);
  const over = new AbortController();
  const signal = AbortSignal.any([interrupted, over.signal]);
  const screen = openScreen(say(locale, "inbox.prompt"), () => over.abort());
  const tell = (text: string) => (json ? cli.note(text) : screen.print(text));
  const surface = {
    opened: () => {},
    prompt: (parts: Parameters<typeof render>[0]) => tell(`\n${render(parts, screen.interactive)}`),
    message: tell,
    lost: () => tell(say(locale, "inbox.disconnected")),
    unserved: tell,
  };
  const link = openLink(cli, null, surface, signal);
  const stage = { cli, screen, link, lines: linesOf(screen), signal, tell };
  try {
    return await Promise.race([perform(stage), link.done.then(() => ({}))]);
  } finally {
    over.abort();
    screen.close();
  }
}

async function perform(stage: Stage): Promise<Record<string, readonly string[]>> {
  const learned: Record<string, readonly string[]> = {};
  for (const question of QUESTIONS) {
    stage.tell(`\nagent: I need a decision, so I ask (${question.id}).`);
    const result = await askAndAnswer(stage, { questions: [question] });
    const values = result.status === "answered" ? (result.answers.answers[question.id] ?? []) : [];
    stage.tell(
      values.length > 0 ? row(`agent: I got ${values.join(", ")} and go on.`) : "agent: No answer. I go on without.",
    );
    learned[question.id] = values;
  }
  return learned;
}

/** The agent waits while the person types, until one of the lines settles it. */
async function askAndAnswer(stage: Stage, input: object): Promise<ToolResult> {
  const over = new AbortController();
  const asking = stage.cli.client("agent").askUser(input, { signal: stage.signal });
  const settled = asking.then(() => null).finally(() => over.abort());
  for (;;) {
    if (!stage.screen.interactive) await Promise.race([stage.link.untilOpen(over.signal), settled]);
    const line = over.signal.aborted ? null : await Promise.race([stage.lines.peek(), settled]);
    if (line === null) return asking;
    stage.lines.take();
    if (!stage.screen.interactive) stage.tell(`you: ${line}`);
    const reply = await stage.link.say(line);
    if (reply !== null) stage.tell(reply);
  }
}

interface Lines {
  /** The next line, which stays the next one until taken. */
  peek(): Promise<string | null>;
  take(): void;
}

/** What is typed or piped; a pipe that has ended goes on with the first option. */
function linesOf(screen: Screen): Lines {
  let next: Promise<string | null> | null = null;
  const read = async () => {
    const { value, done } = await screen.lines[Symbol.asyncIterator]().next();
    return done === true ? (screen.interactive ? null : "1") : value;
  };
  return {
    peek() {
      next ??= read();
      return next;
    },
    take() {
      next = null;
    },
  };
}
