/**
 * How an inquiry's end looks at the command line: the answer on standard output, all else as a remark, and the exit
 * code: 0 answered, 3 undelivered, 4 timed out, 5 skipped or cancelled.
 *
 * The answer is for programs and stays as it was given. What is for people alone is cleaned and kept to its line, so
 * that no question clears their screen or passes for a row of ours.
 */
import type { ExitCode } from "../../core/errors.ts";
import type { InquiryView, QuestionView, ToolResult } from "../../ports/asker.ts";
import type { Cli } from "./cli.ts";
import { row } from "./screen.ts";

type NoAnswer = Extract<ToolResult, { status: "no_answer" }>["reason"];

const EXITS: Readonly<Record<NoAnswer, ExitCode>> = {
  undelivered: 3,
  timed_out: 4,
  skipped: 5,
  cancelled: 5,
  superseded: 5,
};

const WORDS: Readonly<Record<NoAnswer, string>> = {
  undelivered: "The question reached nobody.",
  timed_out: "Nobody answered in time.",
  skipped: "The question was skipped.",
  cancelled: "The question was cancelled.",
  superseded: "The work has moved on; the question was withdrawn.",
};

export function printResult(cli: Cli, result: ToolResult, json: boolean): ExitCode {
  if (json) cli.out(JSON.stringify(result));
  if (result.status === "answered") {
    if (!json) printAnswers(cli, result.answers.answers);
    return 0;
  }
  if (result.status === "waiting") return 1;
  if (!json) cli.note(`${WORDS[result.reason]}${result.cause ? ` (${result.cause})` : ""}`);
  return EXITS[result.reason];
}

/** The same for an inquiry that was looked up. */
export function printSettled(cli: Cli, inquiry: InquiryView, json: boolean): ExitCode {
  if (json) cli.out(JSON.stringify(inquiry));
  if (inquiry.status === "answered") {
    if (!json) printAnswers(cli, inquiry.answers ?? {});
    return 0;
  }
  const reason = inquiry.status === "waiting" ? null : inquiry.status;
  if (!reason) return 0;
  if (!json) cli.note(`${WORDS[reason]}${inquiry.reason ? ` (${inquiry.reason})` : ""}`);
  return EXITS[reason];
}

/** One label a line; with several questions each line names its own. */
function printAnswers(cli: Cli, answers: Readonly<Record<string, readonly string[]>>): void {
  const entries = Object.entries(answers);
  for (const [id, values] of entries) {
    for (const value of values) cli.out(entries.length > 1 ? `${id}: ${value}` : value);
  }
}

/** An inquiry in one line. */
export function summarise({ id, status, session, questions }: InquiryView): string {
  return row(`${id}  ${status}  ${session}  ${questions[0]?.question ?? ""}`);
}

/** An inquiry in a few lines. */
export function describe(inquiry: InquiryView): string {
  const { id, status, reason, session, createdAt, expiresAt, settledAt } = inquiry;
  const lines = [
    `${id}  ${status}${reason ? ` (${reason})` : ""}  session ${session}`,
    ...inquiry.questions.flatMap((question) => linesOf(inquiry, question)),
    ...inquiry.deliveries.map((copy) => `  ${copy.address}: ${copy.state}${copy.reason ? ` (${copy.reason})` : ""}`),
    `  asked ${createdAt}, ${settledAt ? `settled ${settledAt}` : `until ${expiresAt}`}`,
  ];
  return lines.map(row).join("\n");
}

function linesOf({ details = [] }: InquiryView, { id, question, options }: QuestionView): readonly string[] {
  const asked = [
    `  ${id}: ${question}`,
    ...options.map(({ label, description }, at) => `    ${at + 1}. ${label}${description ? ` - ${description}` : ""}`),
  ];
  const detail = details.find((one) => one.id === id);
  if (!detail || detail.outcome === "unanswered") return asked;
  const said = detail.values.map((value) => (value.kind === "text" ? value.text : value.label)).join(", ");
  return [...asked, `    ${detail.outcome}${detail.by ? ` by ${detail.by}` : ""}${said ? `: ${said}` : ""}`];
}
