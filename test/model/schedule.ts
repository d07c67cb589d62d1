/**
 * Schedules: what people, agents and bad luck do, as data made at random from a seed. Numbers named `pick` choose among
 * what there is when their turn comes, so that any part can be left out and the rest still means something.
 */
import * as fc from "fast-check";
import type { Mishap } from "./mishaps.ts";

export const FORMS = ["single", "closed", "many", "pair", "three", "free", "reversible"] as const;
export const TIMEOUTS = [30, 45, 60, 120] as const;

export type Act =
  | {
      readonly act: "ask";
      readonly form: (typeof FORMS)[number];
      /** Indexes of places; see cast.ts. */
      readonly places: readonly number[];
      readonly waits: boolean;
      readonly named: boolean;
      readonly keyed: boolean;
      readonly run: boolean;
      /** Null: no task; else by how much its state has risen. */
      readonly task: number | null;
      readonly timeout: (typeof TIMEOUTS)[number];
      readonly onlyAna: boolean;
      /** What goes wrong with the first call at its first place. */
      readonly meets: Mishap | null;
    }
  | { readonly act: "ask again"; readonly pick: number; readonly otherwise: boolean }
  | { readonly act: "attach"; readonly pick: number; readonly collects: boolean }
  | {
      readonly act: "press";
      readonly pick: number;
      readonly who: Who;
      readonly stale: boolean;
      readonly twice: boolean;
    }
  | {
      readonly act: "write";
      readonly pick: number;
      readonly who: Who;
      readonly say: Saying;
      readonly replies: boolean;
      readonly twice: boolean;
    }
  | {
      readonly act: "answer";
      readonly pick: number;
      readonly say: Saying;
      readonly typed: boolean;
      readonly keyed: boolean;
      readonly twice: boolean;
    }
  | {
      readonly act: "close";
      readonly pick: number;
      readonly how: "skip" | "agent" | "operator";
      readonly keyed: boolean;
    }
  | { readonly act: "abort run" }
  | { readonly act: "move task"; readonly by: number }
  | { readonly act: "repeat"; readonly pick: number }
  | { readonly act: "drop"; readonly pick: number }
  | { readonly act: "mishap"; readonly place: number; readonly what: Mishap }
  | { readonly act: "surface"; readonly who: "ana" | "ben"; readonly open: boolean }
  | { readonly act: "delete"; readonly pick: number };

export type Who = "ana" | "ben" | "stranger";
export type Saying =
  | "first"
  | "second"
  | "label"
  | "free"
  | "several"
  | "none"
  | "skip"
  | "cancel"
  | "wrong"
  | "all lines";

/** What happens to everybody between two rounds. */
export type Beat =
  | { readonly beat: "go on" }
  | { readonly beat: "rest" }
  | { readonly beat: "pass"; readonly seconds: number }
  | { readonly beat: "restart" }
  /** Dies in the middle of the next round, at its nth call. */
  | { readonly beat: "kill"; readonly calls: number; readonly before: boolean };

/** Acts of one round run at the same time. */
export type Schedule = readonly (readonly Act[])[];

export interface Play {
  readonly beats: readonly Beat[];
  readonly schedules: readonly Schedule[];
}

const pick = fc.nat(40);
const who = fc.constantFrom<Who>("ana", "ana", "ana", "ben", "ben", "stranger");
const rarely = fc.constantFrom(true, false, false, false, false);
const say = fc.constantFrom<Saying>(
  ...(["first", "second", "label", "free", "several", "none", "skip", "cancel", "wrong", "all lines"] as const),
);

const MISHAPS = ["unreachable", "lost", "vanished", "rate limited", "rate limited for long"] as const;
const LASTING = ["gone", "rejected", "unauthorized", "stalls", "stalls", "lost"] as const;

const mishap = fc.constantFrom<Mishap>(...MISHAPS, ...MISHAPS, ...LASTING);

const ask = fc.record({
  act: fc.constant("ask" as const),
  form: fc.constantFrom(...FORMS),
  places: fc.uniqueArray(fc.nat(5), { minLength: 1, maxLength: 2 }),
  waits: fc.boolean(),
  named: fc.boolean(),
  keyed: rarely,
  run: fc.boolean(),
  task: fc.constantFrom(null, null, 0, 1),
  timeout: fc.constantFrom(...TIMEOUTS),
  onlyAna: rarely,
  meets: fc.option(mishap, { freq: 2 }),
});

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: ask },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("ask again" as const), pick, otherwise: rarely }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("attach" as const), pick, collects: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ act: fc.constant("press" as const), pick, who, stale: rarely, twice: rarely }) },
  {
    weight: 5,
    arbitrary: fc.record({ act: fc.constant("write" as const), pick, who, say, replies: fc.boolean(), twice: rarely }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ act: fc.constant("answer" as const), pick, say },
      ...{ typed: rarely, keyed: fc.boolean(), twice: rarely },
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      ...{ act: fc.constant("close" as const), pick },
      ...{ how: fc.constantFrom("skip" as const, "agent" as const, "operator" as const), keyed: fc.boolean() },
    }),
  },
  { weight: 1, arbitrary: fc.constant({ act: "abort run" } as const) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("move task" as const), by: fc.integer({ min: -1, max: 1 }) }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("repeat" as const), pick }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("drop" as const), pick }) },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant("mishap" as const),
      place: fc.nat(5),
      what: mishap,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      ...{ act: fc.constant("surface" as const), who: fc.constantFrom("ana" as const, "ben" as const) },
      open: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("delete" as const), pick }) },
);

/** Asks first, or there is nothing to do anything with. */
const schedule = (rounds: number): fc.Arbitrary<Schedule> =>
  fc
    .tuple(
      ask,
      fc.array(fc.oneof(fc.array(act, { minLength: 1, maxLength: 1 }), fc.array(act, { maxLength: 3 })), {
        minLength: rounds - 1,
        maxLength: rounds - 1,
      }),
    )
    .map(([first, rest]) => [[first], ...rest]);

const beat: fc.Arbitrary<Beat> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({ beat: "go on" } as const) },
  { weight: 5, arbitrary: fc.constant({ beat: "rest" } as const) },
  {
    weight: 3,
    arbitrary: fc.record({ beat: fc.constant("pass" as const), seconds: fc.constantFrom(1, 3, 7, 16, 31) }),
  },
  { weight: 1, arbitrary: fc.constant({ beat: "restart" } as const) },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ beat: fc.constant("kill" as const), calls: fc.integer({ min: 1, max: 300 }) },
      before: fc.boolean(),
    }),
  },
);

/** Many schedules that share nothing but the gateway and the time. */
export function plays(schedules: number, rounds: number): fc.Arbitrary<Play> {
  return fc.record({
    beats: fc.array(beat, { minLength: rounds, maxLength: rounds }),
    schedules: fc.array(schedule(rounds), { minLength: schedules, maxLength: schedules, size: "max" }),
  });
}
