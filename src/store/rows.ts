/**
 * Rows to core values and back. The only place that knows both the columns and the shapes behind the JSON in them.
 */
import type { Selectable } from "kysely";
import type { EntryMode, Receipt } from "../core/delivery.ts";
import type { Author, Inquiry, Resolution, TaskRef, Value } from "../core/inquiry.ts";
import type { Option, Question } from "../core/question.ts";
import type { Delivery, DeliveryRow, OutboxRow, Settlement } from "../ports/store.ts";
import { type Guard, isBoolean, isNumber, isText, listOf, oneOf, orNull, pairOf, readJson, shape } from "./json.ts";
import type { InquiryTable, OutboxTable, TaskTable } from "./schema.ts";

const isOption = shape<Option>({ label: isText, description: orNull(isText) });
const isQuestions = listOf(
  shape<Question>({
    id: isText,
    header: isText,
    question: isText,
    options: listOf(isOption),
    multiSelect: isBoolean,
    allowOther: isBoolean,
    sensitive: isBoolean,
  }),
);
const isLabelled = shape({ kind: oneOf("option", "default"), label: isText });
const isWritten = shape({ kind: oneOf("text"), text: isText });
const isValue: Guard<Value> = (value): value is Value => isLabelled(value) || isWritten(value);
const isAuthor = shape<Author>({ person: isText, channel: isText, address: isText });
const isResolution = shape<Resolution>({
  outcome: oneOf("answered", "skipped", "unanswered"),
  values: listOf(isValue),
  by: orNull(isAuthor),
});
const isResolutions = listOf(pairOf(isText, isResolution));
export const isTexts = listOf(isText);
const isDefaults = listOf(pairOf(isText, isTexts));
const isReceipt: Guard<Receipt> = (value): value is Receipt =>
  shape<{ parts: readonly string[] }>({ parts: isTexts })(value) && (!("entry" in value) || isText(value.entry));
const isEntryMode = shape<EntryMode>({ question: isNumber, person: isText });

export function inquiryOf(row: Selectable<InquiryTable>): Inquiry {
  const read = <T>(column: "questions" | "resolutions" | "sent_to" | "respondents" | "defaults", guard: Guard<T>) =>
    readJson(row[column], guard, `inquiry.${column} of ${row.uid}`);
  return {
    uid: row.uid,
    owner: row.owner,
    id: row.given_id,
    session: row.session,
    run: row.run,
    kind: row.kind,
    task:
      row.task_id === null || row.state_version === null
        ? null
        : { taskId: row.task_id, currentStep: row.current_step, stateVersion: row.state_version },
    questions: read("questions", isQuestions),
    status: row.status,
    reason: row.reason,
    version: row.version,
    resolutions: new Map(read("resolutions", isResolutions)),
    to: read("sent_to", isTexts),
    respondents: read("respondents", isTexts),
    locale: row.locale,
    reversible: row.reversible === 1,
    defaults: new Map(read("defaults", isDefaults)),
    callbackUrl: row.callback_url,
    contentKey: row.content_key,
    timeoutSeconds: row.timeout_seconds,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    shownAt: row.shown_at,
    settledAt: row.settled_at,
    settledBy: row.settled_by === null ? null : readJson(row.settled_by, isAuthor, `inquiry.settled_by of ${row.uid}`),
  };
}

/** `waiter` is the process whose caller waits for it. */
export function newInquiry(inquiry: Inquiry, waiter: string | null): InquiryTable {
  return {
    uid: inquiry.uid,
    owner: inquiry.owner,
    given_id: inquiry.id,
    session: inquiry.session,
    run: inquiry.run,
    kind: inquiry.kind,
    task_id: inquiry.task?.taskId ?? null,
    current_step: inquiry.task?.currentStep ?? null,
    state_version: inquiry.task?.stateVersion ?? null,
    questions: JSON.stringify(inquiry.questions),
    sent_to: JSON.stringify(inquiry.to),
    respondents: JSON.stringify(inquiry.respondents),
    locale: inquiry.locale,
    reversible: inquiry.reversible ? 1 : 0,
    defaults: JSON.stringify([...inquiry.defaults]),
    callback_url: inquiry.callbackUrl,
    content_key: inquiry.contentKey,
    timeout_seconds: inquiry.timeoutSeconds,
    created_at: inquiry.createdAt,
    expires_at: inquiry.expiresAt,
    shown_at: inquiry.shownAt,
    collected_at: null,
    waited_by: waiter,
    ...progressOf(inquiry),
  };
}

export type Progress = Pick<
  InquiryTable,
  "status" | "reason" | "version" | "resolutions" | "settled_at" | "settled_by"
>;

/** All that the steps of inquiry.ts change. The rest stays as it was asked; `shown_at` belongs to settlements. */
export function progressOf(inquiry: Inquiry): Progress {
  return {
    status: inquiry.status,
    reason: inquiry.reason,
    version: inquiry.version,
    resolutions: JSON.stringify([...inquiry.resolutions]),
    settled_at: inquiry.settledAt,
    settled_by: inquiry.settledBy === null ? null : JSON.stringify(inquiry.settledBy),
  };
}

/** A row together with what its address has to wait for; `not_before` is null outside the lane `delivery`. */
export type JoinedRow = Selectable<OutboxTable> & { readonly not_before: number | null };

export function outboxRowOf(row: JoinedRow): OutboxRow {
  return {
    id: row.id,
    lane: row.lane,
    inquiry: row.inquiry,
    dueAt: row.due_at,
    attempts: row.attempts,
    epoch: row.epoch,
    interrupted: row.interrupted === 1,
    delivery: deliveryOf(row),
    notBefore: row.not_before || null,
  };
}

export function deliveryRowOf(row: JoinedRow): DeliveryRow {
  const delivery = deliveryOf(row);
  if (delivery === null) throw new Error(`The outbox row ${row.id} is in the lane ${row.lane}: it is no copy.`);
  return { ...outboxRowOf(row), lane: "delivery", delivery };
}

function deliveryOf(row: Selectable<OutboxTable>): Delivery | null {
  const { channel, address, state, prompt_key: promptKey } = row;
  if (channel === null || address === null || state === null || promptKey === null) return null;
  return {
    channel,
    address,
    state,
    reason: row.state_reason,
    promptKey,
    digest: row.digest,
    receipt: receiptOf(row),
    entry: row.entry === null ? null : readJson(row.entry, isEntryMode, `outbox.entry of ${row.id}`),
    plain: row.plain === 1,
    unknownUntil: row.unknown_until,
  };
}

export function receiptOf(row: Pick<Selectable<OutboxTable>, "id" | "receipt">): Receipt | null {
  return row.receipt === null ? null : readJson(row.receipt, isReceipt, `outbox.receipt of ${row.id}`);
}

/** What the holder of a claim may write about a copy. */
export type Patch = NonNullable<Settlement["delivery"]>;

export type PatchColumns = Pick<
  OutboxTable,
  "state" | "state_reason" | "prompt_key" | "digest" | "receipt" | "plain" | "unknown_until"
>;

export function patchColumns(patch: Patch): PatchColumns {
  return {
    state: patch.state,
    state_reason: patch.reason,
    prompt_key: patch.promptKey,
    digest: patch.digest,
    receipt: patch.receipt === null ? null : JSON.stringify(patch.receipt),
    plain: patch.plain ? 1 : 0,
    unknown_until: patch.unknownUntil,
  };
}

export type DeliveryColumns = PatchColumns & Pick<OutboxTable, "channel" | "address" | "entry">;

/** All null outside the lane `delivery`. */
export function deliveryColumns(delivery: Delivery | null): DeliveryColumns {
  if (delivery === null) return NO_DELIVERY;
  const { channel, address, entry } = delivery;
  return { channel, address, entry: entry === null ? null : JSON.stringify(entry), ...patchColumns(delivery) };
}

const NO_DELIVERY: DeliveryColumns = {
  channel: null,
  address: null,
  entry: null,
  state: null,
  state_reason: null,
  prompt_key: null,
  digest: null,
  receipt: null,
  plain: null,
  unknown_until: null,
};

export function taskOf(row: Selectable<TaskTable>): TaskRef {
  return { taskId: row.task_id, currentStep: row.current_step, stateVersion: row.state_version };
}
