/** The listener for the world: webhooks of platforms and nothing else, over real sockets, whoever is at the other end. */
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createHttp, createPublicHttp } from "../src/gateway/http.ts";
import { type Listening, type ListenOptions, serve } from "../src/gateway/listen.ts";
import { createMetrics } from "../src/gateway/metrics.ts";
import * as wire from "../src/gateway/wire.ts";
import type { Mount } from "../src/ports/channel.ts";
import { frontOf, openEngine, silentLog } from "../src/testing/asker-engine.ts";
import { until } from "../src/testing/until.ts";

const MIB = 1024 * 1024;
const open: { close(): unknown }[] = [];

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** Says what it was sent. */
const echo: Mount = {
  audience: "platform",
  async handle(request) {
    const { length } = await request.text();
    return new Response(`${request.method} ${new URL(request.url).pathname} ${length}`);
  },
};

const mounts = new Map<string, Mount>([
  ["echo", echo],
  ["house", { ...echo, audience: "operator" }],
]);

async function listen(http: Parameters<typeof serve>[0], options: Partial<ListenOptions> = {}): Promise<Listening> {
  const listening = await serve(http, { host: "127.0.0.1", port: 0, drainMs: 20, ...options });
  open.push(listening);
  return listening;
}

function publicFront(channels: ReadonlyMap<string, Mount> = mounts, options: Partial<ListenOptions> = {}) {
  return listen(createPublicHttp({ mounts: channels, log: silentLog, metrics: createMetrics() }), options);
}

interface Line {
  readonly socket: Socket;
  readonly heard: () => string;
  readonly closed: () => boolean;
}

/** A connection on which that is sent as it stands, and nothing more. */
async function line(url: string, text: string): Promise<Line> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let heard = "";
  let closed = false;
  socket.on("data", (chunk) => {
    heard += chunk.toString();
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    closed = true;
  });
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write(text);
  open.push({ close: () => socket.destroy() });
  return { socket, heard: () => heard, closed: () => closed };
}

describe("the public listener", () => {
  it("hands a platform's request to its channel, under any host name, with the manners of every answer", async () => {
    const { url } = await publicFront();
    const { heard } = await line(
      url,
      "POST /channels/echo?x=1 HTTP/1.1\r\nHost: hooks.example.org\r\nContent-Length: 5\r\n\r\nhello",
    );
    await until("it is answered", () => heard().includes("POST /channels/echo 5"));
    expect(heard()).toMatch(/^HTTP\/1.1 200 /);
    expect(heard()).toMatch(/x-content-type-options: nosniff/i);
    expect(heard()).toMatch(/cache-control: no-store/i);
  });

  it.each([
    ...["/", "/v1/inquiries", "/v1/events", "/v1/nothing", "/metrics", "/healthz", "/readyz", "/openapi.json"],
    ...["/channels", "/channels/", "/channels/house", "/channels/nobody", "/channels/echo/deeper", "/channels/echo/"],
    ...["/channels/../metrics", "/channels/%2e%2e/metrics", "//metrics", "/channels/ECHO"],
  ])("has no %s", async (path) => {
    const { url } = await publicFront();
    for (const method of ["GET", "POST"]) {
      const { heard } = await line(url, `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`);
      await until("it is answered", () => heard().endsWith("}"));
      expect(heard()).toMatch(/^HTTP\/1.1 404 [\s\S]*application\/problem\+json/);
      const problem = wire.problem.parse(JSON.parse(heard().slice(heard().indexOf("{"))));
      expect(problem.code).toBe("not_found");
      expect(problem.detail).toMatch(/^There is no \S+ here\.$/);
    }
  });

  it("reads nothing of a body that its channel does not ask for, however large", async () => {
    const refusing: Mount = { audience: "platform", handle: async () => new Response(null, { status: 401 }) };
    const { url } = await publicFront(new Map([["refusing", refusing]]));
    const head = `POST /channels/refusing HTTP/1.1\r\nHost: x\r\nContent-Length: ${1_000 * MIB}\r\n\r\n`;
    const { heard } = await line(url, head);
    await until("it is refused before the body came", () => heard().startsWith("HTTP/1.1 401 "));
  });

  it("tells a fault of a channel as a problem document, without the fault", async () => {
    const broken: Mount = { audience: "platform", handle: () => Promise.reject(new Error("token 12345 is bad")) };
    const { url } = await publicFront(new Map([["broken", broken]]));
    const response = await fetch(`${url}/channels/broken`, { method: "POST" });
    const text = await response.text();
    expect(wire.problem.parse(JSON.parse(text))).toMatchObject({ status: 500, code: "internal" });
    expect(text).not.toContain("12345");
  });

  it("cuts who is silent or slow, and never an answer that takes long", async () => {
    let release = (): void => {};
    const long: Mount = {
      audience: "platform",
      async handle() {
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return new Response("at last");
      },
    };
    const { url } = await publicFront(new Map([...mounts, ["long", long]]), { headersMs: 150, requestMs: 300 });
    const waiting = await line(url, "GET /channels/long HTTP/1.1\r\nHost: x\r\n\r\n");
    const cut = await Promise.all([
      line(url, ""),
      line(url, "POST /channels/echo HTTP/1.1\r\nHost: x\r\nX-Slow:"),
      line(url, "POST /channels/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx"),
    ]);
    await until("all of them are cut", () => cut.every(({ closed }) => closed()));
    expect(waiting.closed()).toBe(false);
    release();
    await until("the long answer came", () => waiting.heard().includes("at last"));
  });
});

describe("the main listener", () => {
  async function mainFront(audiences?: readonly Mount["audience"][]) {
    const stand = await openEngine();
    open.push(stand);
    return listen(createHttp(frontOf(stand, { mounts, ...(audiences && { audiences }) })));
  }
  const status = async (url: string, channel: string, length = 1) =>
    (await fetch(`${url}/channels/${channel}`, { method: "POST", body: "x".repeat(length) })).status;

  it("serves all channels where there is no other, each with the body its audience may send", async () => {
    const { url } = await mainFront();
    expect(await status(url, "echo", 2 * MIB)).toBe(200);
    expect([await status(url, "house", MIB / 4), await status(url, "house", MIB / 4 + 1)]).toEqual([200, 413]);
  });

  it("leaves platforms to the public one where there is one", async () => {
    const { url } = await mainFront(["operator"]);
    expect([await status(url, "echo"), await status(url, "house")]).toEqual([404, 200]);
  });
});
