/**
 * What may be set: the schema of the settings file and of the environment, every default in its place.
 *
 * Rules: every key is optional, an unknown one is a fault; a rule is worded so that it reads on after the value it
 * judges ("… is 7 and must be at most 5"). Nothing here reads anything.
 */
import * as z from "zod";
import { LOCALES } from "./core/locales/locale.ts";

const LOG_LEVELS = ["silent", "error", "warn", "info", "debug"] as const;

/** Times of day and an IANA time zone, as `22:00-07:00 Europe/Madrid`. */
const QUIET_HOURS = /^([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d (\S+)$/;

const locale = z.string().refine((value) => Object.hasOwn(LOCALES, value.toLowerCase().split("-")[0] ?? ""), {
  error: `must be a supported language: ${Object.keys(LOCALES).join(", ")}`,
});
const place = z.string().regex(/^[a-z][a-z0-9-]*:\S+$/, 'must be CHANNEL:ID, as "telegram:100"');
const quietHours = z.string().refine((value) => isTimeZone(QUIET_HOURS.exec(value)?.[3]), {
  error: 'must be FROM-TO ZONE, as "22:00-07:00 Europe/Madrid"',
});
const word = z.string().regex(/^\S+$/, "must be one word");
const seconds = z.int().min(1).max(86_400);

/** `names` are the people there are: a reference to anybody else is a fault. */
export function settingsSchema(names: ReadonlySet<string>) {
  const who = z.string().refine((value) => value.startsWith("role:") || names.has(value), {
    error: `must be role:NAME or one of the people: ${[...names].join(", ")}`,
  });
  const person = z.strictObject({
    identities: z.array(place).default([]),
    roles: z.array(word).default([]),
    locale: locale.nullable().default(null),
    quietHours: quietHours.nullable().default(null),
  });
  const session = z.strictObject({
    addresses: z.array(place).default([]),
    respondents: z.array(who).default([]),
    kind: z.enum(["main", "subagent", "cron"]).default("main"),
    unattended: z.enum(["pause", "stop"]).default("pause"),
    remindAfterSeconds: z.array(seconds).default([]),
    escalate: z.array(z.strictObject({ afterSeconds: seconds, to: z.array(who).min(1) })).default([]),
  });
  return z.strictObject({
    locale: locale.default("en"),
    retentionDays: z.int().min(1).nullable().default(null),
    maxQuestionsPerTask: z.int().min(1).default(3),
    holdFreeTextSeconds: z.number().min(0).max(60).default(5),
    mcp: z.strictObject({ maxBlockSeconds: z.int().min(1).max(3_600).default(50) }).prefault({}),
    people: z.record(z.string().regex(/^[^\s:]+$/, "must be one word without a colon"), person).default({}),
    sessions: z.record(z.string().min(1), session).default({}),
    admit: z.record(place, z.array(who)).default({}),
    callbacks: z.strictObject({ allow: z.array(word).default([]) }).prefault({}),
    tools: z.record(z.string().min(1), toolSchema(who)).default({}),
  });
}

/** The policy of one tool; what is left out is the careful side: high, irreversible, needs approval. */
function toolSchema(who: z.ZodType<string>) {
  return z
    .strictObject({
      consequence: z.enum(["low", "high"]).default("high"),
      reversible: z.boolean().default(false),
      idempotent: z.boolean().default(false),
      needsApproval: z.boolean().default(true),
      readOnly: z.boolean().default(false),
      approvers: z.array(who).min(1).default(["role:owner"]),
      excludeAsker: z.boolean().default(true),
      quorum: z.int().min(1).default(1),
      escalateTo: who.nullable().default(null),
      claimSeconds: z.int().min(1).max(86_400).default(60),
      defaults: z.record(z.string(), z.json()).default({}),
      schema: z.record(z.string(), z.json()).default({}),
      private: z.array(z.string().min(1)).default([]),
    })
    .refine((tool) => tool.needsApproval || tool.readOnly || (tool.consequence === "low" && tool.reversible), {
      error: "could only ever stop: without needsApproval it must be readOnly, or of low consequence and reversible",
    });
}

export type Settings = z.infer<ReturnType<typeof settingsSchema>>;

/**
 * What is checked and does nothing yet; `NAME` stands for every name in a map. Settings carry over to a version that
 * knows more, so they do not stop the start: the start says which of them are set.
 */
const IDLE = [
  ...["retentionDays", "maxQuestionsPerTask", "holdFreeTextSeconds", "mcp.maxBlockSeconds"],
  ...["people.NAME.quietHours", "sessions.NAME.unattended", "sessions.NAME.remindAfterSeconds"],
  ...["sessions.NAME.escalate", "callbacks.allow", "tools"],
];

/** Paths of the idle keys whose values are not the defaults, as `people.ana.quietHours`. */
export function idleKeys(settings: Settings): readonly string[] {
  const defaults = settingsSchema(new Set()).parse({ people: { NAME: {} }, sessions: { NAME: {} } });
  return IDLE.flatMap((path) => {
    const steps = path.split(".");
    const usual = JSON.stringify(valueAt(defaults, steps));
    return spelledOut(settings, steps)
      .filter((one) => JSON.stringify(valueAt(settings, one)) !== usual)
      .map((one) => one.join("."));
  });
}

/** The path once for each name that `NAME` stands for. */
function spelledOut(settings: Settings, steps: readonly string[]): readonly (readonly string[])[] {
  const [map = "", name, ...rest] = steps;
  if (name !== "NAME") return [steps];
  return Object.keys(Object(valueAt(settings, [map]))).map((one) => [map, one, ...rest]);
}

function valueAt(settings: Settings, steps: readonly string[]): unknown {
  return steps.reduce<unknown>((value, step) => Reflect.get(Object(value), step), settings);
}

const text = z.string().regex(/^\S+$/, "must be one word without spaces");
/** Shorter ones are guessed, and hiding them in the log would hide half of it. */
const key = z.string().regex(/^\S{16,}$/, "must be one word of at least 16 characters");
/** A variable of something that is not built: set, it stops the start, so that nobody believes it does anything. */
const notYet = (what: string) =>
  z
    .string()
    .refine(() => false, { error: `has no use: this version has no ${what} yet`, params: { remedy: "Remove it." } })
    .optional();
const url = z.url({ protocol: /^https?$/, error: 'must be a web address, as "http://127.0.0.1:8787"' });
/** More is put behind it, and it is told to platforms. */
const publicUrl = z.string().refine((value) => URL.canParse(value) && /^https?:\/\/[^\s/?#@\\]+\/?$/i.test(value), {
  error: "must be a web address alone, without path, query or password",
  params: { remedy: "Set it to https://askgate.example, for example, or remove it." },
});
const port = z.string().refine((value) => /^\d{1,5}$/.test(value) && Number(value) <= 65_535, {
  error: "must be a port, 0 to 65535 (0 takes any free one)",
});

export const DEFAULT_PORT = "8787";

/** The value is a secret, so each fault says what it lacks. */
const databaseUrl = z.string().superRefine((value, { addIssue }) => {
  const rule = databaseFault(value);
  if (rule !== null) addIssue({ code: "custom", message: rule, params: { remedy: DATABASE_REMEDY } });
});
const DATABASE_REMEDY = "Set it to sqlite:data/askgate.db or postgres://user:password@host/database, for example.";

/** What is wrong with the address of a database, as it reads on after its name; null: nothing. */
export function databaseFault(value: string): string | null {
  if (/^sqlite:./.test(value)) return null;
  if (!/^postgres(ql)?:/.test(value)) return "must be sqlite:PATH, sqlite::memory: or postgres://…";
  const address = URL.canParse(value) ? new URL(value) : null;
  if (address === null) return "is no address: what is special in a user or password is written %40 for @ and the like";
  if (address.hostname === "" && !address.searchParams.has("host")) return "names no host";
  return /^\/[^/]+$/.test(address.pathname) ? null : "names no database behind its host";
}

/** The address of a database without user and password, for people. */
export function databaseName(value: string): string {
  if (!/^postgres(ql)?:/.test(value) || !URL.canParse(value)) return value;
  const { host, pathname, searchParams } = new URL(value);
  return `postgres://${host || searchParams.get("host")}${pathname}`;
}

/** https://core.telegram.org/bots/api#setwebhook, read 2026-11-30. */
const webhookSecret = z.string().regex(/^[A-Za-z0-9_-]{1,256}$/, "must be 1 to 256 of the characters A-Z a-z 0-9 _ -");

export const environmentSchema = z.object({
  ASKGATE_HOST: text.default("127.0.0.1"),
  ASKGATE_PORT: port.default(DEFAULT_PORT),
  ASKGATE_PUBLIC_PORT: port.optional(),
  ASKGATE_PUBLIC_URL: publicUrl.optional(),
  ASKGATE_URL: url.optional(),
  ASKGATE_DATA: z.string().default("data"),
  ASKGATE_DATABASE_URL: databaseUrl.optional(),
  ASKGATE_API_KEY: key.optional(),
  ASKGATE_OPERATOR_KEY: key.optional(),
  ASKGATE_CONFIG: z.string().optional(),
  ASKGATE_LOCALE: locale.optional(),
  ASKGATE_LOG_LEVEL: z.enum(LOG_LEVELS).default("info"),
  TELEGRAM_BOT_TOKEN: text.optional(),
  TELEGRAM_API_ROOT: url.optional(),
  TELEGRAM_WEBHOOK_SECRET: webhookSecret.optional(),
  DISCORD_BOT_TOKEN: notYet("Discord channel"),
  DISCORD_API_ROOT: notYet("Discord channel"),
  DISCORD_PUBLIC_KEY: notYet("Discord channel"),
  SLACK_BOT_TOKEN: notYet("Slack channel"),
  SLACK_APP_TOKEN: notYet("Slack channel"),
  SLACK_SIGNING_SECRET: notYet("Slack channel"),
  SLACK_API_URL: notYet("Slack channel"),
  TEXT_CHANNEL_URL: notYet("text channel"),
  TEXT_CHANNEL_SECRET: notYet("text channel"),
  ASKGATE_CALLBACK_SECRET: notYet("callbacks"),
  VAPID_PUBLIC_KEY: notYet("web push"),
  VAPID_PRIVATE_KEY: notYet("web push"),
});

export type Variables = z.infer<typeof environmentSchema>;

function isTimeZone(zone: string | undefined): boolean {
  if (!zone) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }) !== null;
  } catch {
    return false;
  }
}
