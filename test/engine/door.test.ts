/** What the door refuses: respondents nobody is, answers that contradict themselves. */
import { describe, expect, test } from "vitest";
import { AskgateError } from "../../src/core/errors.ts";
import { AGENT, OPERATOR } from "../../src/testing/bridge.ts";
import { bridges, question } from "./bridges.ts";
import { heldChannel } from "./held-channel.ts";

const open = bridges();
const start = () => open({ channels: () => [heldChannel().source] });

async function refusal(call: Promise<unknown>): Promise<AskgateError> {
  const error: unknown = await call.then(
    () => null,
    (thrown) => thrown,
  );
  if (error instanceof AskgateError) return error;
  throw new Error(`not refused by the door: ${String(error)}`);
}

describe("respondents", () => {
  test.each([
    ["an unknown name", ["zoe"], ["respondents[0]"]],
    ["a role nobody has", ["role:nobody"], ["respondents[0]"]],
    ["one of several", ["ana", "zoe", "ben", "role:x"], ["respondents[1]", "respondents[3]"]],
  ])("%s: refused with who there is, and nothing is asked", async (_, respondents, paths) => {
    const { engine } = await start();
    const error = await refusal(engine.asker.ask(AGENT, question("held:1", { respondents })));
    expect(error.code).toBe("invalid_inquiry");
    expect(error.issues.map(({ path, rule }) => [path, rule])).toEqual(paths.map((path) => [path, "unknown"]));
    expect(error.message).toContain("ana, ben, role:owner, role:team");
    expect((await engine.asker.list(AGENT, {})).items).toEqual([]);
    const signal = new AbortController().signal;
    expect((await refusal(engine.asker.askUser(AGENT, question("held:1", { respondents }), { signal }))).code).toBe(
      "invalid_inquiry",
    );
  });

  test.each([["ben"], ["role:team"], ["role:owner"]])("%s is fine", async (name) => {
    const { engine } = await start();
    const { inquiry } = await engine.asker.ask(AGENT, question("held:1", { respondents: [name] }));
    expect(inquiry.status).toBe("waiting");
  });
});

test("a callback, which this version cannot make, is refused instead of forgotten", async () => {
  const { engine } = await start();
  const asked = { ...question("held:1"), callbackUrl: "https://example.com/hook" };
  const error = await refusal(engine.asker.ask(AGENT, asked));
  expect(error.issues).toMatchObject([{ path: "callbackUrl", rule: "unsupported" }]);
  expect((await engine.asker.list(AGENT, {})).items).toEqual([]);
});

describe("an answer that contradicts itself", () => {
  test.each([
    ["answers and skip of one question", { answers: { q: ["Staging"] }, skip: ["q"] }, "skip"],
    ["a text beside answers", { text: "1", answers: { q: ["Staging"] } }, "text"],
    ["a text beside a skip", { text: "1", skip: ["q"] }, "text"],
  ])("%s changes nothing", async (_, input, path) => {
    const { engine } = await start();
    const { inquiry } = await engine.asker.ask(AGENT, question("held:1"));
    const error = await refusal(engine.asker.answer(OPERATOR, inquiry.id, input));
    expect(error.code).toBe("invalid_answer");
    expect(error.issues.map((issue) => [issue.path, issue.rule])).toEqual([[path, "conflict"]]);
    expect(await engine.asker.get(AGENT, inquiry.id)).toMatchObject({ status: "waiting", version: 1 });
  });

  test("answers to one and a skip of another question agree", async () => {
    const { engine } = await start();
    const [first] = question("held:1").questions;
    const questions = [first, { ...first, id: "two", header: "Two" }];
    const { inquiry } = await engine.asker.ask(AGENT, { ...question("held:1"), questions });
    const view = await engine.asker.answer(OPERATOR, inquiry.id, { answers: { q: ["Staging"] }, skip: ["two"] });
    expect(view).toMatchObject({ status: "answered", answers: { q: ["Staging"] } });
  });
});
