/** What a question looks like on the platform: whole, literal, within every limit, each button meaning what it says. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OPERATOR } from "../../src/testing/bridge.ts";
import { RESERVED } from "../../src/testing/hostile-texts.ts";
import { until } from "../../src/testing/until.ts";
import { one } from "./asks.ts";
import { ANA, type Message, type Stage, stages } from "./stage.ts";

const stage = stages();
const PERSIAN = "بازنویسی ماژول پرداخت پیش از انتشار آن";

function controls(message: Message): readonly { readonly text: string; readonly data: string }[] {
  return (message.keyboard?.inline_keyboard.flat() ?? []).map(({ text, callback_data: data = "" }) => ({ text, data }));
}

/** Everything the copy says, over all its messages; without the invisible marks that set words apart. */
function wordsOf(messages: readonly Message[]): string {
  return messages
    .map(({ text }) => text)
    .join("\n")
    .replace(/[\u2066-\u2069\u200e\u200f]/g, "")
    .replaceAll("\uff20", "@");
}

async function pressed(on: Stage, id: string, message: Message, index: number): Promise<readonly string[]> {
  await on.ana.presses(message.id, controls(message)[index]?.text ?? "").answered;
  const view = await on.over(id);
  return view.answers?.q ?? [];
}

// https://github.com/openclaw/openclaw/issues/106996
// https://github.com/openclaw/openclaw/pull/31948
describe("payloads are short whatever the labels are", () => {
  test("a Persian label of 70 bytes beside three short ones, with a long task", async () => {
    const on = await stage();
    const task = { taskId: "0f8fad5b-d9cb-469f-a165-70867728950e", currentStep: "s".repeat(200), stateVersion: 1 };
    const { id, message } = await on.shown(one("Next?", ["Tests", PERSIAN, "Docs", "Stop"], { task }));
    const buttons = controls(message);
    expect(buttons).toHaveLength(6);
    for (const { data } of buttons) {
      expect(Buffer.byteLength(data)).toBeLessThanOrEqual(64);
      expect(data).not.toContain("بازنویسی");
    }
    expect(wordsOf([message])).toContain(PERSIAN);
    expect(await pressed(on, id, message, 1)).toEqual([PERSIAN]);
  });

  test("any labels: every option has its button, no payload tells of it, and the answer is the label as authored", async () => {
    const on = await stage();
    const label = fc.string({ unit: "grapheme", minLength: 1, maxLength: 100 }).filter((text) => /\p{L}/u.test(text));
    const labels = fc.uniqueArray(label, {
      minLength: 2,
      maxLength: 4,
      selector: (text) => text.normalize("NFKC").toLowerCase().trim(),
    });
    await fc.assert(
      fc.asyncProperty(labels, fc.nat(), async (authored, pick) => {
        const input = one("Which?", authored);
        const { id, message } = await on.shown(input).catch((error: { code?: string }) => {
          expect(error.code).toBe("invalid_inquiry");
          return { id: "", message: null };
        });
        fc.pre(message !== null);
        const buttons = controls(message as Message);
        expect(buttons).toHaveLength(authored.length + 2);
        expect(new Set(buttons.map(({ text }) => text)).size).toBe(buttons.length);
        expect(await pressed(on, id, message as Message, pick % authored.length)).toEqual([
          authored[pick % authored.length],
        ]);
        await on.closed(id, ANA);
      }),
      { numRuns: 12 },
    );
  });
});

// https://github.com/vercel/chat/pull/407
// https://github.com/NousResearch/hermes-agent/pull/9722
describe("characters that are markup somewhere", () => {
  const MARKUP = [...RESERVED, "~", "|", "{", "@channel_name", "&amp;"];

  test("go out at the first attempt, are shown as they are, and come back as they were", async () => {
    const on = await stage();
    const piece = fc
      .array(fc.constantFrom(...MARKUP, "word"), { minLength: 1, maxLength: 6 })
      .map((parts) => parts.join(" "));
    await fc.assert(
      fc.asyncProperty(piece, piece, piece, async (asked, first, second) => {
        const before = on.telegram.calls("sendMessage").length;
        const labels = [`one ${first}`, `two ${second}`];
        const { id, message } = await on.shown(one(`Is it ${asked}?`, labels));
        const words = wordsOf([message]);
        for (const text of [`Is it ${asked}?`, ...labels])
          expect(words.replace(/`/g, "")).toContain(text.replace(/`/g, ""));
        expect(await pressed(on, id, message, 0)).toEqual([labels[0]]);
        expect(wordsOf([await on.closed(id, ANA)])).toContain(labels[0]?.trim());
        expect(on.telegram.calls("sendMessage")).toHaveLength(before + 1);
      }),
      { numRuns: 15 },
    );
  });

  test("if the platform refuses them all the same, the numbered text goes out at once and answers", async () => {
    const on = await stage();
    on.telegram.inject("sendMessage", { status: 400, description: "Bad Request: can't parse entities" });
    const { id, message } = await on.shown(one("Which *one*?", ["a_b", "c<d"]));
    expect(message.text).not.toMatch(/\b(press|tap)/i);
    on.ana.says(ANA, "2");
    expect(await on.over(id)).toMatchObject({ answers: { q: ["c<d"] } });
    expect(on.telegram.messages(ANA)).toHaveLength(1);
  });

  test("if it refuses that too, the question is undelivered at once", async () => {
    const on = await stage();
    on.telegram.inject("sendMessage", { status: 400, description: "Bad Request: can't parse entities" }, 10);
    const { id } = await on.ask(one("Which *one*?", ["a_b", "c<d"]));
    expect(await on.over(id)).toMatchObject({
      status: "undelivered",
      deliveries: [{ state: "failed", reason: "rejected" }],
    });
    expect(on.telegram.calls("sendMessage")).toHaveLength(2);
  });
});

// https://github.com/openclaw/openclaw/pull/28854
// https://github.com/mattmezza/humux/pull/89
describe("a question longer than one message", () => {
  const LONG = [4, 3, 2, 1].map((n) => ({ label: `${n} ${"L".repeat(198)}`, description: `${n} ${"d ".repeat(249)}` }));
  const long = (text: string) => ({ questions: [{ id: "q", header: "Long", question: text, options: LONG }] });

  test.each([
    ["of words", "word ".repeat(800).trim()],
    ["of one line without spaces", "x".repeat(4_000)],
    ["of emoji", "😀".repeat(4_000)],
    ["of lines", `${"line\n".repeat(799)}end?`],
  ])("%s is sent in order, in parts within the limit, with options and buttons on the last", async (_, text) => {
    const on = await stage();
    const { id, message } = await on.shown(long(text));
    const parts = on.telegram.messages(ANA);
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.map(({ id: part }) => part)).toEqual(parts.map(({ id: part }) => part).toSorted((a, b) => a - b));
    for (const part of parts) {
      expect([...part.text].length).toBeLessThanOrEqual(4_096);
      expect(part.text).not.toMatch(/\p{Surrogate}/u);
      expect(part.keyboard === null).toBe(part.id !== message.id);
    }
    const count = (words: string) => words.split(text.includes("😀") ? "😀" : /x|word|line/).length - 1;
    expect(count(parts.map((part) => part.text).join(""))).toBe(count(text));
    for (const { label } of LONG) expect(parts.at(-1)?.text).toContain(label);
    expect(await pressed(on, id, message, 1)).toEqual([LONG[1]?.label]);
    expect((await on.get(id)).version).toBe(2);
    await on.closed(id, ANA);
    expect(on.telegram.messages(ANA).every(({ keyboard }) => keyboard === null)).toBe(true);
  });

  test("whose last part is of unknown fate: a press on the unseen one counts, and all of it is closed", async () => {
    const on = await stage();
    on.telegram.inject("sendMessage", {}, 1);
    on.telegram.inject("sendMessage", { applied: true, connection: "reset" });
    const { id } = await on.ask(long("x ".repeat(900)));
    await until("nobody knows", async () => (await on.get(id)).deliveries[0]?.state === "unknown");
    const last = on.telegram.messages(ANA).at(-1) as Message;
    expect(last.keyboard).not.toBeNull();
    expect(await pressed(on, id, last, 2)).toEqual([LONG[2]?.label]);
    await on.closed(id, ANA);
    expect(on.telegram.messages(ANA).every(({ keyboard }) => keyboard === null)).toBe(true);
  });

  test("whose last part is of unknown fate: only that one is sent again, and the unseen one no longer answers", async () => {
    const on = await stage();
    on.telegram.inject("sendMessage", {}, 1);
    on.telegram.inject("sendMessage", { applied: true, connection: "reset" });
    const { id } = await on.ask(long("x ".repeat(900)));
    await until("nobody knows", async () => (await on.get(id)).deliveries[0]?.state === "unknown");
    const [first, unseen] = on.telegram.messages(ANA);
    const again = await until("it is shown", async () => {
      on.clock.skip(1_000);
      return (await on.get(id)).shownAt !== undefined && on.copyIn(id, ANA);
    });
    expect(on.telegram.messages(ANA).map((part) => part.id)).toEqual([first?.id, unseen?.id, again.id]);
    const old = controls(unseen as Message)[0]?.data ?? "";
    expect(await on.ana.presses(unseen?.id ?? 0, old).answered).toContain("no longer works");
    expect(await pressed(on, id, again, 0)).toEqual([LONG[0]?.label]);
  });

  test("answered when a part of it stands already: that part says so, and the rest is not sent", async () => {
    const on = await stage();
    on.telegram.inject("sendMessage", {}, 1);
    on.telegram.inject("sendMessage", { status: 429, parameters: { retry_after: 3 } });
    const { id } = await on.ask(long("x ".repeat(900)));
    await on.delayed(id);
    await on.bridge().engine.asker.answer(OPERATOR, id, { answers: { q: [LONG[0]?.label ?? ""] } });
    const part = await on.closed(id, ANA);
    expect(wordsOf([part])).toContain("Answered by operator");
    expect(on.telegram.messages(ANA)).toHaveLength(1);
  });

  test("whose middle part fails is not delivered until the rest is there, and nothing is sent twice", async () => {
    const on = await stage();
    on.telegram.inject("sendMessage", {}, 1);
    on.telegram.inject("sendMessage", { status: 429, parameters: { retry_after: 3 } });
    const { id } = await on.ask(long("word ".repeat(800).trim()));
    await on.delayed(id);
    expect(on.telegram.messages(ANA)).toHaveLength(1);
    expect(await on.get(id)).toMatchObject({ status: "waiting", deliveries: [{ state: "pending" }] });
    expect((await on.get(id)).shownAt).toBeUndefined();
    const last = await until("the rest is sent", async () => {
      on.clock.skip(1_000);
      const view = await on.get(id);
      return view.shownAt !== undefined && on.copyIn(id, ANA);
    });
    expect(new Set(on.telegram.messages(ANA).map(({ text }) => text)).size).toBe(on.telegram.messages(ANA).length);
    expect(await pressed(on, id, last, 3)).toEqual([LONG[3]?.label]);
  });
});

// https://github.com/openclaw/openclaw/pull/118049
describe("a press means what the button says", () => {
  const layouts: readonly (readonly [string, readonly string[]])[] = [
    ["in one row and a half", ["Ab", "Cd", "Ef", "Gh"]],
    ["two by two", ["Staging one", "Staging two", "Staging three", "Staging four"]],
    ["one per row", ["a".repeat(40), "b".repeat(40), "c".repeat(40), "d".repeat(40)]],
    ["of all lengths", ["x", "a label that fills its row all alone", "y", PERSIAN]],
    ["that look alike until their end", [1, 2, 3, 4].map((n) => `${"the same words ".repeat(12)}${n}`)],
  ];
  test.each(layouts)("%s", async (_, labels) => {
    const on = await stage();
    for (const index of labels.keys()) {
      const { id, message } = await on.shown(one("Which?", labels));
      expect(await pressed(on, id, message, index)).toEqual([labels[index]]);
      await on.closed(id, ANA);
    }
  });

  test("drawn again after a first attempt that was refused", async () => {
    const on = await stage();
    on.telegram.inject("sendMessage", { status: 429, parameters: { retry_after: 1 } });
    const { id, message } = await on.shown(one("Which?", ["A", "B", PERSIAN]));
    expect(await pressed(on, id, message, 2)).toEqual([PERSIAN]);
  });
});
