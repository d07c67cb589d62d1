/**
 * Every figure of the spine, beside what limits it: `npm run bench -- [FOLDER] [--history]`, FOLDER on the disk to
 * measure, by default the system's own. `--history` adds a million settled inquiries, which takes some minutes to load.
 * What is printed is also written to `results/`, with the date and the commit it was measured at.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { flushesPerSecond } from "./disk.ts";
import { machines, type Row } from "./machines.ts";
import { registryPerSecond } from "./registry.ts";
import { spine } from "./spine.ts";

const IN_FLIGHT = 200;
const { values, positionals } = parseArgs({ options: { history: { type: "boolean" } }, allowPositionals: true });
const disk = positionals[0] ?? tmpdir();
const written: string[] = [];

function say(line: string): void {
  console.log(line);
  written.push(line);
}

function git(...words: string[]): string {
  return execFileSync("git", words, { encoding: "utf8" }).trim();
}

let header = "";

function tell(row: Row): void {
  const columns = Object.keys(row).join(" | ");
  if (columns !== header) say(`\n| ${columns} |\n|${" --- |".repeat(Object.keys(row).length)}`);
  header = columns;
  say(`| ${Object.values(row).join(" | ")} |`);
}

const date = new Date().toISOString().slice(0, 10);
const commit = git("rev-parse", "--short", "HEAD") + (git("status", "--porcelain") === "" ? "" : " with changes");
const flushes = flushesPerSecond(disk);
say(`# Figures of ${date} at ${commit}\n`);
say(
  `${cpus().length} processors, ${cpus()[0]?.model}, Node ${process.version}; the disk flushes ${flushes} times a second.\n`,
);
say("```text");
await spine(disk, flushes, say);
const floor = await registryPerSecond(IN_FLIGHT, 3);
say(`a registry in memory alone, ${IN_FLIGHT} in flight: ${floor.toFixed(0)} cycles/s`);
say("```");
await machines(disk, values.history === true, tell);
const file = new URL(`./results/${date}-${commit.split(" ")[0]}.md`, import.meta.url);
mkdirSync(new URL(".", file), { recursive: true });
writeFileSync(file, `${written.join("\n")}\n`);
console.log(`\nwritten to ${fileURLToPath(file)}`);
