/**
 * Ends: who may end an inquiry, what each end means, and that a program can tell all of them apart.
 */
import { expect } from "vitest";
import type { ToolResult } from "../ports/asker.ts";
import {
  type AskerHarness,
  behaviour,
  behaviourGiven,
  deploy,
  inquiryOf,
  type OpenAsker,
  refusal,
  startAsking,
} from "./asker-harness.ts";

const TWO = { questions: [deploy({ id: "first" }), deploy({ id: "second" })] };

export function ending(open: OpenAsker): void {
  behaviour("by skipping everything is cancelled as skipped", open, async (gateway) => {
    const call = await startAsking(gateway, inquiryOf());
    const skipped = await gateway.as("operator").skip(call.id);
    expect(skipped).toMatchObject({ status: "cancelled", reason: "skipped", version: 2 });
    expect(skipped).not.toHaveProperty("answers");
    expect(await call.result).toMatchObject({ status: "no_answer", reason: "skipped" });
  });

  behaviour("by skipping the rest is answered with what there is", open, async (gateway) => {
    const { inquiry } = await gateway.as("agent").ask(TWO);
    await gateway.as("operator").answer(inquiry.id, { answers: { first: ["Production"] } });
    const settled = await gateway.as("operator").skip(inquiry.id);
    expect(settled).toMatchObject({ status: "answered", version: 3, answers: { first: ["Production"] } });
    expect(settled.details?.map((detail) => detail.outcome)).toEqual(["answered", "skipped"]);
  });

  behaviour("by cancelling keeps partial answers in details alone", open, async (gateway) => {
    const call = await startAsking(gateway, TWO);
    await gateway.as("operator").answer(call.id, { answers: { first: ["Production"] } });
    await gateway.as("agent").cancel(call.id);
    const result = await call.result;
    expect(result).toMatchObject({ status: "no_answer", reason: "cancelled", cause: "aborted" });
    expect(result).not.toHaveProperty("answers");
    expect(result.details?.map((detail) => detail.outcome)).toEqual(["answered", "unanswered"]);
  });

  behaviourGiven(
    "idempotency key",
    "repeated under one Idempotency-Key gets the first response",
    open,
    async (gateway) => {
      const { inquiry } = await gateway.as("agent").ask(inquiryOf());
      const first = await gateway.as("agent").cancel(inquiry.id, { idempotencyKey: "k" });
      const again = await gateway.as("agent").cancel(inquiry.id, { idempotencyKey: "k" });
      expect({ ...again, deliveries: [] }).toEqual({ ...first, deliveries: [] });
    },
  );

  behaviourGiven("abort run", "by aborting a run takes what that run asked and nothing else", open, async (gateway) => {
    const agent = gateway.as("agent");
    const call = await startAsking(gateway, inquiryOf({ id: "mine", run: "r/1" }));
    await agent.ask(inquiryOf({ id: "also", run: "r/1" }));
    await agent.ask(inquiryOf({ id: "not", run: "r/2" }));
    await gateway.as("operator").answer("also", { answers: { target: ["Production"] } });
    expect(await agent.abortRun("r/1")).toEqual({ cancelled: ["mine"] });
    expect(await call.result).toMatchObject({ status: "no_answer", reason: "cancelled", cause: "aborted" });
    expect((await agent.get("also")).status).toBe("answered");
    expect((await agent.get("not")).status).toBe("waiting");
  });
}

export function tasks(open: OpenAsker): void {
  const task = { taskId: "t/1", currentStep: "plan", stateVersion: 3 };

  behaviourGiven("move task", "that moves on supersedes what was asked in its old state", open, async (gateway) => {
    const call = await startAsking(gateway, inquiryOf({ id: "old", task }));
    const moved = await gateway.as("agent").moveTask("t/1", { stateVersion: 4 });
    expect(moved).toMatchObject({ taskId: "t/1", stateVersion: 4, superseded: ["old"] });
    expect(await call.result).toMatchObject({ status: "no_answer", reason: "superseded" });
    expect(await gateway.as("agent").get("old")).toMatchObject({
      status: "cancelled",
      reason: "superseded",
      version: 2,
    });
  });

  const moves: Readonly<Record<string, object>> = {
    "a higher state version": { ...task, stateVersion: 4 },
    "a new step": { ...task, currentStep: "apply" },
  };
  for (const [what, next] of Object.entries(moves)) {
    behaviour(`moves on with ${what} in a new inquiry`, open, async (gateway) => {
      await gateway.as("agent").ask(inquiryOf({ id: "old", task }));
      await gateway.as("agent").ask(inquiryOf({ id: "new", task: next }));
      expect(await gateway.as("agent").get("old")).toMatchObject({ status: "cancelled", reason: "superseded" });
      expect(await gateway.as("agent").get("new")).toMatchObject({ status: "waiting", task: next });
    });
  }

  behaviour("stays where it is for several questions of one state", open, async (gateway) => {
    await gateway.as("agent").ask(inquiryOf({ id: "one", task }));
    await gateway.as("agent").ask(inquiryOf({ id: "two", task }));
    expect((await gateway.as("agent").list({ status: "waiting" })).items).toHaveLength(2);
  });

  behaviourGiven(
    "move task",
    "never moves back: a lower version is stale and nothing is stored",
    open,
    async (gateway) => {
      const agent = gateway.as("agent");
      await agent.ask(inquiryOf({ id: "old", task }));
      const back = { ...task, stateVersion: 2 };
      expect((await refusal(agent.ask(inquiryOf({ id: "late", task: back })))).code).toBe("stale");
      expect((await refusal(agent.moveTask("t/1", { stateVersion: 2 }))).code).toBe("stale");
      expect((await agent.list()).items.map((one) => [one.id, one.status])).toEqual([["old", "waiting"]]);
    },
  );

  behaviourGiven("move task", "of one key is not moved by another", open, async (gateway) => {
    await gateway.as("agent").ask(inquiryOf({ id: "mine", task }));
    expect(await gateway.as("other").moveTask("t/1", { stateVersion: 9 })).toMatchObject({ superseded: [] });
    expect((await gateway.as("agent").get("mine")).status).toBe("waiting");
  });
}

/** What ends it -> the input, the deed, and all that the result may say. */
const ENDS: Readonly<
  Record<
    string,
    readonly [input: object, end: (gateway: AskerHarness, id: string) => Promise<unknown>, expected: object]
  >
> = {
  "a chosen No": [
    { questions: [deploy({ options: [{ label: "Yes" }, { label: "No" }] })] },
    (gateway, id) => gateway.person.answers(id, "target", "No"),
    { status: "answered", answers: { answers: { target: ["No"] } } },
  ],
  "the person's cancel": [
    {},
    (gateway, id) => gateway.person.cancels(id),
    { status: "no_answer", reason: "cancelled", cause: "declined" },
  ],
  "the agent's cancel": [
    {},
    (gateway, id) => gateway.as("agent").cancel(id),
    { status: "no_answer", reason: "cancelled", cause: "aborted" },
  ],
  "the operator's cancel": [
    {},
    (gateway, id) => gateway.as("operator").cancel(id),
    { status: "no_answer", reason: "cancelled", cause: "operator" },
  ],
  "silence until the deadline": [{}, silence, { status: "no_answer", reason: "timed_out" }],
  "failed delivery": [
    { to: ["nowhere:1"] },
    async () => {},
    { status: "no_answer", reason: "undelivered", cause: "unreachable" },
  ],
};

export function outcomes(open: OpenAsker): void {
  for (const [what, [input, end, expected]] of Object.entries(ENDS)) {
    behaviour(`after ${what} says exactly that, and no choice or advice of its own`, open, async (gateway) => {
      const call = await startAsking(gateway, inquiryOf(input));
      await end(gateway, call.id);
      const { inquiry_id, timeout_seconds, shown_at, details, ...rest } = await call.result;
      expect(rest).toEqual(expected);
      expect(inquiry_id).toBe(call.id);
      expect(timeout_seconds).toBe(900);
      if (rest.status !== "answered") expect(details?.flatMap((detail) => detail.values)).toEqual([]);
    });
  }

  behaviour(
    "at the deadline carries defaults only in details, and only where that was asked for",
    open,
    async (gateway) => {
      const defaults = { onTimeout: { use: { target: ["Staging (Recommended)"] } } };
      const call = await startAsking(gateway, inquiryOf({ ...defaults, reversible: true }));
      await silence(gateway, call.id);
      const result: ToolResult = await call.result;
      expect(result).toMatchObject({ status: "no_answer", reason: "timed_out" });
      expect(result).not.toHaveProperty("answers");
      expect(result.details).toEqual([
        { id: "target", outcome: "unanswered", values: [{ kind: "default", label: "Staging (Recommended)" }] },
      ]);
    },
  );
}

async function silence(gateway: AskerHarness, id: string): Promise<void> {
  await gateway.person.sees(id);
  await gateway.pass(901_000);
}
