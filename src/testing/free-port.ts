/**
 * A port for a server that goes down and comes back: of those below the ports the kernel gives to outgoing
 * connections, so that nobody takes it in between.
 * https://docs.kernel.org/networking/ip-sysctl.html (ip_local_port_range)
 */
import { createServer } from "node:net";

const PORTS = { from: 15_000, to: 32_000 } as const;

export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS.from + Math.floor(Math.random() * (PORTS.to - PORTS.from));
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const probe = createServer();
    probe.once("error", () => done(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => done(true)));
  });
}
