/**
 * The line between a client and the gateway: a TCP relay that keeps its address while gateways come and go, and a trap
 * on what passes. Nothing is read but what the trap asks for, nothing changed.
 */
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface LineSnare {
  /** The request, by its first line. */
  readonly request: RegExp;
  /** Null: springs at the request. Else at the first answer to it that holds this. */
  readonly answer: RegExp | null;
  /** Before or after the bytes are passed on. */
  readonly when: "before" | "after";
}

export interface Line {
  readonly url: string;
  /** Where the gateway is now; null: nowhere, callers are hung up on. */
  lead(to: string | null): void;
  /** `spring` is called once. */
  arm(snare: LineSnare | null, spring: () => void): void;
  close(): Promise<void>;
}

interface Post {
  target: URL | null;
  snare: LineSnare | null;
  spring: () => void;
  readonly sockets: Set<Socket>;
}

export async function openLine(): Promise<Line> {
  const post: Post = { target: null, snare: null, spring: () => {}, sockets: new Set() };
  const server = createServer((caller) => relay(post, caller));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lead(to) {
      post.target = to === null ? null : new URL(to);
    },
    arm(snare, spring) {
      post.snare = snare;
      post.spring = spring;
    },
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        for (const socket of post.sockets) socket.destroy();
      }),
  };
}

function relay(post: Post, caller: Socket): void {
  if (post.target === null) {
    caller.resetAndDestroy();
    return;
  }
  const gateway = connect(Number(post.target.port), post.target.hostname);
  let request = "";
  const end = () => {
    for (const socket of [caller, gateway]) {
      post.sockets.delete(socket);
      socket.destroySoon();
    }
  };
  for (const socket of [caller, gateway]) {
    post.sockets.add(socket);
    socket.on("error", () => socket.destroy()).on("close", end);
  }
  caller.on("data", (bytes) => {
    const text = bytes.toString("latin1");
    if (/^[A-Z]+ \//.test(text)) request = text.slice(0, text.indexOf("\r\n"));
    pass(post, gateway, bytes, post.snare?.answer === null && post.snare.request.test(text), end);
  });
  gateway.on("data", (bytes) => {
    const wanted = post.snare?.answer?.test(bytes.toString("utf8")) === true;
    pass(post, caller, bytes, wanted && post.snare?.request.test(request) === true, end);
  });
}

function pass(post: Post, to: Socket, bytes: Buffer, met: boolean, end: () => void): void {
  const { snare, spring } = post;
  if (!met || snare === null) {
    to.write(bytes);
    return;
  }
  post.snare = null;
  if (snare.when === "before") {
    spring();
    end();
  } else to.write(bytes, () => spring());
}
