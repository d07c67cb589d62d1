/**
 * One question from the agent's call to the last closed copy, as an agent and a person live through it: they know of
 * gateways only that these sometimes do not answer. Agents repeat their call, people answer what they see, and both
 * remember what they were told; `judge` holds that against what is there.
 */
import { setTimeout as pass } from "node:timers/promises";
import type { Client } from "../../src/client.ts";
import { AskgateError } from "../../src/core/errors.ts";
import type { InquiryView, ToolResult } from "../../src/ports/asker.ts";
import type { Message, TelegramServer } from "../../src/testing/telegram-server.ts";
import { until } from "../../src/testing/until.ts";
import type { Stage } from "./stage.ts";

/** Over HTTP an operator answers for the person; `nobody` lets the time run out. */
export type How = "press" | "number" | "label" | "post" | "nobody";

export interface Plan {
  readonly number: number;
  readonly how: How;
  /** Which option is chosen. */
  readonly choice: number;
  /** The agent names the inquiry; otherwise its repeated call is known by its content. */
  readonly named: boolean;
  readonly timeoutSeconds?: number;
  readonly agent: Client;
  readonly operator: Client;
}

export const LABELS = ["Staging", "Production", "Canary"] as const;

/** For everything that may take a while: an unseen copy is left to prove itself for 30 s before it is sent again. */
const PATIENCE_MS = 110_000;

/** Milliseconds between two looks at what a gateway says: they cost it more than the question does. */
const LOOK_AGAIN_MS = 25;

export interface Deed {
  readonly plan: Plan;
  readonly person: number;
  readonly question: string;
  readonly label: string;
  /** Begins the agent's call. */
  ask(): void;
  /** Resolves with the prompt once the person can see it. */
  shown(): Promise<Message>;
  /** Once; a second call does nothing. */
  act(): void;
  acted(): boolean;
  /** Somebody was told that the answer is recorded. */
  acknowledged(): boolean;
  /** What the agent got; rejects with what it was refused. */
  result(): Promise<ToolResult>;
  /** Copies of the question in the chat, and those of them that can be answered. */
  copies(): readonly Message[];
  answerable(): readonly Message[];
  /** The inquiry as the gateway tells it; null while it cannot. */
  look(): Promise<InquiryView | null>;
  /** Whether the gateway knows its copy in the person's chat as that. */
  stands(state: string): Promise<boolean>;
  /** A kill left a send that was begun and did not go out: it is repeated after 30 s. */
  unsure: boolean;
  /** The deadline as first seen, to be held against later ones. */
  expiresAt: string | null;
  /** What the person was told, in order. */
  readonly notices: readonly string[];
}

/** What the person and the operator remember of having been told. */
interface Memory {
  acknowledged: boolean;
  readonly notices: string[];
}

export function createDeed({ platform, person: free }: Pick<Stage, "platform" | "person">, plan: Plan): Deed {
  const person = free();
  const question = `Question ${plan.number}: where do I deploy?`;
  const label = LABELS[plan.choice] ?? LABELS[0];
  const memory: Memory = { acknowledged: false, notices: [] };
  const copies = () => platform.messages(person).filter(({ text }) => text.includes(question));
  const answerable = () => copies().filter(({ keyboard }) => keyboard !== null);
  const look = lookFor(plan, question);
  let acted = false;
  let call: Promise<ToolResult> | null = null;
  return {
    ...{ plan, person, question, label, copies, answerable, look },
    unsure: false,
    expiresAt: null,
    notices: memory.notices,
    ask() {
      const input = inputOf(plan, person, question);
      call ??= insist(() => plan.agent.askUser(input));
      call.catch(() => {});
    },
    shown: () => until(`"${question}" is shown`, () => answerable()[0], PATIENCE_MS),
    act() {
      if (acted) return;
      acted = true;
      const [seen] = answerable();
      if (plan.how === "post") void post(plan, question, label, memory);
      else answerAs(plan, { platform, person, label, seen }, memory);
    },
    acted: () => acted,
    acknowledged: () => memory.acknowledged,
    result: () => call ?? Promise.reject(new Error("not asked yet")),
    async stands(state) {
      const copy = (await look())?.deliveries.find(({ address }) => address === `telegram:${person}`);
      if (copy?.state === state) return true;
      await pass(LOOK_AGAIN_MS);
      return false;
    },
  };
}

/** Looks for the inquiry by its question until its id is known. */
function lookFor(plan: Plan, question: string): Deed["look"] {
  let id = plan.named ? `call-${plan.number}` : null;
  return async () => {
    try {
      if (id !== null) return await plan.operator.get(id);
      const found = await find(plan, question);
      id = found?.id ?? null;
      return found;
    } catch {
      return null;
    }
  };
}

interface Hand {
  readonly platform: TelegramServer;
  readonly person: number;
  readonly label: string;
  readonly seen: Message | undefined;
}

function answerAs({ how, choice }: Plan, { platform, person, label, seen }: Hand, memory: Memory): void {
  const user = platform.user(person);
  if (how === "number") user.says(person, String(choice + 1));
  if (how === "label") user.says(person, label.toLowerCase());
  if (how !== "press" || !seen) return;
  const button = labelled(platform, seen, label) ?? `no button of ${label}`;
  void user.presses(seen.id, button).answered.then((notice) => {
    if (notice === null) return;
    memory.notices.push(notice);
    memory.acknowledged ||= notice.startsWith("Recorded");
  });
}

function labelled(platform: TelegramServer, message: Message, label: string | undefined): string | undefined {
  const buttons = platform.buttons(message).flat();
  return buttons.find((text) => label !== undefined && text.includes(label));
}

function inputOf({ number, named, timeoutSeconds = 600 }: Plan, person: number, question: string) {
  const options = LABELS.map((label) => ({ label }));
  return {
    questions: [{ id: "target", header: "Deploy", question, options }],
    timeoutSeconds,
    to: [`telegram:${person}`],
    respondents: [`p${person}`],
    ...(named && { id: `call-${number}` }),
  };
}

async function find({ operator }: Plan, question: string): Promise<InquiryView | null> {
  const { items } = await operator.list({ limit: 100 });
  return items.find(({ questions }) => questions[0]?.question === question) ?? null;
}

/** Calls again for as long as the gateway says that it cannot. */
function insist<T extends object>(call: () => Promise<T | null>): Promise<T> {
  return until(
    "the call is answered",
    async () => {
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof AskgateError) || error.code !== "unavailable") throw error;
        await pass(LOOK_AGAIN_MS);
        return null;
      }
    },
    PATIENCE_MS,
  ) as Promise<T>;
}

/** Repeated under the same key until it is told what became of it. */
async function post(plan: Plan, question: string, label: string, memory: Memory): Promise<void> {
  try {
    await insist(async () => {
      const inquiry = await find(plan, question);
      const repeat = { idempotencyKey: `post of ${plan.number}` };
      return inquiry && (await plan.operator.answer(inquiry.id, { answers: { target: [label] } }, repeat));
    });
    memory.acknowledged = true;
  } catch (error) {
    memory.notices.push(String(error));
  }
}

/** Resolves when the agent has its result and the gateway takes the copy for closed. */
export async function ended(deed: Deed): Promise<void> {
  let over = false;
  const told = () => {
    over = true;
  };
  deed.result().then(told, told);
  await until(`the agent has the result of "${deed.question}"`, () => over, PATIENCE_MS);
  await deed.result();
  await until(`${deed.question} is done with`, () => deed.stands("closed"), PATIENCE_MS);
}

/**
 * Telegram names no message whose receipt was lost. Where the answer came another way, its copy stays as it was until
 * somebody presses on it: then the press must be refused, whatever it says, and the copy closed.
 */
export async function pressAnother(deed: Deed, platform: TelegramServer): Promise<void> {
  const [copy] = deed.answerable();
  const other = LABELS.find((label) => label !== deed.label);
  const button = copy && labelled(platform, copy, other);
  if (copy && button) platform.user(deed.person).presses(copy.id, button);
  await until(`${deed.question} is closed`, () => deed.answerable().length === 0, PATIENCE_MS);
  await ended(deed);
}
