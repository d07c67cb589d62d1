import { describe, expect, it } from "vitest";
import type { Question } from "../../src/core/question.ts";
import { parseReply } from "../../src/core/reply/parse.ts";

function question(id: string, labels: readonly string[], over: Partial<Question> = {}): Question {
  const options = labels.map((label) => ({ label, description: null }));
  return { id, header: id, question: "?", options, multiSelect: false, allowOther: true, sensitive: false, ...over };
}

const ENV = question("env", ["Staging", "Production", "Local"], { header: "Where" });
const YN = question("yn", ["Yes", "No"], { header: "Delete?" });
const CHECKS = question("checks", ["Lint", "Unit", "E2E"], { multiSelect: true });
const PORT = question("port", [], { header: "Port" });

/** By id: labels joined by +, `"text"`, `skip`; then the reason for asking again, if any. */
function read(questions: readonly Question[], reply: string): string {
  const { answers, reason } = parseReply(questions, reply);
  const parts = [...answers].map(([id, answer]) => {
    if ("select" in answer) return `${id}=${answer.select.join("+")}`;
    return "other" in answer ? `${id}="${answer.other}"` : `${id}=skip`;
  });
  return [...parts, ...(reason ? [reason] : [])].join(" ");
}

describe("a reply to two questions", () => {
  it.each([
    ["1: 2\n2: 1", "env=Production yn=Yes"],
    ["1. Staging\n2. no", "env=Staging yn=No"],
    ["2) no\n1) local", "env=Local yn=No"],
    ["Q1: 2, Q2: 2", "env=Production yn=No"],
    ["q1: staging; q2: yes", "env=Staging yn=Yes"],
    ["1: staging 2: yes", "env=Staging yn=Yes"],
    ["env: local\nyn: 1", "env=Local yn=Yes"],
    ["Where: local\nDelete?: no", "env=Local yn=No"],
    ["۱: ۲\n۲: ۱", "env=Production yn=Yes"],
    ["1： 2\n2： 1", "env=Production yn=Yes"],
    ["1: use the old cluster\n2: yes", 'env="use the old cluster" yn=Yes'],
    ["1: http://a.example:80/x\n2: yes", 'env="http://a.example:80/x" yn=Yes'],
    ["1: skip\n2: yes", "env=skip yn=Yes"],
    ["1: ۴۴ port\n2: yes", 'env="۴۴ port" yn=Yes'],
  ])("keyed: %j", (reply, answers) => {
    expect(read([ENV, YN], reply)).toBe(answers);
  });

  it.each([
    ["2\n1", "env=Production yn=Yes"],
    ["staging\nno", "env=Staging yn=No"],
    ["staging; no", "env=Staging yn=No"],
    ["staging, no", "env=Staging yn=No"],
    ["local / yes", "env=Local yn=Yes"],
    ["2 1", "env=Production yn=Yes"],
    ["the old cluster\nyes", 'env="the old cluster" yn=Yes'],
  ])("in order: %j", (reply, answers) => {
    expect(read([ENV, YN], reply)).toBe(answers);
  });

  it.each([
    ["1: staging", "env=Staging partial"],
    ["2. no", "yn=No partial"],
    ["1: staging\n2:", "env=Staging partial"],
    ["staging", "env=Staging partial"],
  ])("in part, kept: %j", (reply, answers) => {
    expect(read([ENV, YN], reply)).toBe(answers);
  });

  it.each([
    ["1: 9\n2: 1", "yn=Yes out_of_range"],
    ["9\nyes", "yn=Yes out_of_range"],
    ["1: 1 or 2, 2: yes", "yn=Yes ambiguous"],
    ["1: staging?\n2: yes", "yn=Yes ambiguous"],
  ])("what is understood stays, the rest is asked again: %j", (reply, answers) => {
    expect(read([ENV, YN], reply)).toBe(answers);
  });

  it.each([
    "2",
    "yes",
    "no",
    "do what you like",
    "staging, banana",
    "1 2 3",
    "1: staging 1: local",
    "3: yes",
    "hello 1: staging 2: yes",
    "1: please redo step 2: something",
  ])("tied to no question, nothing kept: %j", (reply) => {
    expect(read([ENV, YN], reply)).toBe("ambiguous");
  });

  it("skips all by one word, says nothing by none, and asks back", () => {
    expect(read([ENV, YN], "skip")).toBe("env=skip yn=skip");
    expect(parseReply([ENV, YN], "Omitir").outcome).toBe("skip");
    expect(read([ENV, YN], " \u200B")).toBe("empty");
    expect(read([ENV, YN], "what is this about?")).toBe("question_back");
  });

  it("takes a time for an answer, never for a key", () => {
    const time = question("time", ["9:00", "2:30"]);
    expect(read([time, YN], "9:00\nyes")).toBe("time=9:00 yn=Yes");
    expect(read([time, YN], "2:30\nyes")).toBe("time=2:30 yn=Yes");
  });

  it("does not cut a label at its comma", () => {
    const place = question("place", ["Frankfurt, Germany", "Paris, France"]);
    expect(read([place, YN], "paris, france")).toBe("place=Paris, France partial");
    expect(read([place, YN], "paris, france; yes")).toBe("place=Paris, France yn=Yes");
  });
});

describe("a multi-select among the questions", () => {
  it.each([
    ["1, 3\n2", "checks=Lint+E2E yn=No"],
    ["1,3; no", "checks=Lint+E2E yn=No"],
    ["1: 1, 3\n2: 2", "checks=Lint+E2E yn=No"],
    ["1: 1, 2\n2: yes", "checks=Lint+Unit yn=Yes"],
    ["all; yes", "checks=Lint+Unit+E2E yn=Yes"],
  ])("%j", (reply, answers) => {
    expect(read([CHECKS, YN], reply)).toBe(answers);
  });

  it.each(["1, 2", "1 2", "1 3 2"])("%j fits in more than one way", (reply) => {
    expect(read([CHECKS, YN], reply)).toBe("ambiguous");
  });
});

describe("three questions", () => {
  it("are answered in order, by key, and in part", () => {
    expect(read([ENV, YN, PORT], "2\nyes\n4444")).toBe('env=Production yn=Yes port="4444"');
    expect(read([ENV, YN, PORT], "3: 4444\n1: 2")).toBe('env=Production port="4444" partial');
    expect(read([ENV, YN, CHECKS], "2; no; 1,2")).toBe("env=Production yn=No checks=Lint+Unit");
  });

  it("with free text alone never count as a choice of the person", () => {
    expect(read([PORT, question("note", [])], "one\ntwo")).toBe("ambiguous");
  });

  it("with one id that is the header of another leave that word to neither", () => {
    const first = question("port", ["a", "b"], { header: "Host" });
    const second = question("host", ["a", "b"], { header: "Port" });
    expect(read([first, second], "port: a\n2: b")).toBe("ambiguous");
  });
});

describe("no question", () => {
  it("has no answer", () => {
    expect(parseReply([], "2")).toEqual({ outcome: "reprompt", answers: new Map(), reason: "empty" });
  });
});
