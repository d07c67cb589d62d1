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

const text = z.string().regex(/^\S+$/, "must be one word without spaces");
const url = z.url({ protocol: /^https?$/, error: 'must be a web address, as "http://127.0.0.1:8787"' });
const port = z.string().refine((value) => /^\d{1,5}$/.test(value) && Number(value) <= 65_535, {
  error: "must be a port, 0 to 65535 (0 takes any free one)",
});

export const environmentSchema = z.object({
  ASKGATE_HOST: text.default("127.0.0.1"),
  ASKGATE_PORT: port.default("8787"),
  ASKGATE_PUBLIC_PORT: port.optional(),
  ASKGATE_PUBLIC_URL: url.optional(),
  ASKGATE_URL: url.optional(),
  ASKGATE_DATA: z.string().default("data"),
  ASKGATE_DATABASE_URL: z
    .string()
    .regex(/^(sqlite:.+|postgres(ql)?:\/\/.+)$/, "must be sqlite:PATH, sqlite::memory: or postgres://…")
    .optional(),
  ASKGATE_API_KEY: text.optional(),
  ASKGATE_OPERATOR_KEY: text.optional(),
  ASKGATE_CONFIG: z.string().optional(),
  ASKGATE_LOCALE: locale.optional(),
  ASKGATE_LOG_LEVEL: z.enum(LOG_LEVELS).default("info"),
  TELEGRAM_BOT_TOKEN: text.optional(),
  TELEGRAM_API_ROOT: url.optional(),
  TELEGRAM_WEBHOOK_SECRET: text.optional(),
  DISCORD_BOT_TOKEN: text.optional(),
  DISCORD_API_ROOT: url.optional(),
  DISCORD_PUBLIC_KEY: text.optional(),
  SLACK_BOT_TOKEN: text.optional(),
  SLACK_APP_TOKEN: text.optional(),
  SLACK_SIGNING_SECRET: text.optional(),
  SLACK_API_URL: url.optional(),
  TEXT_CHANNEL_URL: url.optional(),
  TEXT_CHANNEL_SECRET: text.optional(),
  ASKGATE_CALLBACK_SECRET: text.optional(),
  VAPID_PUBLIC_KEY: text.optional(),
  VAPID_PRIVATE_KEY: text.optional(),
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
