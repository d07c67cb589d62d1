/**
 * Answers: the first valid one wins for each question, what does not fit changes nothing, and each commit counts once.
 */
import { expect } from "vitest";
import {
  type Ability,
  behaviour,
  behaviourGiven,
  deploy,
  inquiryOf,
  type OpenAsker,
  refusal,
} from "./asker-harness.ts";

const COLOURS = [{ label: "Red" }, { label: "Green" }, { label: "Blue" }];
const TWO = { questions: [deploy({ id: "first" }), deploy({ id: "second" })] };

export function answering(open: OpenAsker): void {
  values(open);
  wordings(open);
  partly(open);
  once(open);
}

function values(open: OpenAsker): void {
  const cases: readonly (readonly [
    what: string,
    question: object,
    words: readonly string[],
    kinds: readonly string[],
    needs?: Ability,
  ])[] = [
    ["a label", {}, ["Production"], ["option"]],
    ["the person's own words", {}, ["Both, one after the other"], ["text"]],
    [
      "several labels of a multi-select",
      { multiSelect: true, options: COLOURS },
      ["Red", "Blue"],
      ["option", "option"],
    ],
    ["none of a multi-select", { multiSelect: true, options: COLOURS }, [], [], "answer as JSON"],
    ["words where no options are given", { options: [] }, ["Tuesday"], ["text"]],
  ];
  for (const [what, change, words, kinds, needs = null] of cases) {
    behaviourGiven(needs, `may be ${what}, and is an array`, open, async (gateway) => {
      const { inquiry } = await gateway.as("agent").ask(inquiryOf({ questions: [deploy(change)] }));
      const answered = await gateway.as("operator").answer(inquiry.id, { answers: { target: words } });
      expect(answered).toMatchObject({ status: "answered", version: 2, answers: { target: words } });
      expect(answered.details?.[0]).toMatchObject({ id: "target", outcome: "answered" });
      expect(answered.details?.[0]?.values.map((value) => value.kind)).toEqual(kinds);
    });
  }
}

function wordings(open: OpenAsker): void {
  behaviour("names a recommended option with or without its mark and comes back as authored", open, async (gateway) => {
    const { inquiry } = await gateway.as("agent").ask(inquiryOf());
    const answered = await gateway.as("operator").answer(inquiry.id, { answers: { target: ["Staging"] } });
    expect(answered.answers).toEqual({ target: ["Staging (Recommended)"] });
    expect(answered.details?.[0]?.values).toEqual([{ kind: "option", label: "Staging (Recommended)" }]);
  });

  behaviour("may be a reply as a person types it", open, async (gateway) => {
    const { inquiry } = await gateway.as("agent").ask(inquiryOf());
    const answered = await gateway.as("operator").answer(inquiry.id, { text: "2" });
    expect(answered.answers).toEqual({ target: ["Production"] });
  });

  behaviour("keeps to its question when texts and headers are the same", open, async (gateway) => {
    const questions = [deploy({ id: "constructor" }), deploy({ id: "to_string" })];
    const { inquiry } = await gateway.as("agent").ask({ questions });
    const answers = { constructor: ["Production"], to_string: ["Elsewhere"] };
    expect((await gateway.as("operator").answer(inquiry.id, { answers })).answers).toEqual(answers);
  });

  behaviour("of a person on a channel names the person and the channel", open, async (gateway) => {
    const { inquiry } = await gateway.as("agent").ask(inquiryOf());
    await gateway.person.answers(inquiry.id, "target", "Production");
    const answered = await gateway.as("agent").get(inquiry.id, { waitSeconds: 50 });
    expect(answered).toMatchObject({ status: "answered", answers: { target: ["Production"] } });
    expect(answered.details?.[0]).toMatchObject({ by: "ana", channel: expect.any(String) });
    expect(answered).toHaveProperty("shownAt");
  });
}

function partly(open: OpenAsker): void {
  behaviour("to one of two questions is kept while the other stays open", open, async (gateway) => {
    const operator = gateway.as("operator");
    const { inquiry } = await gateway.as("agent").ask(TWO);
    const partial = await operator.answer(inquiry.id, { answers: { first: ["Production"] } });
    expect(partial).toMatchObject({ status: "waiting", version: 2 });
    expect(partial).not.toHaveProperty("answers");
    expect(partial.details?.map((detail) => detail.outcome)).toEqual(["answered", "unanswered"]);
    const settled = await operator.answer(inquiry.id, { answers: { second: ["Elsewhere"] } });
    expect(settled).toMatchObject({
      status: "answered",
      version: 3,
      answers: { first: ["Production"], second: ["Elsewhere"] },
    });
  });

  behaviourGiven("answer as JSON", "to several questions is one commit", open, async (gateway) => {
    const { inquiry } = await gateway.as("agent").ask(TWO);
    const input = { answers: { first: ["Production"] }, skip: ["second"] };
    const settled = await gateway.as("operator").answer(inquiry.id, input);
    expect(settled).toMatchObject({ status: "answered", version: 2, answers: { first: ["Production"] } });
    expect(settled.answers).not.toHaveProperty("second");
  });
}

function once(open: OpenAsker): void {
  behaviour("to a question that has one is refused and the first stays", open, async (gateway) => {
    const { inquiry } = await gateway.as("agent").ask(TWO);
    const operator = gateway.as("operator");
    const before = await operator.answer(inquiry.id, { answers: { first: ["Production"] } });
    const late = operator.answer(inquiry.id, { answers: { first: ["Elsewhere"], second: ["Production"] } });
    expect((await refusal(late)).code).toBe("already_answered");
    const after = await operator.get(inquiry.id);
    expect({ version: after.version, details: after.details }).toEqual({ version: 2, details: before.details });
  });

  behaviourGiven(
    "idempotency key",
    "after settlement is refused; a repeat under its Idempotency-Key gets the first response",
    open,
    async (gateway) => {
      const { inquiry } = await gateway.as("agent").ask(inquiryOf());
      const operator = gateway.as("operator");
      const input = { answers: { target: ["Production"] } };
      const first = await operator.answer(inquiry.id, input, { idempotencyKey: "k" });
      const again = await operator.answer(inquiry.id, input, { idempotencyKey: "k" });
      expect({ ...again, deliveries: [] }).toEqual({ ...first, deliveries: [] });
      expect((await refusal(operator.answer(inquiry.id, input, { idempotencyKey: "l" }))).code).toBe("already_settled");
      expect((await refusal(operator.answer(inquiry.id, input))).code).toBe("already_settled");
      expect((await refusal(operator.skip(inquiry.id))).code).toBe("already_settled");
      expect((await refusal(operator.cancel(inquiry.id))).code).toBe("already_settled");
    },
  );

  behaviour("given by a person and an operator at once counts once", open, async (gateway) => {
    const { inquiry } = await gateway.as("agent").ask(inquiryOf());
    await gateway.person.sees(inquiry.id);
    await Promise.allSettled([
      gateway.as("operator").answer(inquiry.id, { answers: { target: ["Elsewhere"] } }),
      gateway.person.answers(inquiry.id, "target", "Production"),
    ]);
    const settled = await gateway.as("agent").get(inquiry.id, { waitSeconds: 50 });
    expect(settled).toMatchObject({ status: "answered", version: 2 });
    const by = settled.details?.[0]?.by;
    expect(settled.answers).toEqual({ target: [by === "ana" ? "Production" : "Elsewhere"] });
  });
}

export function answersRefused(open: OpenAsker): void {
  const closed = deploy({ allowOther: false });
  const colours = deploy({ multiSelect: true, options: COLOURS });
  const cases: readonly (readonly [what: string, question: object, input: unknown, needs?: Ability])[] = [
    ["a question that is not there", deploy(), { answers: { nothing: ["Production"] } }],
    ["a word outside a closed list", closed, { answers: { target: ["Elsewhere"] } }],
    ["text where an array is due", deploy(), { answers: { target: "Production" } }, "answer as JSON"],
    ["two labels for a single choice", deploy(), { answers: { target: ["Production", "Staging"] } }],
    ["none for a single choice", deploy(), { answers: { target: [] } }, "answer as JSON"],
    ["a blank", deploy(), { answers: { target: ["  "] } }],
    ["a label twice", colours, { answers: { target: ["Red", "Red"] } }],
    ["an empty map", deploy(), { answers: {} }, "answer as JSON"],
    ["nothing at all", deploy(), {}, "answer as JSON"],
    ["an unknown field", deploy(), { answer: { target: ["Production"] } }, "answer as JSON"],
    ["a number that no option has", closed, { text: "7" }],
  ];
  for (const [what, question, input, needs = null] of cases) {
    behaviourGiven(
      needs,
      `(${what}) leaves the inquiry unchanged, and a right one still counts`,
      open,
      async (gateway) => {
        const { inquiry } = await gateway.as("agent").ask({ questions: [question] });
        const operator = gateway.as("operator");
        const { code, message } = await refusal(operator.answer(inquiry.id, input));
        expect(code).toBe("invalid_answer");
        expect(message).not.toBe("");
        expect(await operator.get(inquiry.id)).toMatchObject({ status: "waiting", version: 1 });
        expect((await operator.answer(inquiry.id, { text: "2" })).status).toBe("answered");
      },
    );
  }

  behaviour("without a question's id among several is no answer and no cancel", open, async (gateway) => {
    const { inquiry } = await gateway.as("agent").ask(TWO);
    const reply = gateway.as("operator").answer(inquiry.id, { text: "somewhere warm" });
    expect((await refusal(reply)).code).toBe("invalid_answer");
    expect(await gateway.as("agent").get(inquiry.id)).toMatchObject({ status: "waiting", version: 1 });
  });

  behaviourGiven(
    "answer as JSON",
    "for a state the task has left is stale before it is invalid",
    open,
    async (gateway) => {
      const { inquiry } = await gateway.as("agent").ask(inquiryOf({ task: { taskId: "t", stateVersion: 4 } }));
      const late = gateway.as("operator").answer(inquiry.id, { answers: { nothing: [] }, stateVersion: 3 });
      expect((await refusal(late)).code).toBe("stale");
      expect(await gateway.as("agent").get(inquiry.id)).toMatchObject({ status: "waiting", version: 1 });
      const right = { answers: { target: ["Production"] }, stateVersion: 4 };
      expect((await gateway.as("operator").answer(inquiry.id, right)).status).toBe("answered");
    },
  );
}
