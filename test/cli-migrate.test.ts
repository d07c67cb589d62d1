/** `migrate` as an operator uses it: a real gateway, its database moved while a question is open, and the answer after. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, inject, it, vi } from "vitest";
import { freshDatabase } from "../src/testing/postgres.ts";
import { clearAway, makeFolder, operatorOf, run, serve } from "./fixtures/commands.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

afterAll(clearAway);

it("brings the database of the settings up to date and says what was applied", async () => {
  const data = makeFolder();
  const first = run(data, ["migrate", "--json"]);
  expect(await first.end).toBe(0);
  const { database, applied } = JSON.parse(first.out());
  expect(database).toBe(`sqlite:${join(data, "askgate.db")}`);
  expect(applied).toContain("0001_spine");
  const second = run(data, ["migrate"]);
  expect(await second.end).toBe(0);
  expect(second.out()).toBe("");
  expect(second.err()).toContain(`${database} was up to date.`);
});

it("moves an open question from SQLite to PostgreSQL and back, and it is answered there", async () => {
  const data = makeFolder();
  const [here, there] = [`sqlite:${join(data, "askgate.db")}`, await freshDatabase(inject("postgres"))];
  const gateway = await serve(data);
  const asking = run(data, ["ask", "Still there?", "-o", "Yes", "-o", "No"]);
  await asking.seen(/Nobody sees it yet/);
  const [asked] = (await operatorOf(data).list()).items;

  const early = run(data, ["migrate", "--from", here, "--to", there]);
  expect(await early.end).toBe(1);
  expect(early.err()).toMatch(/cannot be used: another process holds it\. To mend it, end that process\./);
  gateway.child.kill("SIGTERM");
  expect(await gateway.end).toBe(0);

  const moving = run(data, ["migrate", "--from", here], "", { ASKGATE_DATABASE_URL: there });
  expect(await moving.end).toBe(0);
  expect(moving.out()).toMatch(/^inquiry +1$/m);
  expect(moving.err()).toMatch(/^inquiry: 1 of 1 rows$/m);
  expect(moving.err()).toMatch(/left as it was\. ASKGATE_DATABASE_URL names the new one already/);
  const again = run(data, ["migrate", "--from", here, "--to", there, "--json"]);
  expect(await again.end).toBe(2);
  expect(JSON.parse(again.err().trim().split("\n").at(-1) ?? "").detail).toMatch(/not empty: inquiry has 1 rows/);

  const second = await serve(data, { ASKGATE_DATABASE_URL: there });
  expect(second.err()).toMatch(/ {2}database {2}postgres:\/\/127\.0\.0\.1:\d+\/askgate_test_\w+\n/);
  expect(await operatorOf(data).get(asked?.id ?? "")).toMatchObject({ status: "waiting" });
  await operatorOf(data).answer(asked?.id ?? "", { answers: { answer: ["Yes"] } });
  expect(await asking.end).toBe(0);
  expect(asking.out()).toBe("Yes\n");
  second.child.kill("SIGTERM");
  expect(await second.end).toBe(0);

  const back = `sqlite:${join(data, "back.db")}`;
  const returning = run(data, ["migrate", "--from", there, "--to", back, "--json"]);
  expect(await returning.end).toBe(0);
  expect(returning.err()).toMatch(/left as it was\. Set ASKGATE_DATABASE_URL to the new one/);
  expect(JSON.parse(returning.out())).toMatchObject({ to: back, tables: { inquiry: 1 } });
  for (const { password } of [new URL(there)]) {
    const printed = [early, moving, again, second, returning].map((one) => one.out() + one.err()).join("");
    expect(printed.includes(`:${password}@`)).toBe(false);
  }
});

const NOWHERE = "postgres://somebody:pass-of-nobody@127.0.0.1:1/askgate";

it.each([
  ["an address that is none", ["--from", "mysql://x", "--to", "sqlite:b.db"], 2, "--from must be sqlite:PATH"],
  ["a target alone", ["--to", "sqlite:b.db"], 2, "Give --from too, or set ASKGATE_DATABASE_URL to that database."],
  [
    "a server that is not there",
    ["--from", NOWHERE, "--to", "sqlite:b.db"],
    1,
    "--from (postgres://127.0.0.1:1/askgate): The database cannot be used: it cannot be reached. To mend it, check that " +
      "the server runs and --from names it.",
  ],
  [
    "a source that is not there",
    ["--from", "sqlite:gone.db", "--to", "sqlite:b.db"],
    2,
    "There is no database gone.db",
  ],
])("%s is refused, and nothing is made", async (_name, options, code, why) => {
  const migrating = run(makeFolder(), ["migrate", ...options]);
  expect(await migrating.end).toBe(code);
  expect(migrating.err()).toContain(why);
  expect(migrating.err()).not.toMatch(/somebody|pass-of-nobody/);
  expect(existsSync("b.db")).toBe(false);
});

it("a start or an update says which database it cannot reach, and by which setting", async () => {
  for (const command of ["serve", "migrate"]) {
    const begun = run(makeFolder(), [command], "", { ASKGATE_DATABASE_URL: NOWHERE });
    expect(await begun.end).toBe(1);
    expect(begun.err()).toMatch(
      /ASKGATE_DATABASE_URL \(postgres:\/\/127\.0\.0\.1:1\/askgate\): The database cannot be used/,
    );
    expect(begun.err()).not.toMatch(/somebody|pass-of-nobody/);
  }
});
