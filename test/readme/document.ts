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

/** The table of that heading, whose first column may be named where there are several. */
export function tableOf(section: string, column?: string): Table {
  const found = tables.filter((one) => one.section === section && (column === undefined || one.head[0] === column));
  const [table] = found;
  if (!table || found.length > 1) throw new Error(`README.md has ${found.length} such tables under "${section}"`);
  return table;
}

/** Words set as code in a cell or a paragraph, in order. */
export function codesIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

/** The paragraphs that begin with these words. */
export function paragraphs(beginning: string): readonly string[] {
  return readme.split("\n\n").filter((text) => text.startsWith(beginning));
}

const FENCE = "```";

function readDocument(text: string): { snippets: readonly Snippet[]; tables: readonly Table[] } {
  const found = { snippets: [] as Snippet[], tables: [] as Table[] };
  const lines = text.split("\n");
  let section = "";
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (line.startsWith("#")) section = line.replace(/^#+ /, "");
    const [fence, indent = "", language = ""] = /^( *)```(\w+)$/.exec(line) ?? [];
    if (fence !== undefined) {
      const end = lines.indexOf(`${indent}${FENCE}`, at + 1);
      const inside = lines.slice(at + 1, end).map((one) => one.slice(indent.length));
      found.snippets.push({ section, language, text: inside.join("\n"), line: at + 1 });
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

export const { snippets, tables } = readDocument(readme);
