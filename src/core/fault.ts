/**
 * Faults of an input, told so that a model can mend the call in one go: where, which rule, what came, what to do.
 *
 * Decides how a path and a received value are written, and which stable word a rule has. Judges nothing itself.
 */
import type { Issue } from "./errors.ts";
import { measure } from "./limits.ts";

export type Path = readonly PropertyKey[];

export interface Fault {
  readonly path: Path;
  readonly rule: string;
  readonly input: unknown;
  /** Continues the path: "must be unique: give it another id". */
  readonly must: string;
  readonly limit?: string | number | undefined;
}

/** What a schema reports about one place, as far as it is read here. */
export interface ShapeIssue {
  readonly code?: string | undefined;
  readonly path: Path;
  readonly input?: unknown;
  readonly message: string;
  readonly keys?: readonly string[];
  readonly minimum?: number | bigint;
  readonly maximum?: number | bigint;
  readonly expected?: string;
  readonly values?: readonly unknown[];
  readonly pattern?: string | undefined;
  readonly format?: string;
  readonly params?: { readonly [key: string]: unknown } | undefined;
}

const QUOTED_CODE_POINTS = 40;

/** All of them written out, in path order: indexes by number, fields by name. */
export function writeIssues(faults: readonly Fault[]): readonly Issue[] {
  return [...faults].sort((a, b) => byPath(a.path, b.path)).map(writeIssue);
}

function writeIssue({ path, rule, input, must, limit }: Fault): Issue {
  const where = writePath(path);
  const came = received(input);
  const message = `${where || "The input"} ${must}. Received: ${came}.`;
  return { path: where, rule, ...(limit === undefined ? {} : { limit }), received: came, message };
}

/** `["questions", 0, "id"]` as `questions[0].id`. */
export function writePath(path: Path): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? String(part) : `${text}.${String(part)}`;
  }, "");
}

/** A short rendering: the type of the value, its size, and the beginning of a text. */
export function received(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (typeof value === "string") return quote(value);
  if (Array.isArray(value)) return `array of ${value.length}`;
  if (typeof value === "number" || typeof value === "boolean") return `${typeof value} ${value}`;
  return typeof value;
}

function quote(text: string): string {
  const points = measure(text, "codePoints");
  const start = [...text.slice(0, 2 * QUOTED_CODE_POINTS)].slice(0, QUOTED_CODE_POINTS).join("");
  const more = points > QUOTED_CODE_POINTS ? "…" : "";
  return `text of ${points} ${points === 1 ? "character" : "characters"}, ${JSON.stringify(start + more)}`;
}

/** A value of the wrong type is told once; what its size or pattern would be means nothing. */
export function shapeFaults(issues: readonly ShapeIssue[]): readonly Fault[] {
  const mistyped = new Set(issues.filter(isMistyped).map((issue) => writePath(issue.path)));
  const telling = issues.filter((issue) => isMistyped(issue) || !mistyped.has(writePath(issue.path)));
  return telling.flatMap((issue) => (issue.keys ? unknownKeys(issue, issue.keys) : [shapeFault(issue)]));
}

function isMistyped(issue: ShapeIssue): boolean {
  return issue.code === "invalid_type";
}

/** Schemas report all unknown keys of an object at once; each is a fault of its own. */
function unknownKeys(issue: ShapeIssue, keys: readonly string[]): readonly Fault[] {
  const values = new Map(Object.entries(issue.input ?? {}));
  return keys.map((key) => ({
    path: [...issue.path, key],
    rule: "unknown_key",
    input: values.get(key),
    must: issue.message,
  }));
}

function shapeFault({ path, input, message: must, ...issue }: ShapeIssue): Fault {
  switch (issue.code) {
    case "invalid_type":
      if (input === undefined) return { path, rule: "required", input, must: `is required and ${must}` };
      return { path, rule: "type", input, must: must + typeHint(issue.expected, input), limit: issue.expected };
    case "too_small":
      return { path, rule: "min", input, must, limit: Number(issue.minimum) };
    case "too_big":
      return { path, rule: "max", input, must, limit: Number(issue.maximum) };
    case "invalid_value":
      return { path, rule: "enum", input, must, limit: issue.values?.join(", ") };
    case "invalid_format":
      return { path, rule: "pattern", input, must, limit: issue.pattern ?? issue.format };
    default:
      return { path, rule: String(issue.params?.rule), input, must, limit: limitOf(issue.params?.limit) };
  }
}

function limitOf(limit: unknown): string | number | undefined {
  return typeof limit === "string" || typeof limit === "number" ? limit : undefined;
}

/** Models like to send JSON inside a string. */
function typeHint(expected: string | undefined, input: unknown): string {
  if (typeof input !== "string" || expected === "string") return "";
  if (expected === "array" || expected === "object") return `: pass the ${expected} itself, not JSON in a string`;
  return ": pass it without quotes";
}

function byPath(a: Path, b: Path): number {
  for (let depth = 0; depth < Math.min(a.length, b.length); depth++) {
    const [left, right] = [a[depth], b[depth]];
    if (left === right) continue;
    if (typeof left === "number" && typeof right === "number") return left - right;
    return String(left) < String(right) ? -1 : 1;
  }
  return a.length - b.length;
}
