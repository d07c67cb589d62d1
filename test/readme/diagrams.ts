/**
 * The state diagrams as README.md must show them, drawn from the tables themselves.
 *
 * The delivery table names its targets. The inquiry's cells are functions, so each is run on every kind of inquiry and
 * event that can tell its outcomes apart, and what comes out is drawn.
 */
import { DELIVERY } from "../../src/core/delivery.ts";
import {
  type Author,
  type Entry,
  type Inquiry,
  type InquiryEvent,
  type Resolution,
  type Status,
  step,
  TRANSITIONS,
} from "../../src/core/inquiry.ts";
import type { Question } from "../../src/core/question.ts";

interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly event: string;
}

export function inquiryDiagram(): string {
  return draw("waiting", Object.keys(TRANSITIONS), inquiryArrows());
}

export function deliveryDiagram(): string {
  const arrows = Object.entries(DELIVERY).flatMap(([from, moves]) =>
    Object.entries(moves).map(([event, to]): Arrow => ({ from, to, event })),
  );
  return draw("pending", Object.keys(DELIVERY), arrows);
}

/** Every accepted step, once. */
export function inquiryArrows(): readonly Arrow[] {
  const found = new Map<string, Arrow>();
  for (const from of Object.keys(TRANSITIONS) as Status[]) {
    for (const inquiry of samplesOf(from)) {
      for (const event of Object.values(EVENTS).flat()) {
        const done = step(inquiry, event, 1);
        if (!done.ok) continue;
        const arrow = { from, to: done.inquiry.status, event: event.type };
        found.set(JSON.stringify(arrow), arrow);
      }
    }
  }
  return [...found.values()];
}

/** Arrows between the same two states share a line; a state nothing leaves ends the diagram. */
function draw(first: string, states: readonly string[], arrows: readonly Arrow[]): string {
  const lines = new Map<string, string[]>();
  for (const { from, to, event } of arrows)
    lines.set(`${from} --> ${to}`, [...(lines.get(`${from} --> ${to}`) ?? []), event]);
  const last = states.filter((state) => !arrows.some(({ from }) => from === state));
  return [
    "stateDiagram-v2",
    `  [*] --> ${first}`,
    ...[...lines].map(([line, events]) => `  ${line}: ${events.join(", ")}`),
    ...last.map((state) => `  ${state} --> [*]`),
  ].join("\n");
}

const ANA: Author = { person: "ana", channel: "telegram", address: "telegram:100" };
const YES: Entry = { values: [{ kind: "option", label: "Yes" }] };
const SKIP: Entry = { skip: true };

const EVENTS: { readonly [T in InquiryEvent["type"]]: readonly Extract<InquiryEvent, { type: T }>[] } = {
  answer: [
    { first: YES },
    { second: YES },
    { second: SKIP },
    { first: YES, second: YES },
    { first: SKIP, second: SKIP },
  ].map((entries) => ({ type: "answer", entries: new Map(Object.entries(entries)), by: ANA })),
  skip: [{ type: "skip", by: ANA }],
  cancel: [{ type: "cancel", reason: "declined", by: ANA }],
  expire: [
    { type: "expire", unseen: null },
    { type: "expire", unseen: "no_surface" },
  ],
  fail: [{ type: "fail", reason: "unreachable" }],
};

/** Two questions, of which none or the first has its answer or its skip, seen and unseen. */
function samplesOf(status: Status): readonly Inquiry[] {
  const answered: Resolution = { outcome: "answered", values: [{ kind: "option", label: "Yes" }], by: ANA };
  const skipped: Resolution = { outcome: "skipped", values: [], by: ANA };
  return [[], [answered], [skipped]].flatMap((resolutions) =>
    [null, 0].map((shownAt) => ({
      ...BLANK,
      status,
      shownAt,
      resolutions: new Map(resolutions.map((resolution) => ["first", resolution])),
    })),
  );
}

function question(id: string): Question {
  const options = ["Yes", "No"].map((label) => ({ label, description: null }));
  return { id, header: id, question: "Well?", options, multiSelect: false, allowOther: true, sensitive: false };
}

const BLANK: Inquiry = {
  uid: "inq_1",
  owner: "agent",
  id: "inq_1",
  session: "main",
  run: null,
  kind: "question",
  task: null,
  questions: [question("first"), question("second")],
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
  contentKey: "",
  timeoutSeconds: 900,
  createdAt: 0,
  expiresAt: 900_000,
  shownAt: null,
  settledAt: null,
  settledBy: null,
};
