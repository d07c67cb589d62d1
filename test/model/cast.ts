/** Who there is in one schedule and where they are reached; each schedule has people and places of its own. */
import type { Directory } from "../../src/core/people.ts";
import type { Caller } from "../../src/ports/asker.ts";
import type { Asked } from "./reference.ts";
import type { FORMS, Who } from "./schedule.ts";

export const AGENT: Caller = { keyId: "agent", scope: "agent", sessions: [], kind: "main" };
export const OPERATOR: Caller = { keyId: "operator", scope: "operator", sessions: [], kind: "main" };

export interface Cast {
  readonly session: string;
  readonly run: string;
  readonly taskId: string;
  readonly places: readonly string[];
  readonly group: string;
  nameOf(who: Who): string;
  /** Identity of somebody on a channel. */
  identity(who: Who, channel: string): string;
}

export function castOf(slot: number): Cast {
  const identity = (who: Who, channel: string) => `${channel}:${who}${slot}`;
  const group = `kind:group${slot}`;
  return {
    session: `s${slot}`,
    run: `run${slot}`,
    taskId: `task${slot}`,
    places: [
      identity("ana", "kind"),
      identity("ana", "blind"),
      group,
      identity("ben", "blind"),
      identity("ana", "mute"),
      identity("ben", "kind"),
    ],
    group,
    nameOf: (who) => `${who}${slot}`,
    identity,
  };
}

/** Surfaces are open to those whose slot is odd: the others' copies go to chats alone. */
export function directoryOf(slots: number): Directory {
  const casts = Array.from({ length: slots }, (_, slot) => castOf(slot));
  const person = (cast: Cast, who: "ana" | "ben") => ({
    name: cast.nameOf(who),
    identities: ["kind", "blind", "mute"].map((channel) => cast.identity(who, channel)),
    roles: [],
    locale: "en",
  });
  const everybody = casts.flatMap((cast) => [person(cast, "ana"), person(cast, "ben")]);
  return {
    people: new Map(everybody.map((one) => [one.name, one])),
    sessions: new Map(
      casts.map((cast) => [
        cast.session,
        { addresses: [], respondents: [cast.nameOf("ana"), cast.nameOf("ben")], kind: "main" as const },
      ]),
    ),
    admit: new Map(casts.map((cast) => [cast.group, [cast.nameOf("ana"), cast.nameOf("ben")]])),
  };
}

const LABELS = ["Alder", "Birch", "Cedar"] as const;

function questionOf(id: string, change: Partial<Asked> = {}): Asked {
  return { id, options: LABELS, many: false, open: true, ...change };
}

export function questionsOf(form: (typeof FORMS)[number]): readonly Asked[] {
  switch (form) {
    case "single":
    case "reversible":
      return [questionOf("one")];
    case "closed":
      return [questionOf("one", { options: ["Alder", "Birch"], open: false })];
    case "many":
      return [questionOf("one", { many: true })];
    case "pair":
      return [questionOf("one"), questionOf("two")];
    case "three":
      return [questionOf("one"), questionOf("two", { many: true }), questionOf("three", { open: false })];
    case "free":
      return [questionOf("one", { options: [] })];
  }
}

/** The input of the ask. The serial stands in what people read, so that a copy tells whose it is. */
export function inputOf(serial: number, questions: readonly Asked[]) {
  return questions.map((one) => ({
    id: one.id,
    header: one.id,
    question: `No. ${serial}: which tree?`,
    options: one.options.map((label) => ({ label })),
    ...(one.many && { multiSelect: true }),
    ...(!one.open && { allowOther: false }),
  }));
}
