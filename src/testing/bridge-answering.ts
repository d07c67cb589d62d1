/**
 * What the whole bridge promises about answers: each way to give one, once, by whom it was given.
 */
import { expect } from "vitest";
import { type Bridge, type BridgeCase, PERSON, type QuestionInput } from "./bridge-stage.ts";
import { HOSTILE_TEXTS } from "./hostile-texts.ts";
import { until } from "./until.ts";

/** The version an inquiry is born with; each change makes it one more. */
const ASKED = 1;

export const TARGET: QuestionInput = {
  id: "target",
  header: "Deploy",
  question: "Where shall this go?",
  options: [{ label: "Staging (Recommended)", description: "safe to undo" }, { label: "Production" }],
};
const CLOSED: QuestionInput = { ...TARGET, allowOther: false };
const MANY: QuestionInput = {
  id: "checks",
  header: "Checks",
  question: "Which checks shall run?",
  options: [{ label: "Lint" }, { label: "Unit" }, { label: "Browser" }],
  multiSelect: true,
};

export const ANSWERING: readonly BridgeCase[] = [
  typed("by its number", [TARGET], "2", { target: ["Production"] }),
  typed("by its label in any case", [TARGET], "  production ", { target: ["Production"] }),
  typed("by the label without its mark", [TARGET], "staging", { target: ["Staging (Recommended)"] }),
  typed("in the person's own words", [TARGET], "the canary machines, please", {
    target: ["the canary machines, please"],
  }),
  typed("of several kinds at once", [MANY], "1, 3", { checks: ["Lint", "Browser"] }),
  typed("of none of several", [MANY], "none", { checks: [] }),
  typed("to two questions in one message", [TARGET, MANY], "1: 2\n2: 1, 2", {
    target: ["Production"],
    checks: ["Lint", "Unit"],
  }),
  ...HOSTILE_TEXTS.map(([name, label]) =>
    typed(`that comes back as authored: ${name}`, [{ ...TARGET, options: [{ label }, { label: "Plain" }] }], "1", {
      target: [label],
    }),
  ),
  {
    name: "keeps what was answered of two questions, and asks for the rest",
    needs: [],
    async run(bridge) {
      const id = await bridge.askAndSee(TARGET, MANY);
      await bridge.loopback.write("1: 2");
      await until("the first answer is kept", async () => (await bridge.view(id)).version === ASKED + 1);
      expect((await bridge.view(id)).status).toBe("waiting");
      await bridge.loopback.write("3");
      await expectAnswer(bridge, id, { target: ["Production"], checks: ["Browser"] }, ASKED + 2);
    },
  },
  {
    name: "takes a press of an option",
    needs: ["buttons"],
    async run(bridge) {
      const id = await bridge.askAndSee(TARGET);
      await press(bridge, 1);
      await expectAnswer(bridge, id, { target: ["Production"] });
    },
  },
  {
    name: "takes own words after Other, whatever they look like",
    needs: ["buttons", "edits"],
    async run(bridge) {
      const id = await bridge.askAndSee(TARGET);
      await press(bridge, "other");
      await bridge.button("back");
      await bridge.loopback.write("2");
      await expectAnswer(bridge, id, { target: ["2"] });
    },
  },
  {
    name: "leads back from Other to the options",
    needs: ["buttons", "edits"],
    async run(bridge) {
      const id = await bridge.askAndSee(TARGET);
      await press(bridge, "other");
      await press(bridge, "back");
      await bridge.button("other");
      await bridge.loopback.write("2");
      await expectAnswer(bridge, id, { target: ["Production"] });
    },
  },
  ...(["skip", "cancel"] as const).map(
    (word): BridgeCase => ({
      name: `takes the word ${word}`,
      needs: [],
      async run(bridge) {
        const id = await bridge.askAndSee(TARGET);
        await bridge.loopback.write(word);
        const reason = word === "skip" ? "skipped" : "declined";
        expect(await bridge.settled(id)).toMatchObject({ status: "cancelled", reason, version: ASKED + 1 });
      },
    }),
  ),
  {
    name: "takes a press of Skip",
    needs: ["buttons"],
    async run(bridge) {
      const id = await bridge.askAndSee(TARGET);
      await press(bridge, "skip");
      expect(await bridge.settled(id)).toMatchObject({ status: "cancelled", reason: "skipped", version: ASKED + 1 });
    },
  },
  {
    name: "asks again after a number that is not on the list, and changes nothing",
    needs: [],
    async run(bridge) {
      const id = await bridge.askAndSee(CLOSED);
      await bridge.loopback.write("7");
      await bridge.reads("Please choose from 1 to 2");
      expect(await bridge.view(id)).toMatchObject({ status: "waiting", version: ASKED });
      await bridge.loopback.write("1");
      await expectAnswer(bridge, id, { target: ["Staging (Recommended)"] });
    },
  },
  {
    name: "takes nothing from a stranger, typed or pressed",
    needs: ["stranger", "buttons"],
    async run(bridge) {
      const id = await bridge.askAndSee(TARGET);
      const { message, button } = await bridge.button(0);
      await bridge.loopback.stranger?.press(message, button);
      await bridge.loopback.stranger?.write("1", message);
      await bridge.loopback.stranger?.write("1");
      await bridge.loopback.write("2");
      await expectAnswer(bridge, id, { target: ["Production"] });
    },
  },
  {
    name: "takes nothing typed by a stranger",
    needs: ["stranger"],
    async run(bridge) {
      const id = await bridge.askAndSee(TARGET);
      await bridge.loopback.stranger?.write("1");
      await bridge.loopback.write("2");
      await expectAnswer(bridge, id, { target: ["Production"] });
    },
  },
  {
    name: "takes the first of two presses and says so of the second",
    needs: ["buttons"],
    async run(bridge) {
      const id = await bridge.askAndSee(TARGET);
      const [first, second] = [await bridge.button(0), await bridge.button(1)];
      await Promise.all([first, second].map((one) => bridge.loopback.press(one.message, one.button)));
      const { version, answers } = await bridge.settled(id);
      expect(version).toBe(ASKED + 1);
      expect(Object.values(answers ?? {})).toHaveLength(1);
      const told = async () =>
        (await bridge.loopback.notices()).some((notice) => notice.startsWith("Already answered"));
      await until("the later press is told", told);
    },
  },
  {
    name: "changes nothing by an old button",
    needs: ["buttons"],
    async run(bridge) {
      const id = await bridge.askAndSee(TARGET);
      const old = await bridge.button(0);
      await bridge.loopback.write("2");
      const answered = await bridge.settled(id);
      await bridge.loopback.press(old.message, old.button);
      await until("the press is told", async () => (await bridge.loopback.notices()).length > 0);
      expect(await bridge.view(id)).toMatchObject({ version: ASKED + 1, answers: answered.answers });
    },
  },
  {
    name: "gives a reply to the message it replies to, of two that are open",
    needs: ["replies", "side by side"],
    async run(bridge) {
      const first = await bridge.askAndSee({ ...TARGET, question: "Where first?" });
      const asked = (await bridge.loopback.shown()).at(-1);
      const second = await bridge.askAndSee({ ...TARGET, question: "Where second?" });
      await bridge.loopback.write("1", asked);
      await expectAnswer(bridge, first, { target: ["Staging (Recommended)"] });
      expect((await bridge.view(second)).status).toBe("waiting");
    },
  },
  {
    name: "settles nothing by a bare number while two are open",
    needs: ["replies", "side by side"],
    async run(bridge) {
      const ids = [await bridge.askAndSee(TARGET), await bridge.askAndSee(MANY)];
      const before = (await bridge.loopback.shown()).length;
      await bridge.loopback.write("1");
      await until("the person is asked which", async () => (await bridge.loopback.shown()).length > before);
      for (const id of ids) expect(await bridge.view(id)).toMatchObject({ status: "waiting", version: ASKED });
    },
  },
  {
    name: "shows one after another where answers could not be told apart",
    needs: ["one at a time"],
    async run(bridge) {
      const first = await bridge.askAndSee(TARGET);
      const second = await bridge.ask([{ ...MANY, question: "And which checks?" }]);
      await bridge.delivered(second, "queued");
      await bridge.loopback.write("1");
      await expectAnswer(bridge, first, { target: ["Staging (Recommended)"] });
      await bridge.delivered(second, "shown");
      await bridge.loopback.write("2");
      await expectAnswer(bridge, second, { checks: ["Unit"] });
    },
  },
];

type Answers = Readonly<Record<string, readonly string[]>>;

/** One typed message answers it all. */
function typed(how: string, questions: readonly QuestionInput[], reply: string, answers: Answers): BridgeCase {
  return {
    name: `takes an answer ${how}`,
    needs: [],
    async run(bridge) {
      const id = await bridge.askAndSee(...questions);
      await bridge.loopback.write(reply);
      await expectAnswer(bridge, id, answers);
    },
  };
}

async function press(bridge: Bridge, does: Parameters<Bridge["button"]>[0]): Promise<void> {
  const { message, button } = await bridge.button(does);
  await bridge.loopback.press(message, button);
}

async function expectAnswer(bridge: Bridge, id: string, answers: Answers, version = ASKED + 1): Promise<void> {
  const settled = await bridge.settled(id);
  expect(settled).toMatchObject({ status: "answered", version });
  expect(settled.answers).toEqual(answers);
  expect(settled.details?.map((detail) => detail.by)).toEqual(Object.keys(answers).map(() => PERSON));
}
