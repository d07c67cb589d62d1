/** Whether words are an answer, and to which question. */
import { describe, expect, test } from "vitest";
import { claim, type Message, type OpenCopy } from "../../src/core/claim.ts";

interface Named extends OpenCopy {
  readonly name: string;
}

const AT = 1_000_000;
const shown = (name: string, over: Partial<OpenCopy> = {}): Named => {
  return { name, shownAt: AT - 60_000, entryBy: null, expired: false, ...over };
};
const a = shown("a");
const b = shown("b");
const field = shown("field", { entryBy: "ana" });
const bens = shown("bens", { entryBy: "ben" });
const lateField = shown("late field", { entryBy: "ana" });
const ended = shown("ended");
const expired = shown("expired", { expired: true });
const newer = shown("newer", { shownAt: AT + 1_000 });
const unconfirmed = shown("unconfirmed", { shownAt: AT - 30_000 });

const DIRECT: Message = { person: "ana", at: AT, direct: true, mentioned: false };
const GROUP: Message = { ...DIRECT, direct: false };
const MENTION: Message = { ...GROUP, mentioned: true };

/** `reply a`, `entry a`, `bare a`, `which a b`, `chat`. */
function claimed(message: Message, replied: Named | null, open: readonly Named[], late: readonly Named[] = []) {
  const found = claim(message, replied, { open, late });
  switch (found.kind) {
    case "answer":
      return `${found.how} ${found.copy.name}`;
    case "which":
      return `which ${found.copies.map(({ name }) => name).join(" ")}`;
    case "chat":
      return "chat";
  }
}

type Case = readonly [string, string, readonly Named[], readonly Named[]];

describe("in a direct chat, words that reply to nothing", () => {
  test.each<Case>([
    ["nothing was asked", "chat", [], []],
    ["one is open", "bare a", [a], []],
    ["two are open", "which a b", [a, b], []],
    ["two are open, she writes to one", "entry field", [a, field], []],
    ["she writes to two", "which field field", [field, field], []],
    ["Ben writes to the only one", "bare bens", [bens], []],
    ["the only one is newer than the words", "chat", [newer], []],
    ["one is newer, one older", "bare a", [newer, a], []],
    ["the only one is not confirmed", "bare unconfirmed", [unconfirmed], []],
    ["the only one was asked after it", "chat", [newer], []],
    ["she wrote to one that ended", "entry late field", [a], [lateField]],
    ["nothing is open, one ended", "bare ended", [], [ended]],
    ["nothing is open, two ended: the newest", "bare ended", [], [ended, expired]],
    ["one is open, one was ended by somebody", "bare a", [a], [ended]],
    ["one is open, one has just run out", "which a expired", [a], [expired]],
    ["what ended is newer than the words", "chat", [], [newer]],
  ])("%s: %s", (_, outcome, open, late) => {
    expect(claimed(DIRECT, null, open, late)).toBe(outcome);
  });
});

describe("in a group, words that reply to nothing", () => {
  test.each<Case>([
    ["one is open", "chat", [a], []],
    ["she writes to it", "entry field", [field], []],
    ["Ben writes to it", "chat", [bens], []],
    ["she wrote to one that ended", "entry late field", [], [lateField]],
    ["one ended", "chat", [], [ended]],
  ])("%s: %s", (_, outcome, open, late) => {
    expect(claimed(GROUP, null, open, late)).toBe(outcome);
  });

  test.each<Case>([
    ["one is open", "bare a", [a], []],
    ["two are open", "which a b", [a, b], []],
    ["nothing was asked", "chat", [], []],
  ])("that mention the bot, %s: %s", (_, outcome, open, late) => {
    expect(claimed(MENTION, null, open, late)).toBe(outcome);
  });
});

test.each([
  ["direct", DIRECT],
  ["group", GROUP],
])("a reply (%s) answers what it replies to, whatever else is open and however old the words", (_, message) => {
  expect(claimed(message, a, [b, field])).toBe("reply a");
  expect(claimed(message, newer, [])).toBe("reply newer");
});

test.each([
  [-1, "bare"],
  [0, "bare"],
  [999, "bare"],
  [1_000, "chat"],
])("shown %s ms after the words, which platforms date in whole seconds: %s", (ms, outcome) => {
  expect(claimed(DIRECT, null, [shown("it", { shownAt: AT + ms })]).split(" ")[0]).toBe(outcome);
});
