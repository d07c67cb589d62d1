/** Runs plays made from a seed until something is broken, and makes what broke it small. */
import * as fc from "fast-check";
import { run, type Tally } from "./run.ts";
import type { Play } from "./schedule.ts";
import { plays } from "./schedule.ts";
import { slotOf } from "./serial.ts";
import { Violation } from "./violation.ts";
import type { Database, Planted } from "./world.ts";

export interface Search {
  readonly database: () => Promise<Database>;
  readonly seed: number;
  /** Schedules in all, and how many of them run side by side. */
  readonly schedules: number;
  readonly together: number;
  readonly rounds: number;
  readonly planted?: () => Planted;
  readonly progress?: (tally: Tally) => void;
}

export interface Broken {
  readonly rule: string;
  readonly message: string;
  readonly seed: number;
  readonly play: Play;
  /** The schedule it was seen in, as far as the message tells. */
  readonly slot: number;
}

export interface Found {
  readonly tally: Tally;
  readonly violation: Broken | null;
}

const NONE: Tally = { schedules: 0, acts: 0, inquiries: 0, kills: 0 };

export async function searchFor({ schedules, together, rounds, seed, ...rest }: Search): Promise<Found> {
  let tally = NONE;
  const batches = Math.ceil(schedules / together);
  for (let batch = 0; batch < batches; batch++) {
    const [play] = fc.sample(fc.noBias(plays(together, rounds)), { seed: seed + batch, numRuns: 1 });
    if (!play) break;
    try {
      tally = sum(tally, await run(play, await rest.database(), rest.planted?.()));
      rest.progress?.(tally);
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      const slot = slotIn(error.message);
      return { tally, violation: { rule: error.rule, message: error.message, seed: seed + batch, play, slot } };
    }
  }
  return { tally, violation: null };
}

function slotIn(message: string): number {
  const [, serial, slot] = /#(\d+)|slot (\d+)/.exec(message) ?? [];
  return slot === undefined ? slotOf(Number(serial ?? 0)) : Number(slot);
}

function sum(one: Tally, other: Tally): Tally {
  return {
    schedules: one.schedules + other.schedules,
    acts: one.acts + other.acts,
    inquiries: one.inquiries + other.inquiries,
    kills: one.kills + other.kills,
  };
}

/** How many smaller plays are tried. */
const ATTEMPTS = 150;

/**
 * The smallest play found that breaks the same rule: the schedule it was seen in alone where that is enough, then fewer
 * acts, then a plainer course.
 */
export async function smallest({ play, rule, slot }: Broken, { database, planted }: Search): Promise<Play> {
  let attempts = ATTEMPTS;
  async function breaks(smaller: Play): Promise<boolean> {
    if (attempts-- <= 0) return false;
    try {
      await run(smaller, await database(), planted?.());
      return false;
    } catch (error) {
      return error instanceof Violation && error.rule === rule;
    }
  }
  const alone = { ...play, schedules: play.schedules.slice(slot, slot + 1) };
  let best = (await breaks(alone)) || (await breaks(alone)) ? alone : play;
  for (let smaller = true; smaller; ) {
    smaller = false;
    for (const candidate of smallerThan(best)) {
      if (!(await breaks(candidate))) continue;
      best = candidate;
      smaller = true;
      break;
    }
  }
  return best;
}

function* smallerThan({ beats, schedules }: Play): Generator<Play> {
  if (schedules.length > 1) {
    const half = Math.ceil(schedules.length / 2);
    yield { beats, schedules: schedules.slice(0, half) };
    yield { beats, schedules: schedules.slice(half) };
    return;
  }
  const [only = []] = schedules;
  for (const [round, acts] of only.entries()) {
    for (const index of acts.keys()) yield { beats, schedules: [only.with(round, acts.toSpliced(index, 1))] };
    if (acts.length === 0) yield { beats: beats.toSpliced(round, 1), schedules: [only.toSpliced(round, 1)] };
  }
  for (const [index, { beat }] of beats.entries()) {
    if (beat !== "rest") yield { beats: beats.with(index, { beat: "rest" }), schedules };
  }
}
