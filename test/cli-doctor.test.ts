/** What `doctor` says of databases and webhooks, and the port that webhooks have for themselves. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, describe, expect, inject, it, vi } from "vitest";
import { type Cli, createCli, type DatabaseCheck } from "../src/gateway/cli/cli.ts";
import { runCommand } from "../src/gateway/cli/commands.ts";
import type { Finding } from "../src/gateway/cli/finding.ts";
import { examinePostgres } from "../src/store/checkup.ts";
import { freePort } from "../src/testing/free-port.ts";
import { startPooler } from "../src/testing/pooler.ts";
import { freshDatabase } from "../src/testing/postgres.ts";
import { startTelegram } from "../src/testing/telegram-server.ts";
import { clearAway, idOf, makeFolder, run, serve } from "./fixtures/commands.ts";

vi.setConfig({ testTimeout: 90_000, hookTimeout: 60_000 });

afterAll(clearAway);

/** What `doctor` finds of the check where the database is as given. */
async function diagnose(tryDatabase: () => Promise<DatabaseCheck>, telegram: CliTelegram = null) {
  const out: string[] = [];
  const refuse = () => Promise.reject(new Error("not called for here"));
  const keys = { agent: "ag_of-the-doctor", operator: "op_of-the-doctor" };
  const cli: Cli = {
    ...createCli({
      config: () => ({
        data: join(tmpdir(), "askgate-not-there"),
        url: "http://127.0.0.1:1",
        keys,
        locale: "en",
        telegram,
      }),
      ...{ startGateway: refuse, migrate: refuse, move: refuse, tryDatabase },
    }),
    out: (line) => out.push(line),
    note: () => {},
  };
  const exit = await runCommand(["doctor", "--json"], cli);
  const { findings } = JSON.parse(out.join("")) as { findings: readonly Finding[] };
  const of = (check: string) => findings.find((one) => one.check === check);
  return { exit, of };
}

type CliTelegram = ReturnType<Cli["config"]>["telegram"];

const GOOD = { version: "16.4", major: 16, schema: "public", mayCreate: true, user: "askgate", ahead: 20, hears: true };
const serverLike = (change: Partial<typeof GOOD> | { schema: null }) => async () => ({
  finding: "postgres://db/askgate",
  server: { ...GOOD, ...change },
});

describe("of a PostgreSQL server", () => {
  it("finds a good one good, by its own words", async () => {
    const url = await freshDatabase(inject("postgres"));
    const server = await examinePostgres(url);
    expect(server).toMatchObject({ schema: "public", mayCreate: true, hears: true });
    expect(server.major).toBeGreaterThanOrEqual(14);
    expect(Math.abs(server.ahead)).toBeLessThan(5_000);
    const { of } = await diagnose(async () => ({ finding: "postgres://db/askgate", server }));
    for (const check of ["database", "database rights", "database clock", "database hints"]) {
      expect(of(check)).toMatchObject({ state: "ok" });
    }
  });

  it("finds out that notifications do not pass a pooler in transaction mode, and says what that costs", async () => {
    const pooler = await startPooler(await freshDatabase(inject("postgres")));
    const server = await examinePostgres(pooler.url).finally(() => pooler.stop());
    expect(server.hears).toBe(false);
    const { exit, of } = await diagnose(serverLike({ hears: server.hears }));
    expect(of("database hints")).toMatchObject({
      state: "note",
      next: expect.stringMatching(/look each second.*session mode/),
    });
    expect(exit).toBe(0);
  });

  it("finds out that the user may not create tables, and says how to allow it", async () => {
    const url = new URL(await freshDatabase(inject("postgres")));
    const admin = new pg.Client({ connectionString: url.href });
    await admin.connect();
    const user = `reader_${Math.random().toString(36).slice(2)}`;
    await admin.query(`create role ${user} login password 'of-the-reader'; revoke create on schema public from public`);
    const own = new URL(url);
    Object.assign(own, { username: user, password: "of-the-reader" });
    const server = await examinePostgres(own.href);
    await admin.query(`drop role ${user}`);
    await admin.end();
    expect(server).toMatchObject({ mayCreate: false, user });
    const { exit, of } = await diagnose(serverLike({ mayCreate: false }));
    expect(of("database rights")).toMatchObject({
      state: "fault",
      next: "Run as its owner: GRANT CREATE ON SCHEMA public TO askgate",
    });
    expect(exit).toBe(1);
  });

  it.each([
    ["a server that is too old", { version: "13.9", major: 13 }, "database", /Upgrade it to PostgreSQL 14/],
    ["a clock a minute and a second ahead", { ahead: 61_000 }, "database clock", /time server/],
    ["a clock an hour behind", { ahead: -3_600_000 }, "database clock", /time server/],
    ["no schema to make tables in", { schema: null, mayCreate: false }, "database rights", /search_path/],
  ])("tells of %s", async (_name, change, check, next) => {
    const { exit, of } = await diagnose(serverLike(change));
    expect(of(check)).toMatchObject({ state: "fault", next: expect.stringMatching(next) });
    expect(exit).toBe(1);
  });

  it("says why one cannot be reached, and neither user nor password", async () => {
    const environment = { ASKGATE_DATABASE_URL: "postgres://somebody:pass-of-nobody@127.0.0.1:1/askgate" };
    const doctor = run(makeFolder(), ["doctor"], "", environment);
    expect(await doctor.end).toBe(1);
    expect(doctor.out()).toMatch(
      /FAULT {2}database: ASKGATE_DATABASE_URL \(postgres:\/\/127\.0\.0\.1:1\/askgate\): The database cannot be used: it cannot be reached\. To mend it, check/,
    );
    expect(doctor.out() + doctor.err()).not.toMatch(/somebody|pass-of-nobody/);
  });
});

describe("of a webhook", () => {
  const ADDRESS = "https://ask.example/channels/telegram";
  const ok = async () => ({ finding: "opens" });

  it("tells one that is missing, right, somebody else's, or fails", async () => {
    const platform = await startTelegram({ local: true });
    const settings = { token: platform.token, apiRoot: platform.url, webhook: ADDRESS };
    const finding = async () => (await diagnose(ok, settings)).of("telegram webhook");
    const set = (url: string) =>
      fetch(`${platform.url}/bot${platform.token}/setWebhook`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ url }),
      });
    expect(await finding()).toMatchObject({ state: "note", finding: "not set yet" });
    await set(ADDRESS);
    expect(await finding()).toMatchObject({ state: "ok", finding: `updates go to ${ADDRESS}, 0 updates wait` });
    await set(`https://else.example/${platform.token}`);
    expect(await finding()).toMatchObject({
      ...{ state: "fault", finding: "updates go to https://else.example/…" },
      next: expect.stringContaining(`It should be ${ADDRESS}`),
    });
    const polled = await diagnose(ok, { ...settings, webhook: null });
    expect(polled.of("telegram webhook")?.finding).toBe("another program set one: https://else.example/…");
    await platform.close();
  });
});

it("webhooks have a port of their own, where an answer comes in and nothing else is served", async () => {
  const platform = await startTelegram({ local: true });
  const open = await freePort();
  const environment = {
    ...{ TELEGRAM_BOT_TOKEN: platform.token, TELEGRAM_API_ROOT: platform.url },
    ...{ TELEGRAM_WEBHOOK_SECRET: "s3cret_of-the-webhook", ASKGATE_PUBLIC_URL: `http://127.0.0.1:${open}/` },
    ASKGATE_PUBLIC_PORT: `${open}`,
  };
  const data = makeFolder();
  const gateway = await serve(data, environment);
  expect(gateway.err()).toMatch(new RegExp(` {2}webhooks {2}http://127\\.0\\.0\\.1:${open}\n`));
  const url = /listens on (\S+)/.exec(gateway.err())?.[1] ?? "";
  const code = /telegram: nobody is linked yet\. Send (\S+) to your bot/.exec(gateway.err())?.[1] ?? "";
  const ana = platform.user(100, "Ana");
  ana.says(100, code);
  await platform.waitFor(() => platform.messages(100).some(({ text }) => text.startsWith("Linked.")), 30_000);
  const asking = run(data, ["ask", "Deploy where?", "-o", "Staging", "-o", "Production"]);
  await idOf(data, "Deploy where?");
  const asked = await platform.waitFor(
    () => platform.messages(100).find((one) => platform.buttons(one).length > 0),
    40_000,
  );
  ana.presses(
    asked.id,
    platform
      .buttons(asked)
      .flat()
      .find((label) => label.endsWith("Production")) ?? "",
  );
  expect(await asking.end).toBe(0);
  expect(asking.out()).toBe("Production\n");
  expect(platform.calls("getUpdates")).toEqual([]);

  for (const path of ["/v1/inquiries", "/healthz", "/readyz", "/metrics", "/openapi.json", "/channels/terminal"]) {
    expect((await fetch(`http://127.0.0.1:${open}${path}`)).status, path).toBe(404);
  }
  expect((await fetch(`http://127.0.0.1:${open}/channels/telegram`, { method: "POST", body: "{}" })).status).toBe(401);
  expect((await fetch(`${url}/channels/telegram`, { method: "POST", body: "{}" })).status).toBe(404);
  const doctor = run(data, ["doctor"], "", environment);
  expect(await doctor.end).toBe(0);
  expect(doctor.out()).toMatch(/ok {5}telegram webhook: updates go to http:\S+\/channels\/telegram/);
  for (const text of [gateway.err(), doctor.out()]) expect(text).not.toMatch(/s3cret_of|loopback-token/);
  gateway.child.kill("SIGTERM");
  expect(await gateway.end).toBe(0);
  await platform.close();
});

it("a public port that is taken stops the start and names it", async () => {
  const platform = await startTelegram();
  const taken = new URL(platform.url).port;
  const gateway = run(makeFolder(), ["serve"], "", { ASKGATE_PUBLIC_PORT: taken });
  expect(await gateway.end).toBe(1);
  expect(gateway.err()).toContain(`127.0.0.1:${taken} is taken`);
  await platform.close();
});
