/**
 * The contract of the events: whoever follows hears everything once and in order, however often and however long it was
 * away. What happens is done at the first of the given stores' engines and followed at the last.
 */
import { expect, it } from "vitest";
import type { Caller } from "../ports/asker.ts";
import type { EventView } from "../ports/events.ts";
import { AGENT, OPERATOR } from "./bridge.ts";
import { type EventStage, type EventStores, type Following, following, onStage, stopped } from "./events-stage.ts";
import { until } from "./until.ts";

const OTHER: Caller = { ...AGENT, keyId: "other" };
const SUPPORT: Caller = { ...AGENT, sessions: ["support"] };
const HOUR_MS = 3_600_000;

export function eventsSuite(open: () => Promise<EventStores>): void {
  const told = (name: string, body: (stage: EventStage) => Promise<void>) => it(name, () => onStage(open, body));
  awayAndBack(told);
  whoHears(told);
  howItEnds(told);
}

type Told = (name: string, body: (stage: EventStage) => Promise<void>) => void;

function awayAndBack(told: Told): void {
  told("a stream that was down for 40 s around the ask: the question is there, waiting, once", async (stage) => {
    const before = await stage.ask();
    const first = await stage.follow();
    const heard = await stage.shown();
    await first.hears("inquiry.delivered", heard.id);
    await first.leave();
    stage.clock.skip(20_000);
    const missed = await stage.shown();
    stage.clock.skip(20_000);
    const again = await stage.follow(first.heard.at(-1)?.id);
    const { data } = await again.hears("inquiry.delivered", missed.id);
    expect(data).toMatchObject({ id: missed.id, status: "waiting", expiresAt: missed.expiresAt });
    expect(Date.parse(data.expiresAt)).toBeGreaterThan(stage.clock.now());
    const all = [...first.heard, ...again.heard];
    expect(all.map(nameOf).filter(about(heard, missed))).toEqual([
      `inquiry.created ${heard.id}`,
      `inquiry.delivered ${heard.id}`,
      `inquiry.created ${missed.id}`,
      `inquiry.delivered ${missed.id}`,
    ]);
    expect(all.map(nameOf)).not.toContain(`inquiry.created ${before.id}`);
  });

  told("a stream that drops right after an answer: the answer is heard on coming back, once", async (stage) => {
    const { id } = await stage.shown();
    const first = await stage.follow((await stage.log())[0]?.position);
    await first.hears("inquiry.delivered", id);
    await Promise.all([stage.answer(id), first.leave()]);
    const again = await stage.follow(first.heard.at(-1)?.id);
    if (!first.heard.map(nameOf).includes(`inquiry.answered ${id}`)) await again.hears("inquiry.answered", id);
    const last = await stage.ask();
    await again.hears("inquiry.created", last.id);
    expect([...first.heard, ...again.heard].map(nameOf).filter(about({ id }))).toEqual([
      `inquiry.delivered ${id}`,
      `inquiry.answered ${id}`,
    ]);
  });

  told("who comes an hour later hears all of it in order, and nothing that is closed as open", async (stage) => {
    const answered = await stage.shown();
    await stage.answer(answered.id);
    const silent = await stage.shown({ timeoutSeconds: 900 });
    const beginning = await stage.follow((await stage.log())[0]?.position);
    await beginning.leave();
    stage.clock.skip(HOUR_MS);
    await until("its deadline has passed", async () => {
      stage.clock.skip(1_000);
      return (await stage.here.asker.get(AGENT, silent.id)).status === "timed_out";
    });
    const open = await stage.shown();
    const late = await stage.follow((await stage.log())[0]?.position);
    await late.hears("inquiry.delivered", open.id);
    expect(late.heard.map(({ id }) => id)).toEqual((await stage.log()).slice(1).map(({ position }) => position));
    const now = new Map(late.heard.map(({ data }) => [data.id, data.status]));
    expect(Object.fromEntries(now)).toEqual({
      [answered.id]: "answered",
      [silent.id]: "timed_out",
      [open.id]: "waiting",
    });
    expect(late.heard.filter(({ data }) => data.status === "waiting").every(({ data }) => data.id === open.id)).toBe(
      true,
    );
  });

  told("a stream that breaks off over and over while much happens: everything once, in order", async (stage) => {
    const start = await stage.there.events.position(null);
    const happening = Promise.all(Array.from({ length: 30 }, async () => stage.answer((await stage.ask()).id)));
    const heard: EventView[] = [];
    for (let lasts = 1; heard.filter(isOwn).length < 60; lasts = (lasts * 7) % 11) {
      const leaving = new AbortController();
      let left = lasts;
      for await (const event of stage.there.events.follow(AGENT, heard.at(-1)?.id ?? start, leaving.signal)) {
        heard.push(event);
        if (--left === 0 || heard.filter(isOwn).length === 60) leaving.abort();
      }
    }
    await happening;
    const log = (await stage.log()).slice(0, heard.length);
    expect(heard.map(({ id, type }) => [id, type])).toEqual(log.map(({ position, type }) => [position, type]));
  });

  told("a slow reader of several pages misses and repeats nothing", async (stage) => {
    const start = await stage.there.events.position(null);
    await Promise.all(Array.from({ length: 120 }, () => stage.ask()));
    const leaving = new AbortController();
    const heard: string[] = [];
    let last = "";
    for await (const { type, data } of stage.there.events.follow(AGENT, start, leaving.signal)) {
      if (type !== "inquiry.created") continue;
      heard.push(data.id);
      if (heard.length === 60) await Promise.all(Array.from({ length: 120 }, () => stage.ask()));
      if (heard.length === 230) last = (await stage.ask()).id;
      if (data.id === last) leaving.abort();
    }
    expect(heard).toHaveLength(241);
    expect(new Set(heard).size).toBe(241);
  });
}

function whoHears(told: Told): void {
  told(
    "an agent hears of what its key asked, a key of one session of that alone, an operator of all",
    async (stage) => {
      const mine = await stage.follow();
      const support = await stage.follow(undefined, SUPPORT);
      const others = await stage.follow(undefined, OTHER);
      const all = await stage.follow(undefined, OPERATOR);
      const asked = {
        mine: await stage.ask(),
        support: await stage.ask({ session: "support" }),
        others: await stage.ask({}, OTHER),
      };
      const created = async (who: Following, ...ids: readonly string[]) => {
        for (const id of ids) await who.hears("inquiry.created", id);
        expect(idsOf(who)).toEqual(new Set(ids));
      };
      await created(all, asked.mine.id, asked.support.id, asked.others.id);
      await created(mine, asked.mine.id, asked.support.id);
      await created(support, asked.support.id);
      await created(others, asked.others.id);
    },
  );

  told("who names no place hears only what happens from about that moment on, all of it", async (stage) => {
    await stage.shown();
    const stream = following(stage, null, AGENT);
    await until("something is heard", async () => {
      await stage.ask();
      return stream.heard.length > 0;
    });
    const last = await stage.ask();
    await stream.hears("inquiry.created", last.id);
    const heard = stream.heard.map(({ id }) => id);
    const log = (await stage.log()).map(({ position }) => position);
    const from = log.indexOf(heard[0] ?? "");
    expect(from).toBeGreaterThan(1);
    expect(log.slice(from, from + heard.length)).toEqual(heard);
  });
}

function howItEnds(told: Told): void {
  told("a stop ends every stream as unavailable, and so does one that begins later", async (stage) => {
    const following = await stage.follow();
    const { id } = await stage.ask();
    await following.hears("inquiry.created", id);
    const stopping = stage.there.stop();
    await expect(following.ended).rejects.toMatchObject({ code: "unavailable" });
    await expect((await stage.follow()).ended).rejects.toMatchObject({ code: "unavailable" });
    await stopped(stage.clock, stopping);
  });

  told("a stream that is left ends without a word", async (stage) => {
    const following = await stage.follow();
    await following.leave();
    await expect(following.ended).resolves.toBeUndefined();
  });

  told("what is no place of the log is refused as such", async (stage) => {
    const refused = { code: "invalid_request" };
    await expect((await stage.follow("nowhere")).ended).rejects.toMatchObject(refused);
    await expect(stage.there.events.position("nowhere")).rejects.toMatchObject(refused);
  });
}

function nameOf({ type, data }: EventView): string {
  return `${type} ${data.id}`;
}

function about(...inquiries: readonly { readonly id: string }[]): (name: string) => boolean {
  return (name) => inquiries.some(({ id }) => name.endsWith(id));
}

/** What the busy test waits for: thirty asks and thirty answers, however many showings stand between. */
function isOwn({ type }: EventView): boolean {
  return type === "inquiry.created" || type === "inquiry.answered";
}

function idsOf({ heard }: Following): ReadonlySet<string> {
  return new Set(heard.map(({ data }) => data.id));
}
