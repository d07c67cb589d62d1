/** Inquiries as the engine keeps them, and what a prompt made of one says. */
import type { Author, Inquiry, Resolution, Value } from "../../src/core/inquiry.ts";
import { LOCALES } from "../../src/core/locales/locale.ts";
import { type Prompt, type PromptPlace, present } from "../../src/core/prompt.ts";
import type { Option, Question } from "../../src/core/question.ts";
import { plainOf } from "../../src/core/text.ts";

export const ANA: Author = { person: "Ana", channel: "telegram", address: "telegram:1" };

export function options(...labels: readonly string[]): readonly Option[] {
  return labels.map((label) => ({ label, description: null }));
}

export function question(over: Partial<Question> = {}): Question {
  return {
    id: "target",
    header: "Deploy",
    question: "Where should it go?",
    options: options("Staging (Recommended)", "Production"),
    multiSelect: false,
    allowOther: true,
    sensitive: false,
    ...over,
  };
}

export const CHECKS = question({
  id: "checks",
  header: "Checks",
  question: "Which checks?",
  options: options("Lint", "Unit", "E2E"),
  multiSelect: true,
});
export const NAME = question({ id: "name", header: "Name", question: "What name?", options: [] });

export function inquiry(over: Partial<Inquiry> = {}): Inquiry {
  return {
    uid: "inq_1",
    owner: "key_1",
    id: "one",
    session: "main",
    run: null,
    kind: "question",
    task: null,
    questions: [question()],
    status: "waiting",
    reason: null,
    version: 1,
    resolutions: new Map(),
    to: [],
    respondents: ["Ana"],
    locale: null,
    reversible: false,
    defaults: new Map(),
    callbackUrl: null,
    contentKey: "content",
    timeoutSeconds: 900,
    createdAt: Date.UTC(2026, 10, 30, 16, 50),
    expiresAt: Date.UTC(2026, 10, 30, 17, 5),
    shownAt: null,
    settledAt: null,
    settledBy: null,
    ...over,
  };
}

export const HERE: PromptPlace = {
  direct: true,
  groupAudience: [],
  entry: null,
  address: "telegram:1",
  nativeReplies: true,
  shortId: null,
};

export function prompt(of: Partial<Inquiry> = {}, place: Partial<PromptPlace> = {}, locale = LOCALES.en): Prompt {
  return present({ inquiry: inquiry(of), promptFor: { ...HERE, ...place }, locale });
}

/** What one form says, paragraph under paragraph. */
export function body(shown: Prompt, form: "native" | "text" = "text"): string {
  const blocks = shown.blocks.filter((one) => one.only === undefined || one.only === form);
  return blocks
    .map((one) => (one.tight ? "\n" : "\n\n") + plainOf(one.spans))
    .join("")
    .trim();
}

export function answered(values: readonly Value[], by: Author | null = ANA): Resolution {
  return { outcome: "answered", values, by };
}

export function labels(shown: Prompt): readonly string[] {
  return shown.choices.map((choice) => (choice.mark === "" ? choice.label : `${choice.mark}. ${choice.label}`));
}
