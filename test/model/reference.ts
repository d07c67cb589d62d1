/**
 * The reference: what an inquiry may become, written from the public contract alone and without the engine's code.
 *
 * A slot is everything one schedule has asked. `perform` says what one deed does to it when it comes at once after what
 * came before; `explained` looks for an order of deeds that ran at the same time, deadlines and failed deliveries among
 * them, which accounts for every reply that was given and for every inquiry as it stands afterwards.
 */
import type { DetailView, InquiryView } from "../../src/ports/asker.ts";

export type Word =
  | { readonly kind: "option"; readonly label: string }
  | { readonly kind: "text"; readonly text: string };
export type Entry = "skip" | readonly Word[];

export interface Asked {
  readonly id: string;
  readonly options: readonly string[];
  readonly many: boolean;
  readonly open: boolean;
}

export interface Task {
  readonly taskId: string;
  readonly stateVersion: number;
}

interface Resolved {
  readonly outcome: "answered" | "skipped";
  readonly by: string;
  readonly channel: string;
  readonly values: readonly Word[];
}

export interface Known {
  readonly serial: number;
  readonly questions: readonly Asked[];
  readonly run: string | null;
  readonly task: Task | null;
  readonly defaults: Readonly<Record<string, readonly string[]>>;
  readonly status: InquiryView["status"];
  readonly reason: string | null;
  readonly version: number;
  readonly resolved: Readonly<Record<string, Resolved>>;
}

export interface Slot {
  readonly inquiries: ReadonlyMap<number, Known>;
  readonly tasks: ReadonlyMap<string, number>;
}

export const EMPTY: Slot = { inquiries: new Map(), tasks: new Map() };

export type Deed =
  | { readonly type: "ask"; readonly draft: Known }
  | {
      readonly type: "answer";
      readonly serial: number;
      readonly entries: Readonly<Record<string, Entry>>;
      readonly by: string;
      readonly channel: string;
      readonly stateVersion?: number;
    }
  | { readonly type: "skip"; readonly serial: number; readonly by: string; readonly channel: string }
  | { readonly type: "cancel"; readonly serial: number; readonly reason: string }
  | { readonly type: "abort"; readonly run: string }
  | { readonly type: "move"; readonly task: Task }
  | { readonly type: "nothing" };

export interface Performed {
  readonly code: "done" | "nothing" | "already_settled" | "already_answered" | "invalid_answer" | "stale";
  readonly slot: Slot;
  /** The inquiry it was done to, as it stands then. */
  readonly after?: Known;
  /** The inquiries it closed besides, by serial. */
  readonly closed?: readonly number[];
}

export function perform(slot: Slot, deed: Deed): Performed {
  switch (deed.type) {
    case "nothing":
      return { code: "nothing", slot };
    case "ask":
      return asked(slot, deed.draft);
    case "move":
      return moved(slot, deed.task);
    case "abort":
      return closedWhere(slot, (one) => one.run === deed.run, "aborted");
    case "answer":
    case "skip":
    case "cancel":
      return changed(slot, deed);
  }
}

function asked(slot: Slot, draft: Known): Performed {
  const after = draft.task ? moved(slot, draft.task) : { code: "done" as const, slot };
  if (after.code !== "done") return { code: after.code, slot };
  return { ...after, slot: withInquiry(after.slot, draft), after: draft };
}

function moved(slot: Slot, task: Task): Performed {
  const stands = slot.tasks.get(task.taskId);
  if (stands !== undefined && task.stateVersion < stands) return { code: "stale", slot };
  const tasks = new Map([...slot.tasks, [task.taskId, task.stateVersion] as const]);
  if (stands === undefined || stands === task.stateVersion)
    return { code: "done", slot: { ...slot, tasks }, closed: [] };
  return closedWhere({ ...slot, tasks }, (one) => one.task?.taskId === task.taskId, "superseded");
}

function closedWhere(slot: Slot, which: (one: Known) => boolean, reason: string): Performed {
  const open = [...slot.inquiries.values()].filter((one) => one.status === "waiting" && which(one));
  const after = open.reduce((now, one) => withInquiry(now, ended(one, "cancelled", reason)), slot);
  return { code: "done", slot: after, closed: open.map((one) => one.serial) };
}

function changed(slot: Slot, deed: Extract<Deed, { serial: number }>): Performed {
  const before = slot.inquiries.get(deed.serial);
  if (!before) return { code: "nothing", slot };
  if (before.status !== "waiting") return { code: "already_settled", slot, after: before };
  if (deed.type === "cancel") return kept(slot, ended(before, "cancelled", deed.reason));
  if (deed.type === "skip") {
    const open = before.questions.filter((one) => !before.resolved[one.id]);
    return kept(slot, resolvedBy(before, Object.fromEntries(open.map((one) => [one.id, "skip" as const])), deed));
  }
  if (deed.stateVersion !== undefined && deed.stateVersion !== before.task?.stateVersion)
    return { code: "stale", slot };
  if (Object.keys(deed.entries).length === 0) return { code: "invalid_answer", slot, after: before };
  for (const [id, entry] of Object.entries(deed.entries)) {
    const question = before.questions.find((one) => one.id === id);
    if (!question) return { code: "invalid_answer", slot, after: before };
    if (before.resolved[id]) return { code: "already_answered", slot, after: before };
    if (entry !== "skip" && !fits(question, entry)) return { code: "invalid_answer", slot, after: before };
  }
  return kept(slot, resolvedBy(before, deed.entries, deed));
}

function fits(question: Asked, words: readonly Word[]): boolean {
  if (!question.many && words.length !== 1) return false;
  return words.every((word) => (word.kind === "text" ? question.open : question.options.includes(word.label)));
}

function resolvedBy(
  before: Known,
  entries: Readonly<Record<string, Entry>>,
  { by, channel }: { readonly by: string; readonly channel: string },
): Known {
  const resolved = { ...before.resolved };
  for (const [id, entry] of Object.entries(entries)) {
    resolved[id] =
      entry === "skip"
        ? { outcome: "skipped", by, channel, values: [] }
        : { outcome: "answered", by, channel, values: entry };
  }
  const after = { ...before, resolved, version: before.version + 1 };
  if (before.questions.some((one) => !resolved[one.id])) return after;
  const any = Object.values(resolved).some((one) => one.outcome === "answered");
  return any ? { ...after, status: "answered" } : { ...after, status: "cancelled", reason: "skipped" };
}

function ended(before: Known, status: Known["status"], reason: string | null): Known {
  return { ...before, status, reason, version: before.version + 1 };
}

function kept(slot: Slot, after: Known): Performed {
  return { code: "done", slot: withInquiry(slot, after), after };
}

function withInquiry(slot: Slot, one: Known): Slot {
  return { ...slot, inquiries: new Map([...slot.inquiries, [one.serial, one] as const]) };
}

/** One thing that was done, and what is known of how it ended. */
export interface Claim {
  readonly what: string;
  /** What it may have meant; the first that explains everything stands. */
  readonly deeds: readonly Deed[];
  /** Whether it may have ended like that. */
  readonly allows: (performed: Performed) => boolean;
}

/** Everything as it stands. */
export interface Seen {
  readonly inquiries: ReadonlyMap<number, InquiryView>;
  readonly tasks: ReadonlyMap<string, number>;
}

/** Whether some order of the claims leads from the slot to what is seen. */
export function explained(slot: Slot, claims: readonly Claim[], seen: Seen): Slot | null {
  const passed = [...seen.inquiries].filter(([, { status }]) => status === "timed_out" || status === "undelivered");
  return search(
    slot,
    claims,
    passed.map(([serial]) => serial),
    seen,
  );
}

function search(slot: Slot, claims: readonly Claim[], passed: readonly number[], seen: Seen): Slot | null {
  const now = passed.filter((serial) => slot.inquiries.get(serial)?.status === "waiting");
  if (claims.length === 0 && now.length === 0) return matches(slot, seen) ? slot : null;
  for (const [index, claim] of claims.entries()) {
    for (const deed of claim.deeds) {
      const performed = perform(slot, deed);
      if (!claim.allows(performed)) continue;
      const found = search(performed.slot, claims.toSpliced(index, 1), passed, seen);
      if (found) return found;
    }
  }
  for (const serial of now) {
    const before = slot.inquiries.get(serial);
    const view = seen.inquiries.get(serial);
    if (!before || !view) continue;
    const after = ended(before, view.status, view.reason ?? null);
    const found = search(
      withInquiry(slot, after),
      claims,
      passed.filter((one) => one !== serial),
      seen,
    );
    if (found) return found;
  }
  return null;
}

function matches(slot: Slot, { inquiries, tasks }: Seen): boolean {
  if (slot.inquiries.size !== inquiries.size || text([...slot.tasks]) !== text([...tasks])) return false;
  return [...slot.inquiries.values()].every((one) => {
    const view = inquiries.get(one.serial);
    return view !== undefined && differences(one, view).length === 0;
  });
}

/** What the inquiry says that the reference does not, in words. */
export function differences(known: Known, view: InquiryView): readonly string[] {
  const expected: Readonly<Record<string, unknown>> = {
    status: known.status,
    reason: known.reason,
    version: known.version,
    details: detailsOf(known),
    answers: known.status === "answered" ? answersOf(known) : undefined,
  };
  const actual: Readonly<Record<string, unknown>> = {
    status: view.status,
    reason: view.reason ?? null,
    version: view.version,
    details: view.details ?? [],
    answers: view.answers,
  };
  return Object.keys(expected).flatMap((field) => {
    const [wanted, found] = [text(expected[field]), text(actual[field])];
    return wanted === found ? [] : [`${field} of #${known.serial} is ${found}, expected ${wanted}`];
  });
}

function detailsOf(known: Known): readonly DetailView[] {
  if (known.status === "waiting" && Object.keys(known.resolved).length === 0) return [];
  return known.questions.map(({ id }): DetailView => {
    const one = known.resolved[id];
    if (one) return { id, outcome: one.outcome, by: one.by, channel: one.channel, values: one.values };
    const labels = known.status === "timed_out" ? (known.defaults[id] ?? []) : [];
    return { id, outcome: "unanswered", values: labels.map((label) => ({ kind: "default", label })) };
  });
}

function answersOf(known: Known): Readonly<Record<string, readonly string[]>> {
  const answered = known.questions.flatMap(({ id }) => {
    const one = known.resolved[id];
    return one?.outcome === "answered" ? [[id, one.values.map(wordOf)] as const] : [];
  });
  return Object.fromEntries(answered);
}

function wordOf(word: Word): string {
  return word.kind === "option" ? word.label : word.text;
}

/** The same text for the same content, whatever the order of its keys. */
export function text(value: unknown): string {
  return (
    JSON.stringify(value, (_, one: unknown) =>
      typeof one === "object" && one !== null && !Array.isArray(one)
        ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
        : one,
    ) ?? "undefined"
  );
}
