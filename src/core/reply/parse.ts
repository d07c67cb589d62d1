/**
 * The reply recogniser: what a person's typed reply to one to three questions means.
 *
 * A pure function of questions and reply, the same on every machine. Three laws, in this order: never select what was
 * not clearly chosen; never lose words; understand what people really type. Never throws, in time linear in the reply.
 */
import type { Question } from "../question.ts";
import { readBatch } from "./batch.ts";
import { labelOf } from "./choice.ts";
import { cutAround } from "./cut.ts";
import { type Answer, type RepromptReason, readOne, type Verdict } from "./single.ts";

export interface ReplyResult {
  readonly outcome: "select" | "other" | "skip" | "reprompt";
  /** By question id; on a reprompt what was understood of a batch all the same. */
  readonly answers: ReadonlyMap<string, Answer>;
  /** Only on a reprompt. */
  readonly reason: RepromptReason | null;
}

export function parseReply(questions: readonly Question[], reply: string): ReplyResult {
  const [only] = questions;
  if (!only) return { outcome: "reprompt", answers: new Map(), reason: "empty" };
  const text = questions.some((question) => labelOf(question, reply) !== null) ? reply : cutAround(reply);
  return conclude(questions, questions.length === 1 ? [readOne(only, text)] : readBatch(questions, text));
}

/** Verdicts stand in the order of the questions; a single reason stands for all of them. */
function conclude(questions: readonly Question[], verdicts: readonly Verdict[] | RepromptReason): ReplyResult {
  if (typeof verdicts === "string") return { outcome: "reprompt", answers: new Map(), reason: verdicts };
  const answers = new Map<string, Answer>();
  for (const [index, verdict] of verdicts.entries()) {
    const question = questions[index];
    if (question && "answer" in verdict) answers.set(question.id, verdict.answer);
  }
  const reasons = verdicts.flatMap((verdict) => ("reason" in verdict ? [verdict.reason] : []));
  const reason = reasons.find((one) => one !== "partial") ?? reasons[0] ?? null;
  return { outcome: reason ? "reprompt" : outcomeOf([...answers.values()]), answers, reason };
}

function outcomeOf(answers: readonly Answer[]): ReplyResult["outcome"] {
  if (answers.some((answer) => "select" in answer)) return "select";
  return answers.some((answer) => "other" in answer) ? "other" : "skip";
}
