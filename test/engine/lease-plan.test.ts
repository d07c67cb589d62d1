/** What a process decides from everybody's leases, and what it makes of the notes on those of others. */
import { describe, expect, test } from "vitest";
import { createHealth, type Standing } from "../../src/engine/health.ts";
import { LEASE_TTL_MS, type Outlook, planLeases, presenceNote } from "../../src/engine/leases.ts";
import { channelLease, type Lease, presenceOf } from "../../src/ports/lease.ts";
import type { Store } from "../../src/ports/store.ts";
import { skippingClock } from "../../src/testing/skipping-clock.ts";

const NOW = 1_000_000;
const FRESH = NOW + LEASE_TTL_MS;

function lease(name: string, holder: string, more: Partial<Lease> = {}): Lease {
  return { name, holder, epoch: 1, until: FRESH, note: "", ...more };
}

const lives = (process: string, ...channels: readonly string[]) =>
  lease(presenceOf(process), process, { note: presenceNote(channels) });
const holds = (process: string, channel: string, more: Partial<Lease> = {}) =>
  lease(channelLease(channel), process, more);

function plan({ leases = [], ...more }: Partial<Outlook>) {
  const { lost, take, cede } = planLeases({
    self: "one",
    presence: 1,
    channels: ["a", "b"],
    held: new Map(),
    leases: [lives("one", "a", "b"), ...leases],
    freeSince: new Map(),
    now: NOW,
    unsteady: false,
    ...more,
  });
  return { lost, take, cede };
}

const both = new Map([
  ["a", 1],
  ["b", 1],
]);
const ours = [holds("one", "a"), holds("one", "b")];
const OLD = new Map([["a", NOW - 3_000]]);
const gone = (channel: string) => holds("two", channel, { until: NOW });
const released = (channel: string) => holds("two", channel, { until: 0 });
const theirs = (channel: string) => holds("two", channel);
const two = (...channels: readonly string[]) => lives("two", ...channels);

const CASES: readonly (readonly [string, Partial<Outlook>, Partial<ReturnType<typeof plan>>])[] = [
  ["nobody has ever held them: both", {}, { take: ["a", "b"] }],
  ["another holds one: the other", { leases: [two("a"), theirs("a")] }, { take: ["b"] }],
  ["a dead one's lease ran out a moment ago", { leases: [gone("a"), theirs("b")] }, { take: ["a"] }],
  ["it was given up", { leases: [released("a"), theirs("b")] }, { take: ["a"] }],
  ["its own of before a restart", { leases: [holds("one", "a", { epoch: 7 }), theirs("b")] }, { take: ["a"] }],
  ["its own, given up", { leases: [holds("one", "a", { until: 0 }), theirs("b")] }, { take: ["a"] }],
  ["a channel that is not on here", { leases: [gone("c"), theirs("a"), theirs("b")] }, {}],
  ["another that lives has less to do", { held: new Map([["b", 1]]), leases: [holds("one", "b"), two("a")] }, {}],
  [
    "another has less to do, but the channel is not on there",
    { held: new Map([["b", 1]]), leases: [holds("one", "b"), two("c")] },
    { take: ["a"] },
  ],
  [
    "another has less to do, but has left it for too long",
    { held: new Map([["b", 1]]), leases: [holds("one", "b"), two("a")], freeSince: OLD },
    { take: ["a"] },
  ],
  ["of two free ones no more than makes it even", { leases: [two("a", "b")] }, { take: ["a"] }],
  ["time jumped: an end that passed proves nothing", { leases: [gone("a"), theirs("b")], unsteady: true }, {}],
  ["time jumped: what was given up is free", { leases: [released("a"), theirs("b")], unsteady: true }, { take: ["a"] }],
  ["all is well", { held: both, leases: ours }, {}],
  ["another took one over", { held: both, leases: [theirs("a"), holds("one", "b")] }, { lost: ["a"] }],
  [
    "it changed hands and came back",
    { held: both, leases: [holds("one", "a", { epoch: 3 }), ours[1] as Lease] },
    { lost: ["a"] },
  ],
  ["the rows are gone", { held: both, leases: [] }, { lost: ["a", "b"] }],
  ["a newer process has its name", { held: both, leases: ours, presence: 0 }, { lost: ["a", "b"] }],
  ["a newer process has its name: nothing is taken from it", { presence: 0 }, {}],
  ["another lives and holds nothing", { held: both, leases: [...ours, two("a", "b")] }, { cede: "b" }],
  ["another lives and has one on", { held: both, leases: [...ours, two("a")] }, { cede: "a" }],
  ["another lives, with other channels", { held: both, leases: [...ours, two("c")] }, {}],
  ["another lives and holds one less", { held: both, leases: [...ours, two("a", "c"), theirs("c")] }, {}],
  ["another is dead", { held: both, leases: [...ours, { ...two("a"), until: NOW }] }, {}],
];

test.each(CASES)("%s", (_, seen, expected) => {
  expect(plan(seen)).toEqual({ lost: [], take: [], cede: null, ...expected });
});

test("a channel counts as free since it was first seen so, until somebody takes it", () => {
  const seen = (leases: readonly Lease[], freeSince: Outlook["freeSince"], now: number) =>
    planLeases({
      ...{ self: "one", presence: 1, channels: ["a"], held: new Map(), unsteady: false },
      ...{ leases, freeSince, now },
    }).freeSince;
  const first = seen([released("a")], new Map(), NOW);
  expect(seen([released("a")], first, NOW + 2_000).get("a")).toBe(NOW);
  expect(seen([theirs("a")], first, NOW + 2_000).size).toBe(0);
});

describe("a channel held elsewhere", () => {
  function sees(...leases: readonly (Lease | null)[]) {
    const health = createHealth({} as Store, { ...skippingClock(), now: () => NOW - 60_000 }, ["a"]);
    for (const one of leases) health.sees("a", one, NOW);
    return { ...health.standing("a"), behind: health.behindSince() };
  }
  const noted = (standing: Standing, more: Partial<Lease> = {}) =>
    holds("two", "a", { note: JSON.stringify(standing), ...more });
  const up: Standing = { state: "up", since: NOW - 9_000, behindSince: null };

  test("stands as its holder says", () => {
    const conflict: Standing = { state: "conflict", since: 5, reason: "a second poller", behindSince: 7 };
    expect(sees(noted(conflict))).toEqual({ ...conflict, behind: 7 });
    expect(sees(noted(up))).toEqual({ ...up, behind: null });
  });

  test.each([
    ["without a lease", null],
    ["given up", holds("two", "a", { until: 0 })],
    ["run out", holds("two", "a", { until: NOW })],
  ])("is starting, with a reason, and behind: %s", (_, none) => {
    const reason = expect.stringContaining("no process");
    expect(sees(noted(up), none)).toMatchObject({ state: "starting", since: NOW, reason, behind: NOW });
  });

  test("is behind while its holder has not renewed for more than 2.5 s", () => {
    expect(sees(noted(up, { until: FRESH - 2_500 }))).toMatchObject({ state: "up", behind: null });
    const overdue = noted(up, { until: FRESH - 2_501 });
    expect(sees(noted(up), overdue)).toMatchObject({ state: "up", behindSince: NOW, behind: NOW });
  });

  test("is starting where the note is none of ours", () => {
    for (const note of ["", "{}", '{"state":"odd","since":1}', "[]", "null"]) {
      expect(sees(holds("two", "a", { note }))).toMatchObject({ state: "starting", since: NOW });
    }
  });
});
