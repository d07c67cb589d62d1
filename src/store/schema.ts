/**
 * The tables, as the query layer sees them; migrations.ts creates them.
 *
 * Rules for every column: times are integer milliseconds since the epoch, booleans are 0 or 1, structured values are
 * JSON in text. That is what lets one schema serve every database.
 */
import type { Generated } from "kysely";
import type { DeliveryState } from "../core/delivery.ts";
import type { InquiryKind, Reason, Status } from "../core/inquiry.ts";
import type { KeyScope, SessionKind } from "../ports/access-store.ts";
import type { EventType } from "../ports/event.ts";
import type { Lane } from "../ports/store.ts";

export interface InquiryTable {
  uid: string;
  owner: string;
  /** The caller's id, or `uid`. Like no column of the outbox, so that a copy and its inquiry are read in one row. */
  given_id: string;
  session: string;
  run: string | null;
  kind: InquiryKind;
  task_id: string | null;
  current_step: string | null;
  state_version: number | null;
  questions: string;
  status: Status;
  reason: Reason | null;
  version: number;
  resolutions: string;
  sent_to: string;
  respondents: string;
  locale: string | null;
  reversible: number;
  defaults: string;
  callback_url: string | null;
  content_key: string;
  timeout_seconds: number;
  created_at: number;
  expires_at: number;
  shown_at: number | null;
  settled_at: number | null;
  settled_by: string | null;
  /** When a caller took the result; null while it may still be handed to a call that looks the same. */
  collected_at: number | null;
  /** The process whose caller waits for it, or did until that process died. */
  waited_by: string | null;
}

export interface OutboxTable {
  id: string;
  lane: Lane;
  inquiry: string;
  /** When it can be claimed: for a claimed row the end of its lease. */
  due_at: number | null;
  attempts: number;
  epoch: number;
  /** End of the lease of a claim not yet settled; null when nobody holds the row. */
  claimed_until: number | null;
  /** 1 from a claim that found an earlier one unsettled until its own settlement. */
  interrupted: number;
  /** Something made the row due while it was claimed: settlement must leave it due. */
  woken_at: number | null;
  /** The claim during which a receipt was adopted; settling that claim must not take it away. */
  adopted_epoch: number | null;
  /** The claim during which the surface was opened; what that claim found there is out of date. */
  reopened_epoch: number | null;
  /** 0 for approvals, 1 for the rest: who goes first where one shows at a time. */
  turn: number;
  /** The inquiry's creation, repeated here so that a queue is read from one index. */
  asked_at: number;
  /** A copy's deadline while its inquiry waits; null once that is settled. */
  lives_until: number | null;
  channel: string | null;
  address: string | null;
  state: DeliveryState | null;
  state_reason: string | null;
  prompt_key: string | null;
  digest: string | null;
  receipt: string | null;
  entry: string | null;
  plain: number | null;
  unknown_until: number | null;
}

/** The head of an address's queue: one row to look at, however many copies wait behind it. */
export interface AddressTable {
  address: string;
  channel: string;
  /** Nothing may be sent there before; 0 from the start. */
  not_before: number;
  /** When the next copy there can be claimed; null when none is due by itself. */
  next_at: number | null;
}

/** Native message -> the copy it belongs to. `chat` is an address without its topic: ids are unique in the chat. */
export interface MessageTable {
  chat: string;
  message: string;
  copy: string;
}

export interface TaskTable {
  owner: string;
  task_id: string;
  current_step: string | null;
  state_version: number;
}

export interface OnceTable {
  key: string;
  reply: string;
  at: number;
}

/** See events.ts for the order. */
export interface EventTable {
  turn: Generated<number>;
  seq: Generated<number>;
  type: EventType;
  at: number;
  inquiry: string;
  owner: string;
  session: string;
}

export interface LeaseTable {
  name: string;
  holder: string;
  epoch: number;
  /** 0: given up. */
  until: number;
  note: string;
}

export interface AccessKeyTable {
  id: string;
  hash: string;
  scope: KeyScope;
  sessions: string;
  kind: SessionKind;
  created_at: number;
  revoked_at: number | null;
}

export interface PairingTable {
  hash: string;
  channel: string;
  person: string;
  expires_at: number;
  failures: number;
}

export interface IdentityTable {
  identity: string;
  person: string;
  paired_at: number;
}

export interface MovedAddressTable {
  old_name: string;
  new_name: string;
  moved_at: number;
}

export interface Schema {
  inquiry: InquiryTable;
  outbox: OutboxTable;
  address: AddressTable;
  message: MessageTable;
  task: TaskTable;
  once: OnceTable;
  event: EventTable;
  lease: LeaseTable;
  access_key: AccessKeyTable;
  pairing: PairingTable;
  identity: IdentityTable;
  moved_address: MovedAddressTable;
}
