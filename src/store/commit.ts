/**
 * One atomic change of the engine.
 *
 * Rules: all checks come before the first write, in the order repeat, exists, conflict, because a refused change shares
 * its transaction with others that are not; a change that lost a race between check and write throws and runs again.
 */
import type { Insertable, Transaction } from "kysely";
import type { DeliveryState } from "../core/delivery.ts";
import type { Inquiry, TaskRef } from "../core/inquiry.ts";
import type { Commit, CommitResult, NewOutboxRow } from "../ports/store.ts";
import { recordMessages, recordShown } from "./claims.ts";
import { isAnything, readJson } from "./json.ts";
import { dueSooner, isTaken, refresh } from "./queue.ts";
import { inquiriesByUid } from "./reads.ts";
import { deliveryColumns, newInquiry, progressOf, taskOf } from "./rows.ts";
import type { OutboxTable, Schema } from "./schema.ts";

type Trx = Transaction<Schema>;
type Part<K extends keyof Commit> = NonNullable<Commit[K]>;

export async function applyCommit(trx: Trx, change: Commit): Promise<CommitResult> {
  if (change.once) {
    const earlier = await storedReply(trx, change.once.key);
    if (earlier) return { outcome: "repeat", reply: earlier.reply };
  }
  if (await someExist(trx, change.create ?? [])) return { outcome: "exists" };
  if (change.task && !(await taskStands(trx, change.task))) return { outcome: "conflict" };
  if (!(await versionsStand(trx, change.update ?? []))) return { outcome: "conflict" };

  if (change.create?.length) await insertInquiries(trx, change.create);
  if (change.task) await moveTask(trx, change.task);
  for (const { from, inquiry } of change.update ?? []) await updateInquiry(trx, from, inquiry);
  if (change.add?.length) await addRows(trx, change.add, change.create ?? []);
  for (const { inquiry, at } of change.wake ?? []) await wake(trx, inquiry, at);
  if (change.entry) await setEntry(trx, change.entry);
  if (change.adopt) await adopt(trx, change.adopt);
  if (change.once) await insertReply(trx, change.once);
  return { outcome: "done" };
}

export async function storedReply(trx: Pick<Trx, "selectFrom">, key: string): Promise<{ reply: unknown } | null> {
  const row = await trx.selectFrom("once").select("reply").where("key", "=", key).executeTakeFirst();
  return row ? { reply: readJson(row.reply, isAnything, `once.reply of ${key}`) } : null;
}

async function insertReply(trx: Trx, once: Part<"once">): Promise<void> {
  const reply = JSON.stringify(once.reply) ?? "null";
  await trx.insertInto("once").values({ key: once.key, reply, at: once.at }).execute();
}

async function someExist(trx: Trx, create: Part<"create">): Promise<boolean> {
  if (create.length === 0) return false;
  const taken = await trx
    .selectFrom("inquiry")
    .select("uid")
    .where((eb) => eb.or(create.map(({ owner, id }) => eb.and({ owner, id }))))
    .limit(1)
    .executeTakeFirst();
  return taken !== undefined;
}

async function taskStands(trx: Trx, { owner, from, to }: Part<"task">): Promise<boolean> {
  const stored = await findTask(trx, owner, to.taskId);
  if (from === null || stored === null) return from === stored;
  return stored.stateVersion === from.stateVersion && stored.currentStep === from.currentStep;
}

export async function findTask(trx: Pick<Trx, "selectFrom">, owner: string, taskId: string): Promise<TaskRef | null> {
  const row = await trx
    .selectFrom("task")
    .selectAll()
    .where("owner", "=", owner)
    .where("task_id", "=", taskId)
    .executeTakeFirst();
  return row ? taskOf(row) : null;
}

async function versionsStand(trx: Trx, update: Part<"update">): Promise<boolean> {
  if (update.length === 0) return true;
  const uids = update.map(({ inquiry }) => inquiry.uid);
  const rows = await trx
    .selectFrom("inquiry")
    .select(["uid", "version", "shown_at"])
    .where("uid", "in", uids)
    .where("settled_at", "is", null)
    .execute();
  const stored = new Map(rows.map((row) => [row.uid, row]));
  return update.every(({ from, inquiry, unlessShown }) => {
    const row = stored.get(inquiry.uid);
    return row?.version === from && !(unlessShown && row.shown_at !== null);
  });
}

async function insertInquiries(trx: Trx, create: Part<"create">): Promise<void> {
  await trx.insertInto("inquiry").values(create.map(newInquiry)).execute();
}

async function moveTask(trx: Trx, { owner, to }: Part<"task">): Promise<void> {
  const state = { current_step: to.currentStep, state_version: to.stateVersion };
  await trx
    .insertInto("task")
    .values({ owner, task_id: to.taskId, ...state })
    .onConflict((conflict) => conflict.columns(["owner", "task_id"]).doUpdateSet(state))
    .execute();
}

async function updateInquiry(trx: Trx, from: number, inquiry: Inquiry): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable("inquiry")
    .set(progressOf(inquiry))
    .where("uid", "=", inquiry.uid)
    .where("version", "=", from)
    .where("settled_at", "is", null)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows !== 1n) throw new Error(`Inquiry ${inquiry.uid} was changed between its check and its update.`);
}

async function addRows(trx: Trx, add: Part<"add">, created: Part<"create">): Promise<void> {
  const asked = new Map(created.map((one) => [one.uid, one]));
  const missing = add.map((row) => row.inquiry).filter((uid) => !asked.has(uid));
  for (const inquiry of await inquiriesByUid(trx, missing)) asked.set(inquiry.uid, inquiry);
  const rows = await lineUp(trx, add);
  const heads = new Map(rows.flatMap(({ delivery }) => (delivery ? [[delivery.address, delivery.channel]] : [])));
  if (heads.size > 0) {
    await trx
      .insertInto("address")
      .values([...heads].map(([address, channel]) => ({ address, channel, not_before: 0, next_at: null })))
      .onConflict((conflict) => conflict.column("address").doNothing())
      .execute();
  }
  await trx
    .insertInto("outbox")
    .values(rows.map((row) => newRow(row, asked.get(row.inquiry))))
    .execute();
  await refresh(trx, [...heads.keys()]);
}

function newRow(
  { id, lane, inquiry, dueAt, delivery }: NewOutboxRow,
  asked: Inquiry | undefined,
): Insertable<OutboxTable> {
  if (asked === undefined) throw new Error(`The outbox row ${id} is of inquiry ${inquiry}, which does not exist.`);
  return {
    id,
    lane,
    inquiry,
    due_at: dueAt,
    attempts: 0,
    epoch: 0,
    claimed_until: null,
    woken_at: null,
    adopted_epoch: null,
    reopened_epoch: null,
    turn: asked.kind === "approval" ? 0 : 1,
    asked_at: asked.createdAt,
    lives_until: delivery !== null && asked.settledAt === null ? asked.expiresAt : null,
    ...deliveryColumns(delivery),
  };
}

/** Where one shows at a time, a new copy queues up behind what stands there, and behind those before it in the list. */
async function lineUp(trx: Trx, add: readonly NewOutboxRow[]): Promise<readonly NewOutboxRow[]> {
  const rows: NewOutboxRow[] = [];
  const taken = new Set<string>();
  for (const row of add) {
    const { delivery } = row;
    const waits = row.inLine === true && delivery?.state === "pending";
    if (delivery && waits && (taken.has(delivery.address) || (await isTaken(trx, delivery.address)))) {
      rows.push({ ...row, dueAt: null, delivery: { ...delivery, state: "queued" } });
      continue;
    }
    if (delivery?.state === "pending") taken.add(delivery.address);
    rows.push(row);
  }
  return rows;
}

/**
 * Copies that show, or may show, an older state come due; of a settled inquiry also those that never will be shown,
 * to be closed. Copies that wait in line or for their surface are no concern of an inquiry that waits itself.
 */
async function wake(trx: Trx, inquiry: string, at: number): Promise<void> {
  const found = await trx.selectFrom("inquiry").select("settled_at").where("uid", "=", inquiry).executeTakeFirst();
  const settled = found !== undefined && found.settled_at !== null;
  const live = settled ? LIVE : LIVE.filter((state) => state !== "queued" && state !== "absent");
  const rows = await trx
    .updateTable("outbox")
    .set({ ...dueSooner(at), attempts: 0, ...(settled && { lives_until: null }) })
    .where("inquiry", "=", inquiry)
    .where("state", "in", live)
    .returning("address")
    .execute();
  await refresh(trx, [...new Set(rows.flatMap((row) => row.address ?? []))]);
  if (settled) await trx.deleteFrom("outbox").where("inquiry", "=", inquiry).where("lane", "=", "deadline").execute();
}

const LIVE: readonly DeliveryState[] = ["pending", "unknown", "shown", "queued", "absent"];

async function setEntry(trx: Trx, { row, entry, at }: Part<"entry">): Promise<void> {
  const changed = await trx
    .updateTable("outbox")
    .set({ entry: entry === null ? null : JSON.stringify(entry), ...dueSooner(at) })
    .where("id", "=", row)
    .where("address", "is not", null)
    .returning("address")
    .execute();
  await refresh(
    trx,
    changed.flatMap((one) => one.address ?? []),
  );
}

/** The states that have a move on `found`. */
const FINDABLE: readonly DeliveryState[] = ["pending", "unknown", "failed", "closed"];

async function adopt(trx: Trx, { row, promptKey, receipt, at }: Part<"adopt">): Promise<void> {
  const copy = await trx
    .selectFrom("outbox")
    .selectAll()
    .where("id", "=", row)
    .where("prompt_key", "=", promptKey)
    .where("state", "in", FINDABLE)
    .executeTakeFirst();
  if (!copy || copy.address === null) return;
  await trx
    .updateTable("outbox")
    .set({ state: "shown", reason: null, unknown_until: null, receipt: JSON.stringify(receipt) })
    .set({ adopted_epoch: copy.epoch, ...dueSooner(at) })
    .where("id", "=", row)
    .execute();
  await recordMessages(trx, copy, receipt);
  await recordShown(trx, copy.inquiry, at);
  await refresh(trx, [copy.address]);
}
