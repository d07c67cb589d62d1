/**
 * One atomic change of the engine.
 *
 * Rules: a refused change leaves nothing, because it shares its transaction with others that are not: its key is
 * written first, which finds a repeat, and taken back by a refusal; all checks come before the other writes, in the
 * order exists, conflict. A change that lost a race between check and write throws and runs again. The order of the
 * writes is that of locks.ts; the heads of all addresses touched are found anew at the end, once.
 */
import { type Kysely, sql, type Transaction } from "kysely";
import type { DeliveryState } from "../core/delivery.ts";
import type { Inquiry } from "../core/inquiry.ts";
import type { Commit, CommitResult, NewOutboxRow } from "../ports/store.ts";
import { recordMessages } from "./claims.ts";
import { appendCreated, appendEnd, appendShown } from "./events.ts";
import { isAnything, readJson } from "./json.ts";
import { concurrent, lockAddresses, Raced } from "./locks.ts";
import { dueSooner, isTaken, refresh } from "./queue.ts";
import { findInquiry } from "./reads.ts";
import { deliveryColumns, newInquiry, type Progress, progressOf } from "./rows.ts";
import type { AddressTable, InquiryTable, OnceTable, OutboxTable, Schema } from "./schema.ts";
import { statement } from "./statement.ts";
import { leavesBehind, moveTask, taskStands } from "./tasks.ts";

type Trx = Transaction<Schema>;
type Part<K extends keyof Commit> = NonNullable<Commit[K]>;

export async function applyCommit(trx: Trx, change: Commit): Promise<CommitResult> {
  const { once } = change;
  if (once && !(await takeKey(trx, once))) return { outcome: "repeat", reply: await storedReply(trx, once.key) };
  const refusal = await refusalOf(trx, change);
  if (refusal !== null) {
    if (once) await giveKeyBack.run(trx, { key: once.key });
    return { outcome: refusal };
  }
  if (change.task) await moveTask(trx, change.task);
  // Now that the task is held, nobody asks in its old state any more: what was asked until then is seen.
  if (concurrent(trx) && (await leavesBehind(trx, change))) throw new Raced("What waits of a task");
  await writeInquiries(trx, change);
  if (change.adopt) await appendShown(trx, await shownByPress.first(trx, pick(change.adopt)));
  const touched: (string | null)[] = [];
  for (const { inquiry, at } of change.wake ?? []) touched.push(...(await wake(trx, inquiry, at)));
  if (change.entry) touched.push(...(await setEntry(trx, change.entry)));
  if (change.adopt) touched.push(await adopt(trx, change.adopt));
  const addresses = touched.filter((address) => address !== null);
  if (change.add?.length) addresses.push(...(await addRows(trx, change.add, change.create ?? [], addresses)));
  await refresh(trx, addresses);
  return { outcome: "done" };
}

const pick = ({ row, promptKey, at }: Part<"adopt">) => ({ row, promptKey, at });

async function writeInquiries(trx: Trx, { create, update, waiter }: Commit): Promise<void> {
  for (const one of update ?? []) await updateInquiry(trx, one);
  for (const inquiry of create ?? []) {
    await insertInquiry.run(trx, newInquiry(inquiry, waiter ?? null));
    await appendCreated(trx, inquiry);
  }
}

const replyUnder = statement((db, at: { readonly key: string }) =>
  db.selectFrom("once").select("reply").where("key", "=", at.key),
);

export async function storedReply(db: Kysely<Schema>, key: string): Promise<unknown> {
  const row = await replyUnder.first(db, { key });
  return row ? readJson(row.reply, isAnything, `once.reply of ${key}`) : null;
}

const insertKey = statement((db, at: OnceTable) =>
  db
    .insertInto("once")
    .values(at)
    .onConflict((conflict) => conflict.column("key").doNothing()),
);

/** False when it was taken before, and then nothing is written. */
async function takeKey(trx: Trx, { key, reply, at }: Part<"once">): Promise<boolean> {
  return (await insertKey.run(trx, { key, reply: JSON.stringify(reply) ?? "null", at })) === 1;
}

const giveKeyBack = statement((db, at: { readonly key: string }) => db.deleteFrom("once").where("key", "=", at.key));

async function refusalOf(trx: Trx, change: Commit): Promise<"exists" | "conflict" | null> {
  for (const { owner, id } of change.create ?? []) if (await namesake.first(trx, { owner, id })) return "exists";
  if (change.task && !(await taskStands(trx, change.task))) return "conflict";
  if (await leavesBehind(trx, change)) return "conflict";
  for (const update of change.update ?? []) if (!(await versionStands(trx, update))) return "conflict";
  return null;
}

const namesake = statement((db, at: { readonly owner: string; readonly id: string }) =>
  db.selectFrom("inquiry").select("uid").where("owner", "=", at.owner).where("given_id", "=", at.id),
);

const waitingVersion = statement((db, at: { readonly uid: string }) =>
  db.selectFrom("inquiry").select(["version", "shown_at"]).where("uid", "=", at.uid).where("settled_at", "is", null),
);

async function versionStands(trx: Trx, { from, inquiry, unlessShown }: Part<"update">[number]): Promise<boolean> {
  const row = await waitingVersion.first(trx, { uid: inquiry.uid });
  return row?.version === from && !(unlessShown && row.shown_at !== null);
}

const insertInquiry = statement((db, at: InquiryTable) => db.insertInto("inquiry").values(at));

type Writing = Progress & { readonly uid: string; readonly from: number };

/** What is over has nobody who must be told of by another process: whoever asks again is handed the result. */
const progressFrom = (db: Kysely<Schema>, { uid, from, ...progress }: Writing) =>
  db
    .updateTable("inquiry")
    .set(progress)
    .set({ waited_by: sql`case when cast(${progress.settled_at} as bigint) is null then waited_by end` })
    .where("uid", "=", uid)
    .where("version", "=", from)
    .where("settled_at", "is", null);
const writeProgress = statement((db, at: Writing) => progressFrom(db, at));
const writeUnseen = statement((db, at: Writing) => progressFrom(db, at).where("shown_at", "is", null));

async function updateInquiry(trx: Trx, { from, inquiry, unlessShown }: Part<"update">[number]): Promise<void> {
  const { uid } = inquiry;
  const written = await (unlessShown ? writeUnseen : writeProgress).run(trx, { uid, from, ...progressOf(inquiry) });
  if (written !== 1) throw new Raced(`Inquiry ${uid}`);
  await appendEnd(trx, inquiry);
}

/** Resolves to the addresses of the rows; `held` are those the commit has touched before. */
async function addRows(
  trx: Trx,
  add: Part<"add">,
  created: Part<"create">,
  held: readonly string[],
): Promise<readonly string[]> {
  const asked = new Map(created.map((one) => [one.uid, one]));
  for (const { inquiry: uid } of add) {
    const stored = asked.has(uid) ? null : await findInquiry(trx, uid);
    if (stored) asked.set(uid, stored);
  }
  const heads = new Map(add.flatMap(({ delivery }) => (delivery ? [[delivery.address, delivery.channel]] : [])));
  const addresses = [...heads.keys()].sort();
  for (const address of addresses) {
    await openHead.run(trx, { address, channel: heads.get(address) ?? "", not_before: 0, next_at: null });
  }
  if (add.some((row) => row.inLine)) await lockAddresses(trx, [...held, ...addresses]);
  for (const row of await lineUp(trx, add)) await insertRow.run(trx, newRow(row, asked.get(row.inquiry)));
  return addresses;
}

const openHead = statement((db, at: AddressTable) =>
  db
    .insertInto("address")
    .values(at)
    .onConflict((conflict) => conflict.column("address").doNothing()),
);

const insertRow = statement((db, at: OutboxTable) => db.insertInto("outbox").values(at));

function newRow({ id, lane, inquiry, dueAt, delivery }: NewOutboxRow, asked: Inquiry | undefined): OutboxTable {
  if (asked === undefined) throw new Error(`The outbox row ${id} is of inquiry ${inquiry}, which does not exist.`);
  return {
    id,
    lane,
    inquiry,
    due_at: dueAt,
    attempts: 0,
    epoch: 0,
    claimed_until: null,
    interrupted: 0,
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
async function wake(trx: Trx, inquiry: string, at: number): Promise<readonly (string | null)[]> {
  const settled = (await waitingVersion.first(trx, { uid: inquiry })) === undefined;
  const rows = await (settled ? wakeLast : wakeOpen).all(trx, { inquiry, at });
  if (settled) await dropDeadline.run(trx, { inquiry });
  return rows.map((row) => row.address);
}

type Waking = { readonly inquiry: string; readonly at: number };

const copiesOf = (db: Kysely<Schema>, { inquiry, at }: Waking, states: readonly DeliveryState[]) =>
  db
    .updateTable("outbox")
    .set({ ...dueSooner(at), attempts: 0 })
    .where("inquiry", "=", inquiry)
    .where("state", "in", states)
    .returning("address");
const wakeOpen = statement((db, at: Waking) => copiesOf(db, at, ["pending", "unknown", "shown"]));
const wakeLast = statement((db, at: Waking) =>
  copiesOf(db, at, ["pending", "unknown", "shown", "queued", "absent"]).set({ lives_until: null }),
);

const dropDeadline = statement((db, at: { readonly inquiry: string }) =>
  db.deleteFrom("outbox").where("inquiry", "=", at.inquiry).where("lane", "=", "deadline"),
);

async function setEntry(trx: Trx, { row, entry, at }: Part<"entry">): Promise<readonly (string | null)[]> {
  const changed = await trx
    .updateTable("outbox")
    .set({ entry: entry === null ? null : JSON.stringify(entry), ...dueSooner(at) })
    .where("id", "=", row)
    .where("address", "is not", null)
    .returning("address")
    .execute();
  return changed.map((one) => one.address);
}

/** The states that have a move on `found`. */
const FINDABLE: readonly DeliveryState[] = ["pending", "unknown", "failed", "closed"];

/** Resolves to the copy's address; null: there was nothing to adopt. */
async function adopt(trx: Trx, { row, promptKey, receipt, at }: Part<"adopt">): Promise<string | null> {
  const findable = findableCopy(trx, { row, promptKey }).selectAll();
  const copy = await (concurrent(trx) ? findable.forNoKeyUpdate() : findable).executeTakeFirst();
  if (!copy || copy.address === null) return null;
  await trx
    .updateTable("outbox")
    .set({ state: "shown", state_reason: null, unknown_until: null, receipt: JSON.stringify(receipt) })
    .set({ adopted_epoch: copy.epoch, ...dueSooner(at) })
    .where("id", "=", row)
    .execute();
  await recordMessages(trx, copy, receipt);
  return copy.address;
}

type Found = { readonly row: string; readonly promptKey: string };

const findableCopy = (db: Kysely<Schema>, { row, promptKey }: Found) =>
  db.selectFrom("outbox").where("id", "=", row).where("prompt_key", "=", promptKey).where("state", "in", FINDABLE);

const shownByPress = statement((db, { at, ...found }: Found & { readonly at: number }) =>
  db
    .updateTable("inquiry")
    .set({ shown_at: at })
    .where("uid", "=", findableCopy(db, found).select("inquiry"))
    .where("shown_at", "is", null)
    .returning(["uid", "owner", "session", "shown_at as at"]),
);

/** The result was taken; the first time stands. */
export const collect = statement((db, { uid, at }: { readonly uid: string; readonly at: number }) =>
  db.updateTable("inquiry").set({ collected_at: at }).where("uid", "=", uid).where("collected_at", "is", null),
);
