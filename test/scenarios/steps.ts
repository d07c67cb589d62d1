/**
 * The numbered steps of a cycle and where each is met: on the line between caller and gateway, at the platform, or at a
 * statement of the database. Each is a place to be killed at twice: before it takes effect, and after it did while
 * nobody was told. A recorded cycle is held against this table, so that no step is missing and none is invented.
 */
import type { How } from "./deed.ts";
import type { Work } from "./trap.ts";

export type Stage = "ask" | "send" | "receive" | "commit" | "acknowledge" | "edit" | "wake" | "migrate";

export type Place =
  /** `answer` null: the request itself, else the answer to it that holds this. */
  | { readonly line: "agent" | "operator"; readonly request: RegExp; readonly answer: RegExp | null }
  | { readonly platform: string }
  | { readonly database: Work };

export interface Step {
  readonly number: number;
  readonly stage: Stage;
  readonly name: string;
  readonly at: Place;
  /** What makes it happen: the agent asks, the person acts (an operator, for the line of theirs), the gateway starts. */
  readonly during: "asking" | "acting" | "starting" | "moving";
  /** Answers that lead there; default: every one. */
  readonly by?: readonly [How, ...How[]];
}

export type Moment = "before" | "after";

export interface Point {
  readonly step: Step;
  readonly when: Moment;
}

const ASK = /^POST \/v1\/ask_user /;
const ANSWER = /^POST \/v1\/inquiries\/[^/]+\/answers /;
const HEAD = /^HTTP\/1\.1 200 /;
const RESULT = /"status":"answered"/;

const HEARD = ["press", "number", "label"] as const;

const asking = "asking";
const acting = "acting";

const TABLE: readonly Omit<Step, "number">[] = [
  { stage: "ask", name: "the call is sent", at: { line: "agent", request: ASK, answer: null }, during: asking },
  { stage: "ask", name: "the inquiry is stored", at: { database: "create" }, during: asking },
  { stage: "ask", name: "the call is accepted", at: { line: "agent", request: ASK, answer: HEAD }, during: asking },
  { stage: "send", name: "the copy is claimed", at: { database: "claim" }, during: asking },
  { stage: "send", name: "the prompt is sent", at: { platform: "sendMessage" }, during: asking },
  { stage: "send", name: "the receipt is stored", at: { database: "settle" }, during: asking },
  { stage: "receive", name: "the answer is looked up", at: { database: "look up" }, during: acting, by: HEARD },
  { stage: "commit", name: "the answer is stored", at: { database: "answer" }, during: acting },
  {
    stage: "acknowledge",
    name: "the press is told",
    at: { platform: "answerCallbackQuery" },
    during: acting,
    by: ["press"],
  },
  { stage: "acknowledge", name: "the update is confirmed", at: { platform: "getUpdates" }, during: acting, by: HEARD },
  {
    stage: "receive",
    name: "an answer is posted",
    at: { line: "operator", request: ANSWER, answer: null },
    during: acting,
    by: ["post"],
  },
  {
    stage: "acknowledge",
    name: "the post is told",
    at: { line: "operator", request: ANSWER, answer: HEAD },
    during: acting,
    by: ["post"],
  },
  { stage: "edit", name: "the edit is claimed", at: { database: "claim" }, during: acting },
  { stage: "edit", name: "the prompt is edited", at: { platform: "editMessageText" }, during: acting },
  { stage: "edit", name: "the edit is stored", at: { database: "settle" }, during: acting },
  { stage: "wake", name: "the agent is told", at: { line: "agent", request: ASK, answer: RESULT }, during: acting },
  { stage: "wake", name: "the result is collected", at: { database: "collect" }, during: acting },
];

export const STEPS: readonly Step[] = TABLE.map((step, index) => ({ number: index + 1, ...step }));

export const POINTS: readonly Point[] = STEPS.flatMap((step) => [
  { step, when: "before" as const },
  { step, when: "after" as const },
]);

export function nameOf({ step, when }: Point): string {
  return `${step.number} ${step.stage}, ${when} ${step.name}`;
}
