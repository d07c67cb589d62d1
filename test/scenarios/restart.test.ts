/**
 * What was reported of other products, with real processes: a restart, or another process, between the question and the
 * answer, and old updates that come again.
 */
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { freshDatabase } from "../../src/testing/postgres.ts";
import type { Message } from "../../src/testing/telegram-server.ts";
import { until } from "../../src/testing/until.ts";
import { chanceOf, seedOf } from "./chance.ts";
import type { Deed, How } from "./deed.ts";
import { inspect, judge } from "./judge.ts";
import { newDeed } from "./kills.ts";
import { createLedger } from "./ledger.ts";
import { openLine } from "./line.ts";
import { buildPrograms, type Programs, source } from "./programs.ts";
import { openStage, type Stage, type StageOptions } from "./stage.ts";
import { holderOf } from "./takeover.ts";
import { openTrapped, type Trapped } from "./trapped.ts";

const PATIENCE_MS = 60_000;
const ANA = 1_000;

let programs: Programs;
const chance = chanceOf(seedOf());

beforeAll(async () => {
  programs = await buildPrograms();
});

afterAll(() => programs.remove());

async function on(options: Partial<StageOptions>, play: (stage: Stage) => Promise<void>): Promise<void> {
  const stage = await openStage({ programs, ...options });
  try {
    await play(stage);
    expect(stage.platform.refusals).toEqual([]);
  } finally {
    await stage.close();
  }
}

async function onTrapped(play: (trapped: Trapped) => Promise<void>): Promise<void> {
  const trapped = await openTrapped("sqlite", { programs, database: () => freshDatabase(inject("postgres")) });
  try {
    await play(trapped);
  } finally {
    await trapped.close();
  }
}

async function shown(deed: Deed): Promise<void> {
  deed.ask();
  await deed.shown();
  await until(`${deed.question} is stored as shown`, () => deed.stands("shown"), PATIENCE_MS);
}

/** Killed, and looked at while dead. */
async function kill(stage: Stage, deeds: readonly Deed[], ledger = createLedger()): Promise<void> {
  await stage.node.gateway().kill();
  stage.node.ended();
  await inspect(stage, deeds, ledger);
  expect(ledger.problems).toEqual([]);
}

async function judged(stage: Stage, deed: Deed): Promise<void> {
  const ledger = createLedger();
  await judge(stage, deed, ledger);
  expect(ledger.problems).toEqual([]);
}

// https://github.com/NousResearch/hermes-agent/issues/32762
// https://github.com/openclaw/openclaw/issues/30772
describe("between the question and the answer", () => {
  test.each([
    ["as a clone runs it", source, ["press"]],
    ["translated before", null, ["press", "number", "label"]],
  ] as const)(
    "killed (%s), then pressed, typed as a number or a label: answered once, by the same deadline, to the same waiter",
    (_, from, ways) =>
      on({ programs: from ?? programs }, async (stage) => {
        await stage.node.start();
        const deeds = ways.map((how) => newDeed({ stage, chance }, how));
        for (const deed of deeds) await shown(deed);
        await kill(stage, deeds);
        await stage.node.start();
        for (const deed of deeds) deed.act();
        for (const deed of deeds) await judged(stage, deed);
      }),
    90_000,
  );

  test("one process sends, the other receives the press by webhook: the waiter at the first is woken", async () => {
    const world = await openLine();
    const url = await freshDatabase(inject("postgres"));
    const env = { TELEGRAM_WEBHOOK_SECRET: "of-the-scenarios", ASKGATE_PUBLIC_URL: world.url };
    await on({ databaseUrls: [url, url], env }, async (stage) => {
      for (const node of stage.nodes) await node.start();
      const sender = await holderOf(stage);
      const receiver = stage.nodes.find((node) => node !== sender) ?? stage.node;
      world.lead(await receiver.gateway().listening);
      const pressed = newDeed({ stage, chance }, "press", 600, { agent: sender.agent, operator: receiver.operator });
      const posted = newDeed({ stage, chance }, "post", 600, { agent: sender.agent, operator: receiver.operator });
      for (const deed of [pressed, posted]) {
        await shown(deed);
        deed.act();
        await judged(stage, deed);
      }
      expect(stage.platform.calls("getUpdates")).toEqual([]);
    });
    await world.close();
  }, 90_000);

  test(
    "killed between the recorded press and the return: the repeated call gets the answer, by its task",
    () =>
      onTrapped(async ({ stage, snareDatabase }) => {
        const { platform, node } = stage;
        await node.start();
        const input = { ...inputFor("By its task?"), task: { taskId: "t1", stateVersion: 1 } };
        const gone = new AbortController();
        node.agent.askUser(input, { signal: gone.signal }).catch(() => {});
        const message = await prompt(stage, "By its task?");
        await snareDatabase({ work: "answer", when: "after", nth: 1 });
        const gateway = node.gateway();
        platform.user(ANA).presses(message.id, button(stage, message, "No"));
        await gateway.gone;
        gone.abort();
        node.ended();
        expect(prompts(stage)[0]?.text).not.toContain("Answered");
        await node.start();
        expect(await node.agent.askUser(input)).toMatchObject({
          status: "answered",
          answers: { answers: { q: ["No"] } },
        });
        await platform.waitFor(() => prompts(stage).every(({ keyboard }) => keyboard === null));
      }),
    60_000,
  );

  test(
    "Other on a question that ended before the restart opens no entry",
    () =>
      on({}, async (stage) => {
        const { platform, node } = stage;
        await node.start();
        const { inquiry } = await node.agent.ask(inputFor("Still there?"));
        const message = await prompt(stage, "Still there?");
        const other =
          message.keyboard?.inline_keyboard.flat().find(({ text }) => text === "Other")?.callback_data ?? "";
        await node.agent.cancel(inquiry.id);
        await platform.waitFor(() => prompts(stage).every(({ keyboard }) => keyboard === null), PATIENCE_MS);
        await kill(stage, []);
        await node.start();
        expect(await platform.user(ANA).presses(message.id, other).answered).toContain("closed");
        expect(prompts(stage)).toHaveLength(1);
      }),
    60_000,
  );
});

// https://github.com/openclaw/openclaw/issues/739
// https://github.com/openclaw/openclaw/issues/122886
// https://github.com/anthropics/claude-plugins-official/issues/3938
// https://github.com/openclaw/openclaw/pull/30802
describe("updates that come again", () => {
  test(
    "killed after the first of a batch, before the platform knows: each counts once",
    () =>
      onTrapped(async ({ stage, snareDatabase }) => {
        const { platform, node } = stage;
        await node.start();
        const texts = ["First?", "Second?", "Third?"];
        const ids: string[] = [];
        for (const text of texts) ids.push((await node.agent.ask(inputFor(text))).inquiry.id);
        const messages: Message[] = [];
        for (const text of texts) messages.push(await prompt(stage, text));
        const [first, second, third] = messages;
        const gateway = node.gateway();
        await snareDatabase({ work: "answer", when: "after", nth: 1 });
        gateway.signal("SIGSTOP");
        const ana = platform.user(ANA);
        if (first) ana.presses(first.id, button(stage, first, "Yes"));
        if (second) ana.says(ANA, "2", { replyTo: second.id });
        if (third) ana.presses(third.id, button(stage, third, "No"));
        gateway.signal("SIGCONT");
        await gateway.gone;
        node.ended();
        expect(platform.unconfirmed()).toHaveLength(3);
        await node.start();
        const answers = [["Yes"], ["No"], ["No"]];
        for (const [index, id] of ids.entries()) {
          expect(await node.operator.settled(id)).toMatchObject({ version: 2, answers: { q: answers[index] } });
        }
        await platform.waitFor(() => platform.unconfirmed().length === 0);
      }),
    60_000,
  );

  test(
    "made while nobody listened: none is lost",
    () =>
      on({}, async (stage) => {
        await stage.node.start();
        const ways: How[] = ["press", "number", "label"];
        const deeds = ways.map((how) => newDeed({ stage, chance }, how));
        for (const deed of deeds) await shown(deed);
        await kill(stage, deeds);
        for (const deed of deeds) deed.act();
        await stage.node.start();
        for (const deed of deeds) await judged(stage, deed);
      }),
    60_000,
  );
});

/** A question to Ana. */
function inputFor(question: string) {
  const options = [{ label: "Yes" }, { label: "No" }];
  return {
    questions: [{ id: "q", header: "Q", question, options }],
    to: [`telegram:${ANA}`],
    respondents: [`p${ANA}`],
  };
}

function prompts({ platform }: Stage): readonly Message[] {
  return platform.messages(ANA);
}

/** Shown, and stored as shown. */
async function prompt(stage: Stage, question: string): Promise<Message> {
  const message = await stage.platform.waitFor(
    () => prompts(stage).find(({ text }) => text.includes(question)),
    PATIENCE_MS,
  );
  await until(
    `"${question}" is stored as shown`,
    async () => {
      const { items } = await stage.node.operator.list();
      return items.find(({ questions }) => questions[0]?.question === question)?.shownAt;
    },
    PATIENCE_MS,
  );
  return message;
}

function button({ platform }: Stage, message: Message, label: string): string {
  const found = platform
    .buttons(message)
    .flat()
    .find((text) => text.includes(label));
  if (found === undefined) throw new Error(`no button of ${label}`);
  return found;
}
