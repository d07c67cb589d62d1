/**
 * What a program sends to answer an inquiry or to move a task, read at the door: all faults at once.
 *
 * Whether an answer fits the question is the inquiry's to say, after it has looked whether it is settled or stale.
 */
import { z } from "zod";
import { shapeFaults, writeIssues } from "./fault.ts";
import type { ReadResult } from "./question.ts";

const stateVersion = z.int("must be a whole number").min(0);

export const answerInput = z
  .strictObject({
    answers: z.record(z.string(), z.array(z.string())).optional(),
    skip: z.array(z.string()).optional(),
    text: z.string().optional(),
    stateVersion: stateVersion.optional(),
  })
  .superRefine(({ answers = {}, skip = [], text }, context) => {
    const conflict = (path: string[], message: string, input: unknown) =>
      context.addIssue({ code: "custom", path, message, input, params: { rule: "conflict" } });
    if (text !== undefined && (skip.length > 0 || Object.keys(answers).length > 0)) {
      conflict(["text"], "must stand alone: send either text, or answers and skip", text);
    }
    const both = skip.find((id) => Object.hasOwn(answers, id));
    if (both !== undefined) conflict(["skip"], `must not name a question that answers names too: "${both}"`, skip);
  })
  .meta({ id: "AnswerInput" });

export const taskMoveInput = z
  .strictObject({ currentStep: z.string().min(1).max(200).optional(), stateVersion })
  .meta({ id: "TaskMove" });

export interface AnswerInput {
  readonly answers: ReadonlyMap<string, readonly string[]>;
  readonly skip: readonly string[];
  readonly text?: string;
  readonly stateVersion?: number;
}

export interface TaskMove {
  readonly currentStep: string | null;
  readonly stateVersion: number;
}

export function readAnswer(raw: unknown): ReadResult<AnswerInput> {
  const read = answerInput.safeParse(raw, { reportInput: true });
  if (!read.success) return { ok: false, issues: writeIssues(shapeFaults(read.error.issues)) };
  const { answers = {}, skip = [], text, stateVersion: version } = read.data;
  return {
    ok: true,
    value: {
      answers: new Map(Object.entries(answers)),
      skip,
      ...(text !== undefined && { text }),
      ...(version !== undefined && { stateVersion: version }),
    },
  };
}

export function readTaskMove(raw: unknown): ReadResult<TaskMove> {
  const read = taskMoveInput.safeParse(raw, { reportInput: true });
  if (!read.success) return { ok: false, issues: writeIssues(shapeFaults(read.error.issues)) };
  return { ok: true, value: { currentStep: read.data.currentStep ?? null, stateVersion: read.data.stateVersion } };
}
