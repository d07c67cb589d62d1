/** Settings: defaults, every fault in one message, and no secret in any. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigError, type Environment, loadConfig } from "../src/config.ts";
import { createLog, createScrubber } from "../src/log.ts";
import { databaseName } from "../src/settings.ts";

const load = (settings: unknown, environment: Environment = {}) =>
  loadConfig(environment, { path: "app.json", text: JSON.stringify(settings) });

const ANA = { identities: ["telegram:100", "web:ana"], roles: ["owner"] };

function faultsOf(settings: unknown, environment: Environment = {}): string {
  try {
    load(settings, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("it was accepted");
}

describe("without any configuration", () => {
  it("has every default, and config/app.json says the same", () => {
    const none = loadConfig({}, { path: "config/app.json", text: null });
    const shipped = loadConfig({}, { path: "config/app.json", text: readFileSync("config/app.json", "utf8") });
    expect(shipped.settings).toEqual(none.settings);
    expect(JSON.parse(readFileSync("config/app.json", "utf8"))).toEqual(none.settings);
    expect(none).toMatchObject({ host: "127.0.0.1", port: 8787, data: resolve("data"), locale: "en", secrets: [] });
    expect(none.databaseUrl).toBe(`sqlite:${resolve("data", "askgate.db")}`);
    expect(none.settings).toMatchObject({ retentionDays: null, holdFreeTextSeconds: 5, mcp: { maxBlockSeconds: 50 } });
  });

  it("knows one person, the owner", () => {
    const { directory } = load({});
    expect([...directory.people.values()]).toEqual([{ name: "owner", identities: [], roles: ["owner"], locale: null }]);
  });

  it("takes an empty variable for one that is not set", () => {
    expect(load({}, { ASKGATE_PORT: "", TELEGRAM_BOT_TOKEN: " " }).port).toBe(8787);
    expect(readFileSync(".env.example", "utf8")).toMatch(/^TELEGRAM_BOT_TOKEN=$/m);
  });
});

it("accepts the example of people and derives who may do what", () => {
  const text = readFileSync("config/people.example.json", "utf8");
  const { directory } = loadConfig({}, { path: "people.example.json", text });
  expect(directory.people.get("ana")?.identities).toEqual(["telegram:100", "web:ana"]);
  expect(directory.sessions.get("deploys")?.respondents).toEqual(["ana", "role:team"]);
  expect(directory.admit.get("telegram:-1001")).toEqual(["ana", "role:team"]);
});

it("makes a person who is alone the owner", () => {
  expect(load({ people: { ana: {} } }).directory.people.get("ana")?.roles).toEqual(["owner"]);
});

it("lets the environment decide the language over the file", () => {
  expect(load({ locale: "de" }, { ASKGATE_LOCALE: "es-MX" }).locale).toBe("es-MX");
});

const WEBHOOK = { TELEGRAM_BOT_TOKEN: "1:a", TELEGRAM_WEBHOOK_SECRET: "s3" };

const FAULTS: readonly [string, unknown, Environment, RegExp][] = [
  ["an unknown key", { lokale: "en" }, {}, /app\.json: lokale is not a setting\. Correct its name/],
  ["an unknown key inside", { mcp: { block: 1 } }, {}, /app\.json: mcp\.block is not a setting/],
  [
    "a secret in the file",
    { SLACK_BOT_TOKEN: "xoxb-1" },
    {},
    /SLACK_BOT_TOKEN is not a setting\. Secrets belong in the env/,
  ],
  ["an unsupported language", { locale: "xx" }, {}, /locale is "xx" and must be a supported language: en, /],
  ["a word for a number", { holdFreeTextSeconds: "5" }, {}, /holdFreeTextSeconds is "5" and must be a number/],
  ["half a second", { mcp: { maxBlockSeconds: 0.5 } }, {}, /mcp\.maxBlockSeconds is 0\.5 and must be a whole number/],
  ["a limit overstepped", { holdFreeTextSeconds: 61 }, {}, /holdFreeTextSeconds is 61 and must be at most 60/],
  [
    "an identity without channel",
    { people: { ana: { identities: ["100"] } } },
    {},
    /identities\[0\] is "100" and must be CHANNEL:ID/,
  ],
  [
    "a zone that is none",
    { people: { ana: { quietHours: "22:00-07:00 Mars" } } },
    {},
    /quietHours is "22:00-07:00 Mars" and must be FROM-TO/,
  ],
  [
    "a stranger to answer",
    { people: { ana: ANA }, sessions: { main: { respondents: ["bob"] } } },
    {},
    /respondents\[0\] is "bob" and must be role:NAME or one of the people: ana/,
  ],
  [
    "an unknown kind of session",
    { sessions: { main: { kind: "boss" } } },
    {},
    /sessions\.main\.kind is "boss" and must be "main" or "subagent" or "cron"/,
  ],
  [
    "a group that is no address",
    { admit: { friends: ["owner"] } },
    {},
    /admit\.friends has a name that must be CHANNEL:ID/,
  ],
  [
    "an identity of two people",
    { people: { ana: ANA, ben: { identities: ["telegram:100"] } } },
    {},
    /people\.ben\.identities: "telegram:100" belongs to ana already/,
  ],
  ["people without an owner", { people: { ana: {}, ben: {} } }, {}, /people has nobody with the role owner/],
  [
    "a policy that only stops",
    { tools: { rm: { needsApproval: false } } },
    {},
    /tools\.rm could only ever stop: without needsApproval/,
  ],
  [
    "a quorum nobody reaches",
    { tools: { rm: { quorum: 2 } } },
    {},
    /tools\.rm\.approvers could only ever stop: it takes 2 to approve and 1 may/,
  ],
  ["a port beyond the last", {}, { ASKGATE_PORT: "65536" }, /environment: ASKGATE_PORT is "65536" and must be a port/],
  ["an unknown database", {}, { ASKGATE_DATABASE_URL: "mysql://x" }, /ASKGATE_DATABASE_URL must be sqlite:PATH/],
  [
    "an address that is none",
    {},
    { TELEGRAM_API_ROOT: "localhost" },
    /TELEGRAM_API_ROOT is "localhost" and must be a web address/,
  ],
  [
    "PostgreSQL without a host",
    {},
    { ASKGATE_DATABASE_URL: "postgres:///askgate" },
    /DATABASE_URL names no host\. Set it/,
  ],
  [
    "PostgreSQL without a database",
    {},
    { ASKGATE_DATABASE_URL: "postgresql://u:p@db/" },
    /DATABASE_URL names no database behind its host\. Set it to sqlite:\S+ or postgres:/,
  ],
  [
    "a password that is not written as one",
    {},
    { ASKGATE_DATABASE_URL: "postgres://u:p%zz#@db:x/askgate" },
    /DATABASE_URL is no address: what is special in a user or password is written %40/,
  ],
  [
    "one port for operators and the world",
    {},
    { ASKGATE_PUBLIC_PORT: "8787" },
    /ASKGATE_PUBLIC_PORT is 8787 and must differ from ASKGATE_PORT\. Take another/,
  ],
  [
    "a public port beyond the last",
    {},
    { ASKGATE_PUBLIC_PORT: "70000" },
    /ASKGATE_PUBLIC_PORT is "70000" and must be a/,
  ],
  [
    "a webhook without a bot",
    {},
    { TELEGRAM_WEBHOOK_SECRET: "s3", ASKGATE_PUBLIC_URL: "https://a.example" },
    /TELEGRAM_WEBHOOK_SECRET needs TELEGRAM_BOT_TOKEN\. Set the token/,
  ],
  [
    "a webhook at no address",
    {},
    { TELEGRAM_WEBHOOK_SECRET: "s3", TELEGRAM_BOT_TOKEN: "1:a" },
    /TELEGRAM_WEBHOOK_SECRET needs ASKGATE_PUBLIC_URL\. Set the address/,
  ],
  [
    "a secret the platform refuses",
    {},
    { TELEGRAM_WEBHOOK_SECRET: "a b", TELEGRAM_BOT_TOKEN: "1:a", ASKGATE_PUBLIC_URL: "https://a.example" },
    /TELEGRAM_WEBHOOK_SECRET must be 1 to 256 of the characters A-Z a-z 0-9 _ -\. Correct it/,
  ],
  [
    "a webhook where Telegram does not push",
    {},
    { ...WEBHOOK, ASKGATE_PUBLIC_URL: "http://ask.example" },
    /ASKGATE_PUBLIC_URL is "http:\/\/ask\.example" and must begin with https:\/\/.*remove TELEGRAM_WEBHOOK_SECRET/,
  ],
  [
    "a webhook at a port where Telegram does not push",
    {},
    { ...WEBHOOK, ASKGATE_PUBLIC_URL: "https://ask.example:8787" },
    /ASKGATE_PUBLIC_URL is "https:\/\/ask\.example:8787" and must have port 443, 80, 88, 8443, for Telegram/,
  ],
  [
    "a short key",
    {},
    { ASKGATE_API_KEY: "a".repeat(15) },
    /ASKGATE_API_KEY must be one word of at least 16 characters/,
  ],
  [
    "one key for programs and operators",
    {},
    { ASKGATE_API_KEY: "of-everybody-here", ASKGATE_OPERATOR_KEY: "of-everybody-here" },
    /ASKGATE_OPERATOR_KEY must differ from ASKGATE_API_KEY\. Make a second key/,
  ],
  ["an unknown log level", {}, { ASKGATE_LOG_LEVEL: "loud" }, /ASKGATE_LOG_LEVEL is "loud" and must be "silent" or/],
];

describe("what stops the start", () => {
  it.each(FAULTS)("%s", (_name, settings, environment, message) => {
    expect(faultsOf(settings, environment)).toMatch(message);
  });

  it("is told all at once", () => {
    const message = faultsOf({ locale: "xx", mcp: { q: 1 } }, { ASKGATE_PORT: "x", ASKGATE_LOG_LEVEL: "loud" });
    expect(message).toMatch(/^4 settings are wrong:\n/);
    expect(message.split("\n")).toHaveLength(5);
  });

  it("is a file that is not JSON, or a named one that does not exist", () => {
    expect(() => loadConfig({}, { path: "app.json", text: '{"locale": en}' })).toThrow(
      /app\.json: the file is not JSON/,
    );
    expect(() => loadConfig({ ASKGATE_CONFIG: "gone.json" }, { path: "gone.json", text: null })).toThrow(
      /gone\.json: the file does not exist\. Correct ASKGATE_CONFIG/,
    );
  });

  it.each([
    ["ask.example", "ask.example"],
    ["ftp://ask.example", "ftp://ask.example"],
    ["https://", "https://"],
    ["https://ask .example", "https://ask .example"],
    ["https://ask.example/prefix", "https://ask.example/prefix"],
    ["https://ask.example/?key=hunter22", "https://ask.example/?…"],
    ["https://ask.example#hunter22", "https://ask.example#…"],
    ["https://me:hunter22@ask.example", "https://…@ask.example"],
    ["htps://me:hun/ter22@ask.example", "htps://…@ask.example"],
  ])("is the public address %s", (address, shown) => {
    expect(faultsOf({}, { ...WEBHOOK, ASKGATE_PUBLIC_URL: address })).toBe(
      `One setting is wrong:\n  environment: ASKGATE_PUBLIC_URL is "${shown}" and must be a web address alone, ` +
        "without path, query or password. Set it to https://askgate.example, for example, or remove it.",
    );
  });

  it("is no public address that Telegram or its own server reaches", () => {
    for (const address of ["https://ask.example", "https://ask.example:8443/", "HTTPS://[2001:db8::1]"]) {
      expect(load({}, { ...WEBHOOK, ASKGATE_PUBLIC_URL: address }).variables.ASKGATE_PUBLIC_URL).toBe(address);
    }
    const own = { ASKGATE_PUBLIC_URL: "http://127.0.0.1:8787/", TELEGRAM_API_ROOT: "http://127.0.0.1:8081" };
    expect(load({}, { ...WEBHOOK, ...own }).variables).toMatchObject(own);
    expect(load({}, { ASKGATE_PUBLIC_URL: "http://ask.lan:8787" }).variables.ASKGATE_PUBLIC_URL).toBeDefined();
  });

  it("never shows a secret, wherever it was put", () => {
    const token = "123456:AAbbCCddEEffGGhhIIjjKKllMMnnOOppQQr";
    const message = faultsOf(
      { locale: token, mcp: { maxBlockSeconds: "hunter22" } },
      { TELEGRAM_BOT_TOKEN: `${token} x`, ASKGATE_DATABASE_URL: "mysql://me:hunter22@db", SLACK_BOT_TOKEN: "hunter22" },
    );
    expect(message).toMatch(/^5 settings are wrong/);
    expect(message).not.toContain(token);
    expect(message).not.toContain("hunter22");
  });
});

describe("the database and the ports", () => {
  it.each([
    "sqlite::memory:",
    "sqlite:data/a.db",
    "postgres://me:pa%40ss@db.example:5433/askgate?sslmode=require",
    "postgresql://db/askgate",
    "postgres:///askgate?host=/run/postgresql",
  ])("takes %s", (url) => {
    expect(load({}, { ASKGATE_DATABASE_URL: url }).databaseUrl).toBe(url);
  });

  it("shows neither user nor password of a database to people", () => {
    expect(databaseName("postgresql://me:pa%40ss@db.example:5433/askgate?sslmode=require")).toBe(
      "postgres://db.example:5433/askgate",
    );
    expect(databaseName("postgres:///askgate?host=/run/postgresql")).toBe("postgres:///run/postgresql/askgate");
    expect(databaseName("sqlite:data/a.db")).toBe("sqlite:data/a.db");
  });

  it("has a port for the world only where one is set, any free one also beside any free one", () => {
    expect(load({}).publicPort).toBeNull();
    expect(load({}, { ASKGATE_PORT: "0", ASKGATE_PUBLIC_PORT: "0" })).toMatchObject({ port: 0, publicPort: 0 });
    expect(load({}, { ASKGATE_PUBLIC_PORT: "8443" }).publicPort).toBe(8443);
  });
});

describe("what this version does not have yet", () => {
  const VARIABLES = {
    ASKGATE_CALLBACK_SECRET: "callbacks",
    ...{
      DISCORD_BOT_TOKEN: "Discord channel",
      DISCORD_API_ROOT: "Discord channel",
      DISCORD_PUBLIC_KEY: "Discord channel",
    },
    ...{ SLACK_BOT_TOKEN: "Slack channel", SLACK_APP_TOKEN: "Slack channel", SLACK_SIGNING_SECRET: "Slack channel" },
    ...{ SLACK_API_URL: "Slack channel", TEXT_CHANNEL_URL: "text channel", TEXT_CHANNEL_SECRET: "text channel" },
    ...{ VAPID_PUBLIC_KEY: "web push", VAPID_PRIVATE_KEY: "web push" },
  };

  it.each(Object.entries(VARIABLES))("%s stops the start: there is no %s", (name, what) => {
    const message = faultsOf({}, { [name]: "https://example.org" });
    expect(message).toMatch(/^One setting is wrong/);
    expect(message).toMatch(
      new RegExp(`environment: ${name}.* has no use: this version has no ${what} yet\\. Remove it`),
    );
    expect(load({}, { [name]: "" }).idle).toEqual([]);
  });

  it("is named where the settings file sets it to anything but the default", () => {
    const people = { ana: { quietHours: "22:00-07:00 Europe/Madrid" } };
    const sessions = { "deploys.eu": { remindAfterSeconds: [300], escalate: [], unattended: "stop" } };
    const more = {
      retentionDays: 30,
      holdFreeTextSeconds: 5,
      mcp: { maxBlockSeconds: 60 },
      callbacks: { allow: ["a.org"] },
    };
    expect(load({ people, sessions, ...more, tools: { deploy: {} } }).idle).toEqual([
      ...["retentionDays", "mcp.maxBlockSeconds", "people.ana.quietHours", "sessions.deploys.eu.unattended"],
      ...["sessions.deploys.eu.remindAfterSeconds", "callbacks.allow", "tools"],
    ]);
    expect(load({}).idle).toEqual([]);
  });
});

describe("the log", () => {
  it("hides known secrets and whatever looks like one, in every string and every error", () => {
    const token = "987654:ZZbbCCddEEffGGhhIIjjKKllMMnnOOppQQr";
    const lines: string[] = [];
    const log = createLog({ level: "info", secrets: ['pa"ss word'], write: (line) => lines.push(line) });
    const err = new Error(`GET https://api.telegram.org/bot${token}/getMe failed`);
    log.warn(
      { err, deep: { list: ['pa"ss word'] } },
      'Authorization: Bearer ag_0123 and pa"ss word and pa%22ss%20word',
    );
    const line = lines.join("");
    expect(line).not.toMatch(/ZZbbCC|ss word|ss%20word|ag_0123/);
    const { err: written, deep } = JSON.parse(line);
    expect(written.message).toContain("bot[hidden]/getMe");
    expect(deep).toEqual({ list: ["[hidden]"] });
  });

  it("hides the password of the database, as it is written and as it is, and the address of any database", () => {
    const { secrets } = load({}, { ASKGATE_DATABASE_URL: "postgres://me:pa%40ss-w0rd@db/askgate?password=oth%20er1" });
    const lines: string[] = [];
    const log = createLog({ level: "info", secrets, write: (line) => lines.push(line) });
    const text = "pa%40ss-w0rd pa@ss-w0rd oth%20er1 oth er1 postgresql://you:their-own@else/db, and postgres: x";
    log.warn({ deep: [text], url: "postgres://me:pa%40ss-w0rd@db/askgate?password=oth%20er1" }, text);
    expect(lines.join("")).not.toMatch(/pa(%40|@)ss|er1|their-own|@db|@else/);
    expect(JSON.parse(lines.join("")).msg).toContain("postgresql://[hidden] and postgres: x");
  });

  it("does not take a password of two characters for words everywhere", () => {
    expect(load({}, { ASKGATE_DATABASE_URL: "postgres://a:pg@db/askgate" }).secrets).not.toContain("pg");
  });

  it("keeps what is below its level to itself", () => {
    const lines: string[] = [];
    createLog({ level: "warn", secrets: [], write: (line) => lines.push(line) }).info({}, "asked");
    expect(lines).toEqual([]);
  });

  it("hides the longer of two secrets whole", () => {
    expect(createScrubber(["key", "key-two"])("a key-two b key")).toBe("a [hidden] b [hidden]");
  });
});
