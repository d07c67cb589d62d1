/**
 * `parse`: the reply recogniser on JSON Lines, one `{questions, reply, locale?}` in, one result out. Needs no gateway.
 *
 * A question may lack header and question, an option may be a bare label. A line that cannot be read ends the command
 * with exit code 2, naming its number.
 */
import { createInterface } from "node:readline";
import { Command } from "commander";
import * as z from "zod";
import type { Question } from "../../core/question.ts";
import { parseReply } from "../../core/reply/parse.ts";
import { type Cli, CliFault } from "./cli.ts";

const label = z.union([z.string(), z.object({ label: z.string(), description: z.string().nullish() })]);

const lineSchema = z.object({
  questions: z
    .array(
      z.object({
        id: z.string(),
        header: z.string().default(""),
        question: z.string().default(""),
        options: z.array(label).nullish(),
        multiSelect: z.boolean().nullish(),
        allowOther: z.boolean().nullish(),
      }),
    )
    .min(1)
    .max(3),
  reply: z.string(),
});

export function parseCommand(cli: Cli): Command {
  return new Command("parse")
    .description("read JSON Lines {questions, reply} and write what each reply means")
    .action(async () => {
      let number = 0;
      for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
        number++;
        if (line.trim() !== "") cli.out(JSON.stringify(resultOf(line, number)));
      }
    });
}

function resultOf(line: string, number: number): object {
  const { questions, reply } = readLine(line, number);
  const { outcome, answers, reason } = parseReply(questions.map(questionOf), reply);
  return {
    outcome,
    ...(answers.size > 0 && { answers: Object.fromEntries(answers) }),
    ...(reason !== null && { reason }),
  };
}

type Line = z.infer<typeof lineSchema>;

function readLine(line: string, number: number): Line {
  try {
    const read = lineSchema.safeParse(JSON.parse(line));
    if (read.success) return read.data;
    const faults = read.error.issues.map((issue) => `${issue.path.join(".") || "the line"}: ${issue.message}`);
    throw new CliFault(`Line ${number} is not {questions, reply}: ${faults.join("; ")}.`, 2);
  } catch (error) {
    if (error instanceof CliFault) throw error;
    throw new CliFault(`Line ${number} is not JSON.`, 2);
  }
}

function questionOf({ options, multiSelect, allowOther, ...rest }: Line["questions"][number]): Question {
  return {
    ...rest,
    options: (options ?? []).map((one) =>
      typeof one === "string"
        ? { label: one, description: null }
        : { label: one.label, description: one.description ?? null },
    ),
    multiSelect: multiSelect ?? false,
    allowOther: allowOther ?? true,
    sensitive: false,
  };
}
