/**
 * The gateway as a program: each module translated once, by the translator that `--import tsx` uses for every start, so
 * that a process costs a fifth of the time and a thousand of them can be killed. The source is the same and so is the
 * command. `source` starts it as a clone does instead.
 */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const ROOT = new URL("../..", import.meta.url).pathname;
const PRELOADS = {
  leash: "test/fixtures/leash.ts",
  sqliteTrap: "test/fixtures/sqlite-trap.ts",
  movedClock: "test/fixtures/moved-clock.ts",
} as const;

export type Preload = keyof typeof PRELOADS;

export interface Programs {
  /** Arguments for node, in front of the command. */
  arguments(preloads: readonly Preload[]): readonly string[];
  remove(): void;
}

export const source: Programs = {
  arguments(preloads) {
    const modules = ["tsx", ...preloads.map((name) => join(ROOT, PRELOADS[name]))];
    return [...modules.flatMap((module) => ["--import", module]), join(ROOT, "src/main.ts")];
  },
  remove: () => {},
};

export async function buildPrograms(): Promise<Programs> {
  const folder = join(ROOT, "node_modules/.cache/askgate-scenarios", randomBytes(6).toString("hex"));
  await build({
    entryPoints: { main: join(ROOT, "src/main.ts"), ...absolute(PRELOADS) },
    absWorkingDir: ROOT,
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
    external: ["better-sqlite3", "better-sqlite3-node20", "pino", "pg"],
    // Packages of the older kind ask for `require`, which modules do not have.
    banner: {
      js: 'import { createRequire as toRequire } from "node:module"; const require = toRequire(import.meta.url);',
    },
  });
  return {
    arguments: (preloads) => [
      ...preloads.flatMap((name) => ["--import", join(folder, `${name}.mjs`)]),
      join(folder, "main.mjs"),
    ],
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function absolute(entries: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(ROOT, path)]));
}
