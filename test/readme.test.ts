/**
 * README.md does what it says: every snippet of it is run as a new user would run it, and what it shows is what comes.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { loadConfig } from "../src/config.ts";
import { TRANSITIONS } from "../src/core/inquiry.ts";
import { openStore } from "../src/store/store.ts";
import { freshDatabase } from "../src/testing/postgres.ts";
import { inquiryOf, silent } from "../src/testing/store-samples.ts";
import { until } from "../src/testing/until.ts";
import { deliveryDiagram, inquiryArrows, inquiryDiagram } from "./readme/diagrams.ts";
import { ROOT, readme, type Snippet, snippets } from "./readme/document.ts";
import { openStand, type Run, type Stand, shows, whileSomebodyAnswers } from "./readme/stand.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const QUICK_START = "An answered question in two minutes";
/** Installing and the whole test run cannot run inside a test: these lines are checked word for word. */
const WHOLE_CLONE = ["npm ci && npm start", "npm ci && npm test", "npm test", "npm run bench"];

const of = (language: string) => snippets.filter((one) => one.language === language);
const MACHINES = "Several machines";
/** Run apart from the others: it does not end by itself. */
const endless = of("sh").filter((one) => one.text.startsWith("curl -N"));
const commands = of("sh").filter(
  (one) => !WHOLE_CLONE.includes(one.text) && !endless.includes(one) && ![QUICK_START, MACHINES].includes(one.section),
);
const greetings = of("text").filter((one) => /listens on|nobody is linked/.test(one.text));
/** What is to be seen after a snippet; null where the page shows nothing. */
const outputOf = (snippet: Snippet) => {
  const next = snippets[snippets.indexOf(snippet) + 1];
  return next?.language === "text" && !greetings.includes(next) ? next.text : null;
};
const at = (snippet: Snippet): readonly [string, Snippet] => [`line ${snippet.line}, ${snippet.section}`, snippet];

function expectShown(shown: string | null, run: Run, stand: Stand): void {
  expect(run, run.err).toMatchObject({ code: 0 });
  if (shown !== null) expect(shows(stand.placed(shown), run.out), `shown:\n${shown}\ncame:\n${run.out}`).toBe(true);
}

describe("in a fresh clone", () => {
  let stand: Stand;
  beforeAll(async () => {
    stand = await openStand("npm start");
  });
  afterAll(() => stand?.close());

  it("the gateway greets as shown, and its code links the owner's Telegram account", async () => {
    expect(greetings).toHaveLength(2);
    const came = stand.greeting().slice(stand.greeting().indexOf("Askgate listens"));
    for (const { text } of greetings)
      expect(shows(stand.placed(text), came), `shown:\n${text}\ncame:\n${came}`).toBe(true);
    const code = /Send (\S+) to your bot/.exec(stand.greeting())?.[1] ?? "";
    stand.telegram.user(100, "Ana").says(100, code);
    await stand.telegram.waitFor(
      () => stand.telegram.messages(100).some(({ text }) => text.startsWith("Linked.")),
      20_000,
    );
  });

  it("a question asked in one terminal is answered in another", async () => {
    const [asking, inbox] = of("sh").filter((one) => one.section === QUICK_START);
    if (!asking || !inbox) throw new Error(`the section "${QUICK_START}" shows asking and answering`);
    const asked = stand.run(asking.text);
    await until("it is asked", async () => (await stand.operator.list({ status: "waiting" })).items.length > 0, 30_000);
    expectShown(null, await stand.run(inbox.text, "2\n"), stand);
    expectShown(outputOf(inbox), await asked, stand);
  });

  it.each(commands.map(at))("%s: the commands run and show what the page shows", async (_place, snippet) => {
    expectShown(outputOf(snippet), await whileSomebodyAnswers(stand, stand.run(snippet.text)), stand);
  });

  it.each(endless.map(at))("%s: the stream tells of what is asked", async (_place, { text }) => {
    const stream = stand.watch(text);
    await until("it is open", () => stream.out().includes("id: "), 30_000);
    await whileSomebodyAnswers(stand, stand.run('npm run -s askgate -- ask "Well?"'));
    await until("both ends are told", () => /event: inquiry.created[\s\S]*event: inquiry.answered/.test(stream.out()));
    await stream.stop();
  });

  it.each(of("ts").map(at))("%s: the program runs and prints what the page shows", async (_place, snippet) => {
    writeFileSync(join(stand.folder, "ask.ts"), stand.placed(snippet.text));
    expectShown(outputOf(snippet), await whileSomebodyAnswers(stand, stand.run("node --import tsx ask.ts")), stand);
  });
});

describe(MACHINES, () => {
  const [settings, move] = of("sh").filter((one) => one.section === MACHINES);
  const PUBLISHED = "postgres://askgate:password@db.internal/askgate";

  it("questions are moved as shown, and the settings shown are valid", async () => {
    const url = await freshDatabase(inject("postgres"));
    const folder = mkdtempSync(join(tmpdir(), "askgate-readme-"));
    const old = await openStore(`sqlite:${join(folder, "askgate.db")}`, { log: silent });
    await old.commit({ create: [inquiryOf("inq_1")] });
    await old.close();
    const text = (move?.text ?? "").replace(PUBLISHED, url).replace("sqlite:data/", `sqlite:${folder}/`);
    execFileSync("bash", ["-c", text], {
      cwd: ROOT,
      stdio: "ignore",
      env: { ...process.env, ASKGATE_DATABASE_URL: url },
    });
    const moved = await openStore(url, { log: silent });
    expect((await moved.inquiry("inq_1"))?.status).toBe("waiting");
    await moved.close();
    rmSync(folder, { recursive: true });
    const filled = (settings?.text ?? "").replace("…", "k".repeat(16)).replace("…", "o".repeat(16));
    const environment = Object.fromEntries(filled.split("\n").map((line) => line.split(/=(.*)/s).slice(0, 2)));
    expect(loadConfig(environment, { path: "app.json", text: null }).databaseUrl).toBe(PUBLISHED);
  });
});

describe("read alone", () => {
  it("only known kinds of snippets are on the page, each of them looked at here", () => {
    const looked = ["sh", "text", "ts", "json", "mermaid"];
    expect(snippets.filter((one) => !looked.includes(one.language))).toEqual([]);
    for (const language of looked) expect(of(language), language).not.toEqual([]);
    const compared = [...greetings, ...[...of("sh"), ...of("ts")].filter((one) => outputOf(one) !== null)];
    expect(compared).toHaveLength(of("text").length);
  });

  it("whole-clone commands are scripts that exist, and the test command is what .ci/run runs", () => {
    const { scripts, engines } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8"));
    expect(readme).toContain(`Node.js ${engines.node.replace(">=", "")} or newer`);
    const builtIn = { ci: true, start: scripts.start, test: scripts.test };
    const shown = of("sh").filter((one) => WHOLE_CLONE.includes(one.text));
    expect(new Set(shown.map((one) => one.text))).toEqual(new Set(WHOLE_CLONE));
    for (const [, run, name = ""] of shown.flatMap((one) => [...one.text.matchAll(/npm (run )?(\S+)/g)])) {
      expect(run === undefined ? builtIn : scripts, name).toHaveProperty(name);
    }
    const ci = readFileSync(`${ROOT}.ci/run`, "utf8").trim().split("\n");
    expect(ci.at(-1)).toBe("npm ci && npm test");
  });

  it.each(of("ts").map(at))("%s: the program has no type error", (_place, snippet) => {
    expect(typeErrorsOf(snippet.text)).toEqual([]);
  });

  it("a program with a type error is caught", () => {
    expect(typeErrorsOf('import { createClient } from "./src/client.ts";\ncreateClient({ url: 1 });')).not.toEqual([]);
  });

  it.each(of("json").map(at))("%s: the settings are valid", (_place, snippet) => {
    expect(() => loadConfig({}, { path: "README.md", text: snippet.text })).not.toThrow();
  });

  it("the state diagrams are those of the tables, and no cell of the inquiry's table is left undrawn", () => {
    const drawn = of("mermaid").map((one) => one.text);
    expect(drawn.filter((text) => text.startsWith("stateDiagram"))).toEqual([inquiryDiagram(), deliveryDiagram()]);
    const arrows = new Set(inquiryArrows().map(({ from, event }) => `${from} ${event}`));
    const cells = Object.entries(TRANSITIONS).flatMap(([from, row]) =>
      Object.keys(row).map((event) => `${from} ${event}`),
    );
    expect([...arrows].sort()).toEqual(cells.sort());
  });
});

/** The compiler's words on a program that stands beside README.md. */
function typeErrorsOf(text: string): readonly string[] {
  const path = join(ROOT, "ask.ts");
  const { config } = ts.readConfigFile(join(ROOT, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [path] }, ts.sys, ROOT);
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (name) => name === path || fileExists(name);
  host.readFile = (name) => (name === path ? text : readFile(name));
  host.getSourceFile = (name, version, ...rest) =>
    name === path ? ts.createSourceFile(name, text, version) : getSourceFile(name, version, ...rest);
  const diagnostics = ts.getPreEmitDiagnostics(ts.createProgram([path], { ...options, noEmit: true }, host));
  return diagnostics.map((one) => ts.flattenDiagnosticMessageText(one.messageText, "\n"));
}
