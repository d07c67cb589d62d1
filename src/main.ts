/**
 * Where the house is put together: the only file that knows the engine, the store, the gateway and every channel.
 *
 * Start: hold the data folder, read the keys, open the store, set the clock, listen, start the channels that are on,
 * announce. Stop is the same backwards and never longer than 10 s. A part is loaded only when a command needs it.
 */
import { realpathSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ZodError } from "zod";
import { createClock, entropy } from "./clock.ts";
import { type Config, readConfig } from "./config.ts";
import { LOCALES, localeOf } from "./core/locales/locale.ts";
import { checkDatabase, migrateDatabase, moveDatabases, naming } from "./databases.ts";
import type { ChannelSource, Engine } from "./engine/engine.ts";
import { bearerKey } from "./gateway/bearer.ts";
import type { CliConfig, RunningGateway } from "./gateway/cli/cli.ts";
import { runCli } from "./gateway/cli/commands.ts";
import { ensureKey, holdFolder } from "./gateway/cli/data-folder.ts";
import type { Http } from "./gateway/http.ts";
import type { Listening, ListenOptions } from "./gateway/listen.ts";
import type { Metrics } from "./gateway/metrics.ts";
import { measured } from "./held.ts";
import { createLog } from "./log.ts";
import type { Access } from "./ports/access.ts";
import type { Caller } from "./ports/asker.ts";
import type { Clock } from "./ports/clock.ts";
import type { Log } from "./ports/log.ts";
import { databaseName } from "./settings.ts";

/** A stop that hangs is cut here; what was acknowledged is in the store already. */
const STOP_WITHIN_MS = 10_000;

/** Channels people only come to; nobody links an account there. */
const SURFACES: readonly string[] = ["terminal", "web"];

async function startGateway(config: Config): Promise<RunningGateway> {
  let fail: (error: Error) => void = () => {};
  const failed = new Promise<Error>((resolve) => {
    fail = resolve;
  });
  const folder = await holdFolder(config.data, () =>
    fail(new Error(`Another gateway took over ${config.data}: this one did not run for too long, so it stops.`)),
  );
  const undo: (() => Promise<void>)[] = [() => folder.release()];
  try {
    const { engine, fronts } = await assemble(config, folder.process, undo);
    const channels = await engine.health.health();
    const url = reachable(fronts.url);
    folder.announce(url);
    const names = Object.keys(channels.channels);
    return {
      url,
      publicUrl: fronts.publicUrl === null ? null : reachable(fronts.publicUrl),
      database: databaseName(config.databaseUrl),
      channels: names,
      codes: await firstCodes(engine.access, names),
      idle: config.idle,
      failed,
      stop: () => stop(undo),
    };
  } catch (error) {
    await Promise.allSettled([stop(undo)]);
    throw error;
  }
}

/** Builds and starts all parts; each that must be stopped puts its stop before those it depends on. */
async function assemble(
  config: Config,
  name: string,
  undo: (() => Promise<void>)[],
): Promise<{ engine: Engine; fronts: Fronts }> {
  const [{ openStore }, { createEngine }, { createMetrics }] = await Promise.all([
    import("./store/store.ts"),
    import("./engine/engine.ts"),
    import("./gateway/metrics.ts"),
  ]);
  const sources = await channelsOf(config);
  const fixedKeys = await keysOf(config);
  const secrets = [...config.secrets, ...fixedKeys.map(({ key }) => key)];
  const log = createLog({ level: config.variables.ASKGATE_LOG_LEVEL, secrets });
  const { databaseUrl: url } = config;
  const store = await naming({ setting: "ASKGATE_DATABASE_URL", url }, () => openStore(url, { log }));
  undo.unshift(() => store.close());
  const clock = createClock({ reference: store.time, log });
  undo.unshift(async () => clock.end());
  await clock.begin();
  const settings = { locale: config.locale, directory: config.directory, fixedKeys };
  const metrics = createMetrics();
  const channels = (access: Access) => sources.map((make) => measured(make(access), metrics));
  const { meter } = metrics;
  const engine = await createEngine({ store, clock, entropy, log, meter, process: name, settings, channels });
  const fronts = await openFronts(config, { engine, clock, log, metrics });
  undo.unshift(async () => {
    await Promise.all([fronts.close(), engine.stop()]);
  });
  await engine.start();
  return { engine, fronts };
}

interface Behind {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

interface Fronts {
  readonly url: string;
  readonly publicUrl: string | null;
  close(): Promise<void>;
}

/** The HTTP side: with a port for the world, webhooks are served there and nowhere else. */
async function openFronts(config: Config, { engine, clock, log, metrics }: Behind): Promise<Fronts> {
  const { createHttp, createPublicHttp } = await import("./gateway/http.ts");
  const { asker, access, events, health, mounts } = engine;
  const { host, port, publicPort } = config;
  const hosts = hostsOf(config);
  const apart = publicPort !== null && { audiences: ["operator"] as const };
  const http = createHttp({ asker, access, events, health, clock, log, metrics, mounts, hosts, ...apart });
  const main = await openFront(http, { host, port }, log);
  if (publicPort === null) return { url: main.url, publicUrl: null, close: main.close };
  const outside = { host, port: publicPort, portVariable: "ASKGATE_PUBLIC_PORT" };
  try {
    const open = await openFront(createPublicHttp({ log, metrics, mounts }), outside, log);
    const close = async () => {
      await Promise.all([main.close(), open.close()]);
    };
    return { url: main.url, publicUrl: open.url, close };
  } catch (error) {
    await main.close();
    throw error;
  }
}

/** While it closes, whoever comes back over an open connection is told to come again on another one. */
async function openFront(http: Http, place: ListenOptions, log: Log): Promise<Listening> {
  const { HttpRefusal, problemResponse } = await import("./gateway/problem.ts");
  const { serve } = await import("./gateway/listen.ts");
  const away = () =>
    new HttpRefusal("unavailable", 503, "The gateway is stopping; ask again.", { connection: "close" });
  let closing = false;
  const fetch = async (request: Request) => (closing ? problemResponse(away(), log) : http.fetch(request));
  const { url, close } = await serve({ fetch }, place);
  return {
    url,
    close() {
      closing = true;
      return close();
    },
  };
}

/** The keys that need no database: from the environment, else from the data folder, made at the first start. */
async function keysOf({ data, variables }: Config) {
  const { mintKey } = await import("./engine/mint.ts");
  const given = { agent: variables.ASKGATE_API_KEY, operator: variables.ASKGATE_OPERATOR_KEY };
  return (["agent", "operator"] as const).map((scope) => ({
    id: scope,
    scope,
    key: given[scope] ?? ensureKey(data, scope, () => mintKey(entropy, scope)),
  }));
}

/** The channels that are on; a platform's library is loaded for those alone. */
async function channelsOf(config: Config): Promise<readonly ((access: Access) => ChannelSource)[]> {
  const { channelSource } = await import("./engine/engine.ts");
  const { terminal } = await import("../adapters/terminal.ts");
  const on = [(access: Access) => channelSource(terminal, terminalConfig(access))];
  const { TELEGRAM_BOT_TOKEN: token, TELEGRAM_API_ROOT: apiRoot } = config.variables;
  if (token !== undefined) {
    const { telegram } = await import("../adapters/telegram.ts");
    const commands = commandsIn(config.locale);
    const settings = telegram.config.safeParse({ token, apiRoot, commands, webhook: webhookOf(config) });
    if (!settings.success) throw new Error(`The settings of telegram are wrong: ${wordsOf(settings.error)}.`);
    on.push(() => channelSource(telegram, settings.data));
  }
  return on;
}

/** Where Telegram is to push updates; null: they are polled. */
function webhookOf({ variables }: Config): { url: string; secret: string } | null {
  const { TELEGRAM_WEBHOOK_SECRET: secret, ASKGATE_PUBLIC_URL: address } = variables;
  if (secret === undefined || address === undefined) return null;
  return { url: `${address.replace(/\/$/, "")}/channels/telegram`, secret };
}

function wordsOf(error: ZodError): string {
  return error.issues.map(({ path, message }) => `${path.join(".")} ${message}`).join("; ");
}

function terminalConfig(access: Access) {
  return {
    person: access.personNamed,
    async operator(authorization: string | null) {
      const key = bearerKey(authorization);
      const caller = key === null ? null : await access.authenticate(key);
      return caller !== null && access.mayAdminister(caller);
    },
  };
}

/** The bot's registered commands: platforms take Latin names only, so they are the English ones, explained in `tag`. */
function commandsIn(tag: string) {
  const about = localeOf(tag).strings;
  const { strings } = LOCALES.en;
  return (["start", "help", "skip", "cancel"] as const).map((name) => ({
    command: strings[`command.${name}`],
    description: about[`command.${name}_about`],
  }));
}

const LOOPBACK = new Set(["127.0.0.1", "localhost", "::1"]);

/** On a loopback address only names of our own are served; whoever listens wider chose who can reach it. */
function hostsOf(config: Config): readonly string[] | null {
  if (!LOOPBACK.has(config.host)) return null;
  const address = config.variables.ASKGATE_PUBLIC_URL;
  return address === undefined ? [] : [new URL(address).hostname];
}

/** An address that listens everywhere is reached through this machine. */
function reachable(url: string): string {
  return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

/** The gateway as a caller of its own, for what it does at its start. */
const GATEWAY: Caller = { keyId: "gateway", scope: "operator", sessions: [], kind: "main" };

async function firstCodes(access: Access, channels: readonly string[]): Promise<RunningGateway["codes"]> {
  const fresh = channels.filter((channel) => !SURFACES.includes(channel) && !access.paired(channel));
  return Promise.all(
    fresh.map(async (channel) => ({ channel, code: (await access.pair(GATEWAY, channel, null)).code })),
  );
}

/**
 * Takes every step, also after one that failed; rejects with the first failure then. What still keeps the process alive
 * after all of them is cut as well.
 */
async function stop(undo: readonly (() => Promise<void>)[]): Promise<void> {
  const cut = setTimeout(() => process.exit(1), STOP_WITHIN_MS);
  const failures: unknown[] = [];
  for (const step of undo) await step().catch((error: unknown) => failures.push(error));
  cut.unref();
  if (failures.length > 0) throw failures[0];
}

function cliConfig(config: Config): CliConfig {
  const { data, locale, variables } = config;
  const {
    ASKGATE_URL,
    ASKGATE_API_KEY,
    ASKGATE_OPERATOR_KEY,
    TELEGRAM_BOT_TOKEN: token,
    TELEGRAM_API_ROOT,
  } = variables;
  return {
    data,
    locale,
    url: ASKGATE_URL ?? null,
    keys: { agent: ASKGATE_API_KEY ?? null, operator: ASKGATE_OPERATOR_KEY ?? null },
    telegram:
      token === undefined
        ? null
        : { token, apiRoot: TELEGRAM_API_ROOT ?? null, webhook: webhookOf(config)?.url ?? null },
  };
}

/** Whoever reads the output may leave, as `head` does: nobody is left to print for, but the gateway goes on unheard. */
function outliveReaders(): void {
  const gone = (leave: () => void) => (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    leave();
  };
  process.stdout.on(
    "error",
    gone(() => process.exit()),
  );
  process.stderr.on(
    "error",
    gone(() => {}),
  );
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  outliveReaders();
  process.exitCode = await runCli(process.argv.slice(2), {
    config: () => cliConfig(readConfig()),
    startGateway: () => startGateway(readConfig()),
    tryDatabase: () => checkDatabase(readConfig()),
    migrate: () => migrateDatabase(readConfig()),
    move: (request) => moveDatabases(readConfig(), request),
  });
}
