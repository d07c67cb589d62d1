/** README.md as data: its fenced blocks and its tables, each under the heading it stands below. */
import { readFileSync } from "node:fs";

export const ROOT = new URL("../..", import.meta.url).pathname;

export interface Snippet {
  /** The nearest heading above. */
  readonly section: string;
  /** The word after the opening fence, as `sh` or `json`. */
  readonly language: string;
  readonly text: string;
  /** Where it begins, from 1. */
  readonly line: number;
}

export interface Table {
  readonly section: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export const readme = readFileSync(`${ROOT}README.md`, "utf8");

export const { snippets, tables } = readDocument(readme);

/** The table of that heading; fails where there is none or more than one. */
export function tableOf(section: string): Table {
  const [found, ...more] = tables.filter((table) => table.section === section);
  if (!found || more.length > 0)
    throw new Error(`README.md has ${found ? "several tables" : "no table"} under "${section}"`);
  return found;
}

/** Words set as code in a cell or a paragraph, in order. */
export function codesIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

/** The paragraph that begins with these words, to its next blank line. */
export function paragraph(beginning: string): string {
  const start = readme.indexOf(`\n${beginning}`);
  if (start < 0) throw new Error(`README.md has no paragraph that begins "${beginning}"`);
  return readme.slice(start, readme.indexOf("\n\n", start + 1));
}

function readDocument(text: string): { snippets: readonly Snippet[]; tables: readonly Table[] } {
  const found = { snippets: [] as Snippet[], tables: [] as Table[] };
  const lines = text.split("\n");
  let section = "";
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (line.startsWith("#")) section = line.replace(/^#+ /, "");
    if (line.startsWith("```")) {
      const end = lines.indexOf("```", at + 1);
      found.snippets.push({
        section,
        language: line.slice(3),
        text: lines.slice(at + 1, end).join("\n"),
        line: at + 1,
      });
      at = end;
    } else if (line.startsWith("|")) {
      let end = at;
      while (lines[end]?.startsWith("|")) end++;
      const [head = [], , ...rows] = lines.slice(at, end).map(cells);
      found.tables.push({ section, head, rows });
      at = end - 1;
    }
  }
  return found;
}

/** `\|` is a bar within a cell. */
function cells(line: string): readonly string[] {
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
}
