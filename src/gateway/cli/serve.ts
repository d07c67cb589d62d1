/** `serve`: the gateway in the foreground, until a signal stops it. */
import { Command } from "commander";
import { type Cli, CliFault, interruptible, type RunningGateway } from "./cli.ts";
import { keyPath } from "./data-folder.ts";

export function serveCommand(cli: Cli): Command {
  return new Command("serve").description("run the gateway").action(async ({ json }: { json?: boolean }) => {
    const interrupt = interruptible();
    const gateway = await cli.deps.startGateway();
    if (json) {
      const { url, publicUrl, database, channels } = gateway;
      const { data } = cli.config();
      cli.out(JSON.stringify({ url, ...(publicUrl && { publicUrl }), pid: process.pid, data, database, channels }));
    }
    for (const line of greeting(cli, gateway)) cli.note(line);
    const stopped = new Promise<null>((done) => {
      if (interrupt.signal.aborted) done(null);
      interrupt.signal.addEventListener("abort", () => done(null), { once: true });
    });
    const failure = await Promise.race([stopped, gateway.failed]);
    cli.note("Stopping.");
    const [stopping] = await Promise.allSettled([gateway.stop()]);
    interrupt.release();
    if (failure) throw new CliFault(failure.message, 1);
    if (stopping.status === "rejected") throw stopping.reason;
  });
}

/** A few lines for whoever started it: where it is, what is on, what to try next. */
function greeting(cli: Cli, gateway: RunningGateway): string[] {
  const { data, keys } = cli.config();
  const named = (["agent", "operator"] as const).map((name) => (keys[name] ? "the environment" : keyPath(data, name)));
  return [
    `Askgate listens on ${gateway.url}`,
    ...(gateway.publicUrl ? [`  webhooks  ${gateway.publicUrl}`] : []),
    `  data      ${data}`,
    `  database  ${gateway.database}`,
    `  keys      agent: ${named[0]}, operator: ${named[1]}`,
    `  channels  ${gateway.channels.join(", ")}`,
    ...gateway.codes.map(
      ({ channel, code }) => `  ${channel}: nobody is linked yet. Send ${code} to your bot within 10 minutes.`,
    ),
    ...(gateway.idle.length > 0 ? [`Set, but without effect in this version: ${gateway.idle.join(", ")}`] : []),
    "Try it in two other terminals:",
    `  ${cli.program} inbox`,
    `  ${cli.program} ask "Deploy where?" -o Staging -o Production`,
  ];
}
