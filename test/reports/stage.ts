/**
 * The stage of the field reports: one gateway as it ships on a loopback Telegram, with Ana (100), the owner, Ben (200),
 * her colleague, Eve (300), a stranger, and a group of all three that admits Ana and Ben. Every stage is taken down
 * after its test, and then the platform must have refused no request as malformed and the engine have logged no fault
 * of its own.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect } from "vitest";
import type { Directory } from "../../src/core/people.ts";
import type { InquiryView } from "../../src/ports/asker.ts";
import type { Log, LogFields } from "../../src/ports/log.ts";
import type { Copy, DeliveryRow, Store } from "../../src/ports/store.ts";
import { AGENT, type Bridge, OPERATOR, openBridge, SILENT, telegramSource } from "../../src/testing/bridge.ts";
import { type SkippingClock, skippingClock } from "../../src/testing/skipping-clock.ts";
import {
  type Message,
  startTelegram,
  type TelegramOptions,
  type TelegramServer,
  type TelegramUser,
} from "../../src/testing/telegram-server.ts";
import { until } from "../../src/testing/until.ts";

export const ANA = 100;
export const BEN = 200;
export const GROUP = -1001;

export interface StageOptions extends TelegramOptions {
  /** Keeps the store in a file, so that the gateway can be killed and started again. Default false. */
  readonly durable?: boolean;
  readonly directory?: Partial<Directory>;
}

/** An inquiry that some chat shows. */
export interface Asked {
  readonly id: string;
  /** The last message of the copy, as it was then: the one with the buttons. */
  readonly message: Message;
}

export interface Stage {
  readonly telegram: TelegramServer;
  readonly clock: SkippingClock;
  readonly ana: TelegramUser;
  readonly ben: TelegramUser;
  readonly eve: TelegramUser;
  /** The gateway that runs now. */
  bridge(): Bridge;
  /** Asks and does not wait for anything. */
  ask(input: object): Promise<InquiryView>;
  /** Asks, and waits until the chat shows it. */
  shown(input: object, chat?: number): Promise<Asked>;
  get(id: string): Promise<InquiryView>;
  /** The inquiry, once it is over. */
  over(id: string): Promise<InquiryView>;
  copies(id: string): Promise<readonly DeliveryRow[]>;
  /** Waits until the first attempt to show it failed and is to be repeated. */
  delayed(id: string): Promise<void>;
  /** The bot's last message of that copy as it stands now. */
  copyIn(id: string, chat: number): Promise<Message | undefined>;
  /** Waits until that chat shows it, and resolves with the copy's last message. */
  shownIn(id: string, chat: number): Promise<Message>;
  /** Waits until the copy in that chat lost its buttons, and resolves with it. */
  closed(id: string, chat: number): Promise<Message>;
  /** Waits until every update was handled and confirmed, so that what has not happened will not. */
  quiet(): Promise<void>;
  /** Ends the process as a power cut would: what it was about to store is lost. */
  kill(): void;
  /** The next change that the store takes is the last thing the process does. */
  killAtNextCommit(): void;
  /** Starts the gateway on the store of the one before. */
  start(): Promise<Bridge>;
}

/** Opens stages that close by themselves. To be called once, at the top of a test file. */
export function stages(): (options?: StageOptions) => Promise<Stage> {
  const open: { check(): void; close(): Promise<void> }[] = [];
  afterEach(async () => {
    const done = open.splice(0);
    await Promise.all(done.map((one) => one.close()));
    for (const one of done) one.check();
  });
  return async (options = {}) => {
    const { stage, ...rest } = await raise(options);
    open.push(rest);
    return stage;
  };
}

/** A store whose process can die: from then on nothing that was asked of it comes back. */
interface Life {
  dead: boolean;
  /** Dies with the next commit that is done. */
  doomed: boolean;
  readonly end: () => void;
}

async function raise(options: StageOptions) {
  const telegram = await startTelegram(options);
  const folder = options.durable ? mkdtempSync(join(tmpdir(), "askgate-reports-")) : null;
  const clock = skippingClock();
  const faults: string[] = [];
  const [ana, ben, eve] = [telegram.user(ANA, "Ana"), telegram.user(BEN, "Ben"), telegram.user(300, "Eve")];
  telegram.group(GROUP);
  const bridges: Bridge[] = [];
  let life: Life = { dead: true, doomed: false, end: () => {} };
  let running: Bridge;

  async function start(): Promise<Bridge> {
    const mine: Life = { dead: false, doomed: false, end: () => void running.engine.stop() };
    life = mine;
    running = await openBridge({
      clock,
      log: logInto(faults),
      ...(folder !== null && { url: `sqlite:${join(folder, "askgate.db")}` }),
      ...(options.directory && { directory: options.directory }),
      through: (store) => mortal(store, mine),
      channels: () => [telegramSource(telegram)],
    });
    bridges.push(running);
    return running;
  }

  const close = async (): Promise<void> => {
    telegram.heal();
    if (!life.dead) await running.engine.stop();
    await telegram.close();
    await Promise.all(bridges.map((bridge) => bridge.store.close()));
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  };
  const check = () => {
    expect(telegram.refusals).toEqual([]);
    expect(faults).toEqual([]);
  };
  await start();
  const stage: Stage = {
    ...{ telegram, clock, ana, ben, eve, start },
    ...views(telegram, clock, () => running),
    bridge: () => running,
    kill: () => die(life),
    killAtNextCommit() {
      life.doomed = true;
    },
  };
  return { stage, close, check };
}

function die(life: Life): void {
  if (life.dead) return;
  life.dead = true;
  life.end();
}

const NEVER = new Promise<never>(() => {});

function mortal(store: Store, life: Life): Store {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return async (...given: unknown[]) => {
        if (life.dead) return NEVER;
        const result: unknown = await member.apply(target, given);
        if (life.doomed && name === "commit") die(life);
        return life.dead ? NEVER : result;
      };
    },
  });
}

function logInto(faults: string[]): Log {
  const error = (fields: LogFields, message: string) => void faults.push(`${message}: ${String(fields.err)}`);
  return { ...SILENT, error };
}

function views(telegram: TelegramServer, clock: SkippingClock, running: () => Bridge) {
  const get = (id: string) => running().engine.asker.get(OPERATOR, id);

  async function copies(id: string): Promise<readonly DeliveryRow[]> {
    const [inquiry] = await running().store.inquiriesById(id, null);
    return inquiry ? running().store.copies(inquiry.uid) : [];
  }

  async function copyIn(id: string, chat: number): Promise<Message | undefined> {
    const row = (await copies(id)).find(({ delivery }) => delivery.address.split("/")[0] === `telegram:${chat}`);
    const last = Number(row?.delivery.receipt?.parts.at(-1));
    return telegram.messages(chat).find((message) => message.id === last);
  }

  const shownIn = (id: string, chat: number) =>
    until(`chat ${chat} shows ${id}`, async () => {
      clock.skip(100);
      return copyIn(id, chat);
    });

  const ask = async (input: object) => (await running().engine.asker.ask(AGENT, input)).inquiry;

  return {
    ask,
    get,
    copies,
    copyIn,
    shownIn,
    async shown(input: object, chat = ANA): Promise<Asked> {
      const { id } = await ask(input);
      const message = await shownIn(id, chat);
      return { id, message: { ...message } };
    },
    over: (id: string) =>
      until(`${id} is over`, async () => {
        const view = await get(id);
        return view.status !== "waiting" && view;
      }),
    closed: (id: string, chat: number) =>
      until(`the copy in ${chat} is closed`, async () => {
        clock.skip(200);
        const row = (await copies(id)).find(({ delivery }) => delivery.address.startsWith(`telegram:${chat}`));
        return row?.delivery.state === "closed" && copyIn(id, chat);
      }),
    async delayed(id: string): Promise<void> {
      await until(`${id} is to be sent again`, async () => (await copies(id)).some(({ attempts }) => attempts > 0));
    },
    async quiet(): Promise<void> {
      await until("every update is confirmed", () => telegram.unconfirmed().length === 0);
    },
  };
}

export type { Copy, Message };
