/**
 * How an inquiry's end looks at the command line: the answer on standard output, all else as a remark, and the exit
 * code: 0 answered, 3 undelivered, 4 timed out, 5 skipped or cancelled.
 */
import type { ExitCode } from "../../core/errors.ts";
import type { InquiryView, ToolResult } from "../../ports/asker.ts";
import type { Cli } from "./cli.ts";

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

/** An inquiry in a few lines. */
export function describe(inquiry: InquiryView): string {
  const lines = [
    `${inquiry.id}  ${inquiry.status}${inquiry.reason ? ` (${inquiry.reason})` : ""}  session ${inquiry.session}`,
  ];
  for (const question of inquiry.questions) {
    lines.push(`  ${question.id}: ${question.question}`);
    question.options.forEach((option, at) => {
      lines.push(`    ${at + 1}. ${option.label}${option.description ? ` - ${option.description}` : ""}`);
    });
    const detail = inquiry.details?.find((one) => one.id === question.id);
    if (detail && detail.outcome !== "unanswered") {
      const said = detail.values.map((value) => (value.kind === "text" ? value.text : value.label)).join(", ");
      lines.push(`    ${detail.outcome}${detail.by ? ` by ${detail.by}` : ""}${said ? `: ${said}` : ""}`);
    }
  }
  for (const copy of inquiry.deliveries) {
    lines.push(`  ${copy.address}: ${copy.state}${copy.reason ? ` (${copy.reason})` : ""}`);
  }
  lines.push(
    `  asked ${inquiry.createdAt}, ${inquiry.settledAt ? `settled ${inquiry.settledAt}` : `until ${inquiry.expiresAt}`}`,
  );
  return lines.join("\n");
}
