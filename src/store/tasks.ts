/** Where each task stands, moved on by compare-and-set. */
import type { Kysely, Transaction } from "kysely";
import type { TaskRef } from "../core/inquiry.ts";
import type { Commit } from "../ports/store.ts";
import { Raced } from "./locks.ts";
import { taskOf } from "./rows.ts";
import type { Schema, TaskTable } from "./schema.ts";

type Trx = Transaction<Schema>;
type Move = NonNullable<Commit["task"]>;

export async function taskStands(trx: Trx, { owner, from, to }: Move): Promise<boolean> {
  const stored = await findTask(trx, owner, to.taskId);
  if (from === null || stored === null) return from === stored;
  return stored.stateVersion === from.stateVersion && stored.currentStep === from.currentStep;
}

export async function findTask(trx: Kysely<Schema>, owner: string, taskId: string): Promise<TaskRef | null> {
  const row = await trx
    .selectFrom("task")
    .selectAll()
    .where("owner", "=", owner)
    .where("task_id", "=", taskId)
    .executeTakeFirst();
  return row ? taskOf(row) : null;
}

export async function moveTask(trx: Trx, task: Move): Promise<void> {
  if (!(await (task.from === null ? beginTask(trx, task) : changeTask(trx, task, task.from)))) {
    throw new Raced(`The task ${task.to.taskId}`);
  }
}

/**
 * Whether the move would leave an inquiry of the old state waiting: one asked after the mover looked for them. It is to
 * look again.
 */
export async function leavesBehind(trx: Trx, { task, update = [] }: Commit): Promise<boolean> {
  if (!task?.from || isSame(task.from, task.to)) return false;
  const waiting = await trx
    .selectFrom("inquiry")
    .select("uid")
    .where("task_id", "=", task.to.taskId)
    .where("owner", "=", task.owner)
    .where("settled_at", "is", null)
    .execute();
  return waiting.some(({ uid }) => !update.some(({ inquiry }) => inquiry.uid === uid));
}

function isSame(one: TaskRef, other: TaskRef): boolean {
  return one.stateVersion === other.stateVersion && one.currentStep === other.currentStep;
}

async function beginTask(trx: Trx, { owner, to }: Move): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto("task")
    .values({ owner, task_id: to.taskId, ...stateOf(to) })
    .onConflict((conflict) => conflict.columns(["owner", "task_id"]).doNothing())
    .executeTakeFirstOrThrow();
  return numInsertedOrUpdatedRows === 1n;
}

/** Also where nothing changes: it holds the task as it was found until the commit. */
async function changeTask(trx: Trx, { owner, to }: Move, from: TaskRef): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable("task")
    .set(stateOf(to))
    .where("owner", "=", owner)
    .where("task_id", "=", to.taskId)
    .where("state_version", "=", from.stateVersion)
    .where("current_step", "is not distinct from", from.currentStep)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

function stateOf({ currentStep, stateVersion }: TaskRef): Pick<TaskTable, "current_step" | "state_version"> {
  return { current_step: currentStep, state_version: stateVersion };
}
