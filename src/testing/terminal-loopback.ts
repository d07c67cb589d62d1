/**
 * A person at an open inbox: the client's side of the terminal channel, without a screen.
 *
 * It prints what the stream brings, confirms what it printed, and posts what is typed until the gateway has taken it,
 * each line under one id.
 */
import type { TerminalConfig } from "../../adapters/terminal.ts";
import type { Span } from "../core/text.ts";
import type { Channel, ChannelHost, ChannelModule, Mount } from "../ports/channel.ts";
import type { Loopback, Seen, Subject } from "./loopback.ts";
import { until } from "./until.ts";

type Handler = (request: Request) => Promise<Response>;

const ADDRESS = "http://askgate.test/channels/terminal?person=ana";
const KEY = "Bearer operator-key";
const PLACE = { address: "terminal:ana", actor: "terminal:ana" } as const;

export function terminalSubject(module: ChannelModule<TerminalConfig>): Subject {
  return {
    name: module.name,
    limits: module.limits,
    plays: ["surface closed", "receipt lost", "event repeated"],
    start: async () => terminalLoopback(module),
  };
}

export function terminalLoopback(module: ChannelModule<TerminalConfig>): Loopback {
  const inbox = new Inbox();
  let repeats = 1;

  return {
    place: PLACE,
    moved: PLACE.address,
    stranger: null,
    open: (host) => openWith(module, host, inbox),
    shown: async () => inbox.printed,
    entryOpen: async () => false,
    press: async () => {
      throw new Error("a terminal has no buttons");
    },
    write: (text) => inbox.type(text, repeats),
    notices: async () => inbox.notices,
    play(fault) {
      if (fault === "event repeated") repeats = 2;
      if (fault === "surface closed") inbox.close();
      if (fault === "receipt lost") inbox.fallSilent();
    },
    close: async () => inbox.close(),
  };
}

/**
 * Inboxes are served while the channel listens, and cases that only show something never let it: until they do it listens
 * for the inbox alone, which comes back when the listening proper begins.
 */
async function openWith(module: ChannelModule<TerminalConfig>, host: ChannelHost, inbox: Inbox): Promise<Channel> {
  const config: TerminalConfig = {
    operator: async (authorization) => authorization === KEY,
    person: (name) => (name === "ana" ? name : null),
  };
  const mount = (mounted: Mount) => {
    inbox.connect(mounted.handle);
    host.mount(mounted);
  };
  const early = new AbortController();
  const report: ChannelHost["report"] = (...state) => early.signal.aborted && host.report(...state);
  const channel = await module.open(config, { ...host, mount, report });
  const heard = channel.listen(early.signal);
  await inbox.open();
  return {
    ...channel,
    async listen(signal) {
      early.abort();
      await heard;
      const listening = channel.listen(signal);
      if (!signal.aborted) await inbox.open();
      await listening;
    },
    async close() {
      early.abort();
      await heard;
      await channel.close();
    },
  };
}

/** The client's end of the stream. */
class Inbox {
  readonly printed: Seen[] = [];
  readonly notices: string[] = [];
  #handler: Handler | null = null;
  #stream = new AbortController();
  #silent = false;
  #count = 0;

  connect(handler: Handler): void {
    this.#handler = handler;
  }

  async open(): Promise<void> {
    const response = await this.#handler?.(request({ method: "GET", signal: this.#stream.signal }));
    if (!response?.body) throw new Error(`the inbox was not opened: ${response?.status}`);
    this.#read(response.body).catch(() => undefined);
  }

  close(): void {
    this.#stream.abort();
  }

  /** From now on the line breaks before a prompt is confirmed. */
  fallSilent(): void {
    this.#silent = true;
  }

  /** Types one line, `times` times under one id. */
  async type(text: string, times: number): Promise<void> {
    const body = JSON.stringify({ kind: "text", id: `line ${++this.#count}`, text });
    for (let turn = 0; turn < times; turn++) {
      const { notice, say } = (await (await this.#post(body)).json()) as { notice: string | null; say: string | null };
      if (notice !== null) this.notices.push(notice);
      if (say !== null) this.#say(say);
    }
  }

  /** Until it was taken: what could not be kept is posted again as it was. */
  #post(body: string): Promise<Response> {
    return until("the post was taken", async () => {
      const response = await this.#handler?.(request({ method: "POST", body })).catch(() => null);
      return response?.ok ? response : null;
    });
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let rest = "";
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      const frames = (rest + chunk).split("\n\n");
      rest = frames.pop() ?? "";
      for (const frame of frames) await this.#take(frame);
    }
  }

  async #take(frame: string): Promise<void> {
    const [, name, data = ""] = /^event: (.*)\ndata: (.*)$/s.exec(frame) ?? [];
    if (name === "prompt") await this.#print(JSON.parse(data));
    if (name === "message") this.#say(JSON.parse(data).text);
  }

  async #print({ id, parts }: { id: string; parts: readonly (readonly Span[])[] }): Promise<void> {
    const text = parts.map((spans) => spans.map((span) => span.text).join("")).join("\n");
    if (!this.printed.some((seen) => seen.id === id)) this.printed.push({ id, text, buttons: [] });
    if (this.#silent) this.close();
    else await this.#post(JSON.stringify({ kind: "seen", id }));
  }

  #say(text: string): void {
    this.printed.push({ id: `said ${++this.#count}`, text, buttons: [] });
  }
}

function request(init: RequestInit): Request {
  return new Request(ADDRESS, { ...init, headers: { authorization: KEY } });
}
