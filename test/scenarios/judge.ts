/**
 * What must be true of every deed: in the database while no gateway runs, and at the end. Nothing here asks a gateway
 * what it believes where the database or the platform can be asked what is.
 */
import type { Inquiry } from "../../src/core/inquiry.ts";
import type { InquiryView, ToolResult } from "../../src/ports/asker.ts";
import type { DeliveryRow, Store } from "../../src/ports/store.ts";
import { openStore } from "../../src/store/store.ts";
import { silent } from "../../src/testing/store-samples.ts";
import { until } from "../../src/testing/until.ts";
import { type Deed, ended, pressAnother } from "./deed.ts";
import type { Ledger } from "./ledger.ts";
import type { Life, Stage } from "./stage.ts";

/** Contract section 3: nothing expires in the first 10 s after a start. */
const GRACE_MS = 10_000;
const LATE_MS = 1_000;
/** A gateway may be away for a while. */
const PATIENCE_MS = 60_000;

const NEWEST = { owner: null, sessions: null, status: null, session: null, cursor: null, limit: 500 };

type Place = Pick<Stage, "platform" | "nodes" | "databaseUrl">;

/** Looks at the database itself, while every gateway is dead or at least none is asked. */
export async function inspect({ databaseUrl }: Place, deeds: readonly Deed[], ledger: Ledger): Promise<void> {
  await withStore(databaseUrl, async (store) => {
    const { items } = await store.list(NEWEST);
    for (const deed of deeds) {
      const stored = items.filter(({ questions }) => questions[0]?.question === deed.question);
      inspectOne(deed, stored, ledger);
      const row = await rowOf(store, deed, stored[0]);
      deed.unsure = row !== undefined && row.epoch > 0 && row.delivery.receipt === null && deed.copies().length === 0;
    }
  });
}

async function withStore<T>(databaseUrl: string, look: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(databaseUrl, { log: silent });
  try {
    return await look(store);
  } finally {
    await store.close();
  }
}

/** Its copy in the person's chat. */
async function rowOf(store: Store, deed: Deed, inquiry: Inquiry | undefined): Promise<DeliveryRow | undefined> {
  if (!inquiry) return undefined;
  const rows = await store.copies(inquiry.uid);
  return rows.find(({ delivery }) => delivery.address === `telegram:${deed.person}`);
}

function inspectOne(deed: Deed, stored: readonly Inquiry[], ledger: Ledger): void {
  const name = deed.question;
  if (stored.length > 1) ledger.wrong("duplicated", `${name} stands in ${stored.length} inquiries`);
  const [inquiry] = stored;
  const resolution = inquiry?.resolutions.get("target");
  const values = resolution?.values.map((value) => (value.kind === "text" ? value.text : value.label)) ?? [];
  const claimed = deed.acknowledged() || deed.copies().some(({ text }) => text.includes("Answered by"));
  if (claimed && (inquiry?.status !== "answered" || values.join() !== deed.label)) {
    ledger.wrong(
      "lost",
      `${name} was told as ${deed.label}, stored is ${inquiry?.status ?? "nothing"} ${values.join()}`,
    );
  }
  if (inquiry && inquiry.version > 2) ledger.wrong("duplicated", `${name} has version ${inquiry.version}`);
  if (deed.answerable().length > 1) ledger.wrong("duplicated", `${name} stands in ${deed.answerable().length} prompts`);
  if (inquiry) keepDeadline(deed, new Date(inquiry.expiresAt).toISOString(), ledger);
}

function keepDeadline(deed: Deed, expiresAt: string, ledger: Ledger): void {
  deed.expiresAt ??= expiresAt;
  if (deed.expiresAt !== expiresAt) {
    ledger.wrong("late", `${deed.question}: the deadline moved from ${deed.expiresAt} to ${expiresAt}`);
  }
}

/** Waits until the deed is over and judges it. Never rejects: what went wrong stands in the ledger. */
export async function judge(stage: Place, deed: Deed, ledger: Ledger): Promise<void> {
  const { question } = deed;
  ledger.count("inquiries");
  try {
    await ended(deed);
  } catch (error) {
    ledger.wrong("lost", `${question} has no end: ${error}\n${transcript(stage, deed)}`);
    return;
  }
  if (deed.acknowledged()) ledger.count("acknowledged");
  const result = await deed.result();
  const view = await until(`${question} is there`, deed.look, PATIENCE_MS).catch(() => null);
  if (view === null) {
    ledger.wrong("lost", `${question} is gone`);
    return;
  }
  keepDeadline(deed, view.expiresAt, ledger);
  if (deed.plan.how === "nobody") judgeSilence(deed, view, result, stage, ledger);
  else judgeAnswer(deed, view, result, ledger);
  await judgeCopies(stage, deed, ledger);
}

/** What stands in the person's chat, a line for each message. */
function transcript({ platform }: Place, { person, plan }: Deed): string {
  const lines = platform.messages(person, "all").slice(-6);
  return lines
    .map(
      ({ from, text, date }) =>
        `  ${date} ${from === person ? `person (${plan.how})` : "bot"}: ${text.split("\n").join(" / ")}`,
    )
    .join("\n");
}

async function judgeCopies({ platform, databaseUrl }: Place, deed: Deed, ledger: Ledger): Promise<void> {
  const { question } = deed;
  if (deed.copies().length !== 1) ledger.wrong("duplicated", `${question} was sent ${deed.copies().length} times`);
  if (deed.answerable().length === 0) return;
  const unseen = await withStore(databaseUrl, async (store) => {
    const { items } = await store.list(NEWEST);
    const inquiry = items.find(({ questions }) => questions[0]?.question === question);
    return (await rowOf(store, deed, inquiry))?.delivery.receipt === null;
  });
  if (!unseen) ledger.wrong("open", `${question} can still be answered after its end`);
  else await pressAnother(deed, platform).catch((error: unknown) => ledger.wrong("open", `${question}: ${error}`));
}

function judgeAnswer(deed: Deed, view: InquiryView, result: ToolResult, ledger: Ledger): void {
  const { question, label } = deed;
  const told = result.status === "answered" ? (result.answers.answers.target ?? []).join() : result.status;
  const stored = view.answers?.target?.join() ?? view.status;
  if (told !== label) ledger.wrong("lost", `${question}: the agent got ${told} for ${label}`);
  if (stored !== label) ledger.wrong("lost", `${question}: stored is ${stored} for ${label}`);
  if (view.version !== 2) ledger.wrong("duplicated", `${question} has version ${view.version}`);
}

function judgeSilence(
  deed: Deed,
  view: InquiryView,
  result: ToolResult,
  { nodes }: Pick<Stage, "nodes">,
  ledger: Ledger,
): void {
  if (result.status !== "no_answer" || view.settledAt === undefined) {
    ledger.wrong("lost", `${deed.question}: nobody answered, the agent got ${result.status}`);
    return;
  }
  const [settledAt, expiresAt] = [Date.parse(view.settledAt), Date.parse(view.expiresAt)];
  const from = openFrom(
    nodes.flatMap(({ lives }) => lives),
    settledAt,
  );
  const missed = settledAt - Math.max(expiresAt, from);
  if (settledAt < expiresAt) ledger.wrong("late", `${deed.question} ended ${expiresAt - settledAt} ms early`);
  if (missed > LATE_MS) ledger.wrong("late", `${deed.question} ended ${missed} ms late`);
}

/** When the gateways that lived then could expire anything: the first whose grace was over. */
function openFrom(lives: readonly Life[], at: number): number {
  const living = lives.filter(({ from, to }) => from <= at && (to === null || to >= at));
  return Math.min(...living.map(({ from }) => from + GRACE_MS));
}
