/**
 * Who may import whom, as rules for dependency-cruiser. The house has one direction:
 * core <- ports <- engine <- edges (store, gateway, adapters) <- main. Everything not granted here is forbidden.
 *
 * `types` grants hold for `import type` alone: they vanish when the code runs, so they tie shapes, not behaviour.
 * Paths are regular expressions from the folder the rules run in; the architecture test runs them on planted files too.
 */

const { builtinModules } = require("node:module");

const SHIPPED = "^(src/(?!testing/)|adapters/)";
const TYPES = ["type-only"];
const OURS = "^(src|adapters|test|config)/";

/** `from` may reach `files` freely, `types` by `import type` alone, and nothing else in this repository. */
function room(name, from, { fromNot = [], files = [], types = [], comment }) {
  const own = { severity: "error", comment };
  return [
    {
      ...own,
      name: `${name}-reaches-only`,
      from: { path: from, pathNot: fromNot },
      to: { path: OURS, pathNot: files, dependencyTypesNot: TYPES },
    },
    {
      ...own,
      name: `${name}-knows-only`,
      from: { path: from, pathNot: fromNot },
      to: { path: OURS, pathNot: [...files, ...types], dependencyTypes: TYPES },
    },
  ];
}

/** Files matching `from` use these packages and no others. Types of a package count like the package. */
function packages(name, from, allowed, fromNot = []) {
  const pathNot = allowed.map((one) => (one.startsWith("node:") ? nodeModule(one.slice(5)) : npmPackage(one)));
  return {
    name: `${name}-packages`,
    severity: "error",
    comment: `Allowed here: ${allowed.join(", ") || "none"}. Anything else belongs to another room.`,
    from: { path: from, pathNot: fromNot },
    to: { path: ".", pathNot: [OURS, ...pathNot] },
  };
}

function npmPackage(name) {
  return `^node_modules/(@types/)?${name}/`;
}

function nodeModule(name) {
  return name === "*" ? `^(node:)?(${builtinModules.join("|")})$` : `^(node:)?${name}(/promises)?$`;
}

/** The package has one importer among what ships. */
function oneImporter(name, importer) {
  return {
    name: `${name.replace(/\W/g, "-")}-has-one-importer`,
    severity: "error",
    comment: `${name} is imported by ${importer} alone, so that it can be replaced, and loads only where it is used.`,
    from: { path: SHIPPED, pathNot: importer },
    to: { path: npmPackage(name) },
  };
}

const CORE_EXCEPTIONS = ["^src/core/(question|answer|decision|action|digest)\\.ts$", "^src/core/(locales|reply)/"];
const PORT = (names) => `^src/ports/(${names})\\.ts$`;
const CORE = (names) => `^src/core/(${names})\\.ts$`;

/** The schemas of what comes in are the core's, so that every edge refuses the same things with the same words. */
const GATEWAY_FILES = [
  "^src/gateway/",
  "^src/client[.-]",
  CORE("errors|fault|decision|question|answer"),
  PORT("asker|access|health|events|meter|clock|log"),
];

const GATEWAY_PACKAGES = [
  ...["zod", "hono", "@hono", "commander", "@clack/prompts", "@modelcontextprotocol", "jose", "standardwebhooks"],
  ...["request-filtering-agent", "web-push", "esbuild", "prom-client", "proper-lockfile", "node:*"],
];

const rooms = [
  ...room("core", "^src/core/", {
    files: ["^src/core/"],
    comment: "The core is pure: it knows questions, answers and rules, and nobody who uses them.",
  }),
  ...room("ports", "^src/ports/", {
    files: ["^src/ports/"],
    types: ["^src/core/"],
    comment: "Ports are interfaces in the words of the core.",
  }),
  ...room("engine", "^src/engine/", {
    files: ["^src/(core|ports|engine)/"],
    comment: "The engine reaches the world through ports alone.",
  }),
  ...room("store", "^src/store/", {
    files: ["^src/store/", CORE("errors"), PORT("store|access-store|event|lease|clock|log")],
    types: ["^src/core/"],
    comment: "A store keeps what the engine hands it; it decides nothing about it.",
  }),
  ...room("gateway", "^src/gateway/", {
    fromNot: ["^src/gateway/cli/"],
    files: GATEWAY_FILES,
    types: ["^src/core/", PORT("channel")],
    comment: "The gateway serves agents through the asker port and never touches engine, store or channels.",
  }),
  ...room("cli", "^src/gateway/cli/", {
    files: [...GATEWAY_FILES, "^src/core/(reply/parse|locales/locale|text)\\.ts$"],
    types: ["^src/core/"],
    comment:
      "The command line is a client; it also reads replies without a server, shows the inbox, and cleans what others wrote.",
  }),
  ...room("client", "^src/client[.-]", {
    files: ["^src/client[.-]", CORE("errors")],
    types: ["^src/(core|ports)/"],
    comment: "The client runs in other people's programs and brings nothing of the gateway along.",
  }),
  ...room("adapters", "^adapters/([^/.]+)", {
    files: ["^adapters/$1[./]", CORE("text|limits|delivery|control"), PORT("channel|clock|log")],
    types: [CORE("fit")],
    comment: "An adapter translates between one platform and the channel port. It never imports another adapter.",
  }),
];

module.exports = {
  forbidden: [
    ...rooms,
    packages("core", "^src/core/", [], CORE_EXCEPTIONS),
    packages("core-schemas", CORE("question|answer|decision|action"), ["zod"]),
    packages("core-digest", CORE("digest"), ["node:crypto", "canonicalize"]),
    packages("core-locales", "^src/core/locales/", ["intl-messageformat"]),
    packages("core-reply", "^src/core/reply/", ["fastest-levenshtein"]),
    packages("ports", "^src/ports/", ["zod"]),
    packages("engine", "^src/engine/", [], ["^src/engine/outbox\\.ts$"]),
    packages("engine-outbox", "^src/engine/outbox\\.ts$", ["p-queue"]),
    packages("store", "^src/store/", ["kysely", "better-sqlite3", "better-sqlite3-node20", "pg", "node:*"]),
    packages("gateway", "^src/gateway/", GATEWAY_PACKAGES),
    packages("client", "^src/client[.-]", ["node:*"]),
    packages("adapters", "^adapters/", ["zod", "telegraf", "discord.js", "@discordjs", "@slack", "node:*"]),
    oneImporter("telegraf", "^adapters/telegram[./]"),
    oneImporter("discord.js", "^adapters/discord[./]"),
    oneImporter("@slack/bolt", "^adapters/slack[./]"),
    oneImporter("p-queue", "^src/engine/outbox\\.ts$"),
    oneImporter("intl-messageformat", "^src/core/locales/"),
    oneImporter("pino", "^src/log\\.ts$"),
    oneImporter("proper-lockfile", "^src/gateway/cli/data-folder\\.ts$"),
    oneImporter("kysely", "^src/store/"),
    oneImporter("better-sqlite3", "^src/store/"),
    oneImporter("pg", "^src/store/"),
    oneImporter("prom-client", "^src/gateway/metrics\\.ts$"),
    oneImporter("hono", "^src/(gateway/|main\\.ts$)"),
    oneImporter("@hono/node-server", "^src/(gateway/|main\\.ts$)"),
    oneImporter("@hono/zod-openapi", "^src/gateway/"),
    oneImporter("commander", "^src/gateway/cli/"),
    {
      name: "shipped-never-imports-tests",
      severity: "error",
      comment: "What runs for people never depends on what runs for tests. src/testing ships as its own entry point.",
      from: { path: SHIPPED },
      to: { path: "^(src/testing|test)/" },
    },
    {
      name: "testing-never-imports-test-files",
      severity: "error",
      comment: "The contract suites ship; the test files that use them do not.",
      from: { path: "^src/testing/" },
      to: { path: "^test/" },
    },
    {
      name: "only-main-knows-everyone",
      severity: "error",
      comment: "src/main.ts is where the house is put together; nothing but tests imports it.",
      from: { path: "^(src|adapters)/", pathNot: "^src/(testing|gateway/cli)/" },
      to: { path: "^src/main\\.ts$" },
    },
    {
      name: "no-cycles",
      severity: "error",
      comment: "Two files that need each other are one file. Types count: a shape that needs its user is misplaced.",
      from: { path: "^(src|adapters|test)/" },
      to: { circular: true },
    },
    {
      name: "no-orphans",
      severity: "error",
      comment: "A file nobody imports and that imports nobody is dead, or waits to be wired.",
      from: { orphan: true, path: SHIPPED },
      to: {},
    },
    {
      name: "everything-resolves",
      severity: "error",
      comment: "Not installed, or not there.",
      from: { path: OURS },
      to: { couldNotResolve: true },
    },
    {
      name: "shipped-uses-no-dev-packages",
      severity: "error",
      comment: "A development dependency is not there when Askgate is installed.",
      from: { path: SHIPPED },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg"], dependencyTypesNot: TYPES },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(data|dist)/" },
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default", "types"] },
  },
};
