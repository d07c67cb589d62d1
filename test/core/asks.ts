/** Raw asks as agents send them, and what the door says to them. */
import type { Issue } from "../../src/core/errors.ts";
import { type NewInquiryInput, readInquiry } from "../../src/core/question.ts";

export const options = (...labels: unknown[]) => labels.map((label) => ({ label }));
export const question = (over: object = {}) => ({
  id: "target",
  header: "Target",
  question: "Where to?",
  options: options("Staging (Recommended)", "Production"),
  ...over,
});
export const ask = (over: object = {}, ...questions: object[]) => ({
  questions: questions.length > 0 ? questions : [question()],
  ...over,
});

export function accepted(raw: unknown): NewInquiryInput {
  const result = readInquiry(raw);
  if (!result.ok) throw new Error(result.issues.map((issue) => issue.message).join("\n"));
  return result.value;
}

export function refused(raw: unknown): readonly Issue[] {
  const result = readInquiry(raw);
  return result.ok ? [] : result.issues;
}

export const faults = (raw: unknown) => refused(raw).map((issue) => `${issue.path} ${issue.rule}`);
