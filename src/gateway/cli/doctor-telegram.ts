/** What `doctor` says about Telegram: whose the token is, what the bot may read, and who gets its updates. */
import * as z from "zod";
import type { Cli, CliConfig } from "./cli.ts";
import type { Finding } from "./finding.ts";

const me = z.object({
  result: z.object({ username: z.string(), can_read_all_group_messages: z.boolean().optional() }),
});
const hook = z.object({
  result: z.object({
    url: z.string(),
    pending_update_count: z.int().default(0),
    /** Seconds since the epoch. */
    last_error_date: z.int().optional(),
    last_error_message: z.string().optional(),
  }),
});

type Hook = z.infer<typeof hook>["result"];

const TELEGRAM_ROOT = "https://api.telegram.org";

export async function telegram(cli: Cli): Promise<Finding[]> {
  const config = cli.config().telegram;
  const check = "telegram";
  if (!config) return [{ check, state: "note", finding: "off", next: "Set TELEGRAM_BOT_TOKEN to turn it on." }];
  try {
    const bot = await callTelegram(config, "getMe");
    const parsed = me.safeParse(bot.body);
    if (!parsed.success) {
      const next = "Ask @BotFather for the token and put it into .env.";
      return [{ check, state: "fault", finding: `the platform answers ${bot.status} to the token`, next }];
    }
    const { username, can_read_all_group_messages: readsAll = false } = parsed.data.result;
    const found = hook.safeParse((await callTelegram(config, "getWebhookInfo")).body).data?.result;
    return [
      { check, state: "ok", finding: `the token is @${username}'s` },
      webhookFinding(config.webhook ?? null, found ?? { url: "", pending_update_count: 0 }),
      groups(readsAll),
    ];
  } catch {
    const finding = `${config.apiRoot ?? TELEGRAM_ROOT} cannot be reached`;
    return [{ check, state: "fault", finding, next: "Check the network and TELEGRAM_API_ROOT." }];
  }
}

function groups(readsAll: boolean): Finding {
  const check = "telegram groups";
  if (readsAll) return { check, state: "ok", finding: "the bot reads every message" };
  const next = "That is enough: people reply to the question. To read all, turn privacy mode off at @BotFather.";
  return { check, state: "note", finding: "the bot sees replies and commands only", next };
}

/** What the platform has against what the settings want; `wanted` null is polling. */
function webhookFinding(wanted: string | null, found: Hook): Finding {
  const check = "telegram webhook";
  if (wanted === null) {
    if (found.url === "") return { check, state: "ok", finding: "none, as polling needs" };
    const next = "While it stands, polling gets nothing. Starting the gateway removes it.";
    return { check, state: "note", finding: `another program set one: ${placeOf(found.url)}`, next };
  }
  if (found.url === "") {
    return { check, state: "note", finding: "not set yet", next: "Starting the gateway sets it." };
  }
  if (!isSame(found.url, wanted)) {
    const next = `It should be ${wanted}. Starting the gateway sets it; if it changes again, another program uses this token.`;
    return { check, state: "fault", finding: `updates go to ${placeOf(found.url)}`, next };
  }
  const waiting = `${found.pending_update_count} updates wait`;
  if (found.last_error_message === undefined || found.pending_update_count === 0) {
    return { check, state: "ok", finding: `updates go to ${wanted}, ${waiting}` };
  }
  const when = new Date((found.last_error_date ?? 0) * 1_000).toISOString();
  const next = `Telegram must reach ${wanted}: check ASKGATE_PUBLIC_URL, the proxy in front and its certificate.`;
  return { check, state: "fault", finding: `${waiting}; at ${when} Telegram got: ${found.last_error_message}`, next };
}

/** The platform writes addresses its own way. */
function isSame(one: string, other: string): boolean {
  return URL.canParse(one) && new URL(one).href === new URL(other).href;
}

/** Without its path, in which programs like to keep the token. */
function placeOf(url: string): string {
  return URL.canParse(url) ? `${new URL(url).origin}/…` : "an address that is none";
}

async function callTelegram(config: NonNullable<CliConfig["telegram"]>, method: string) {
  const address = `${config.apiRoot ?? TELEGRAM_ROOT}/bot${config.token}/${method}`;
  const response = await fetch(address, { signal: AbortSignal.timeout(5_000) });
  return { status: response.status, body: (await response.json()) as unknown };
}
