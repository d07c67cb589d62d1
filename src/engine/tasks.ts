/**
 * Tasks: where the agent stands. A task exists from its first mention and moves by a higher state version or a new
 * step; what was asked for an older state is then superseded, in the commit that moves it.
 */
import { AskgateError } from "../core/errors.ts";
import { type Inquiry, step, type TaskRef } from "../core/inquiry.ts";
import type { Commit } from "../ports/store.ts";
import type { Context } from "./context.ts";
import { settled } from "./trail.ts";

export interface TaskPlan {
  /** The task's state after the commit. */
  readonly state: TaskRef;
  readonly commit: Pick<Commit, "task" | "update" | "wake">;
  /** As they will be after the commit. */
  readonly superseded: readonly Inquiry[];
}

/**
 * What it takes to bring the task to that state; the commit always compares the task, so that nothing is asked for a
 * state that passed meanwhile. Refuses a state older than the task's with `stale`.
 */
export async function planTask(context: Context, owner: string, wanted: TaskRef): Promise<TaskPlan> {
  const from = await context.store.task(owner, wanted.taskId);
  const state = { ...wanted, currentStep: wanted.currentStep ?? from?.currentStep ?? null };
  if (from && state.stateVersion < from.stateVersion) {
    throw new AskgateError(
      "stale",
      `Task "${wanted.taskId}" is at stateVersion ${from.stateVersion}; received ${wanted.stateVersion}. Read the task again and repeat with its current version.`,
    );
  }
  const moved = !from || state.stateVersion !== from.stateVersion || state.currentStep !== from.currentStep;
  if (!moved) return { state, commit: { task: { owner, from, to: state } }, superseded: [] };
  const now = context.clock.now();
  const old = from ? await context.store.waitingOfTask(owner, wanted.taskId) : [];
  const superseded = old.flatMap((inquiry) => {
    const next = step(inquiry, { type: "cancel", reason: "superseded" }, now);
    return next.ok ? [{ from: inquiry.version, inquiry: next.inquiry }] : [];
  });
  return {
    state,
    commit: {
      task: { owner, from, to: state },
      update: superseded,
      wake: superseded.map(({ inquiry }) => ({ inquiry: inquiry.uid, at: now })),
    },
    superseded: superseded.map(({ inquiry }) => inquiry),
  };
}

/** Moves a task on by itself. */
export async function moveTask(context: Context, owner: string, wanted: TaskRef): Promise<TaskPlan> {
  for (;;) {
    const plan = await planTask(context, owner, wanted);
    const result = await context.store.commit(plan.commit);
    if (result.outcome !== "done") continue;
    for (const inquiry of plan.superseded) {
      settled(context, inquiry);
      context.changed(inquiry);
    }
    return plan;
  }
}
