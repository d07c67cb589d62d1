/** Stopping a real gateway under load: in time, with nothing lost, and whoever waited goes on after the next start. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, inject, it, vi } from "vitest";
import { createClient } from "../src/client.ts";
import { freePort } from "../src/testing/free-port.ts";
import { freshDatabase } from "../src/testing/postgres.ts";
import { startTelegram } from "../src/testing/telegram-server.ts";
import { clearAway, makeFolder, serve } from "./fixtures/commands.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

afterAll(clearAway);

const KEYS = { ASKGATE_API_KEY: "ag_of-the-stop-test", ASKGATE_OPERATOR_KEY: "op_of-the-stop-test" };
const STOP_WITHIN_MS = 10_000;

const yesOrNo = (id: string) => ({
  id,
  questions: [{ id: "ok", header: "Ok", question: `${id}?`, options: [{ label: "Yes" }, { label: "No" }] }],
});

/** Asks and answers one inquiry after another, until told to stop; what was acknowledged stands in `answered`. */
function work(url: string) {
  const agent = createClient({ url, key: KEYS.ASKGATE_API_KEY });
  const operator = createClient({ url, key: KEYS.ASKGATE_OPERATOR_KEY });
  const answered: string[] = [];
  let going = true;
  async function one(): Promise<void> {
    while (going) {
      const id = `work-${randomUUID()}`;
      await agent.ask(yesOrNo(id));
      await operator.answer(id, { answers: { ok: ["Yes"] } });
      answered.push(id);
    }
  }
  const over = Promise.allSettled(Array.from({ length: 8 }, one));
  return {
    answered,
    async end() {
      going = false;
      await over;
    },
  };
}

describe.each([
  ["SQLite", async () => ({})],
  ["PostgreSQL", async () => ({ ASKGATE_DATABASE_URL: await freshDatabase(inject("postgres")) })],
])("a stop under load on %s", (_name, databaseOf) => {
  it("ends with 0 in time, keeps every acknowledged answer, and waiting calls go on after the next start", async () => {
    const platform = await startTelegram();
    platform.user(100, "Ana");
    const port = await freePort();
    const environment = {
      ...{ ...KEYS, ...(await databaseOf()), ASKGATE_PORT: `${port}` },
      ...{ TELEGRAM_BOT_TOKEN: platform.token, TELEGRAM_API_ROOT: platform.url },
    };
    const url = `http://127.0.0.1:${port}`;
    const data = makeFolder();
    const first = await serve(data, environment);
    const agent = createClient({ url, key: KEYS.ASKGATE_API_KEY });
    const operator = createClient({ url, key: KEYS.ASKGATE_OPERATOR_KEY });
    const ids = Array.from({ length: 30 }, (_, at) => `wait-${at}`);
    const waiting = ids.map((id) => agent.askUser({ ...yesOrNo(id), to: ["telegram:100"] }));
    await vi.waitFor(
      async () => expect((await operator.list({ limit: 100 })).items.length).toBeGreaterThanOrEqual(30),
      {
        timeout: 20_000,
      },
    );
    const load = work(url);
    await vi.waitFor(() => expect(load.answered.length).toBeGreaterThan(20), { timeout: 40_000 });

    const began = performance.now();
    first.child.kill("SIGTERM");
    expect(await first.end).toBe(0);
    expect(performance.now() - began).toBeLessThan(STOP_WITHIN_MS);
    await load.end();
    expect(existsSync(join(data, "gateway.lock"))).toBe(false);

    const second = await serve(data, environment);
    for (const id of load.answered) expect((await operator.get(id)).answers).toEqual({ ok: ["Yes"] });
    for (const id of ids) await operator.answer(id, { answers: { ok: ["No"] } });
    for (const result of await Promise.all(waiting)) {
      expect(result).toMatchObject({ status: "answered", answers: { answers: { ok: ["No"] } } });
    }
    second.child.kill("SIGINT");
    expect(await second.end).toBe(0);
    await platform.close();
  });
});

it("a second signal ends it at once, though somebody is still sending a request", async () => {
  const data = makeFolder();
  const port = await freePort();
  const gateway = await serve(data, { ASKGATE_PORT: `${port}`, ...KEYS });
  const slow = connect(port, "127.0.0.1");
  slow.on("error", () => {});
  slow.write(
    `POST /v1/inquiries HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${KEYS.ASKGATE_API_KEY}\r\n` +
      "content-type: application/json\r\ncontent-length: 1000\r\n\r\n{",
  );
  await createClient({ url: `http://127.0.0.1:${port}`, key: KEYS.ASKGATE_API_KEY }).list();
  gateway.child.kill("SIGTERM");
  await gateway.seen(/Stopping\./);
  const began = performance.now();
  gateway.child.kill("SIGTERM");
  expect(await gateway.end).toBeNull();
  expect(performance.now() - began).toBeLessThan(1_000);
  slow.destroy();
});
