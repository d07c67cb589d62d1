/**
 * Compares the rules of the loopback Telegram with a machine-readable copy of the Bot API's documentation, by hand:
 *
 *   ASKGATE_SPECS=<folder> node --import tsx test/telegram-rules.check.ts
 *
 * The folder holds `telegram/bot-api.json` as github.com/PaulSonOfLars/telegram-bot-api-spec publishes it. Each
 * difference is printed; the exit code is 1 if there is one. No test needs it, and nothing of that file is kept here.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Field, type Fields, METHODS, TYPES } from "../src/testing/telegram-rules.ts";

interface Documented {
  readonly name: string;
  readonly types: readonly string[];
  readonly required: boolean;
  readonly description: string;
}

type Spec = Readonly<
  Record<"methods" | "types", Readonly<Record<string, { readonly fields?: readonly Documented[] }>>>
>;

const folder = process.env.ASKGATE_SPECS;
if (folder === undefined) throw new Error("ASKGATE_SPECS is not set: name the folder that holds telegram/bot-api.json");
const spec = JSON.parse(readFileSync(join(folder, "telegram", "bot-api.json"), "utf8")) as Spec;

const differences = [...compareAll(METHODS, spec.methods), ...compareAll(TYPES, spec.types)];
const count = (rules: Readonly<Record<string, Fields>>) => Object.values(rules).flatMap(Object.keys).length;
for (const difference of differences) console.log(difference);
console.log(
  `${count(METHODS)} fields of ${Object.keys(METHODS).length} methods, ${count(TYPES)} fields of ` +
    `${Object.keys(TYPES).length} types compared: ${differences.length} differences`,
);
process.exitCode = differences.length === 0 ? 0 : 1;

function compareAll(ours: Readonly<Record<string, Fields>>, theirs: Spec["methods"]): string[] {
  return Object.entries(ours).flatMap(([name, fields]) => {
    const documented = theirs[name];
    return documented ? compare(name, fields, documented.fields ?? []) : [`${name}: not documented`];
  });
}

function compare(owner: string, ours: Fields, theirs: readonly Documented[]): string[] {
  const invented = Object.keys(ours).filter((name) => !theirs.some((one) => one.name === name));
  const forgotten = theirs.filter((one) => ours[one.name] === undefined);
  return [
    ...invented.map((name) => `${owner}.${name}: not documented`),
    ...forgotten.map(({ name }) => `${owner}.${name}: missing here`),
    ...theirs.flatMap((one) => {
      const field = ours[one.name];
      return field ? compareField(`${owner}.${one.name}`, field, one) : [];
    }),
  ];
}

function compareField(path: string, field: Field, documented: Documented): string[] {
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ["types", typesOf(field).sort().join(), [...documented.types].sort().join()],
    ["required", field.required === true, documented.required],
    ["lengths", lengthsOf(field), documentedLengths(documented.description)],
  ];
  return pairs
    .filter(([, here, there]) => here !== there)
    .map(([what, here, there]) => `${path}: ${what} ${here} here, ${there} documented`);
}

function typesOf(field: Field): string[] {
  switch (field.is) {
    case "integer":
      return ["Integer"];
    case "boolean":
      return ["Boolean"];
    case "string":
      return ["String"];
    case "chat":
      return ["Integer", "String"];
    case "list":
      return typesOf(field.of).map((type) => `Array of ${type}`);
    case "object":
      return [...field.types];
    case "opaque":
      return [field.type];
  }
}

/** As `1-64 bytes`; empty when nothing is said. */
function lengthsOf(field: Field): string {
  if (field.is === "list" && Number.isFinite(field.max)) return "";
  if (field.is !== "string") return "";
  if (field.bytes !== undefined) return `${field.min ?? 0}-${field.bytes} bytes`;
  return field.max === undefined ? "" : `${field.min ?? 0}-${field.max} characters`;
}

function documentedLengths(description: string): string {
  return /\d+-\d+ (characters|bytes)/.exec(description)?.[0] ?? "";
}
