/**
 * The tables of README.md against the code, in both directions: what is there is told, what is told is there, and what
 * is said to have no effect has none.
 */
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { loadConfig } from "../src/config.ts";
import { ERRORS } from "../src/core/errors.ts";
import { LOCALES } from "../src/core/locales/locale.ts";
import type { CliDeps } from "../src/gateway/cli/cli.ts";
import { runCli } from "../src/gateway/cli/commands.ts";
import { createHttp } from "../src/gateway/http.ts";
import { environmentSchema, settingsSchema } from "../src/settings.ts";
import { frontOf, openEngine } from "../src/testing/asker-engine.ts";
import { codesIn, paragraphs, ROOT, readme, tableOf } from "./readme/document.ts";

const first = (section: string) => tableOf(section).rows.map(([cell = ""]) => codesIn(cell)[0] ?? cell);

describe("errors", () => {
  it("are those of the catalogue, word for word", () => {
    const told = tableOf("Errors").rows.map(([code = "", status, exit, meaning]) => [
      codesIn(code)[0],
      status,
      exit,
      meaning,
    ]);
    const there = Object.entries(ERRORS).map(([code, { status, exit, meaning }]) => [
      code,
      `${status}`,
      `${exit}`,
      meaning,
    ]);
    expect(told).toEqual(there);
  });
});

describe("the command line", () => {
  const untouched: CliDeps = {
    config: () => {
      throw new Error("the configuration was read");
    },
    startGateway: () => Promise.reject(new Error("a gateway was started")),
    tryDatabase: () => Promise.reject(new Error("the database was opened")),
    migrate: () => Promise.reject(new Error("the database was migrated")),
    move: () => Promise.reject(new Error("the database was moved")),
  };
  let printed = "";
  beforeEach(() => {
    vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
      printed += String(chunk);
      return true;
    });
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  async function help(...command: string[]): Promise<string> {
    printed = "";
    expect(await runCli([...command, "--help"], untouched)).toBe(0);
    return printed;
  }

  /** The lines of a list in a help text, by their first words. */
  function listed(text: string, heading: string): readonly string[] {
    const [, list = ""] = text.split(`${heading}:\n`);
    const [lines = ""] = list.split("\n\n");
    return [...lines.matchAll(/^ {2}(\S.*?)(?: {2,}|$)/gm)].map(([, words = ""]) => words);
  }

  /** Every command that does something: its usage without options, and its own long options. */
  async function usages(...group: string[]): Promise<Map<string, readonly string[]>> {
    const found = new Map<string, readonly string[]>();
    for (const words of listed(await help(...group), "Commands")) {
      const name = words.split(" ")[0] ?? "";
      if (name === "help") continue;
      const text = await help(...group, name);
      if (text.includes("\nCommands:\n")) {
        for (const [usage, options] of await usages(...group, name)) found.set(usage, options);
      } else {
        const [, usage = ""] = /^Usage: askgate (.*)$/m.exec(text) ?? [];
        const options = listed(text, "Options").map((one) => /--[a-z]+/.exec(one)?.[0] ?? one);
        found.set(
          usage.replace(" [options]", ""),
          options.filter((one) => one !== "--help" && one !== "--json").sort(),
        );
      }
    }
    return found;
  }

  it("has the commands told, each with the options told", async () => {
    const told = tableOf("Commands").rows.map(([usage = "", does = ""]) => [
      codesIn(usage)[0],
      codesIn(does)
        .filter((code) => code.startsWith("--"))
        .sort(),
    ]);
    expect(told).toEqual([...(await usages())]);
  });

  it("has the exit codes told", async () => {
    const [, sentence = ""] = /Exit codes: (.*)\./.exec(await help()) ?? [];
    expect(tableOf("Exit codes").rows.map((row) => row.join(" "))).toEqual(sentence.split(", "));
    const used = Object.values(ERRORS).map((error) => `${error.exit}`);
    for (const code of used) expect(first("Exit codes")).toContain(code);
  });
});

describe("HTTP", () => {
  it("has the calls told, and no other", async () => {
    const stand = await openEngine();
    const http = createHttp(frontOf(stand));
    const response = await http.fetch(new Request("http://127.0.0.1/openapi.json"));
    await stand.close();
    const { paths } = (await response.json()) as { paths: Record<string, object> };
    const there = Object.entries(paths).flatMap(([path, calls]) =>
      Object.keys(calls).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect([...first("HTTP")].sort()).toEqual(there.sort());
  });
});

const [RESERVED = ""] = paragraphs("Reserved for what is not there yet; set, they stop the start:");
const [IDLE_KEYS = ""] = paragraphs("Known already, checked, and still without effect;");

describe("the environment", () => {
  const rows = tableOf("Settings", "variable").rows;
  const told = rows.map(([name = ""]) => codesIn(name)[0] ?? "");
  const idle = codesIn(RESERVED);

  it("has the variables told, those reserved apart, each of which stops the start", () => {
    expect([...told, ...idle].sort()).toEqual(Object.keys(environmentSchema.shape).sort());
    for (const name of idle) {
      const start = () => loadConfig({ [name]: "https://example.org" }, { path: "README.md", text: null });
      expect(start, name).toThrow(/^One setting is wrong[\s\S]*this version has no/);
    }
  });

  it("has the defaults told", () => {
    const defaults: Readonly<Record<string, string | undefined>> = environmentSchema.parse({});
    for (const [name = "", cell = ""] of rows) {
      const value = defaults[codesIn(name)[0] ?? ""];
      if (value !== undefined) expect(cell, name).toBe(`\`${value}\``);
    }
  });

  it("is used in the code where it is told to do something, and nowhere else", () => {
    const wired = ["src/config.ts", "src/main.ts"].map((path) => readFileSync(ROOT + path, "utf8")).join("\n");
    expect(told.filter((name) => !wired.includes(name))).toEqual([]);
    expect(idle.filter((name) => wired.includes(name))).toEqual([]);
  });
});

describe("the settings file", () => {
  const rows = tableOf("Settings", "key").rows;
  const told = rows.map(([name = ""]) => codesIn(name)[0] ?? "");
  const idle = codesIn(IDLE_KEYS);
  const schema = settingsSchema(new Set(["NAME"]));

  it("has the keys told, those without effect apart", () => {
    const there = keysOf(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema);
    const covered = (key: string) => [...told, ...idle].some((one) => key === one || key.startsWith(`${one}.`));
    expect(there.filter((key) => !covered(key))).toEqual([]);
    expect([...told, ...idle].filter((one) => !there.some((key) => key === one || key.startsWith(`${one}.`)))).toEqual(
      [],
    );
  });

  it("has the defaults told", () => {
    const defaults = schema.parse({ people: { NAME: {} }, sessions: { NAME: {} } });
    for (const [name = "", cell = ""] of rows) {
      const value = (codesIn(name)[0] ?? "")
        .split(".")
        .reduce<unknown>((at, key) => Reflect.get(Object(at), key), defaults);
      expect(codesIn(cell)[0], name).toBe(JSON.stringify(value));
    }
  });

  it("takes the languages told", () => {
    const [, , does = ""] = rows.find(([name]) => name === "`locale`") ?? [];
    expect([...codesIn(does)].sort()).toEqual(Object.keys(LOCALES).sort());
  });

  it("changes nothing of what runs where it is told to be without effect", () => {
    const plain = { people: { NAME: { roles: ["owner"] } }, sessions: { NAME: {} } };
    const effects = (settings: object) => {
      const {
        settings: _read,
        idle: _told,
        ...rest
      } = loadConfig({}, { path: "README.md", text: JSON.stringify(settings) });
      return rest;
    };
    const all = {
      ...{ retentionDays: 1, maxQuestionsPerTask: 1, holdFreeTextSeconds: 0, mcp: { maxBlockSeconds: 1 } },
      people: { NAME: { roles: ["owner"], quietHours: "22:00-07:00 Europe/Madrid" } },
      sessions: {
        NAME: { unattended: "stop", remindAfterSeconds: [1], escalate: [{ afterSeconds: 1, to: ["NAME"] }] },
      },
      ...{ callbacks: { allow: ["example.org"] }, tools: { deploy: {} } },
    };
    expect(effects(all)).toEqual(effects(plain));
    const told = loadConfig({}, { path: "README.md", text: JSON.stringify(all) }).idle;
    expect([...told].sort()).toEqual([...idle].sort());
    expect(readFileSync(`${ROOT}src/main.ts`, "utf8")).not.toMatch(/config\.settings|\bsettings\s*[,}].*=\s*config/);
    for (const key of idle)
      expect(
        key.split(".").reduce<unknown>((at, one) => Reflect.get(Object(at), one), all),
        key,
      ).toBeDefined();
  });
});

it("the page says what is not there yet of what the settings know", () => {
  const [missing = ""] = paragraphs("**Not there yet:**");
  for (const platform of ["Discord", "Slack"]) {
    expect(missing.includes(platform)).toBe(codesIn(RESERVED).some((name) => name.startsWith(platform.toUpperCase())));
  }
  expect(readme).not.toMatch(/coming soon|roadmap|TODO/i);
});

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
}

/** Paths of every key that holds a value; `NAME` stands for a name of one's own. Below a map of lists there is none. */
function keysOf(schema: JsonSchema, path: readonly string[] = []): readonly string[] {
  if (schema.properties) return Object.entries(schema.properties).flatMap(([key, one]) => keysOf(one, [...path, key]));
  const { additionalProperties: values } = schema;
  if (typeof values === "object" && values.properties) return keysOf(values, [...path, "NAME"]);
  return [path.join(".")];
}
