/**
 * The store port: durable state of the engine, the same on every database.
 *
 * Rules: every method is one transaction; when it resolves, its effect survives a crash. `commit` is the only way the
 * engine changes anything: it applies whole or not at all. Writes asked for in one tick of the event loop share one
 * database commit, each still succeeding or failing for itself. Nothing here knows what a question means.
 */
import type { DeliveryState, EntryMode, Receipt } from "../core/delivery.ts";
import type { Inquiry, Status, TaskRef } from "../core/inquiry.ts";
import type { AccessStore } from "./access-store.ts";
import type { Instant } from "./clock.ts";
import type { EventStore } from "./event.ts";
import type { LeaseRef, LeaseStore } from "./lease.ts";

/** Work that waits for a moment, each lane claimed on its own so that one never stands behind another. */
export type Lane = "delivery" | "deadline" | "callback";

/** Something out of date about one inquiry; never what to do about it. */
export interface OutboxRow {
  readonly id: string;
  readonly lane: Lane;
  readonly inquiry: string;
  /** Null: nothing to do until something makes it due. */
  readonly dueAt: Instant | null;
  readonly attempts: number;
  /** Rises with each claim; a settlement under an older epoch is refused. */
  readonly epoch: number;
  /** The claim it is under found an earlier one unsettled: whoever held that died, and a send may or may not have gone out. */
  readonly interrupted: boolean;
  /** Only in the lane `delivery`. */
  readonly delivery: Delivery | null;
  /** The lane `delivery`: until when its address may not be sent to; null when it may. */
  readonly notBefore: Instant | null;
}

/** One copy of an inquiry at one address. */
export interface Delivery {
  readonly channel: string;
  readonly address: string;
  readonly state: DeliveryState;
  /** Why it is `failed`, `absent` or `unknown`; a word of delivery.ts. */
  readonly reason: string | null;
  readonly promptKey: string;
  /** Digest of what the copy shows; null until shown. */
  readonly digest: string | null;
  readonly receipt: Receipt | null;
  readonly entry: EntryMode | null;
  /** Shown as numbered text because the platform refused the native form. */
  readonly plain: boolean;
  /** Until when an unseen copy is left to prove itself. */
  readonly unknownUntil: Instant | null;
}

export interface DeliveryRow extends OutboxRow {
  readonly lane: "delivery";
  readonly delivery: Delivery;
}

/** A copy together with its inquiry. */
export interface Copy {
  readonly row: DeliveryRow;
  readonly inquiry: Inquiry;
}

export interface NewOutboxRow {
  readonly id: string;
  readonly lane: Lane;
  readonly inquiry: string;
  readonly dueAt: Instant | null;
  readonly delivery: Delivery | null;
  /** One at a time: `pending` becomes `queued` and not due while the address is busy; decided inside the commit. */
  readonly inLine?: boolean;
}

/** One atomic change. */
export interface Commit {
  /**
   * Makes the change happen once: a second commit under the same key changes nothing and gets the first one's `reply`.
   * The reply is stored as JSON.
   */
  readonly once?: { readonly key: string; readonly reply: unknown; readonly at: Instant };
  /** Refused with `exists` when (owner, id) is taken. */
  readonly create?: readonly Inquiry[];
  /**
   * Compare-and-set: refused with `conflict` unless each stored version is `from` and its status `waiting`; with
   * `unlessShown` also when a showing was confirmed meanwhile. `shownAt` is never written by an update: settlements and
   * `adopt` own it.
   */
  readonly update?: readonly { readonly from: number; readonly inquiry: Inquiry; readonly unlessShown?: boolean }[];
  /** Compare-and-set of a task's state; `from` null means the task must not exist yet. */
  readonly task?: { readonly owner: string; readonly from: TaskRef | null; readonly to: TaskRef };
  readonly add?: readonly NewOutboxRow[];
  /** The process whose caller waits for what is created. */
  readonly waiter?: string;
  /** Makes every live copy of these inquiries due now with its attempts at 0, and drops the deadline of those settled. */
  readonly wake?: readonly { readonly inquiry: string; readonly at: Instant }[];
  /** Sets the entry mode of one copy and makes it due now. */
  readonly entry?: { readonly row: string; readonly entry: EntryMode | null; readonly at: Instant };
  /**
   * A press proved that a copy without a receipt, or with one of its first parts alone, is there: takes the receipt
   * over, `found` in delivery.ts, due now, and sets the inquiry's `shownAt` if it has none. Does nothing where the copy
   * is shown or has another prompt key.
   */
  readonly adopt?: {
    readonly row: string;
    readonly promptKey: string;
    readonly receipt: Receipt;
    readonly at: Instant;
  };
}

export type CommitResult =
  | { readonly outcome: "done" }
  | { readonly outcome: "repeat"; readonly reply: unknown }
  | { readonly outcome: "exists" }
  | { readonly outcome: "conflict" };

/** What became of a claimed row. Refused (false) when the epoch is no longer the row's. */
export interface Settlement {
  readonly row: string;
  readonly epoch: number;
  /** Null drops nothing: the row rests until something makes it due. */
  readonly dueAt: Instant | null;
  readonly attempts: number;
  /** A finished row of the lanes `deadline` and `callback` is removed. */
  readonly remove?: boolean;
  /**
   * What the worker owns of a copy (`entry` belongs to commits). Where a press proved meanwhile
   * that the copy is there, it stays shown, with the parts of both receipts, unless this settlement shows it itself.
   */
  readonly delivery?: Omit<Delivery, "channel" | "address" | "entry">;
  /** The inquiry's first confirmed showing, kept if it has one already. */
  readonly shownAt?: Instant;
  /** The address may not be sent to before this. */
  readonly notBefore?: Instant;
}

export interface ClaimRequest {
  readonly lane: Lane;
  /**
   * Only in the lane `delivery`: rows of one channel, at most one per address, none whose address has a row in flight,
   * and none whose address must wait, unless it must wait longer than the inquiry lives.
   */
  readonly channel?: string;
  readonly limit: number;
  readonly now: Instant;
  readonly leaseMs: number;
  /** Nothing is claimed unless that lease stands: whoever was paused for too long and lost it claims nothing. */
  readonly lease?: LeaseRef;
}

/** What another process of the same store has changed. Hints may be lost, late or double; polling is the truth. */
export interface Hint {
  /** Inquiries created, changed or settled. */
  readonly inquiries: readonly string[];
  /** Keys, linked accounts or renamed addresses changed. */
  readonly access: boolean;
}

export interface ListRequest {
  readonly owner: string | null;
  /** Null: every session. */
  readonly sessions: readonly string[] | null;
  readonly status: Status | null;
  readonly session: string | null;
  /** From the previous page's `next`. */
  readonly cursor: string | null;
  readonly limit: number;
}

/** What a waiting call must share with an inquiry to attach to it. */
export interface AttachRequest {
  readonly owner: string;
  readonly session: string;
  readonly run: string | null;
  readonly taskId: string | null;
  readonly contentKey: string;
  /** Settled inquiries count only if settled at or after this, not cancelled and not collected. */
  readonly settledSince: Instant;
}

export interface Store {
  commit(change: Commit): Promise<CommitResult>;
  claim(request: ClaimRequest): Promise<readonly OutboxRow[]>;
  settle(settlement: Settlement): Promise<boolean>;
  /** When the next row of a lane (and channel) becomes claimable; null when none will by itself. */
  nextDue(lane: Lane, channel?: string): Promise<Instant | null>;
  /**
   * Lets the next in line be shown where one shows at a time: while no copy of a waiting inquiry is pending, unknown or
   * shown at the address, the first `absent` or `queued` one (approvals first, then oldest) becomes `pending` and due.
   */
  ready(address: string, at: Instant): Promise<void>;
  /**
   * A surface was opened: what is shown there of waiting inquiries is shown again (digest null, due now); then `ready`.
   */
  reopen(address: string, at: Instant): Promise<void>;
  /**
   * When a channel is taken over: its claims by whoever is gone end now, as interrupted ones, and its lines nobody moved
   * on are moved on. Not one transaction but several, which may be repeated.
   */
  recover(channel: string, at: Instant): Promise<void>;
  /** Records that the caller has the result: it is not handed out again to a call that merely looks the same. */
  collect(inquiry: string, at: Instant): Promise<void>;
  /**
   * A caller of that process waits for it now. False when a caller of another one does, whose presence is a live lease
   * named by `presenceOf`.
   */
  attend(inquiry: string, waiter: string, now: Instant): Promise<boolean>;
  /** No caller of that process waits for it any more; null: for anything, as when the process has just begun. */
  leave(inquiry: string | null, waiter: string): Promise<void>;

  inquiry(uid: string): Promise<Inquiry | null>;
  /** Every inquiry of that caller's id; `owner` null looks at all keys. Newest first, at most 2. */
  inquiriesById(id: string, owner: string | null): Promise<readonly Inquiry[]>;
  list(request: ListRequest): Promise<{ readonly items: readonly Inquiry[]; readonly next: string | null }>;
  attachable(request: AttachRequest): Promise<readonly Inquiry[]>;
  /** Those of some hundred inquiries at most that are settled. */
  settledAmong(uids: readonly string[]): Promise<readonly string[]>;
  /** All waiting inquiries of a task, of a run. */
  waitingOfTask(owner: string, taskId: string): Promise<readonly Inquiry[]>;
  waitingOfRun(owner: string | null, run: string): Promise<readonly Inquiry[]>;
  task(owner: string, taskId: string): Promise<TaskRef | null>;
  copies(inquiry: string): Promise<readonly DeliveryRow[]>;
  copyByKey(promptKey: string): Promise<Copy | null>;
  /** The copy whose receipt holds that native message, in any topic of the chat (`address` up to its slash). */
  copyByMessage(chat: string, message: string): Promise<Copy | null>;
  /**
   * Copies at an address that somebody may be looking at and whose inquiries wait, newest first: `shown`, `unknown`, and
   * those `pending` ones of which nobody can tell whether they were sent: claimed anew after an interruption, or under a
   * claim that ends by `doubtful` without a settlement.
   */
  openCopies(address: string, limit: number, doubtful: Instant): Promise<readonly Copy[]>;
  /** The stored reply of a commit made once. */
  replyOf(key: string): Promise<unknown>;
  /** Whether somebody holds a claim on a copy at the address: a send may be under way, here or in another process. */
  inFlight(address: string, now: Instant): Promise<boolean>;

  /** Forgets what is only kept against repeats: replies of commits made once before that moment, and expired codes. */
  prune(before: Instant): Promise<void>;

  readonly access: AccessStore;
  readonly leases: LeaseStore;
  readonly events: EventStore;

  /** Whether other processes may work on the same store at the same time. */
  readonly shared: boolean;
  /** The database's clock, which all processes of a shared store go by; null: the process has its own. */
  readonly time: (() => Promise<Instant>) | null;
  /** Calls `hear` with what other processes changed; the result ends it. Never called where nothing is shared. */
  listen(hear: (hint: Hint) => void): () => void;
  close(): Promise<void>;
}
