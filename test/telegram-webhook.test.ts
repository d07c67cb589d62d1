/** What the Telegram channel takes from a webhook, what it refuses unread, and when the platform hears that it has it. */
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ERRORS, type ErrorCode } from "../src/core/errors.ts";
import { type SkippingClock, skippingClock } from "../src/testing/skipping-clock.ts";
import { until } from "../src/testing/until.ts";
import { type Bot, NOTHING, prompt, SECRET, startBot } from "./fixtures/telegram-bot.ts";

const ANA = 100;
const BEN = 101;
const HEADER = "x-telegram-bot-api-secret-token";
const HEADERS = { [HEADER]: SECRET, "content-type": "application/json" };
let bot: Bot;
let clock: SkippingClock;

beforeEach(async () => {
  clock = skippingClock();
  bot = await startBot({ webhook: true, clock });
});

afterEach(async () => {
  expect(bot.server.refusals).toEqual([]);
  expect([...bot.logged, ...bot.reports].join()).not.toMatch(/loopback-token|the_secret/);
  await bot.end();
});

const message = (update_id: number, text: string, chat = ANA) => ({
  update_id,
  message: {
    ...{ message_id: update_id, date: 1_700_000_000, text },
    ...{ chat: { id: chat, type: "private" }, from: { id: chat, is_bot: false, first_name: "Ana" } },
  },
});

const press = (update_id: number, chat = ANA) => ({
  update_id,
  callback_query: {
    ...{ id: `q${update_id}`, data: "1.x", chat_instance: "1", from: { id: chat, is_bot: false, first_name: "Ana" } },
    message: { message_id: 1, date: 1, chat: { id: chat, type: "private" } },
  },
});

const send = (body: RequestInit["body"], headers: object = HEADERS, method = "POST") =>
  fetch(bot.hook, { method, headers: { ...headers }, ...(body === undefined ? {} : { body }) });
const post = (update: object) => send(JSON.stringify(update));
const status = async (answer: Promise<Response>) => (await answer).status;
const heard = () => bot.events.map((event) => (event.kind === "text" ? event.text : event.kind));
const refusals = () => bot.logged.filter((line) => line.includes("were refused"));

/** Writes raw bytes and resolves with the status line and whether the connection was closed from the other side. */
function raw(head: string, ...chunks: readonly Uint8Array[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const { port, host } = new URL(bot.hook);
    let answer = "";
    const socket = connect(Number(port), "127.0.0.1", () => {
      socket.write(`POST /channels/telegram HTTP/1.1\r\nhost: ${host}\r\n${head}\r\n\r\n`);
      for (const chunk of chunks) socket.write(chunk);
    });
    socket.setNoDelay(true);
    socket.on("data", (data) => {
      answer += data.toString("latin1");
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(answer.split("\r\n")[0] ?? ""));
  });
}

const SIGNED = `${HEADER}: ${SECRET}\r\ncontent-type: application/json`;

describe("what is refused unread", () => {
  const unsigned = { "content-type": "application/json" };
  const body = JSON.stringify(message(1, "my answer is 4711"));
  const CASES: readonly (readonly [string, number, string, () => Promise<Response>])[] = [
    ["a request that is not signed", 401, "secret", () => send(body, unsigned)],
    ["an empty secret", 401, "secret", () => send(body, { ...unsigned, [HEADER]: "" })],
    ["a wrong secret", 401, "secret", () => send(body, { ...unsigned, [HEADER]: "guess-4711" })],
    ["the secret and more", 401, "secret", () => send(body, { ...unsigned, [HEADER]: `${SECRET}4711` })],
    ["the secret cut short", 401, "secret", () => send(body, { ...unsigned, [HEADER]: SECRET.slice(0, -1) })],
    ["a method that posts nothing", 405, "method", () => send(undefined, HEADERS, "GET")],
    ["another method", 405, "method", () => send(body, HEADERS, "PUT")],
    ["a form", 415, "type", () => send(body, { ...HEADERS, "content-type": "text/plain" })],
    ["another kind of JSON", 415, "type", () => send(body, { ...HEADERS, "content-type": "application/jsonl" })],
    ["a body said to be huge", 413, "size", () => send(`"${"4711".repeat(300_000)}"`)],
    ["no JSON", 400, "json", () => send('{"update_id": 4711')],
    ["nothing", 400, "json", () => send("")],
    ["a list", 400, "update", () => send("[4711]")],
    ["null", 400, "update", () => send("null")],
    ["a number", 400, "update", () => send("4711")],
    ["no update_id", 400, "update", () => post({ message: message(1, "4711").message })],
    ["an update_id that is a string", 400, "update", () => post({ ...message(1, "4711"), update_id: "1" })],
    ["an update_id that is no integer", 400, "update", () => post({ ...message(1, "4711"), update_id: 1.5 })],
    ["an update_id beyond all integers", 400, "update", () => send('{"update_id": 1e300}')],
    ["bytes that are no text", 400, "encoding", () => send(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]))],
  ];

  const CODES: ReadonlyMap<number, ErrorCode> = new Map([
    [401, "unauthorized"],
    [413, "too_large"],
  ]);

  it.each(CASES)("is %s, with nothing told but the fact", async (_, expected, reason, request) => {
    const answer = await request();
    expect(answer.status).toBe(expected);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    const text = await answer.text();
    expect(text).not.toContain("4711");
    const problem = JSON.parse(text);
    const code = CODES.get(expected) ?? "invalid_request";
    expect(problem).toMatchObject({
      type: `urn:askgate:error:${code}`,
      title: ERRORS[code].meaning,
      status: expected,
      code,
    });
    const fact = { channel: "telegram", status: expected, reason, requests: 1 };
    expect(bot.logged).toEqual([`webhook requests were refused ${JSON.stringify(fact)}`]);
    expect(answer.headers.get("allow")).toBe(expected === 405 ? "POST" : null);
    expect(bot.events).toEqual([]);
    expect(bot.server.log).toEqual([]);
  });

  it("costs the sender of an unsigned body its connection, before the body is there", async () => {
    const line = await raw("content-type: application/json\r\ncontent-length: 500000", Buffer.alloc(1_000, "x"));
    expect(line).toContain("401");
  });

  it("is a body that turns out to be huge, which is cut off where it does", async () => {
    const chunk = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(0x10000, "x"), Buffer.from("\r\n")]);
    const line = await raw(`${SIGNED}\r\ntransfer-encoding: chunked`, ...Array<Buffer>(17).fill(chunk));
    expect(line).toContain("413");
    expect(refusals()).toHaveLength(1);
  });

  it("is a body that comes too slowly, which is cut off after ten seconds", async () => {
    const answered = raw(`${SIGNED}\r\ncontent-length: 100`, Buffer.from('{"update_id": 1, '));
    await until("it is being read", () => bot.waited(10_000) > 0);
    clock.skip(9_000);
    expect(bot.logged).toEqual([]);
    clock.skip(1_500);
    expect(await answered).toContain("408");
    expect(refusals()).toEqual([expect.stringContaining('"reason":"slow"')]);
  });

  it("fills no log: of a flood the first is told, then how many came in half a minute", async () => {
    const flood = (count: number) => Promise.all(Array.from({ length: count }, () => status(send(body, unsigned))));
    const told = (reason: string) => refusals().filter((line) => line.includes(reason));
    expect(new Set(await flood(40))).toEqual(new Set([401]));
    for (const more of [2, 0, 1]) {
      await status(send("null"));
      clock.skip(30_000);
      await flood(more);
    }
    const counts = told("secret").map((line) => /"requests":(\d+)/.exec(line)?.[1]);
    expect([counts, told("update").length]).toEqual([["1", "39", "2", "1"], 3]);
  });

  it("may be as long as an update can be", async () => {
    expect(await status(post({ ...message(1, "long"), padding: "x".repeat(1024 * 1024 - 400) }))).toBe(200);
    expect(heard()).toEqual(["long"]);
  });
});

describe("an update by webhook", () => {
  it("is heard in every process, whether or not it listens, and is the same event as by polling", async () => {
    expect(await status(post(message(77, "2")))).toBe(200);
    expect(bot.events).toEqual([
      {
        ...{ channel: "telegram", kind: "text", eventId: `${bot.server.bot.id}:77`, at: 1_700_000_000_000 },
        ...{ actor: "telegram:100", actorName: "Ana", address: "telegram:100", direct: true },
        ...{ text: "2", message: "77", replyTo: null, mentioned: false, content: "text" },
      },
    ]);
    expect(bot.reports).toEqual([]);
  });

  it.each(["😀 چطوری؟ 👩‍👩‍👧 é", "«سلام» می‌خواهم ✅"])("keeps %j whole, wherever its bytes are cut", async (text) => {
    const bytes = Buffer.from(JSON.stringify(message(1, text)));
    const start = bytes.indexOf(text.slice(0, 1));
    const bodies = Array.from({ length: Buffer.byteLength(text) }, (_, at) => start + at);
    for (const at of bodies) {
      const parts = [bytes.subarray(0, at), bytes.subarray(at)];
      const body = new ReadableStream({
        pull(stream) {
          const part = parts.shift();
          if (part) stream.enqueue(part);
          else stream.close();
        },
      });
      const answer = await fetch(bot.hook, { method: "POST", headers: HEADERS, body, duplex: "half" } as RequestInit);
      expect(answer.status).toBe(200);
    }
    expect(new Set(heard())).toEqual(new Set([text]));
    expect(heard()).toHaveLength(bodies.length);
  });

  it("byte by byte is still one text", async () => {
    const bytes = Buffer.from(JSON.stringify(message(1, "سلام 😀")));
    const chunks = [...bytes].map((byte) => Buffer.from([0x31, 0x0d, 0x0a, byte, 0x0d, 0x0a]));
    const head = `${SIGNED}\r\ntransfer-encoding: chunked\r\nconnection: close`;
    expect(await raw(head, ...chunks, Buffer.from("0\r\n\r\n"))).toContain("200");
    expect(heard()).toEqual(["سلام 😀"]);
  });

  it("is answered, without a word, only after the host has it, and so is the press", async () => {
    let keep = () => {};
    bot.take = () => new Promise((done) => (keep = () => done({ ...NOTHING, notice: "Recorded" })));
    const ana = bot.server.user(ANA);
    await bot.listen();
    await bot.channel.send(`telegram:${ANA}`, prompt(["Where?"], [["Yes 1.y"]]), { key: "A", partial: null });
    const shown = ana.presses(bot.server.messages(ANA)[0]?.id ?? 0, "Yes");
    await until("it arrives", () => bot.events.length === 1);
    expect(bot.server.unconfirmed()).toHaveLength(1);
    expect(bot.server.calls("answerCallbackQuery")).toEqual([]);
    keep();
    expect(await shown.answered).toBe("Recorded");
    await bot.server.waitFor(() => bot.server.unconfirmed().length === 0);
    const answer = post(message(5, "2"));
    await until("it arrives", () => bot.events.length === 2);
    keep();
    expect(await (await answer).text()).toBe("");
  });

  it("that was handled before goes to the host again, which knows it, and is taken again", async () => {
    const effects = new Set<string>();
    bot.take = async ({ eventId }) => {
      effects.add(eventId);
      return NOTHING;
    };
    for (const id of [8, 9, 8]) expect(await status(post(message(id, "2")))).toBe(200);
    expect(bot.events[2]).toEqual(bot.events[0]);
    expect(effects.size).toBe(2);
  });

  it("of no known shape is let go, quoting nothing", async () => {
    const bad = [
      { update_id: 1, message: "4711" },
      { update_id: 2, message: { ...message(2, "").message, text: 4711 } },
      { update_id: 3, message: { ...message(3, "").message, chat: { id: "4711", type: "private" } } },
      { update_id: 4, message: { ...message(4, "4711").message, entities: {} } },
      { update_id: 5, callback_query: { ...press(5).callback_query, data: ["4711"] } },
      { update_id: 6, message: null, callback_query: 4711 },
    ];
    for (const update of bad) expect(await status(post(update))).toBe(200);
    expect(await status(post({ update_id: 7, poll: {} }))).toBe(200);
    expect(bot.events).toEqual([]);
    expect(bot.logged.filter((line) => line.includes("unknown shape"))).toHaveLength(bad.length);
    expect(bot.logged.join()).not.toContain("4711");
  });
});

describe("an update the host cannot keep", () => {
  it("is answered with 503 and a short wait, and taken when it comes again", async () => {
    let away = true;
    bot.take = async () => {
      if (away) throw new Error("the store is away");
      return NOTHING;
    };
    const answer = await post(message(1, "2"));
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await answer.json()).toMatchObject({ code: "unavailable", title: ERRORS.unavailable.meaning });
    away = false;
    expect(await status(post(message(1, "2")))).toBe(200);
    expect(new Set(bot.events.map(({ eventId }) => eventId)).size).toBe(1);
  });

  it("in time is answered with 503, and the repeat shares the outcome of what is still under way", async () => {
    let keep = () => {};
    bot.take = () => new Promise((done) => (keep = () => done(NOTHING)));
    const first = post(message(1, "2"));
    await until("it is with the host", () => bot.events.length === 1 && bot.waited(25_000) > 0);
    clock.skip(25_001);
    expect(await status(first)).toBe(503);
    const second = post(message(1, "2"));
    await until("the repeat waits too", () => bot.waited(25_000) === 2);
    keep();
    expect(await status(second)).toBe(200);
    expect(bot.events).toHaveLength(1);
  });

  it("since nobody can say who the bot is, is asked for again; then that is asked once for all", async () => {
    bot.server.inject("getMe", { status: 500 });
    expect(await status(post(message(1, "2")))).toBe(503);
    expect(bot.events).toEqual([]);
    const answers = await Promise.all([1, 2, 3].map((id) => status(post(message(id, "2", 100 + id)))));
    expect(answers).toEqual([200, 200, 200]);
    expect(bot.server.calls("getMe")).toHaveLength(2);
  });

  it("when the channel is closed is answered at once, for another process to take", async () => {
    bot.take = () => new Promise(() => {});
    const answer = post(message(1, "2"));
    await until("it is with the host", () => bot.events.length === 1);
    await bot.channel.close();
    expect(await status(answer)).toBe(503);
    expect(await status(post(message(2, "3", BEN)))).toBe(503);
  });
});

describe("updates of one chat that arrive together", () => {
  it("go one by one in the order of their ids; another chat does not wait", async () => {
    const held: (() => void)[] = [];
    bot.take = async ({ address }) => {
      if (address === `telegram:${ANA}`) await new Promise<void>((release) => held.push(release));
      return NOTHING;
    };
    const answers = [post(message(1, "one"))];
    await until("the first is with the host", () => held.length === 1);
    for (const [id, text] of [
      [4, "four"],
      [2, "two"],
      [3, "three"],
    ] as const)
      answers.push(post(message(id, text)));
    await until("all were read", () => bot.waited(25_000) === 4);
    expect(await status(post(message(9, "meanwhile", BEN)))).toBe(200);
    for (let count = 2; count <= 4; count++) {
      held.at(-1)?.();
      await until("the next is with the host", () => held.length === count);
    }
    held.at(-1)?.();
    expect(await Promise.all(answers.map(status))).toEqual([200, 200, 200, 200]);
    expect(heard()).toEqual(["one", "meanwhile", "two", "three", "four"]);
  });

  it("do not overtake one that could not be kept", async () => {
    let fail = () => {};
    bot.take = () => new Promise((_, reject) => (fail = () => reject(new Error("away"))));
    const answers = [post(message(1, "one"))];
    await until("the first is with the host", () => bot.events.length === 1);
    answers.push(post(press(2)));
    await until("both were read", () => bot.waited(25_000) === 2);
    fail();
    expect(await Promise.all(answers.map(status))).toEqual([503, 503]);
    expect(heard()).toEqual(["one"]);
  });
});

describe("an update that can never be kept", () => {
  const dropped = () => bot.logged.filter((line) => line.includes("was dropped"));
  const poison = () => post(message(1, "poison"));

  beforeEach(() => {
    bot.take = async (event) => {
      if (event.kind === "text" && event.text === "poison") throw new Error("not to be stored");
      return NOTHING;
    };
  });

  it("is let go after ten attempts over a minute, once the host is seen to work between two of them", async () => {
    for (let count = 1; count <= 12; count++) {
      expect(await status(poison())).toBe(503);
      clock.skip(5_500);
    }
    expect(dropped()).toEqual([]);
    expect(await status(post(message(2, "hello", BEN)))).toBe(200);
    expect(await status(poison())).toBe(200);
    expect(dropped()).toHaveLength(1);
  });

  it("is not let go for having failed often in a short time", async () => {
    for (let count = 1; count <= 30; count++) {
      expect(await status(poison())).toBe(503);
      expect(await status(post(message(1 + count, "hello", BEN)))).toBe(200);
    }
    expect(dropped()).toEqual([]);
  });

  it("is told from a store that is away: then nothing is let go", async () => {
    bot.take = async () => {
      throw new Error("the store is away");
    };
    for (let count = 1; count <= 20; count++) {
      expect(await status(post(message(1, "one")))).toBe(503);
      expect(await status(post(message(2, "two", BEN)))).toBe(503);
      clock.skip(5_500);
    }
    bot.take = async () => NOTHING;
    expect(await status(post(message(1, "one")))).toBe(200);
    expect(await status(post(message(2, "two", BEN)))).toBe(200);
    expect(dropped()).toEqual([]);
  });

  it("holds up its chat no longer than that on the platform", async () => {
    await bot.listen();
    bot.server.user(ANA).says(ANA, "poison");
    bot.server.user(ANA).says(ANA, "after");
    bot.server.user(BEN);
    await until(
      "all was taken",
      () => {
        clock.skip(2_000);
        bot.server.user(BEN).says(BEN, "hello");
        return heard().includes("after");
      },
      15_000,
    );
    expect(dropped()).toHaveLength(1);
  });
});
