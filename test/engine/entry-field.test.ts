/** The entry field after Other: whose it is, and what counts as an answer in it. */
import { describe, expect, test } from "vitest";
import { until } from "../../src/testing/until.ts";
import { GROUP_OF_BOTH, one } from "../reports/asks.ts";
import { ANA, BEN, GROUP, type Stage, stages } from "../reports/stage.ts";

const stage = stages();
const WHICH = one("Which?", ["Alpha", "Beta"]);

/** Ana has pressed Other on a question shown in that chat, and her field is open. */
async function writing(on: Stage, chat: number, asked: object) {
  const { id, message } = await on.shown(asked, chat);
  await on.ana.presses(message.id, "Other").answered;
  const field = await until("the field is open", () => {
    on.clock.skip(200);
    return on.telegram.messages(chat).find((one) => one.forceReply !== null);
  });
  const payload = (label: string) =>
    message.keyboard?.inline_keyboard.flat().find((button) => button.text === label)?.callback_data ?? "";
  return { id, message, field, payload };
}

const lastWords = (on: Stage, chat: number) => on.telegram.messages(chat).at(-1)?.text ?? "";

describe("after Other", () => {
  test.each([
    ["/skip", { status: "cancelled", reason: "skipped" }],
    ["/cancel", { status: "cancelled", reason: "declined" }],
    ["/SKIP", { status: "cancelled", reason: "skipped" }],
  ])("%s is the command, typed into the field or beside it", async (command, outcome) => {
    const on = await stage();
    const first = await writing(on, ANA, WHICH);
    on.ana.says(ANA, command, { replyTo: first.field.id });
    expect(await on.over(first.id)).toMatchObject(outcome);
    const second = await writing(on, ANA, WHICH);
    on.ana.says(ANA, command);
    expect(await on.over(second.id)).toMatchObject(outcome);
  });

  test.each([
    ["a braille blank", "\u2800"],
    ["a zero-width space", "\u200b"],
    ["both among spaces", " \u200b \u2800 "],
  ])("%s is no answer, and nobody is told that the question is closed", async (_, invisible) => {
    const on = await stage();
    const { id, field } = await writing(on, ANA, WHICH);
    on.ana.says(ANA, invisible, { replyTo: field.id });
    await until("she is told", () => lastWords(on, ANA).startsWith("I found no answer"));
    expect(await on.get(id)).toMatchObject({ status: "waiting", version: 1 });
    on.ana.says(ANA, "gamma");
    expect(await on.over(id)).toMatchObject({ answers: { q: ["gamma"] } });
  });
});

describe("in a group, while Ana writes", () => {
  test("Ben's Other and Back are refused, and her words still count", async () => {
    const on = await stage();
    const { id, message, payload } = await writing(on, GROUP, one("Which?", ["Alpha", "Beta"], GROUP_OF_BOTH));
    expect(await on.ben.presses(message.id, payload("Other")).answered).toMatch(/ana.* is writing/);
    expect(await on.ben.presses(message.id, "Back").answered).toMatch(/ana.* is writing/);
    expect((await on.copies(id))[0]?.delivery.entry).toEqual({ question: 0, person: "ana" });
    on.ana.says(GROUP, "gamma");
    expect(await on.over(id)).toMatchObject({ answers: { q: ["gamma"] }, details: [{ by: "ana" }] });
  });

  test.each([
    ["an option", (on: Stage, message: number, payload: string) => on.ben.presses(message, payload).answered],
    ["a reply", (on: Stage, message: number) => on.ben.says(GROUP, "2", { replyTo: message })],
  ])("%s of Ben counts", async (_, act) => {
    const on = await stage();
    const { id, message, payload } = await writing(on, GROUP, one("Which?", ["Alpha", "Beta"], GROUP_OF_BOTH));
    await act(on, message.id, payload("2. Beta"));
    expect(await on.over(id)).toMatchObject({ answers: { q: ["Beta"] }, details: [{ by: "ben" }] });
  });

  test("her Back lets Ben write", async () => {
    const on = await stage();
    const { id, message, payload } = await writing(on, GROUP, one("Which?", ["Alpha", "Beta"], GROUP_OF_BOTH));
    await on.ana.presses(message.id, "Back").answered;
    expect(await on.ben.presses(message.id, payload("Other")).answered).toBe("Write your answer now.");
    on.ben.says(GROUP, "delta");
    expect(await on.over(id)).toMatchObject({ answers: { q: ["delta"] }, details: [{ by: "ben" }] });
  });
});

test("Ben's private copy has a field of its own", async () => {
  const on = await stage();
  const both = { to: [`telegram:${ANA}`, `telegram:${BEN}`], respondents: ["ana", "ben"] };
  const { id } = await writing(on, ANA, one("Which?", ["Alpha", "Beta"], both));
  const his = await on.shownIn(id, BEN);
  expect(await on.ben.presses(his.id, "Other").answered).toBe("Write your answer now.");
});
