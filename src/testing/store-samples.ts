/** Inquiries and copies to store: whole, valid and plain, each field open to change. */
import type { Inquiry } from "../core/inquiry.ts";
import type { Log } from "../ports/log.ts";
import type { Delivery, NewOutboxRow } from "../ports/store.ts";

export const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Asked at 1,000, due at 901,000; of session `main`. */
export function inquiryOf(uid: string, change: Partial<Inquiry> = {}): Inquiry {
  return {
    uid,
    owner: "key_1",
    id: uid,
    session: "main",
    run: null,
    kind: "question",
    task: null,
    questions: [
      {
        id: "target",
        header: "Target",
        question: "Where shall it go?",
        options: [
          { label: "Staging", description: "Nobody sees it" },
          { label: "Production", description: null },
        ],
        multiSelect: false,
        allowOther: true,
        sensitive: false,
      },
    ],
    status: "waiting",
    reason: null,
    version: 1,
    resolutions: new Map(),
    to: [],
    respondents: ["ana"],
    locale: null,
    reversible: false,
    defaults: new Map(),
    callbackUrl: null,
    contentKey: "content",
    timeoutSeconds: 900,
    createdAt: 1_000,
    expiresAt: 901_000,
    shownAt: null,
    settledAt: null,
    settledBy: null,
    ...change,
  };
}

/** A pending copy, `copy_UID@ADDRESS`, due at the inquiry's creation. */
export function copyOf(
  inquiry: Inquiry,
  address: string,
  change: Partial<Delivery> & { readonly dueAt?: number | null; readonly inLine?: boolean } = {},
): NewOutboxRow {
  const { dueAt = inquiry.createdAt, inLine, ...delivery } = change;
  const id = `copy_${inquiry.uid}@${address}`;
  return {
    id,
    lane: "delivery",
    inquiry: inquiry.uid,
    dueAt,
    ...(inLine !== undefined && { inLine }),
    delivery: {
      channel: address.split(":", 1)[0] ?? address,
      address,
      state: "pending",
      reason: null,
      promptKey: `key of ${id}`,
      digest: null,
      receipt: null,
      entry: null,
      plain: false,
      unknownUntil: null,
      ...delivery,
    },
  };
}

/** A row of the lanes `deadline` and `callback`. */
export function timerOf(inquiry: Inquiry, lane: "deadline" | "callback", dueAt: number): NewOutboxRow {
  return { id: `${lane}_${inquiry.uid}`, lane, inquiry: inquiry.uid, dueAt, delivery: null };
}

/** The inquiry one version on, answered at 2,000. */
export function settled(inquiry: Inquiry, change: Partial<Inquiry> = {}): Inquiry {
  return { ...inquiry, version: inquiry.version + 1, status: "answered", settledAt: 2_000, ...change };
}
