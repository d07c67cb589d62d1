/**
 * What is wrong with a setting, in words: where it stands, its value, the rule and the remedy. A value that is a secret,
 * or may hold one, is not shown.
 */
import type * as z from "zod";
import { createScrubber } from "./log.ts";

export interface Fault {
  readonly file: string;
  readonly path: string;
  /** ` is VALUE and`, or empty where the value says nothing or must not be shown. */
  readonly value: string;
  readonly rule: string;
  readonly remedy: string;
}

/** Whose value no message may show. */
export const SECRET = /(_KEY|_TOKEN|_SECRET|DATABASE_URL)$/;

/** Every fault of one input, in its order; `raw` is where the offending values are read from. */
export function faultsOf(
  error: z.ZodError | undefined,
  file: string,
  raw: unknown,
  secrets: readonly string[],
): Fault[] {
  const scrub = createScrubber(secrets);
  return (error?.issues ?? []).flatMap((issue): Fault[] => {
    const path = pathOf(issue.path);
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({
        file,
        path: path ? `${path}.${key}` : key,
        value: "",
        rule: "is not a setting",
        remedy: SECRET.test(key) ? "Secrets belong in the environment or in .env." : "Correct its name or remove it.",
      }));
    }
    const value = issue.path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], raw);
    const shown =
      SECRET.test(path) || typeof value === "object"
        ? ""
        : ` is ${scrub(shorten(discreet(JSON.stringify(value))))} and`;
    return [{ file, path: path || "the file", value: shown, rule: ruleOf(issue), remedy: remedyOf(issue) }];
  });
}

function remedyOf(issue: z.core.$ZodIssue): string {
  const own: unknown = issue.code === "custom" ? issue.params?.remedy : undefined;
  return typeof own === "string" ? own : "Correct it, or remove it for the default.";
}

function pathOf(path: readonly PropertyKey[]): string {
  return path
    .map((key, at) => (typeof key === "number" ? `[${key}]` : at === 0 ? String(key) : `.${String(key)}`))
    .join("");
}

/** An address without what may be a password in it: the user's, or one in its query. */
function discreet(value: string | undefined): string {
  return (value ?? "missing").replace(/:\/\/[^"]*@/, "://…@").replace(/(:\/\/[^"?#]*[?#])[^"]+/, "$1…");
}

function shorten(value: string): string {
  return value.length > 60 ? `${value.slice(0, 57)}…` : value;
}

/** The rule in words; schemas with words of their own keep them. */
function ruleOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${KINDS[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(" or ")}`;
    case "too_small":
      return issue.origin === "array" ? `needs at least ${issue.minimum}` : `must be at least ${issue.minimum}`;
    case "too_big":
      return `must be at most ${issue.maximum}`;
    case "invalid_key":
      return `has a name that ${issue.issues[0]?.message ?? "is not allowed"}`;
    default:
      return issue.message;
  }
}

const KINDS: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  int: "a whole number",
  number: "a number",
  object: "an object",
  record: "an object",
  string: "text",
};
