/** Two things at once: exactly one of them happens, and whoever comes second hears the truth. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AskgateError } from "../../src/core/errors.ts";
import { OPERATOR } from "../../src/testing/bridge.ts";
import { until } from "../../src/testing/until.ts";
import { GROUP_OF_BOTH, one } from "./asks.ts";
import { ANA, BEN, GROUP, type Stage, stages } from "./stage.ts";

const stage = stages();
const DEPLOY = one("Deploy where?", ["Staging", "Production"]);

// https://github.com/atipugin/telegram-bot-ruby/issues/173
// https://github.com/cherrytea-dev/la_searcher_bot/pull/917
describe("two presses, milliseconds apart", () => {
  test.each([
    ["the same button twice", "1. Staging", "1. Staging"],
    ["two different buttons", "1. Staging", "2. Production"],
    ["an option and Skip", "1. Staging", "Skip"],
    ["an option and Other", "1. Staging", "Other"],
  ])("%s: one transition, the second hears that it is answered", async (_, first, second) => {
    const { shown, over, closed, ana, telegram } = await stage();
    const { id, message } = await shown(DEPLOY);
    const presses = [ana.presses(message.id, first), ana.presses(message.id, second)];
    const toasts = await Promise.all(presses.map((press) => press.answered));
    expect(await over(id)).toMatchObject({ status: "answered", version: 2, answers: { q: ["Staging"] } });
    expect(toasts).toEqual(["Recorded: Staging", "Already answered by ana: Staging"].map(isolated));
    expect((await closed(id, ANA)).text).toMatch(/Answered by .*ana.* in Telegram: .*Staging/);
    expect(telegram.calls("editMessageText")).toHaveLength(1);
    expect(telegram.messages(ANA)).toHaveLength(1);
  });

  test("two people in a group: one wins, the other is told who did", async () => {
    const { shown, over, ana, ben } = await stage();
    const { id, message } = await shown({ ...DEPLOY, ...GROUP_OF_BOTH }, GROUP);
    const toasts = await Promise.all([
      ana.presses(message.id, "1. Staging").answered,
      ben.presses(message.id, "2. Production").answered,
    ]);
    const view = await over(id);
    expect(view.version).toBe(2);
    const winner = view.details?.[0]?.by ?? "";
    expect(toasts.filter((toast) => toast?.startsWith("Recorded"))).toHaveLength(1);
    expect(toasts.filter((toast) => toast?.startsWith("Already answered by") && toast.includes(winner))).toHaveLength(
      1,
    );
  });

  test("an edit that the platform calls unmodified has succeeded", async () => {
    const { shown, closed, ana, telegram } = await stage();
    const { id, message } = await shown(DEPLOY);
    // The first edit arrives, its receipt does not; the second one changes nothing.
    telegram.inject("editMessageText", { applied: true, connection: "reset" });
    await ana.presses(message.id, "1. Staging").answered;
    expect((await closed(id, ANA)).keyboard).toBeNull();
    const calls = telegram.calls("editMessageText");
    expect(calls.at(-1)?.description).toContain("message is not modified");
    expect(calls).toHaveLength(2);
  });
});

type Contender = "ana presses" | "ben presses" | "ana types" | "ben types" | "operator" | "group press";
const CONTENDERS: readonly Contender[] = [
  ...(["ana presses", "ana presses", "ben presses", "group press", "ana types", "ben types"] as const),
  ...(["operator", "operator", "operator", "group press"] as const),
];

/** Whether it won: the platform's toast, the bot's words or the API's answer say so. */
async function contend(
  on: Stage,
  id: string,
  ids: Readonly<Record<number, number>>,
  contender: Contender,
): Promise<boolean> {
  const { ana, ben, telegram } = on;
  const pressed = async (who: typeof ana, chat: number, button: string) => {
    const toast = await who.presses(ids[chat] ?? 0, button).answered;
    expect(toast).toMatch(/^(Recorded|Already answered by)/);
    return toast?.startsWith("Recorded") === true;
  };
  const wrote = async (who: typeof ana, chat: number, text: string) => {
    const mine = who.says(chat, text);
    await on.over(id);
    await on.quiet();
    const by = (await on.get(id)).details?.[0]?.values[0];
    if (by?.kind === "text" && by.text === text) return true;
    const answer = await until("the refusal is spoken", () =>
      telegram.messages(chat).find((said) => said.replyTo === mine),
    );
    expect(answer.text).toMatch(/^Already answered by/);
    return false;
  };
  switch (contender) {
    case "ana presses":
      return pressed(ana, ANA, "1. Staging");
    case "ben presses":
      return pressed(ben, BEN, "2. Production");
    case "group press":
      return pressed(ben, GROUP, "1. Staging");
    case "ana types":
      return wrote(ana, ANA, "into the cupboard");
    case "ben types":
      return wrote(ben, BEN, "into the cellar");
    case "operator":
      return on
        .bridge()
        .engine.asker.answer(OPERATOR, id, { answers: { q: ["Production"] } })
        .then(
          () => true,
          (error: unknown) => {
            expect(error).toBeInstanceOf(AskgateError);
            expect((error as AskgateError).code).toBe("already_settled");
            return false;
          },
        );
  }
}

test("ten racing answers in any order give one winner and nine truthful refusals", async () => {
  const on = await stage();
  const everywhere = {
    ...DEPLOY,
    to: [`telegram:${ANA}`, `telegram:${BEN}`, `telegram:${GROUP}`],
    respondents: ["ana", "ben"],
  };
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray([...CONTENDERS], { minLength: CONTENDERS.length }), async (order) => {
      const { id, message } = await on.shown(everywhere);
      const ids: Record<number, number> = { [ANA]: message.id };
      for (const chat of [BEN, GROUP]) ids[chat] = (await on.shownIn(id, chat)).id;
      const won = await Promise.all(order.map((contender) => contend(on, id, ids, contender)));
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await on.get(id)).toMatchObject({ status: "answered", version: 2 });
      for (const chat of [ANA, BEN, GROUP]) expect((await on.closed(id, chat)).keyboard).toBeNull();
    }),
    { numRuns: 6 },
  );
});

// https://github.com/grinev/opencode-telegram-bot/pull/186
describe("answered elsewhere while the prompt is being sent", () => {
  test("the late prompt is closed as soon as it stands, and a press on it reports the answer already given", async () => {
    const { ask, closed, ana, telegram, bridge, get } = await stage();
    telegram.inject("sendMessage", { delayMs: 150 });
    const { id } = await ask(DEPLOY);
    const sending = await telegram.waitFor(() => telegram.calls("sendMessage")[0]);
    await bridge().engine.asker.answer(OPERATOR, id, { answers: { q: ["Staging"] } });
    const message = await closed(id, ANA);
    expect(message.keyboard).toBeNull();
    expect(message.text).toContain("Answered by");
    const keyboard = sending.body.reply_markup as { inline_keyboard: { callback_data: string }[][] };
    const toast = await ana.presses(message.id, keyboard.inline_keyboard.flat()[1]?.callback_data ?? "").answered;
    expect(toast).toMatch(/^Already answered by .*operator.*: .*Staging/);
    expect(await get(id)).toMatchObject({ version: 2, answers: { q: ["Staging"] } });
  });

  test("answered before the first attempt: nothing is sent", async () => {
    const { ask, bridge, copies, delayed, telegram, clock } = await stage();
    telegram.inject("sendMessage", { status: 429, parameters: { retry_after: 20 } });
    const { id } = await ask(DEPLOY);
    await delayed(id);
    await bridge().engine.asker.answer(OPERATOR, id, { answers: { q: ["Staging"] } });
    await until("the copy is closed", async () => {
      clock.skip(1_000);
      return (await copies(id))[0]?.delivery.state === "closed";
    });
    expect(telegram.messages(ANA)).toEqual([]);
    expect(telegram.calls("sendMessage")).toHaveLength(1);
  });
});

/** As the sentences show names and labels: set apart from their surroundings. */
function isolated(sentence: string): unknown {
  return expect.stringMatching(new RegExp(sentence.replace(/(ana|Staging)/g, ".?$1.?")));
}

// Words and a press that arrive together: whichever is second must be told so, and not that its words were unclear.
test.each([
  ["a number", "2"],
  ["words", "into the cupboard"],
  ["a skip word", "skip"],
  ["a cancel word", "cancel"],
])("%s typed while somebody else presses: one counts, and losing is told as such", async (_, text) => {
  const on = await stage();
  const both = { to: [`telegram:${ANA}`, `telegram:${BEN}`], respondents: ["ana", "ben"] };
  const { id, message } = await on.shown({ ...DEPLOY, ...both });
  const bens = await on.shownIn(id, BEN);
  const press = on.ana.presses(message.id, "1. Staging");
  const mine = on.ben.says(BEN, text, { replyTo: bens.id });
  const toast = await press.answered;
  const view = await on.over(id);
  expect(view.version).toBe(2);
  if (toast?.startsWith("Recorded")) {
    const told = await on.telegram.waitFor(() => on.telegram.messages(BEN).find(({ replyTo }) => replyTo === mine));
    expect(told.text).toMatch(/^Already answered by .?ana/);
  } else expect(toast).toMatch(/^(Already answered by .?ben|This question is closed already)/);
});
