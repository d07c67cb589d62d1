/**
 * Settings: the settings file and the environment, checked whole before anything starts.
 *
 * Rules: this is the only file that reads the environment; an unknown key or a wrong value stops the start, with every
 * fault in one message that names file, path, value, rule and remedy; a secret comes from the environment alone and its
 * value is never shown. `loadConfig` is pure: it sees what it is given and nothing else.
 */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { webhookFault } from "../adapters/telegram/reach.ts";
import { type Directory, type Person, peopleIn, type SessionRoute } from "./core/people.ts";
import { type Fault, faultsOf, SECRET } from "./setting-faults.ts";
import {
  DEFAULT_PORT,
  environmentSchema,
  idleKeys,
  type Settings,
  settingsSchema,
  type Variables,
} from "./settings.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** The settings file as read; `text` null when there is none, which is fine unless it was named. */
export interface SettingsFile {
  readonly path: string;
  readonly text: string | null;
}

export interface Config {
  readonly settings: Settings;
  readonly directory: Directory;
  /** The environment, checked; everything a channel needs is read from here. */
  readonly variables: Variables;
  readonly host: string;
  readonly port: number;
  /** Where the world reaches the webhooks and nothing else; null: they live on `port` with the rest. */
  readonly publicPort: number | null;
  /** Absolute path of the data folder. */
  readonly data: string;
  readonly databaseUrl: string;
  readonly locale: string;
  /** Keys of the settings file that are set and have no effect in this version. */
  readonly idle: readonly string[];
  /** Every value that must not reach a log. */
  readonly secrets: readonly string[];
}

/** Thrown by `loadConfig`; the message holds every fault and no secret. */
export class ConfigError extends Error {
  constructor(faults: readonly Fault[]) {
    const lines = faults.map((fault) => `  ${fault.file}: ${fault.path}${fault.value} ${fault.rule}. ${fault.remedy}`);
    super(`${faults.length === 1 ? "One setting is" : `${faults.length} settings are`} wrong:\n${lines.join("\n")}`);
    this.name = "ConfigError";
  }
}

/** The configuration of this process: `.env` beside the caller, the environment over it, and the settings file. */
export function readConfig(): Config {
  if (existsSync(".env")) process.loadEnvFile(".env");
  const path = process.env.ASKGATE_CONFIG || "config/app.json";
  return loadConfig(process.env, { path, text: existsSync(path) ? readFileSync(path, "utf8") : null });
}

export function loadConfig(environment: Environment, file: SettingsFile): Config {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value?.trim()));
  const secrets = secretsOf(given);
  const raw = parseFile(file, given.ASKGATE_CONFIG !== undefined);
  const names = namesIn(raw.value);
  const settings = settingsSchema(names).safeParse(raw.value);
  const variables = environmentSchema.safeParse(given);
  const faults = [
    ...raw.faults,
    ...faultsOf(settings.error, file.path, raw.value, secrets),
    ...faultsOf(variables.error, "environment", given, secrets),
    ...keyFaults(given),
    ...portFaults(given),
    ...webhookFaults(given),
    ...(variables.success ? reachFaults(variables.data) : []),
    ...(settings.success ? peopleFaults(settings.data, file.path) : []),
  ];
  if (faults.length > 0 || !settings.success || !variables.success) throw new ConfigError(faults);
  const data = resolve(variables.data.ASKGATE_DATA);
  return {
    settings: settings.data,
    directory: directoryOf(settings.data),
    variables: variables.data,
    host: variables.data.ASKGATE_HOST,
    port: Number(variables.data.ASKGATE_PORT),
    publicPort: variables.data.ASKGATE_PUBLIC_PORT === undefined ? null : Number(variables.data.ASKGATE_PUBLIC_PORT),
    data,
    databaseUrl: variables.data.ASKGATE_DATABASE_URL ?? `sqlite:${resolve(data, "askgate.db")}`,
    locale: variables.data.ASKGATE_LOCALE ?? settings.data.locale,
    idle: idleKeys(settings.data),
    secrets,
  };
}

function parseFile(file: SettingsFile, named: boolean): { value: unknown; faults: Fault[] } {
  const fault = (rule: string, remedy: string) => ({
    value: {},
    faults: [{ file: file.path, path: "the file", value: "", rule, remedy }],
  });
  if (file.text === null) {
    return named ? fault("does not exist", "Correct ASKGATE_CONFIG or remove it.") : { value: {}, faults: [] };
  }
  try {
    return { value: JSON.parse(file.text), faults: [] };
  } catch (error) {
    const where = /position \d+( \(line \d+ column \d+\))?/.exec(String(error))?.[0] ?? "its end";
    return fault(`is not JSON: it breaks at ${where}`, "Correct the file; comments and trailing commas are not JSON.");
  }
}

/** Without `people` there is one person, the owner. */
const OWNER = "owner";

function namesIn(raw: unknown): ReadonlySet<string> {
  const people = raw !== null && typeof raw === "object" && "people" in raw ? raw.people : null;
  const names = people !== null && typeof people === "object" ? Object.keys(people) : [];
  return new Set(names.length > 0 ? names : [OWNER]);
}

function directoryOf(settings: Settings): Directory {
  const entries = Object.entries(settings.people);
  const alone = entries.length === 1;
  const people = entries.map(([name, { identities, roles, locale }]): [string, Person] => [
    name,
    { name, identities, roles: alone && !roles.includes(OWNER) ? [...roles, OWNER] : roles, locale },
  ]);
  const sessions = Object.entries(settings.sessions).map(([key, { addresses, respondents, kind }]) => {
    const route: SessionRoute = { addresses, respondents, kind };
    return [key, route] as const;
  });
  const owner: Person = { name: OWNER, identities: [], roles: [OWNER], locale: null };
  return {
    people: new Map(people.length > 0 ? people : [[OWNER, owner]]),
    sessions: new Map(sessions),
    admit: new Map(Object.entries(settings.admit)),
  };
}

function inEnvironment(path: string, rule: string, remedy: string): Fault {
  return { file: "environment", path, value: "", rule, remedy };
}

/** One key for both would make every agent an operator. */
function keyFaults({ ASKGATE_API_KEY: agent, ASKGATE_OPERATOR_KEY: operator }: Environment): Fault[] {
  if (agent === undefined || agent !== operator) return [];
  return [inEnvironment("ASKGATE_OPERATOR_KEY", "must differ from ASKGATE_API_KEY", "Make a second key.")];
}

/** What is told apart by its port must not share one. */
function portFaults({ ASKGATE_PORT: port, ASKGATE_PUBLIC_PORT: open }: Environment): Fault[] {
  if (open === undefined || Number(open) === 0 || Number(open) !== Number(port ?? DEFAULT_PORT)) return [];
  return [inEnvironment("ASKGATE_PUBLIC_PORT", `is ${open} and must differ from ASKGATE_PORT`, "Take another port.")];
}

/** A webhook needs somebody to be called for and somewhere to be called at. */
function webhookFaults(given: Environment): Fault[] {
  if (given.TELEGRAM_WEBHOOK_SECRET === undefined) return [];
  const needed = {
    TELEGRAM_BOT_TOKEN: "Set the token of the bot, or remove the secret.",
    ASKGATE_PUBLIC_URL: "Set the address at which Telegram reaches this gateway, or remove the secret to poll.",
  };
  return Object.entries(needed)
    .filter(([name]) => given[name] === undefined)
    .map(([name, remedy]) => inEnvironment("TELEGRAM_WEBHOOK_SECRET", `needs ${name}`, remedy));
}

/** Where Telegram cannot reach it, a webhook would stay silent for ever. */
function reachFaults({ TELEGRAM_WEBHOOK_SECRET, ASKGATE_PUBLIC_URL: url, TELEGRAM_API_ROOT }: Variables): Fault[] {
  const rule = TELEGRAM_WEBHOOK_SECRET && url ? webhookFault(url, TELEGRAM_API_ROOT) : null;
  if (rule === null) return [];
  const remedy = "Correct it, or remove TELEGRAM_WEBHOOK_SECRET to poll.";
  return [inEnvironment("ASKGATE_PUBLIC_URL", `is "${url}" and ${rule}`, remedy)];
}

/** What only people taken together can get wrong. */
function peopleFaults(settings: Settings, file: string): Fault[] {
  const faults: Fault[] = [];
  const fault = (path: string, rule: string, remedy: string) => faults.push({ file, path, value: "", rule, remedy });
  const holders = new Map<string, string>();
  for (const [name, person] of Object.entries(settings.people)) {
    for (const identity of person.identities) {
      const other = holders.get(identity);
      if (other)
        fault(`people.${name}.identities: "${identity}"`, `belongs to ${other} already`, "Give it to one of them.");
      holders.set(identity, name);
    }
  }
  const directory = directoryOf(settings);
  if (peopleIn(directory, [`role:${OWNER}`]).length === 0) {
    fault("people", "has nobody with the role owner", 'Give one of them "roles": ["owner"].');
  }
  for (const [name, tool] of Object.entries(settings.tools)) {
    const able = peopleIn(directory, tool.approvers).length;
    if (tool.needsApproval && able < tool.quorum) {
      const rule = `could only ever stop: it takes ${tool.quorum} to approve and ${able} may`;
      fault(`tools.${name}.approvers`, rule, "Name more approvers, give somebody the role, or lower quorum.");
    }
  }
  return faults;
}

/** A shorter one is guessed before it is read, and hiding it would hide half the log. */
const SHORTEST_HIDDEN = 4;

function secretsOf(given: Environment): readonly string[] {
  const values = Object.entries(given).flatMap(([name, value]) => (SECRET.test(name) && value ? [value] : []));
  const secrets = values.filter((value) => !value.startsWith("sqlite:"));
  return [...secrets, ...values.flatMap(passwordsIn)].filter((value) => value.length >= SHORTEST_HIDDEN);
}

/** The password of a database's address as it stands there, and as it is. */
function passwordsIn(value: string): readonly string[] {
  const inFront = /^\w+:\/\/[^:/@]*:(.+)@/.exec(value)?.[1];
  const behind = /[?&]password=([^&#]+)/.exec(value)?.[1];
  return [inFront, behind].flatMap((written) => (written === undefined ? [] : [written, decoded(written)]));
}

function decoded(written: string): string {
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}
