/** `wait`, `show`, `list`, `skip`, `cancel` and `answer`: the rest of an inquiry's life. */
import { randomUUID } from "node:crypto";
import { Command } from "commander";
import type { Client } from "../../client.ts";
import { type Cli, CliFault, Finished, interruptible } from "./cli.ts";
import { readKey } from "./data-folder.ts";
import { describe, printSettled, summarise } from "./outcome.ts";

interface Json {
  readonly json?: boolean;
}

export function waitCommand(cli: Cli): Command {
  return new Command("wait")
    .description("wait until an inquiry is settled and print its answer; an interrupt leaves it open")
    .argument("<id>")
    .action(async (id: string, { json = false }: Json) => {
      const interrupt = interruptible();
      try {
        const inquiry = await reader(cli).settled(id, { signal: interrupt.signal });
        throw new Finished(printSettled(cli, inquiry, json));
      } catch (error) {
        if (!interrupt.signal.aborted) throw error;
        throw new CliFault(`Interrupted; ${id} stays open.`, 1);
      } finally {
        interrupt.release();
      }
    });
}

export function showCommand(cli: Cli): Command {
  return new Command("show")
    .description("show an inquiry: its questions, answers and where it was shown")
    .argument("<id>")
    .action(async (id: string, { json }: Json) => {
      const inquiry = await reader(cli).get(id);
      cli.out(json ? JSON.stringify(inquiry) : describe(inquiry));
    });
}

export function listCommand(cli: Cli): Command {
  return new Command("list")
    .description("list inquiries, newest first")
    .option("--status <status>", "waiting, answered, cancelled, timed_out or undelivered")
    .option("--session <key>")
    .option("--cursor <cursor>", "the next page, from `next` of the one before")
    .action(async ({ json, ...query }: Json & { status?: string; session?: string; cursor?: string }) => {
      const page = await reader(cli).list(query);
      if (json) return cli.out(JSON.stringify(page));
      for (const one of page.items) cli.out(summarise(one));
      if (page.items.length === 0) cli.note("There is none.");
      if (page.next) cli.note(`There are more: --cursor ${page.next}`);
    });
}

export function skipCommand(cli: Cli): Command {
  return new Command("skip")
    .description("skip every question of an inquiry that is still unanswered")
    .argument("<id>")
    .action(async (id: string, { json = false }: Json) => {
      const inquiry = await cli.client("operator").skip(id, { idempotencyKey: randomUUID() });
      cli.out(json ? JSON.stringify(inquiry) : describe(inquiry));
    });
}

export function cancelCommand(cli: Cli): Command {
  return new Command("cancel")
    .description("cancel an inquiry")
    .argument("<id>")
    .action(async (id: string, { json = false }: Json) => {
      const inquiry = await reader(cli).cancel(id, { idempotencyKey: randomUUID() });
      cli.out(json ? JSON.stringify(inquiry) : describe(inquiry));
    });
}

interface AnswerOptions extends Json {
  readonly text?: string;
  readonly set?: readonly string[];
}

export function answerCommand(cli: Cli): Command {
  return new Command("answer")
    .description("answer an inquiry for a person, as its operator")
    .argument("<id>")
    .option("--text <reply>", "a reply as a person would type it")
    .option("--set <question=label>", "one answer; repeat it for more", (value, before: string[] = []) => [
      ...before,
      value,
    ])
    .action(async (id: string, options: AnswerOptions) => {
      const answer = answerOf(options);
      const inquiry = await cli.client("operator").answer(id, answer, { idempotencyKey: randomUUID() });
      cli.out(options.json ? JSON.stringify(inquiry) : describe(inquiry));
    });
}

function answerOf({ text, set }: AnswerOptions): object {
  if ((text === undefined) === (set === undefined)) throw new CliFault("Give either --text or --set.", 2);
  if (text !== undefined) return { text };
  const answers = new Map<string, string[]>();
  for (const pair of set ?? []) {
    const at = pair.indexOf("=");
    if (at < 1) throw new CliFault(`--set takes QUESTION=LABEL, received "${pair}".`, 2);
    const question = pair.slice(0, at);
    answers.set(question, [...(answers.get(question) ?? []), pair.slice(at + 1)]);
  }
  return { answers: Object.fromEntries(answers) };
}

/** The operator's view where there is an operator key, which sees every session; else the agent's own. */
function reader(cli: Cli): Client {
  const { data, keys } = cli.config();
  const operator = keys.operator ?? (keys.agent === null ? readKey(data, "operator") : null);
  return cli.client(operator === null ? "agent" : "operator");
}
