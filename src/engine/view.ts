/** The inquiry as callers see it, and the result of the tool. Nothing in either is a guess or an instruction. */
import type { Inquiry, Resolution, Value } from "../core/inquiry.ts";
import { isSettled } from "../core/inquiry.ts";
import type { Question } from "../core/question.ts";
import type { DeliveryView, DetailView, InquiryView, QuestionView, ToolResult } from "../ports/asker.ts";
import type { Instant } from "../ports/clock.ts";
import type { DeliveryRow } from "../ports/store.ts";

export function viewOf(inquiry: Inquiry, copies: readonly DeliveryRow[]): InquiryView {
  const { task, run, reason, shownAt, settledAt } = inquiry;
  const details = detailsOf(inquiry);
  return {
    id: inquiry.id,
    session: inquiry.session,
    kind: inquiry.kind,
    status: inquiry.status,
    ...(reason !== null && { reason }),
    version: inquiry.version,
    ...(task && { task: taskView(task) }),
    ...(run !== null && { run }),
    questions: inquiry.questions.map(questionView),
    ...(inquiry.status === "answered" && { answers: answersOf(inquiry) }),
    ...(details.length > 0 && { details }),
    createdAt: timeOf(inquiry.createdAt),
    timeoutSeconds: inquiry.timeoutSeconds,
    ...(shownAt !== null && { shownAt: timeOf(shownAt) }),
    expiresAt: timeOf(inquiry.expiresAt),
    ...(settledAt !== null && { settledAt: timeOf(settledAt) }),
    deliveries: copies.map(deliveryView),
  };
}

export function resultOf(inquiry: Inquiry): ToolResult {
  const details = detailsOf(inquiry);
  const common = {
    inquiry_id: inquiry.id,
    timeout_seconds: inquiry.timeoutSeconds,
    ...(inquiry.shownAt !== null && { shown_at: timeOf(inquiry.shownAt) }),
    ...(details.length > 0 && { details }),
  };
  switch (inquiry.status) {
    case "waiting":
      return { status: "waiting", ...common };
    case "answered":
      return { status: "answered", answers: { answers: answersOf(inquiry) }, ...common };
    case "timed_out":
      return { status: "no_answer", reason: "timed_out", ...common };
    case "undelivered":
      return { status: "no_answer", reason: "undelivered", ...causeOf(inquiry), ...common };
    case "cancelled":
      if (inquiry.reason === "skipped" || inquiry.reason === "superseded") {
        return { status: "no_answer", reason: inquiry.reason, ...common };
      }
      return { status: "no_answer", reason: "cancelled", ...causeOf(inquiry), ...common };
  }
}

function causeOf(inquiry: Inquiry): { cause?: string } {
  return inquiry.reason === null ? {} : { cause: inquiry.reason };
}

export function taskView(task: NonNullable<Inquiry["task"]>) {
  const { taskId, currentStep, stateVersion } = task;
  return { taskId, ...(currentStep !== null && { currentStep }), stateVersion };
}

export function timeOf(at: Instant): string {
  return new Date(at).toISOString();
}

/** Answered questions alone; a skipped one is absent. No prototype: a question may be called `constructor`. */
function answersOf(inquiry: Inquiry): Record<string, readonly string[]> {
  const answers: Record<string, readonly string[]> = Object.create(null);
  for (const [id, resolution] of inquiry.resolutions) {
    if (resolution.outcome === "answered") answers[id] = resolution.values.map(wordOf);
  }
  return answers;
}

export function wordOf(value: Value): string {
  return value.kind === "text" ? value.text : value.label;
}

/** Every question once something is known about any of them, or the inquiry is over. */
function detailsOf(inquiry: Inquiry): readonly DetailView[] {
  if (inquiry.resolutions.size === 0 && !isSettled(inquiry)) return [];
  return inquiry.questions.map((question) => detailOf(question, inquiry.resolutions.get(question.id)));
}

function detailOf(question: Question, resolution: Resolution | undefined): DetailView {
  if (!resolution) return { id: question.id, outcome: "unanswered", values: [] };
  const { outcome, by, values } = resolution;
  return { id: question.id, outcome, ...(by && { by: by.person, channel: by.channel }), values };
}

function questionView(question: Question): QuestionView {
  return {
    id: question.id,
    header: question.header,
    question: question.question,
    options: question.options.map(({ label, description }) => ({
      label,
      ...(description !== null && { description }),
    })),
    multiSelect: question.multiSelect,
    ...(!question.allowOther && { allowOther: false as const }),
    ...(question.sensitive && { sensitive: true as const }),
  };
}

function deliveryView({ delivery }: DeliveryRow): DeliveryView {
  const { channel, address, state, reason } = delivery;
  return { channel, address, state, ...(reason !== null && { reason }) };
}
