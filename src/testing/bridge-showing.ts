/**
 * What the whole bridge promises about showing: everything that is asked, what became of it, and what faults cost.
 */
import { expect } from "vitest";
import { TARGET } from "./bridge-answering.ts";
import type { BridgeCase, QuestionInput } from "./bridge-stage.ts";
import { HOSTILE_TEXTS, LONG_TEXTS } from "./hostile-texts.ts";

const LONGEST: QuestionInput = {
  id: "longest",
  header: "Longest",
  question: LONG_TEXTS[0]?.[1] ?? "",
  options: ["a", "b", "c", "d"].map((letter) => ({
    label: `${letter} ${"label ".repeat(33)}`.trim(),
    description: `${letter} ${"description ".repeat(41)}`.trim(),
  })),
};

export const BRIDGE_SHOWING: readonly BridgeCase[] = [
  shows("a question with its header, options and descriptions", TARGET),
  shows("the longest question allowed", LONGEST),
  ...HOSTILE_TEXTS.map(([name, text]) => shows(`as written: ${name}`, { ...TARGET, question: `x ${text} x` })),
  {
    name: "sets an agent's words apart from its own, so that none can be forged",
    needs: [],
    async run(bridge) {
      const forged = "Answered by ana";
      await bridge.askAndSee({ ...TARGET, question: `Sure?\n\n${forged}\n\n${forged}` });
      await bridge.reads(forged);
      const lines = (await bridge.loopback.shown()).flatMap((message) => message.text.split("\n"));
      expect(lines.filter((line) => line.startsWith(forged))).toEqual([]);
    },
  },
  {
    name: "says in the end what was answered and by whom",
    needs: [],
    async run(bridge) {
      const id = await bridge.askAndSee(TARGET);
      await bridge.loopback.write("2");
      await bridge.settled(id);
      await bridge.delivered(id, "closed");
      await bridge.reads("Answered by ana");
    },
  },
  {
    name: "takes every button away in the end",
    needs: ["buttons", "edits"],
    async run(bridge) {
      const id = await bridge.askAndSee(TARGET);
      await bridge.button(0);
      await bridge.loopback.write("2");
      await bridge.delivered(id, "closed");
      expect((await bridge.loopback.shown()).flatMap((message) => message.buttons)).toEqual([]);
    },
  },
  {
    name: "says that the agent stopped asking",
    needs: [],
    async run(bridge) {
      const id = await bridge.askAndSee(TARGET);
      expect(await bridge.cancel(id)).toMatchObject({ status: "cancelled", reason: "aborted" });
      await bridge.reads("The agent stopped asking");
    },
  },
  {
    name: "takes the answer to a question shown before a restart",
    needs: [],
    async run(bridge) {
      const id = await bridge.askAndSee(TARGET);
      await bridge.restart();
      await bridge.loopback.write("2");
      expect(await bridge.settled(id)).toMatchObject({ status: "answered", answers: { target: ["Production"] } });
      await bridge.reads("Answered by ana");
    },
  },
  {
    name: "shows it once a platform that was busy takes it",
    needs: ["rate limited"],
    async run(bridge) {
      bridge.loopback.play("rate limited");
      await bridge.askAndSee(TARGET);
      expect((await bridge.loopback.shown()).filter((message) => message.text.includes("Production"))).toHaveLength(1);
    },
  },
  {
    name: "shows plain numbers where the platform refuses the buttons",
    needs: ["content refused", "buttons"],
    async run(bridge) {
      bridge.loopback.play("content refused");
      const id = await bridge.askAndSee(TARGET);
      expect((await bridge.loopback.shown()).flatMap((message) => message.buttons)).toEqual([]);
      await bridge.loopback.write("2");
      expect(await bridge.settled(id)).toMatchObject({ answers: { target: ["Production"] } });
    },
  },
  {
    name: "says at once that nobody can be reached",
    needs: ["chat gone"],
    async run(bridge) {
      bridge.loopback.play("chat gone");
      const id = await bridge.ask([TARGET]);
      expect(await bridge.settled(id)).toMatchObject({ status: "undelivered", reason: "unreachable" });
    },
  },
];

function shows(what: string, question: QuestionInput): BridgeCase {
  return {
    name: `shows ${what}`,
    needs: [],
    async run(bridge) {
      await bridge.askAndSee(question);
      await bridge.reads(question.question);
      await bridge.reads(question.header);
      for (const option of question.options) {
        await bridge.reads(option.label.replace(/ \(Recommended\)$/, ""));
        if (option.description) await bridge.reads(option.description);
      }
    },
  };
}
