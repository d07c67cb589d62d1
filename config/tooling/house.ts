/**
 * The house rules that neither the compiler nor the linter knows, as functions from source text to broken rules.
 *
 * A rule names the file, the line, what it found and what to do instead. Rules read the syntax tree where words could
 * also stand in comments or strings. Nothing here touches the disk: the architecture test brings the files, real
 * ones and planted ones, so that every rule is seen to catch what it is for.
 */
import ts from "typescript";

export interface Source {
  /** From the folder of package.json, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

export interface Broken {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly rule: string;
  readonly remedy: string;
}

type Rule = (tree: ts.SourceFile) => readonly Broken[];

/** Lines of a file. Adapters carry their platform's tables, tests their cases (350 is the aim, 400 the end). */
const MAX_LINES = { adapters: 350, test: 400, src: 300, config: 300 } as const;
/** Lines of a function, from its first word to its closing brace. */
export const MAX_FUNCTION_LINES = 50;
/** Nine of ten functions that ship are no longer than this. */
export const MAX_FUNCTION_LINES_P90 = 20;

const PURE = /^src\/(core|ports|engine)\//;
const SHIPPED = /^(src|adapters)\//;
const EFFECTS = new Set([
  "setTimeout",
  "setInterval",
  "setImmediate",
  "fetch",
  "process",
  "console",
  "performance",
  "crypto",
]);
/** Functions that list cases are nothing anybody follows from top to bottom. */
const CASES = /^(test\/|src\/testing\/[\w-]*-suite)/;
const VAGUE = /(^|[/-])(utils?|helpers?|commons?|misc|shared|lib)(\/|\.|-|$)/;
const DIRECTIVE = /@ts-(ignore|nocheck|expect-error)|biome-(ignore)|eslint-(disable)|c8 (ignore)|v8 (ignore)/;

export function checkSource(source: Source): readonly Broken[] {
  const tree = parse(source);
  return RULES.flatMap((rule) => rule(tree));
}

/** Length in lines of every function with a body. */
export function functionLengths(source: Source): readonly { readonly name: string; readonly lines: number }[] {
  const tree = parse(source);
  return functionsOf(tree).map((one) => ({ name: `${source.path}:${lineOf(tree, one)}`, lines: linesOf(tree, one) }));
}

function parse(source: Source): ts.SourceFile {
  return ts.createSourceFile(source.path, source.text, ts.ScriptTarget.ES2023, true);
}

const fileSize: Rule = (tree) => {
  const room = tree.fileName.split("/")[0] as keyof typeof MAX_LINES;
  const max = MAX_LINES[room] ?? MAX_LINES.src;
  const lines = tree.text.split("\n").length - 1;
  return lines > max ? [broken(tree, tree, `${lines} lines, at most ${max}`, "split it by what it decides")] : [];
};

const functionSize: Rule = (tree) => {
  if (!SHIPPED.test(tree.fileName)) return [];
  return functionsOf(tree)
    .filter((one) => linesOf(tree, one) > MAX_FUNCTION_LINES)
    .map((one) =>
      broken(tree, one, `function of ${linesOf(tree, one)} lines, at most ${MAX_FUNCTION_LINES}`, "name its steps"),
    );
};

const theory: Rule = (tree) => {
  if (!SHIPPED.test(tree.fileName) || /^(#!.*\n)?\/\*\*/.test(tree.text)) return [];
  return [broken(tree, tree, "no opening comment", "open with what the file decides and what it must never do")];
};

const names: Rule = (tree) =>
  VAGUE.test(tree.fileName) ? [broken(tree, tree, "a vague name", "name the file after what it is about")] : [];

const pureRooms: Rule = (tree) => {
  if (!PURE.test(tree.fileName)) return [];
  return nodesOf(tree)
    .filter((node) => isEffect(node))
    .map((node) => broken(tree, node, `${node.getText(tree)} in a pure room`, "take it through a port"));
};

/** The clock, chance, the network, the process and the console, however they are spelt. */
function isEffect(node: ts.Node): boolean {
  if (ts.isPropertyAccessExpression(node)) return ["Date.now", "Math.random"].includes(node.getText());
  if (ts.isNewExpression(node)) return node.expression.getText() === "Date" && !node.arguments?.length;
  return ts.isIdentifier(node) && EFFECTS.has(node.text) && isReference(node);
}

/** A use of the name, not a property, a member or a binding that happens to be called so. */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  return !("name" in parent && parent.name === node);
}

const environment: Rule = (tree) => {
  if (!SHIPPED.test(tree.fileName) || tree.fileName === "src/config.ts") return [];
  return nodesOf(tree)
    .filter((node) => ts.isPropertyAccessExpression(node) && /^process\s*\.\s*env$/.test(node.getText(tree)))
    .map((node) => broken(tree, node, "process.env", "only src/config.ts reads it; take the value from the settings"));
};

const exportsByName: Rule = (tree) => {
  if (tree.fileName.startsWith("config/tooling/")) return [];
  return nodesOf(tree)
    .filter((node) => ts.isExportAssignment(node) || node.kind === ts.SyntaxKind.DefaultKeyword)
    .filter((node) => !ts.isDefaultClause(node.parent))
    .map((node) => broken(tree, node, "a default export", "export it under its name"));
};

const types: Rule = (tree) =>
  nodesOf(tree)
    .filter((node) => node.kind === ts.SyntaxKind.AnyKeyword || ts.isEnumDeclaration(node))
    .map((node) => {
      if (ts.isEnumDeclaration(node)) return broken(tree, node, "an enum", "use a union of literals");
      return broken(tree, node, "any", "use unknown and narrow it, or name the shape");
    });

const directives: Rule = (tree) =>
  tree.text.split("\n").flatMap((text, index) => {
    const found = DIRECTIVE.exec(text);
    if (!found) return [];
    return [{ path: tree.fileName, line: index + 1, rule: found[0], remedy: "mend what it silences" }];
  });

const RULES: readonly Rule[] = [
  fileSize,
  functionSize,
  theory,
  names,
  pureRooms,
  environment,
  exportsByName,
  types,
  directives,
];

function functionsOf(tree: ts.SourceFile): readonly ts.Node[] {
  if (CASES.test(tree.fileName)) return [];
  return nodesOf(tree).filter((node) => ts.isFunctionLike(node) && "body" in node && node.body !== undefined);
}

function nodesOf(root: ts.SourceFile): readonly ts.Node[] {
  const found: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    found.push(node);
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(root, visit);
  return found;
}

function linesOf(tree: ts.SourceFile, node: ts.Node): number {
  return tree.getLineAndCharacterOfPosition(node.end).line - lineOf(tree, node) + 2;
}

function lineOf(tree: ts.SourceFile, node: ts.Node): number {
  return tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
}

function broken(tree: ts.SourceFile, node: ts.Node, rule: string, remedy: string): Broken {
  return { path: tree.fileName, line: node === tree ? 1 : lineOf(tree, node), rule, remedy };
}
