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
import { readKeyed } from "./keyed.ts";
import { type Answer, type RepromptReason, readOne, type Verdict } from "./single.ts";

export interface ReplyResult {
  readonly outcome: "select" | "other" | "skip" | "reprompt";
  /** By question id; on a reprompt what was understood of a batch all the same. */
  readonly answers: ReadonlyMap<string, Answer>;
  /** Only on a reprompt. */
  readonly reason: RepromptReason | null;
}

/**
 * @param open the questions still unanswered, in their order; by default all. Keys (`2: …`) count among `questions`, as
 * the prompt numbers them; everything else is read against these alone.
 */
export function parseReply(
  questions: readonly Question[],
  reply: string,
  open: readonly Question[] = questions,
): ReplyResult {
  const [only] = open;
  if (!only) return { outcome: "reprompt", answers: new Map(), reason: "empty" };
  const text = open.some((question) => labelOf(question, reply) !== null) ? reply : cutAround(reply);
  const keyed = open.length < questions.length ? readKeyed(questions, text) : null;
  if (keyed) return conclude(open, among(questions, keyed, open));
  return conclude(open, open.length === 1 ? [readOne(only, text)] : readBatch(open, text));
}

/** The verdicts on the open questions; a key of one that has its answer ties the reply to nothing. */
function among(
  questions: readonly Question[],
  keyed: readonly Verdict[] | RepromptReason,
  open: readonly Question[],
): readonly Verdict[] | RepromptReason {
  if (typeof keyed === "string") return keyed;
  const unkeyed = (verdict: Verdict) => "reason" in verdict && verdict.reason === "partial";
  const astray = keyed.some((verdict, index) => !open.includes(questions[index] as Question) && !unkeyed(verdict));
  return astray ? "ambiguous" : keyed.filter((_, index) => open.includes(questions[index] as Question));
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
