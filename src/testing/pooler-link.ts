/**
 * Connections of the pooler to the server: one of them, and the pool which lends them.
 */
import { connect, type Socket } from "node:net";
import { startLogin } from "./pooler-login.ts";
import { type Message, messageReader, write } from "./pooler-wire.ts";

/** Who is told what a server connection says. */
export interface LinkOwner {
  hear(message: Message): void;
  /** The connection is gone; nothing more comes. */
  lost(): void;
}

/** One connection to the server. Without an owner it stays silent. */
export class Link {
  owner: LinkOwner | null = null;
  readonly #socket: Socket;

  constructor(url: URL) {
    this.#socket = connect(Number(url.port || 5432), url.hostname);
    this.#socket.setNoDelay(true);
    this.#socket.on(
      "data",
      messageReader("server", (message) => this.owner?.hear(message)),
    );
    this.#socket.on("error", () => undefined);
    this.#socket.on("close", () => this.owner?.lost());
  }

  send(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  onClose(tell: () => void): void {
    this.#socket.once("close", tell);
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

export interface Pool {
  /** Waits while all connections are lent, in the order of asking. */
  take(): Promise<Link>;
  /** `traces`: the session may hold state of its client, which the next must not find. */
  giveBack(link: Link, traces: boolean): void;
  /** What the server says of itself when a session starts: its ParameterStatus messages. */
  greeting(): Promise<Buffer>;
  /** Destroys every connection; whoever waits for one is told so. */
  cut(): void;
}

/** The next client must find a session as new. */
const FORGET = write("Q", "DISCARD ALL");

export function openPool(url: URL, size: number): Pool {
  const all = new Set<Link>();
  const idle = new Set<Link>();
  const queue = openQueue();
  let greeting: Buffer | null = null;

  async function open(): Promise<Link> {
    const link = new Link(url);
    all.add(link);
    link.onClose(() => bury(link));
    greeting = await loggedIn(url, link);
    return link;
  }

  function bury(link: Link): void {
    all.delete(link);
    idle.delete(link);
    queue.serve(open);
  }

  function lend(link: Link): void {
    if (all.has(link) && !queue.serve(async () => link)) idle.add(link);
  }

  async function take(): Promise<Link> {
    const [link] = idle;
    if (!link) return all.size < size ? open() : queue.wait();
    idle.delete(link);
    return link;
  }

  return {
    take,
    giveBack(link, traces) {
      link.owner = null;
      if (traces) ask(link, FORGET).then(() => lend(link), silent);
      else lend(link);
    },
    async greeting() {
      if (!greeting) lend(await take());
      return greeting ?? Buffer.alloc(0);
    },
    cut() {
      queue.dismiss(new Error("The pooler was cut."));
      for (const link of all) link.destroy();
    },
  };
}

/** Those who wait for a connection, in the order of asking. */
interface Queue {
  wait(): Promise<Link>;
  /** Gives the first a connection; false if nobody waits. */
  serve(find: () => Promise<Link>): boolean;
  dismiss(fault: Error): void;
}

function openQueue(): Queue {
  const waiting: { readonly give: (link: Promise<Link>) => void; readonly fail: (fault: Error) => void }[] = [];
  return {
    wait: () => new Promise((give, fail) => waiting.push({ give, fail })),
    serve(find) {
      const first = waiting.shift();
      first?.give(find());
      return first !== undefined;
    },
    dismiss(fault) {
      for (const { fail } of waiting.splice(0)) fail(fault);
    },
  };
}

/** Resolves with the ParameterStatus messages once the server is ready. */
function loggedIn(url: URL, link: Link): Promise<Buffer> {
  const login = startLogin(url, (bytes) => link.send(bytes));
  return converse(link, login);
}

/** Sends a query and waits until the server is ready again. */
function ask(link: Link, query: Buffer): Promise<Buffer> {
  const heard = converse(link, (message) => message.type === "Z");
  link.send(query);
  return heard;
}

function converse(link: Link, isLast: (message: Message) => boolean): Promise<Buffer> {
  const settings: Buffer[] = [];
  return new Promise<Buffer>((done, fail) => {
    link.owner = {
      lost: () => fail(new Error("The server closed the connection, or takes none.")),
      hear(message) {
        if (message.type === "S") settings.push(message.bytes);
        try {
          if (isLast(message)) done(Buffer.concat(settings));
        } catch (fault) {
          fail(fault);
          link.destroy();
        }
      },
    };
  }).finally(() => {
    link.owner = null;
  });
}

function silent(): void {}
