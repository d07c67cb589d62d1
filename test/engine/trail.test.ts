/** What an inquiry leaves behind on its way: one trail in the log, counts in the meter, and no secret or word in either. */
import { afterEach, describe, expect, test } from "vitest";
import { entropy } from "../../src/clock.ts";
import { createEngine, type Engine } from "../../src/engine/engine.ts";
import { createLog } from "../../src/log.ts";
import type { Meter } from "../../src/ports/meter.ts";
import { openStore } from "../../src/store/store.ts";
import { AGENT, OPERATOR, SILENT } from "../../src/testing/bridge.ts";
import { stopped } from "../../src/testing/events-stage.ts";
import { CRAMPED, hostileLoopback } from "../../src/testing/hostile-channel.ts";
import type { Loopback, Seen, SeenButton } from "../../src/testing/loopback.ts";
import { type SkippingClock, skippingClock } from "../../src/testing/skipping-clock.ts";
import { until } from "../../src/testing/until.ts";

const LIMITS = {
  ...CRAMPED,
  text: { max: 4_000, unit: "codePoints" },
  buttons: { max: 20, perRow: 1, label: { max: 60, unit: "codePoints" }, payloadBytes: 40 },
} as const;
/** Nothing of it may ever be in the log. */
const WORDS = ["Schrödinger", "heading", "purple elephant", "grey mouse", "whiskers", "an answer of my own"];
const QUESTION = {
  id: "q",
  header: "heading",
  question: "Is it Schrödinger?",
  options: [{ label: "purple elephant", description: "with whiskers" }, { label: "grey mouse" }],
};
const LEVELS: Readonly<Record<number, string>> = { 20: "debug", 30: "info", 40: "warn", 50: "error" };

type Line = Readonly<Record<string, unknown>>;

interface Stand {
  readonly engine: Engine;
  readonly chat: Loopback;
  readonly clock: SkippingClock;
  readonly lines: readonly Line[];
  /** What the meter was told, without the times. */
  readonly counted: readonly string[];
  ask(more?: object): Promise<string>;
  button(label: string): Promise<[Seen, SeenButton]>;
  /** The trail of the only inquiry, without ids and times. */
  trail(): readonly string[];
}

const stands: { engine: Engine; clock: SkippingClock; close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const { engine, clock, close } of stands.splice(0)) {
    await stopped(clock, engine.stop());
    await close();
  }
});

/** @param twice every event of the platform comes two times */
async function stand({ twice = false } = {}): Promise<Stand> {
  const clock = skippingClock();
  const chat = hostileLoopback(LIMITS, twice);
  const store = await openStore("sqlite::memory:", { log: SILENT });
  const lines: Line[] = [];
  const counted: string[] = [];
  const log = createLog({ level: "debug", secrets: [], write: (line) => void lines.push(JSON.parse(line)) });
  const engine = await createEngine({
    ...{ store, clock, entropy, log, meter: meterInto(counted), process: "one" },
    settings: {
      locale: "en",
      directory: {
        people: new Map([["ana", { name: "ana", identities: [chat.place.actor], roles: ["owner"], locale: null }]]),
        sessions: new Map(),
        admit: new Map(),
      },
      fixedKeys: [],
    },
    channels: () => [{ name: "hostile", limits: LIMITS, open: chat.open }],
  });
  await engine.start();
  stands.push({ engine, clock, close: () => store.close() });

  async function ask(more: object = {}): Promise<string> {
    const { inquiry } = await engine.asker.ask(AGENT, { questions: [QUESTION], ...more });
    await until("it is shown", async () => (await engine.asker.get(AGENT, inquiry.id)).shownAt);
    await until("and told so", () => lines.some(({ msg }) => msg === "shown"));
    return inquiry.id;
  }
  const button = (label: string) =>
    until(`a button says ${label}`, async () => {
      const all = (await chat.shown()).flatMap((one) => one.buttons.map((key): [Seen, SeenButton] => [one, key]));
      return all.find(([, key]) => key.label.includes(label));
    });
  return { engine, chat, clock, lines, counted, ask, button, trail: () => trailOf(lines) };
}

function meterInto(counted: string[]): Meter {
  const count =
    (...name: readonly string[]) =>
    (...given: readonly (string | number)[]) =>
      void counted.push([...name, ...given.filter((one) => typeof one === "string")].join(" "));
  return {
    asked: count("asked"),
    shown: count("shown"),
    settled: count("settled"),
    sent: count("sent"),
    heard: count("heard"),
  };
}

/** Every stage that names an inquiry, once it is sure that they name the same one. */
function trailOf(lines: readonly Line[]): readonly string[] {
  const told = lines.filter(({ inquiry }) => inquiry !== undefined);
  expect(new Set(told.map(({ inquiry }) => inquiry)).size).toBe(1);
  return told.map(({ level, msg, time: _time, inquiry: _inquiry, id: _id, ...fields }) =>
    [LEVELS[Number(level)], msg, ...Object.entries(fields).map(([name, value]) => `${name}=${String(value)}`)].join(
      " ",
    ),
  );
}

describe("one trail from the asking to the handing over", () => {
  test("asked by an agent, answered by a button", async () => {
    const { engine, chat, lines, counted, button, trail } = await stand();
    let asked = (_: string) => {};
    const id = new Promise<string>((resolve) => {
      asked = resolve;
    });
    const { signal } = new AbortController();
    const result = engine.asker.askUser(AGENT, { questions: [QUESTION] }, { signal, onAsked: asked });
    await until("it is shown", () => lines.some(({ msg }) => msg === "shown"));
    await chat.press(...(await button("purple elephant")));
    expect((await result).status).toBe("answered");
    await engine.asker.collect(AGENT, await id);
    await until("the last word is out", () => counted.filter((one) => one === "sent hostile ok").length === 2);
    expect(trail()).toEqual([
      "info asked session=main kind=question channels=hostile",
      "info shown channel=hostile",
      "debug heard channel=hostile kind=press outcome=recorded",
      "info settled status=answered channel=hostile",
      "debug collected",
    ]);
    expect(lines.find(({ msg }) => msg === "asked")).toMatchObject({ inquiry: await id, id: await id });
    expect(counted).toEqual([
      "asked question",
      "sent hostile ok",
      "shown hostile",
      "heard hostile press",
      "settled answered",
      "sent hostile ok",
    ]);
  });

  test("answered in words, which are not in it", async () => {
    const { chat, lines, ask, trail } = await stand();
    await ask();
    await chat.write("an answer of my own");
    await until("it is over", () => lines.some(({ msg }) => msg === "settled"));
    expect(trail().slice(2)).toEqual([
      "debug heard channel=hostile kind=text outcome=recorded",
      "info settled status=answered channel=hostile",
    ]);
  });

  test("unclear words, then a cancel word", async () => {
    const { chat, lines, ask, trail } = await stand();
    await ask({ questions: [{ ...QUESTION, allowOther: false }] });
    await chat.write("whiskers");
    await until("it is heard", () => lines.some(({ msg }) => msg === "heard"));
    await chat.write("cancel");
    await until("it is over", () => lines.some(({ msg }) => msg === "settled"));
    expect(trail().slice(2)).toEqual([
      "debug heard channel=hostile kind=text outcome=unclear",
      "debug heard channel=hostile kind=text outcome=declined",
      "info settled status=cancelled reason=declined channel=hostile",
    ]);
  });

  test("pressed too late", async () => {
    const { engine, chat, lines, ask, button, trail } = await stand();
    const id = await ask();
    const pressed = await button("purple elephant");
    await engine.asker.answer(OPERATOR, id, { answers: { q: ["grey mouse"] } });
    await chat.press(...pressed);
    await until("it is heard", () => lines.some(({ outcome }) => outcome === "late"));
    expect(trail().slice(2)).toEqual([
      "debug heard channel=http kind=answer outcome=done",
      "info settled status=answered channel=http",
      "debug heard channel=hostile kind=press outcome=late",
    ]);
  });

  test("ended by its run, by its task, and by nobody who could be reached", async () => {
    const { engine, counted, lines } = await stand();
    const task = { taskId: "t", stateVersion: 1 };
    await engine.asker.ask(AGENT, { questions: [QUESTION], run: "r" });
    await engine.asker.abortRun(AGENT, "r");
    await engine.asker.ask(AGENT, { questions: [QUESTION], task });
    await engine.asker.ask(AGENT, { questions: [QUESTION], task: { ...task, stateVersion: 2 } });
    await engine.asker.moveTask(AGENT, "t", { stateVersion: 3 });
    await engine.asker.ask(AGENT, { questions: [QUESTION], to: ["telegram:1"] });
    const ends = lines.filter(({ msg }) => msg === "settled").map(({ status, reason }) => `${status} ${reason}`);
    expect(ends).toEqual([
      "cancelled aborted",
      "cancelled superseded",
      "cancelled superseded",
      "undelivered unreachable",
    ]);
    expect(counted.filter((one) => one.startsWith("settled"))).toEqual([
      ...Array.from({ length: 3 }, () => "settled cancelled"),
      "settled undelivered",
    ]);
  });

  test("every event twice: each stage once", async () => {
    const { chat, counted, lines, ask, button } = await stand({ twice: true });
    await ask();
    await chat.press(...(await button("purple elephant")));
    await until("the last word is out", () => counted.filter((one) => one === "sent hostile ok").length === 2);
    const once = counted.filter((one) => !one.startsWith("sent"));
    expect(once).toEqual(["asked question", "shown hostile", "heard hostile press", "settled answered"]);
    expect(lines.filter(({ msg }) => msg === "heard")).toHaveLength(1);
  });

  test("what could not be sent is counted under its reason, and shown once it is", async () => {
    const { chat, counted, clock, engine } = await stand();
    chat.play("rate limited");
    await engine.asker.ask(AGENT, { questions: [QUESTION] });
    await until("it is shown", () => {
      clock.skip(500);
      return counted.includes("shown hostile");
    });
    expect(counted).toEqual(["asked question", "sent hostile rate-limited", "sent hostile ok", "shown hostile"]);
  });
});

test("no line carries a word of anybody", async () => {
  const { engine, chat, lines, ask, button } = await stand();
  const id = await ask();
  await chat.stranger?.write("whiskers");
  await chat.press(...(await button("purple elephant")));
  await until("it is over", () => lines.some(({ msg }) => msg === "settled"));
  await expect(engine.asker.answer(OPERATOR, id, { answers: { q: ["grey mouse"] } })).rejects.toThrow();
  await ask({ questions: [{ ...QUESTION, id: "again" }] });
  await chat.write("an answer of my own");
  await until("that is over", () => lines.filter(({ msg }) => msg === "settled").length === 2);
  const all = JSON.stringify(lines);
  expect(lines.length).toBeGreaterThan(8);
  expect(WORDS.filter((word) => all.includes(word))).toEqual([]);
});

describe("a secret is scrubbed wherever a string can stand", () => {
  const SECRETS = ["hunter2-hunter2", 'quo"ted\\and/slashed', "pass wörd & more"];
  const TOKEN = `123456789:${"A".repeat(35)}`;
  const BEARER = "sk-live-0123456789";

  function faultWith(secret: string): Error {
    const cause = Object.assign(new Error(`inner ${secret}`), { detail: { url: `https://x/${secret}` } });
    return Object.assign(new Error(`outer ${secret}`, { cause }), { response: { body: [secret] }, [secret]: 1 });
  }

  const PLACES: readonly (readonly [place: string, fields: (secret: string) => Line])[] = [
    ["a field", (secret) => ({ token: secret })],
    ["a longer text", (secret) => ({ url: `https://api/bot${secret}/send?again=${secret}` })],
    ["an address, encoded", (secret) => ({ url: `https://api/?key=${encodeURIComponent(secret)}` })],
    ["a nested object", (secret) => ({ a: { b: { c: secret } } })],
    ["an array", (secret) => ({ list: ["x", [secret], { deep: [secret] }] })],
    ["a key", (secret) => ({ [secret]: true, deep: { [secret]: 1 } })],
    ["an error's message, cause, stack and fields", (secret) => ({ err: faultWith(secret) })],
    ["a list of errors", (secret) => ({ err: new AggregateError([faultWith(secret)], secret) })],
    ["an error under another name", (secret) => ({ fault: String(faultWith(secret)) })],
    ["a header", (secret) => ({ headers: { authorization: `Bearer ${secret}` } })],
  ];

  test.each(PLACES)("in %s, and in the message", (_, fields) => {
    const written: string[] = [];
    const log = createLog({ level: "debug", secrets: SECRETS, write: (line) => void written.push(line) });
    for (const secret of [...SECRETS, TOKEN]) {
      for (const level of ["debug", "info", "warn", "error"] as const) log[level](fields(secret), `told ${secret}`);
    }
    expect(written).toHaveLength(16);
    const all = written.join("\n");
    const forms = SECRETS.flatMap((one) => [one, JSON.stringify(one).slice(1, -1), encodeURIComponent(one)]);
    expect([...forms, TOKEN].filter((form) => all.includes(form))).toEqual([]);
    for (const line of written) expect(() => JSON.parse(line)).not.toThrow();
  });

  test("a bearer nobody named is hidden too", () => {
    const written: string[] = [];
    const log = createLog({ level: "info", secrets: [], write: (line) => void written.push(line) });
    log.info({ headers: [`authorization: Bearer ${BEARER}`], err: new Error(`Bearer ${BEARER}`) }, `Bearer ${BEARER}`);
    expect(written.join("")).not.toContain(BEARER);
  });
});
