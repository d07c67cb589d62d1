/** How the Telegram channel keeps its webhook set, what it says about it, and which settings it takes. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { telegram } from "../adapters/telegram.ts";
import { type SkippingClock, skippingClock } from "../src/testing/skipping-clock.ts";
import type { Fault } from "../src/testing/telegram-server.ts";
import { timed, until } from "../src/testing/until.ts";
import { type Bot, NOTHING, SECRET, startBot } from "./fixtures/telegram-bot.ts";

const ANA = 100;
const LOOK_EVERY_MS = 180_000;

describe("keeping the webhook", () => {
  let bot: Bot;
  let clock: SkippingClock;

  beforeEach(async () => {
    clock = skippingClock();
    bot = await startBot({ webhook: true, clock });
    bot.server.user(ANA, "Ana");
  });

  afterEach(async () => {
    expect(bot.server.refusals).toEqual([]);
    expect([...bot.logged, ...bot.reports].join()).not.toMatch(/loopback-token|the_secret/);
    await bot.end();
  });

  const states = () => bot.reports.map((report) => report.split(" ")[0]);
  const sets = () => bot.server.calls("setWebhook");
  const looks = () => bot.server.calls("getWebhookInfo").length;
  const call = async (method: string, body: object = {}) => {
    const sent = { method: "POST", body: JSON.stringify(body) };
    const answer = await fetch(`${bot.server.url}/bot${bot.server.token}/${method}`, sent);
    return ((await answer.json()) as { result: Record<string, unknown> }).result;
  };
  /** Lets time pass to the next look, and until it was taken and led to what it leads to. */
  async function look(): Promise<void> {
    const sleeps = () => bot.waited(LOOK_EVERY_MS) + bot.waited(30_000);
    await until("it sleeps", () => sleeps() > 0);
    const before = sleeps();
    clock.skip(LOOK_EVERY_MS + 1);
    await until("it looked", () => sleeps() > before);
  }

  it("sets it with the secret and the kinds of updates that are read, then is up", async () => {
    await bot.listen();
    expect(sets().map(({ body }) => body)).toEqual([
      { url: bot.hook, secret_token: SECRET, allowed_updates: ["message", "callback_query"], max_connections: 40 },
    ]);
    expect(bot.reports).toEqual(["up"]);
    expect(bot.server.calls("deleteWebhook")).toEqual([]);
    expect(bot.server.calls("getUpdates")).toEqual([]);
  });

  it("is up once what waited was delivered", async () => {
    const held: (() => void)[] = [];
    bot.take = async () => {
      await new Promise<void>((release) => held.push(release));
      return NOTHING;
    };
    bot.server.user(ANA).says(ANA, "2");
    const up = bot.listen();
    await until("it is with the host", () => held.length === 1);
    await until("it was looked at", () => looks() > 0 && bot.waited(1_000) > 0);
    expect(bot.reports).toEqual([]);
    held[0]?.();
    await bot.server.waitFor(() => bot.server.unconfirmed().length === 0);
    clock.skip(1_001);
    await up;
    expect(bot.backlog).toBe(1);
  });

  it("does not wait longer than thirty seconds for what is pending", async () => {
    const result = { url: bot.hook, has_custom_certificate: false, pending_update_count: 7 };
    bot.server.inject("getWebhookInfo", { raw: JSON.stringify({ ok: true, result }) }, 2);
    const up = bot.listen();
    await until("it was looked at", () => bot.waited(1_000) > 0);
    clock.skip(30_000);
    await up;
  });

  it("looks after it every three minutes and leaves it alone while all is well", async () => {
    await bot.listen();
    await look();
    await look();
    expect(looks()).toBe(3);
    expect(sets()).toHaveLength(1);
    expect(bot.reports).toEqual(["up"]);
  });

  it.each([
    ["removed it", "deleteWebhook", {}],
    ["set another", "setWebhook", { url: "http://127.0.0.1:1/other?key=4711" }],
    ["asked for other updates", "setWebhook", { allowed_updates: ["poll"] }],
    ["asked for fewer connections", "setWebhook", { max_connections: 1 }],
  ])("sets it again when somebody %s, and does not repeat what they set", async (_, method, change) => {
    await bot.listen();
    await call(method, method === "deleteWebhook" ? {} : { url: bot.hook, secret_token: SECRET, ...change });
    await look();
    expect(await call("getWebhookInfo")).toMatchObject({ url: bot.hook, max_connections: 40 });
    expect(bot.logged.filter((line) => line.includes("somebody else changed"))).toHaveLength(1);
    expect(bot.logged.join()).not.toContain("4711");
    bot.server.user(ANA).says(ANA, "still there?");
    await until("it is heard", () => bot.events.length === 1);
  });

  it("says what the platform says when nothing gets through, sets it again, and is up when it does", async () => {
    await bot.listen();
    let away = true;
    bot.take = async () => {
      if (away) throw new Error("away");
      return NOTHING;
    };
    bot.server.user(ANA).says(ANA, "2");
    await until("it failed", async () => (await call("getWebhookInfo")).last_error_date !== undefined);
    await look();
    const reason = "Wrong response from the webhook: 503 Service Unavailable";
    expect(bot.reports).toEqual(["up", `down ${reason}`]);
    expect(bot.logged.filter((line) => line.includes("the webhook failed"))).toEqual([expect.stringContaining(reason)]);
    away = false;
    await bot.server.waitFor(() => bot.server.unconfirmed().length === 0);
    await until("it is up", () => {
      clock.skip(30_001);
      return states().at(-1) === "up";
    });
    expect(bot.events.length).toBeGreaterThan(1);
  });

  it("does not speak of a failure twice, nor of one from before its time", async () => {
    bot.take = async () => {
      throw new Error("away");
    };
    await call("setWebhook", { url: bot.hook, secret_token: SECRET, max_connections: 40 });
    bot.server.user(ANA).says(ANA, "2");
    await until("it failed", async () => (await call("getWebhookInfo")).last_error_date !== undefined);
    bot.take = async () => NOTHING;
    await bot.server.waitFor(() => bot.server.unconfirmed().length === 0);
    await bot.listen();
    await look();
    await look();
    expect(bot.logged.join()).not.toContain("the webhook failed");
    expect(bot.reports).toEqual(["up"]);
  });

  const FAULTS: readonly (readonly [string, string, Fault, string, number])[] = [
    ["a server fault", "setWebhook", { status: 502 }, "down", 1_000],
    ["a reset", "setWebhook", { connection: "reset" }, "down", 1_000],
    ["a rate limit", "setWebhook", { status: 429, parameters: { retry_after: 17 } }, "down", 17_000],
    ["an address the platform refuses", "setWebhook", { status: 400, description: "Bad Request" }, "down", 1_000],
    ["a revoked token", "getMe", { status: 401, description: "Unauthorized" }, "unauthorized", 60_000],
    ["a look that failed", "getWebhookInfo", { raw: '{"ok":true,"result":[]}' }, "down", 1_000],
  ];

  it.each(FAULTS)("comes back after %s", async (_, method, fault, state, waitMs) => {
    bot.server.inject(method, fault);
    const up = bot.listen();
    await until("it waits", () => bot.waited(waitMs) > 0);
    expect(states()).toEqual([state]);
    clock.skip(waitMs + 1);
    await up;
    expect(states()).toEqual([state, "up"]);
    expect(sets()).toHaveLength(method === "getMe" ? 1 : 2);
  });

  it("leaves it set when it stops, at once, and sets it again when it listens again", async () => {
    await bot.listen();
    expect(await timed(bot.stop())).toBeLessThan(200);
    expect(bot.server.calls("deleteWebhook")).toEqual([]);
    bot.server.user(ANA).says(ANA, "meanwhile");
    await until("it is heard all the same", () => bot.events.length === 1);
    await bot.listen();
    expect(bot.reports).toEqual(["up", "up"]);
    expect(sets()).toHaveLength(2);
    expect((await call("getWebhookInfo")).url).toBe(bot.hook);
  });

  it("is not in the way of polling, which removes it", async () => {
    await bot.listen();
    await bot.stop();
    const config = telegram.config.parse({ token: bot.server.token, apiRoot: bot.server.url });
    const reports: string[] = [];
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const host = {
      receive: async () => NOTHING,
      report: (one: string) => void reports.push(one),
      mount: () => {},
      clock,
      log,
    };
    const polling = await telegram.open(config, host);
    const end = new AbortController();
    const done = polling.listen(end.signal);
    await until("it is up", () => reports.includes("up"));
    expect((await call("getWebhookInfo")).url).toBe("");
    end.abort();
    await done;
  });
});

describe("the settings of the webhook", () => {
  const faultsOf = (webhook: unknown, apiRoot = "https://api.telegram.org") => {
    const { error } = telegram.config.safeParse({ token: "1:a", apiRoot, webhook });
    return error?.issues.map(({ path, message }) => `${path.join(".")} ${message}`) ?? [];
  };
  const at = (url: string) => ({ url, secret: SECRET });

  it("are none by default: updates are polled", () => {
    expect(telegram.config.parse({ token: "1:a" }).webhook).toBe(null);
  });

  it.each(["", ":443", ":80", ":88", ":8443"])("take https at port %j", (port) => {
    expect(faultsOf(at(`https://ask.example${port}/channels/telegram`))).toEqual([]);
  });

  it.each(["https://ask.example:8787/channels/telegram", "https://ask.example:444"])("refuse %s", (url) => {
    expect(faultsOf(at(url))).toEqual([
      expect.stringMatching(/^webhook\.url must have port 443, 80, 88, 8443.* it has \d+$/),
    ]);
  });

  it.each(["https://api.telegram.org", "https://API.telegram.org/", "http://api.telegram.org:80"])(
    "refuse plain http for %s",
    (root) => {
      expect(faultsOf(at("http://ask.example/channels/telegram"), root)).toEqual([
        expect.stringMatching(/^webhook\.url must begin with https:\/\//),
      ]);
    },
  );

  it("take plain http and any port where the Bot API is served by oneself", () => {
    expect(faultsOf(at("http://10.0.0.5:8787/channels/telegram"), "http://10.0.0.6:8081")).toEqual([]);
  });

  it.each(["ask.example", "ftp://ask.example", ""])("refuse %j, which is no address", (url) => {
    expect(faultsOf(at(url))[0]).toMatch(/^webhook\.url must be an address that begins with https:\/\//);
  });

  it.each(["", "a b", "geheim!", "é", "x".repeat(257)])("refuse the secret %j without repeating it", (secret) => {
    const faults = faultsOf({ url: "https://ask.example", secret });
    expect(faults).toEqual(["webhook.secret must be 1 to 256 of the characters A-Z, a-z, 0-9, _ and -"]);
  });

  it.each(["x", "A-z_9", "x".repeat(256)])("take the secret %j", (secret) => {
    expect(faultsOf({ url: "https://ask.example", secret })).toEqual([]);
  });
});
