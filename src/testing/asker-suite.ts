/**
 * The contract of asking, as a suite: what holds for the engine holds over HTTP and on the command line.
 *
 * Each case reads as one promise of the public contract. Cases look at JSON and error codes alone.
 */
import { describe, expect, it } from "vitest";
import { answering, answersRefused } from "./asker-answers-suite.ts";
import { attaching } from "./asker-attach-suite.ts";
import { ending, outcomes, tasks } from "./asker-ending-suite.ts";
import {
  type Ability,
  type AskerHarness,
  behaviour,
  behaviourGiven,
  deploy,
  inquiryOf,
  leftOut,
  type OpenAsker,
  refusal,
  type Who,
} from "./asker-harness.ts";

export function askerSuite(name: string, open: OpenAsker): void {
  describe(`asking, by ${name}`, () => {
    describe("an inquiry", () => asking(open));
    describe("a bad input", () => refusing(open));
    describe("an id", () => ids(open));
    describe("a key", () => keys(open));
    describe("reading", () => reading(open));
    describe("a waiting call", () => attaching(open));
    describe("an answer", () => answering(open));
    describe("an answer that does not fit", () => answersRefused(open));
    describe("an end", () => ending(open));
    describe("a task", () => tasks(open));
    describe("an outcome", () => outcomes(open));
    const { lacks } = open;
    if (lacks) describe("what there are no words for", () => missing(open, lacks));
  });
}

/** A lack that leaves nothing out is none. Registered last, when every case has been chosen or left out. */
function missing(open: OpenAsker, lacks: readonly Ability[]): void {
  for (const ability of lacks) {
    const names = leftOut(open, ability);
    it(`${ability}: ${names.length} cases left out`, () => expect(names).not.toEqual([]));
  }
}

function asking(open: OpenAsker): void {
  behaviour("comes back as it was stored, with every default filled in", open, async (gateway) => {
    const { created, inquiry } = await gateway.as("agent").ask(inquiryOf());
    expect(created).toBe(true);
    expect(inquiry).toMatchObject({
      session: "main",
      kind: "question",
      status: "waiting",
      version: 1,
      timeoutSeconds: 900,
    });
    expect(inquiry.questions).toEqual([{ ...deploy(), multiSelect: false }]);
    expect(Date.parse(inquiry.expiresAt) - Date.parse(inquiry.createdAt)).toBe(900_000);
    expect(inquiry).not.toHaveProperty("answers");
  });

  for (const [given, effective] of [
    [null, 900],
    [0, 30],
    [29, 30],
    [30, 30],
    [3600, 3600],
    [3601, 3600],
    [900_000, 3600],
  ]) {
    behaviour(`given a time-out of ${given} waits ${effective} seconds and says so`, open, async (gateway) => {
      const { inquiry } = await gateway.as("agent").ask(inquiryOf({ timeoutSeconds: given }));
      expect(inquiry.timeoutSeconds).toBe(effective);
    });
  }

  behaviour("has its header shortened, never refused for its length", open, async (gateway) => {
    const { inquiry } = await gateway
      .as("agent")
      .ask(inquiryOf({ questions: [deploy({ header: "Deployment target" })] }));
    expect(inquiry.questions[0]?.header).toBe("Deployment t");
  });

  behaviour("loses an authored Other, since free text is always open", open, async (gateway) => {
    const options = [{ label: "Red" }, { label: "OTHER..." }, { label: "Blue" }];
    const { inquiry } = await gateway.as("agent").ask(inquiryOf({ questions: [deploy({ options })] }));
    expect(inquiry.questions[0]?.options).toEqual([{ label: "Red" }, { label: "Blue" }]);
  });

  behaviour("that names no reachable address is undelivered at once", open, async (gateway) => {
    const { inquiry } = await gateway.as("agent").ask(inquiryOf({ to: ["nowhere:1"] }));
    expect(inquiry.status).toBe("undelivered");
    expect(inquiry).not.toHaveProperty("answers");
  });
}

const { options } = deploy();
/** What is wrong, the input, and where the fault is told. */
const BAD_INPUTS: readonly (readonly [what: string, input: unknown, path: string])[] = [
  ["no questions", { questions: [] }, "questions"],
  ["four questions", { questions: ["a", "b", "c", "d"].map((id) => deploy({ id })) }, "questions"],
  [
    "options as a JSON string",
    inquiryOf({ questions: [deploy({ options: JSON.stringify(options) })] }),
    "questions[0].options",
  ],
  ["one option", inquiryOf({ questions: [deploy({ options: options.slice(1) })] }), "questions[0].options"],
  [
    "five options",
    inquiryOf({ questions: [deploy({ options: "abcde".split("").map((label) => ({ label })) })] }),
    "questions[0].options",
  ],
  [
    "an empty label",
    inquiryOf({ questions: [deploy({ options: [{ label: "" }, { label: "b" }] })] }),
    "questions[0].options[0].label",
  ],
  [
    "a label of spaces",
    inquiryOf({ questions: [deploy({ options: [{ label: "a" }, { label: "  " }] })] }),
    "questions[0].options[1].label",
  ],
  ["an unknown field", inquiryOf({ questions: [deploy({ required: true })] }), "questions[0].required"],
  ["a flag as text", inquiryOf({ questions: [deploy({ multiSelect: "false" })] }), "questions[0].multiSelect"],
  ["an id that starts with a digit", inquiryOf({ questions: [deploy({ id: "1" })] }), "questions[0].id"],
  ["the id __proto__", inquiryOf({ questions: [deploy({ id: "__proto__" })] }), "questions[0].id"],
  ["one id twice", { questions: [deploy(), deploy()] }, "questions[1].id"],
  ["a time-out as text", inquiryOf({ timeoutSeconds: "900" }), "timeoutSeconds"],
  ["a broken number of seconds", inquiryOf({ timeoutSeconds: 30.5 }), "timeoutSeconds"],
  ["the gate's own kind", inquiryOf({ kind: "approval" }), "kind"],
];

function refusing(open: OpenAsker): void {
  for (const [what, input, path] of BAD_INPUTS) {
    behaviour(`with ${what} is refused at ${path} and nothing is stored`, open, async (gateway) => {
      const { code, issues } = await refusal(gateway.as("agent").ask(input));
      expect(code).toBe("invalid_inquiry");
      expect(issues.map((issue) => issue.path)).toContain(path);
      const said = expect.stringMatching(/\S/);
      for (const issue of issues) expect(issue).toMatchObject({ rule: said, received: said, message: said });
      expect((await gateway.as("operator").list()).items).toEqual([]);
    });
  }

  behaviour("gets all its faults told at once, by the waiting call too", open, async (gateway) => {
    const input = {
      questions: [deploy({ id: "Bad", header: " " }), deploy({ options: [] as string[], multiSelect: 1 })],
      timeoutSeconds: "x",
    };
    const paths = ["questions[0].header", "questions[0].id", "questions[1].multiSelect", "timeoutSeconds"];
    const refused = await refusal(gateway.as("agent").askUser(input));
    expect(refused.issues.map((issue) => issue.path)).toEqual(paths);
    expect((await refusal(gateway.as("agent").ask(input))).issues).toEqual(refused.issues);
  });
}

function ids(open: OpenAsker): void {
  behaviour("given again with the same content names the inquiry that exists", open, async (gateway) => {
    const agent = gateway.as("agent");
    const first = await agent.ask(inquiryOf({ id: "deploy/7 %" }));
    const second = await agent.ask(inquiryOf({ id: "deploy/7 %" }));
    expect([first.created, second.created]).toEqual([true, false]);
    expect(second.inquiry).toMatchObject({ id: "deploy/7 %", createdAt: first.inquiry.createdAt, version: 1 });
    expect((await agent.get("deploy/7 %")).id).toBe("deploy/7 %");
  });

  behaviour("given again with other content is a conflict, and the first stays as it was", open, async (gateway) => {
    const agent = gateway.as("agent");
    const { inquiry } = await agent.ask(inquiryOf({ id: "one" }));
    const other = inquiryOf({ id: "one", questions: [deploy({ question: "Where else?" })] });
    expect((await refusal(agent.ask(other))).code).toBe("id_conflict");
    expect((await refusal(agent.askUser(other))).code).toBe("id_conflict");
    expect((await agent.get("one")).questions).toEqual(inquiry.questions);
  });

  behaviourGiven("idempotency key", "may be the Idempotency-Key where the body has none", open, async (gateway) => {
    const agent = gateway.as("agent");
    const first = await agent.ask(inquiryOf(), { idempotencyKey: "k-1" });
    const second = await agent.ask(inquiryOf(), { idempotencyKey: "k-1" });
    expect(second).toMatchObject({ created: false, inquiry: { id: first.inquiry.id } });
    const other = agent.ask(inquiryOf({ questions: [deploy({ question: "Else?" })] }), { idempotencyKey: "k-1" });
    expect((await refusal(other)).code).toBe("id_conflict");
  });

  behaviour("belongs to its key: another key may use the same", open, async (gateway) => {
    await gateway.as("agent").ask(inquiryOf({ id: "same" }));
    const foreign = inquiryOf({ id: "same", questions: [deploy({ question: "Mine?" })] });
    expect((await gateway.as("other").ask(foreign)).created).toBe(true);
    expect((await gateway.as("agent").get("same")).questions[0]?.question).toBe("Where shall this go?");
    expect((await gateway.as("other").get("same")).questions[0]?.question).toBe("Mine?");
  });

  behaviour("is minted where none is given, one for each ask", open, async (gateway) => {
    const one = await gateway.as("agent").ask(inquiryOf());
    const two = await gateway.as("agent").ask(inquiryOf());
    expect(two.created).toBe(true);
    expect(two.inquiry.id).not.toBe(one.inquiry.id);
  });
}

function keys(open: OpenAsker): void {
  behaviourGiven("abort run", "sees nothing of another key's inquiry", open, async (gateway) => {
    const { inquiry } = await gateway.as("agent").ask(inquiryOf({ run: "r" }));
    const other = gateway.as("other");
    for (const { code } of await Promise.all([other.get(inquiry.id), other.cancel(inquiry.id)].map(refusal))) {
      expect(code).toBe("not_found");
    }
    expect((await other.list()).items).toEqual([]);
    expect(await other.abortRun("r")).toEqual({ cancelled: [] });
    expect((await gateway.as("agent").get(inquiry.id)).status).toBe("waiting");
  });

  behaviour("of one session asks in that session alone", open, async (gateway) => {
    const scoped = gateway.as("scoped");
    expect((await scoped.ask(inquiryOf())).inquiry.session).toBe("support");
    expect((await refusal(scoped.ask(inquiryOf({ session: "main" })))).code).toBe("not_found");
  });

  behaviour("of a kind other than main may not ask, in any form", open, async (gateway) => {
    const subagent = gateway.as("subagent");
    for (const { code } of [await refusal(subagent.ask(inquiryOf())), await refusal(subagent.askUser(inquiryOf()))]) {
      expect(code).toBe("main_session_only");
    }
    expect((await gateway.as("operator").list()).items).toEqual([]);
  });

  for (const who of ["agent", "scoped", "subagent"] satisfies Who[]) {
    behaviour(`of an agent (${who}) may neither answer nor skip`, open, async (gateway: AskerHarness) => {
      const { inquiry } = await gateway.as("agent").ask(inquiryOf());
      const key = gateway.as(who);
      expect((await refusal(key.answer(inquiry.id, { answers: { target: ["Production"] } }))).code).toBe("forbidden");
      expect((await refusal(key.skip(inquiry.id))).code).toBe("forbidden");
      expect(await gateway.as("agent").get(inquiry.id)).toMatchObject({ status: "waiting", version: 1 });
    });
  }
}

function reading(open: OpenAsker): void {
  behaviourGiven(
    "page size",
    "lists newest first, page by page, filtered by status and session",
    open,
    async (gateway) => {
      const agent = gateway.as("agent");
      for (const id of ["a", "b", "c"]) {
        await agent.ask(inquiryOf({ id }));
        await gateway.pass(1_000);
      }
      await agent.ask(inquiryOf({ id: "elsewhere", session: "support" }));
      await agent.cancel("b");
      const first = await agent.list({ session: "main", limit: 2 });
      expect(first.items.map((one) => one.id)).toEqual(["c", "b"]);
      const second = await agent.list({ session: "main", limit: 2, cursor: first.next ?? "" });
      expect(second.items.map((one) => one.id)).toEqual(["a"]);
      expect(second).not.toHaveProperty("next");
      expect((await agent.list({ status: "cancelled" })).items.map((one) => one.id)).toEqual(["b"]);
      expect((await refusal(agent.list({ status: "done" }))).code).toBe("invalid_request");
    },
  );

  behaviour("with a wait returns at settlement", open, async (gateway) => {
    const { inquiry } = await gateway.as("agent").ask(inquiryOf());
    const waiting = gateway.as("agent").get(inquiry.id, { waitSeconds: 50 });
    await gateway.as("agent").cancel(inquiry.id);
    expect((await waiting).status).toBe("cancelled");
  });

  behaviour("what is not there is not found", open, async (gateway) => {
    for (const who of ["agent", "operator"] satisfies Who[]) {
      expect((await refusal(gateway.as(who).get("nothing"))).code).toBe("not_found");
    }
  });
}
