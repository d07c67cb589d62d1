/**
 * Attaching: a waiting call that was cut off finds its question again, and two calls that merely look alike never share
 * one.
 */
import { expect } from "vitest";
import { behaviour, behaviourGiven, deploy, inquiryOf, type OpenAsker, startAsking } from "./asker-harness.ts";

const TEN_MINUTES = 10 * 60_000;
const STAGING = { answers: { target: ["Staging (Recommended)"] } };

export function attaching(open: OpenAsker): void {
  byId(open);
  byContent(open);
  notByContent(open);
  afterSettlement(open);
}

function byId(open: OpenAsker): void {
  behaviour("with an id attaches by it, however many wait", open, async (gateway) => {
    const calls = [];
    for (let n = 0; n < 3; n++) calls.push(await startAsking(gateway, inquiryOf({ id: "deploy" })));
    expect((await gateway.as("agent").list()).items).toHaveLength(1);
    await gateway.as("operator").answer("deploy", STAGING);
    for (const call of calls) expect(await call.result).toMatchObject({ status: "answered", inquiry_id: "deploy" });
  });

  behaviourGiven(
    "idempotency key",
    "with an id attaches for good, also after its result was collected",
    open,
    async (gateway) => {
      const call = await startAsking(gateway, inquiryOf(), { idempotencyKey: "deploy" });
      await gateway.person.sees(call.id);
      await gateway.as("operator").answer(call.id, STAGING);
      const first = await call.result;
      await gateway.pass(2 * TEN_MINUTES);
      expect(await gateway.as("agent").askUser(inquiryOf(), { idempotencyKey: "deploy" })).toEqual(first);
    },
  );
}

function byContent(open: OpenAsker): void {
  behaviour("that was cut off leaves the question open, and the same call finds it", open, async (gateway) => {
    const cut = await startAsking(gateway, inquiryOf());
    await cut.detach();
    expect((await gateway.as("agent").get(cut.id)).status).toBe("waiting");
    const again = await startAsking(gateway, inquiryOf());
    expect(again.id).toBe(cut.id);
    await gateway.as("operator").answer(cut.id, STAGING);
    expect(await again.result).toMatchObject({ status: "answered", answers: STAGING, inquiry_id: cut.id });
  });

  behaviour(
    "equal to one that still waits gets a question of its own, and each its own answer",
    open,
    async (gateway) => {
      const [one, two] = [await startAsking(gateway, inquiryOf()), await startAsking(gateway, inquiryOf())];
      expect(two.id).not.toBe(one.id);
      await gateway.as("operator").answer(two.id, { answers: { target: ["Production"] } });
      await gateway.as("operator").answer(one.id, STAGING);
      expect(await one.result).toMatchObject({ answers: STAGING });
      expect(await two.result).toMatchObject({ answers: { answers: { target: ["Production"] } } });
    },
  );
}

function notByContent(open: OpenAsker): void {
  behaviour("attaches alone: of two that come at once, one asks anew", open, async (gateway) => {
    const cut = await startAsking(gateway, inquiryOf());
    await cut.detach();
    const both = await Promise.all([startAsking(gateway, inquiryOf()), startAsking(gateway, inquiryOf())]);
    const ids = both.map((call) => call.id);
    expect(ids).toContain(cut.id);
    expect(new Set(ids).size).toBe(2);
    await Promise.all(both.map((call) => call.detach()));
  });

  const changes: Readonly<Record<string, object>> = {
    "another question": { questions: [deploy({ question: "Where else?" })] },
    "another run": { run: "r2" },
    "another task": { task: { taskId: "t2", stateVersion: 1 } },
    "another session": { session: "support" },
  };
  for (const [what, change] of Object.entries(changes)) {
    behaviour(`for ${what} does not attach`, open, async (gateway) => {
      const base = { run: "r1", task: { taskId: "t1", stateVersion: 1 } };
      const cut = await startAsking(gateway, inquiryOf(base));
      await cut.detach();
      const other = await startAsking(gateway, inquiryOf({ ...base, ...change }));
      expect(other.id).not.toBe(cut.id);
      await other.detach();
    });
  }

  behaviour("of another key does not attach", open, async (gateway) => {
    const cut = await startAsking(gateway, inquiryOf());
    await cut.detach();
    const other = await startAsking(gateway, inquiryOf(), { who: "other" });
    expect(other.id).not.toBe(cut.id);
    await other.detach();
  });

  behaviourGiven(
    "ask without waiting",
    "is the only one that attaches by content: a plain ask is a new question",
    open,
    async (gateway) => {
      const cut = await startAsking(gateway, inquiryOf());
      await cut.detach();
      expect((await gateway.as("agent").ask(inquiryOf())).created).toBe(true);
    },
  );
}

function afterSettlement(open: OpenAsker): void {
  behaviour("gets an answer that came while nobody waited, once", open, async (gateway) => {
    const cut = await startAsking(gateway, inquiryOf());
    await cut.detach();
    await gateway.as("operator").answer(cut.id, STAGING);
    expect(await gateway.as("agent").askUser(inquiryOf())).toMatchObject({ status: "answered", inquiry_id: cut.id });
    await gateway.quiet();
    const next = await startAsking(gateway, inquiryOf());
    expect(next.id).not.toBe(cut.id);
    await next.detach();
  });

  behaviour("asks anew when the answer is older than ten minutes", open, async (gateway) => {
    const cut = await startAsking(gateway, inquiryOf());
    await cut.detach();
    await gateway.as("operator").answer(cut.id, STAGING);
    await gateway.pass(TEN_MINUTES + 1_000);
    const next = await startAsking(gateway, inquiryOf());
    expect(next.id).not.toBe(cut.id);
    await next.detach();
  });

  behaviour("never attaches to a cancelled question", open, async (gateway) => {
    const cut = await startAsking(gateway, inquiryOf());
    await cut.detach();
    await gateway.as("agent").cancel(cut.id);
    const next = await startAsking(gateway, inquiryOf());
    expect(next.id).not.toBe(cut.id);
    await next.detach();
  });
}
