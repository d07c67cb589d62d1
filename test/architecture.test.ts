/**
 * The house rules, run with every test run: who may import whom, how long things are, what is kept out of the pure
 * rooms, and that a folder of adapters is the registry of channels. Each checker is also shown a planted violation.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { cruise, type ICruiseResult } from "dependency-cruiser";
import extractDepcruiseOptions from "dependency-cruiser/config-utl/extract-depcruise-options";
import extractTSConfig from "dependency-cruiser/config-utl/extract-ts-config";
import { afterAll, describe, expect, test } from "vitest";
import { checkSource, functionLengths, MAX_FUNCTION_LINES_P90, type Source } from "../config/tooling/house.ts";

const ROOT = new URL("..", import.meta.url).pathname;
const FOLDERS = ["src", "adapters", "test", "config"];
const sources = FOLDERS.flatMap((folder) => filesUnder(folder))
  .filter((path) => path.endsWith(".ts"))
  .map(read);
const shipped = sources.filter((source) => /^(src|adapters)\//.test(source.path));
const adapters = readdirSync(join(ROOT, "adapters"))
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.slice(0, -3));

describe("imports", () => {
  test("every import is one the table of rooms allows", async () => {
    expect(await brokenImports(ROOT, ["src", "adapters", "test"])).toEqual([]);
  }, 60_000);

  const planted: readonly (readonly [rule: string, path: string, text: string])[] = [
    ["core-reaches-only", "src/core/a.ts", `import { b } from "../ports/b.ts"; export const a = b;`],
    ["core-knows-only", "src/core/a.ts", `import type { B } from "../ports/b.ts"; export type A = B;`],
    ["core-packages", "src/core/a.ts", `import { z } from "zod"; export const a = z;`],
    ["core-packages", "src/core/a.ts", `import { readFile } from "node:fs/promises"; export const a = readFile;`],
    ["ports-reaches-only", "src/ports/a.ts", `import { b } from "../core/b.ts"; export const a = b;`],
    ["engine-reaches-only", "src/engine/a.ts", `import { b } from "../store/b.ts"; export const a = b;`],
    ["engine-packages", "src/engine/a.ts", `import queue from "p-queue"; export const a = queue;`],
    ["store-reaches-only", "src/store/a.ts", `import { b } from "../core/b.ts"; export const a = b;`],
    ["gateway-reaches-only", "src/gateway/a.ts", `import { b } from "../engine/b.ts"; export const a = b;`],
    ["gateway-knows-only", "src/gateway/a.ts", `import type { B } from "../ports/store.ts"; export type A = B;`],
    ["adapters-reaches-only", "adapters/a.ts", `import { b } from "./b.ts"; export const a = b;`],
    ["adapters-reaches-only", "adapters/a.ts", `import { b } from "../src/core/inquiry.ts"; export const a = b;`],
    ["telegraf-has-one-importer", "adapters/a.ts", `import { Telegraf } from "telegraf"; export const a = Telegraf;`],
    ["shipped-never-imports-tests", "src/engine/a.ts", `import { b } from "../testing/b.ts"; export const a = b;`],
    ["no-orphans", "src/core/a.ts", "export const a = 1;"],
  ];
  test.each(planted)("a planted violation of %s in %s is caught", async (rule, path, text) => {
    const root = plant({
      [path]: text,
      "src/core/b.ts": "export const b = 1;",
      "src/core/inquiry.ts": "export const b = 1;",
      "src/ports/b.ts": "export const b = 1; export type B = 1;",
      "src/ports/store.ts": "export type B = 1;",
      "src/store/b.ts": "export const b = 1;",
      "src/engine/b.ts": "export const b = 1;",
      "src/testing/b.ts": "export const b = 1;",
      "adapters/b.ts": "export const b = 1;",
      "node_modules/telegraf/package.json": `{ "name": "telegraf", "version": "1.0.0", "main": "index.js" }`,
      "node_modules/telegraf/index.js": "exports.Telegraf = 1;",
    });
    expect((await brokenImports(root, ["src", "adapters"])).join("\n")).toContain(`${rule}: ${path}`);
  });

  test("a cycle is caught, even one of types alone", async () => {
    const root = plant({
      "src/core/a.ts": `import type { B } from "./b.ts"; export type A = B | 1;`,
      "src/core/b.ts": `import type { A } from "./a.ts"; export type B = A[];`,
    });
    expect((await brokenImports(root, ["src"])).join("\n")).toContain("no-cycles");
  });
});

describe("sources", () => {
  test("every file keeps the house rules", () => {
    expect(sources.flatMap(checkSource).map((one) => `${one.path}:${one.line} ${one.rule}: ${one.remedy}`)).toEqual([]);
  });

  test("nine of ten functions are short", () => {
    const lengths = shipped.flatMap(functionLengths).sort((a, b) => a.lines - b.lines);
    const ninth = lengths[Math.floor(lengths.length * 0.9)];
    expect(ninth?.lines, `the function at the ninth decile is ${ninth?.name}`).toBeLessThanOrEqual(
      MAX_FUNCTION_LINES_P90,
    );
  });

  const mute = "ignore";
  const theory = "/** What it decides. */\n";
  const planted: readonly (readonly [rule: string, path: string, text: string])[] = [
    ["301 lines", "src/core/a.ts", theory + "\n".repeat(300)],
    ["351 lines", "adapters/a.ts", theory + "\n".repeat(350)],
    ["function of 51 lines", "src/core/a.ts", `${theory}export function a() {${"\n".repeat(50)}}\n`],
    ["no opening comment", "src/core/a.ts", "export const a = 1;\n"],
    ["a vague name", "src/core/text-utils.ts", theory.replace("text", "")],
    ["Date.now in a pure room", "src/core/a.ts", `${theory}export const a = Date.now();\n`],
    ["new Date() in a pure room", "src/ports/a.ts", `${theory}export const a = new Date();\n`],
    ["Math.random in a pure room", "src/engine/a.ts", `${theory}export const a = Math.random();\n`],
    ["setTimeout in a pure room", "src/engine/a.ts", `${theory}setTimeout(() => undefined, 1);\n`],
    ["fetch in a pure room", "src/engine/a.ts", `${theory}export const a = { get: fetch };\n`],
    ["console in a pure room", "src/engine/a.ts", `${theory}console.log("a");\n`],
    ["process.env", "src/gateway/a.ts", `${theory}export const a = process.env["HOME"];\n`],
    ["a default export", "src/core/a.ts", `${theory}export default 1;\n`],
    ["a default export", "src/core/a.ts", `${theory}export default function a() {}\n`],
    ["any", "src/core/a.ts", `${theory}export const a = 1 as any;\n`],
    ["an enum", "src/core/a.ts", `${theory}export enum A { B }\n`],
    [`@ts-${mute}`, "src/core/a.ts", `${theory}// @ts-${mute}\n`],
    [`biome-${mute}`, "test/a.ts", `// biome-${mute} lint: because\n`],
  ];
  test.each(planted)("planted: %s in %s is caught", (rule, path, text) => {
    expect(
      checkSource({ path, text })
        .map((one) => one.rule)
        .join("\n"),
    ).toContain(rule);
  });

  test("what only looks like a violation passes", () => {
    const text = `${theory}export const words = ["setTimeout", "any", "process.env"];
      export interface Clock { fetch: string; process(): void }
      export const at = (ms: number, clock: Clock) => new Date(ms).toISOString() + clock.fetch;
      // Date.now() is forbidden here
    `;
    expect(checkSource({ path: "src/core/a.ts", text })).toEqual([]);
  });
});

describe("the folder of adapters is the registry of channels", () => {
  test.each(adapters)("%s exports a channel module of its own name", async (name) => {
    const exported: Record<string, unknown> = await import(join(ROOT, "adapters", `${name}.ts`));
    const modules = Object.values(exported).filter(isChannelModule);
    expect(modules.map((module) => module.name)).toEqual([name]);
  });

  test.each(adapters)("%s is known to main.ts and runs the channel suite", (name) => {
    expect(read("src/main.ts").text).toContain(`adapters/${name}.ts`);
    expect(read("test/channels.test.ts").text).toContain(`adapters/${name}.ts`);
  });
});

describe("the repository", () => {
  test("the lock file names no registry host, so it installs from whichever registry is configured", () => {
    expect(read("package-lock.json").text).not.toMatch(/"resolved": "https?:/);
  });

  test("continuous integration is the test command of a clean clone", () => {
    expect(read(".ci/run").text).toContain("npm ci && npm test\n");
  });

  test("no file names a folder of the machine it was written on", () => {
    const folder = ROOT.split("/").slice(0, 3).join("/");
    const texts = ["README.md", "package.json", ".ci/run", ...FOLDERS.flatMap((one) => filesUnder(one))];
    expect(texts.filter((path) => read(path).text.includes(`${folder}/`))).toEqual([]);
  });
});

const plantedRoots: string[] = [];
afterAll(() => {
  for (const root of plantedRoots) rmSync(root, { recursive: true, force: true });
});

/** A little repository in a folder of its own. */
function plant(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), "askgate-house-"));
  plantedRoots.push(root);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

async function brokenImports(root: string, folders: readonly string[]): Promise<readonly string[]> {
  const options = await extractDepcruiseOptions(join(ROOT, "config/tooling/imports.cjs"));
  const tsConfig = extractTSConfig(join(ROOT, "tsconfig.json"));
  const { output } = await cruise([...folders], { ...options, baseDir: root }, {}, { tsConfig });
  const { summary } = output as ICruiseResult;
  return summary.violations.map((one) => `${one.rule.name}: ${one.from} -> ${one.to}`);
}

function isChannelModule(value: unknown): value is { name: string } {
  return typeof value === "object" && value !== null && "name" in value && "limits" in value && "open" in value;
}

function read(path: string): Source {
  return { path, text: readFileSync(join(ROOT, path), "utf8") };
}

function filesUnder(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length));
}
