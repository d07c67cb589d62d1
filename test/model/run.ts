/**
 * Runs a play: many schedules side by side on one gateway, round by round, each checked against the reference after
 * every round and all of them when nothing is due any more.
 */
import type { InquiryView } from "../../src/ports/asker.ts";
import { abortRun, answer, close, moveTask } from "./answering.ts";
import { ask, askAgain, attach, drop } from "./asking.ts";
import { AGENT, OPERATOR } from "./cast.ts";
import { checkEvents } from "./events.ts";
import { newPart, type Part } from "./part.ts";
import { mishap, press, remove, repeat, surface, write } from "./people.ts";
import { type Claim, differences, explained, perform } from "./reference.ts";
import { checkCopies, checkEnds, checkLanes, checkRest, checkUnheld, checkWaiters, type Lifetime } from "./rules.ts";
import type { Act, Beat, Play } from "./schedule.ts";
import { serialIn } from "./serial.ts";
import { broken, must } from "./violation.ts";
import { type Database, openWorld, type Planted, type World } from "./world.ts";

export interface Tally {
  readonly schedules: number;
  readonly acts: number;
  readonly inquiries: number;
  readonly kills: number;
}

/** The longest anything takes to come to rest: a deadline, and the longest wait a platform asks for. */
const REST_MS = 400_000;

export async function run(play: Play, database: Database, planted: Planted = {}): Promise<Tally> {
  const world = await openWorld(database, play.schedules.length, planted);
  try {
    return await played(play, world);
  } finally {
    await world.close();
  }
}

async function played(play: Play, world: World): Promise<Tally> {
  const parts = play.schedules.map((_, number) => newPart(world, number));
  const lives: Lifetime[] = [{ from: world.gateway().startedAt, until: Number.POSITIVE_INFINITY }];
  let kills = 0;
  let fuse: Extract<Beat, { beat: "kill" }> | null = null;
  for (const [index, beat] of play.beats.entries()) {
    const dies = fuse !== null;
    if (fuse) world.gateway().life.killIn(fuse.calls, fuse.before);
    fuse = null;
    const claims = await round(play, parts, index, dies, world, lives);
    kills += dies ? 1 : 0;
    if (beat.beat !== "go on" || dies) await world.calm();
    await Promise.all(parts.map((part, number) => observe(part, claims[number] ?? [], lives)));
    if (dies) for (const part of parts) await checkUnheld(part);
    fuse = await follow(beat, world, parts, lives);
  }
  await rest(world, parts, lives);
  const acts = play.schedules.flat(2).length;
  return { schedules: parts.length, acts, inquiries: await checkEvents(world.given), kills };
}

/** Everybody does what they do now, at the same time; where the gateway dies over it, a new one comes. */
async function round(
  play: Play,
  parts: readonly Part[],
  index: number,
  dies: boolean,
  world: World,
  lives: Lifetime[],
): Promise<readonly (readonly Claim[])[]> {
  const doing = Promise.all(
    parts.map(async (part, number) => {
      const acts = play.schedules[number]?.[index] ?? [];
      part.alone = acts.length === 1 && !dies;
      const claims = await Promise.all(acts.map((act) => does(part, act)));
      return claims.flat().filter((claim) => claim !== null && claim !== undefined);
    }),
  );
  if (!dies) return world.meanwhile(doing);
  const { life } = world.gateway();
  await world.meanwhile(Promise.race([doing, life.ended]));
  life.kill();
  bury(lives, world);
  await world.revive();
  lives.push({ from: world.gateway().startedAt, until: Number.POSITIVE_INFINITY });
  return world.meanwhile(doing);
}

function bury(lives: readonly Lifetime[], world: World): void {
  const last = lives.at(-1);
  if (last) last.until = world.clock.now();
}

async function does(part: Part, act: Act): Promise<readonly (Claim | null)[]> {
  switch (act.act) {
    case "ask":
      return [await ask(part, act)];
    case "ask again":
      return await askAgain(part, act).then(() => []);
    case "attach":
      return [await attach(part, act)];
    case "press":
      return press(part, act);
    case "write":
      return write(part, act);
    case "answer":
      return answer(part, act);
    case "close":
      return close(part, act);
    case "abort run":
      return [await abortRun(part)];
    case "move task":
      return [await moveTask(part, act)];
    case "repeat":
      return repeat(part, act);
    case "surface":
      return await surface(part, act).then(() => []);
    case "drop":
    case "mishap":
    case "delete":
      doesAside(part, act);
      return [];
  }
}

function doesAside(part: Part, act: Extract<Act, { act: "drop" | "mishap" | "delete" }>): void {
  if (act.act === "drop") drop(part, act);
  else if (act.act === "mishap") mishap(part, act);
  else remove(part, act);
}

/** What happens to everybody before the next round. */
async function follow(beat: Beat, world: World, parts: readonly Part[], lives: Lifetime[]) {
  switch (beat.beat) {
    case "go on":
      return null;
    case "kill":
      return beat;
    case "pass":
      await world.pass(beat.seconds * 1_000);
      break;
    case "restart":
      await world.restart();
      bury(lives, world);
      lives.push({ from: world.gateway().startedAt, until: Number.POSITIVE_INFINITY });
      await world.calm();
      break;
    case "rest":
      await check(world, parts);
      return null;
  }
  await Promise.all(parts.map((part) => observe(part, [], lives)));
  await check(world, parts);
  return null;
}

/** After time has passed and nobody has done anything. */
async function lookAgain(world: World, parts: readonly Part[], lives: readonly Lifetime[]): Promise<void> {
  await Promise.all(parts.map((part) => observe(part, [], lives)));
  await check(world, parts);
}

async function check(world: World, parts: readonly Part[]): Promise<void> {
  for (const part of parts) {
    await checkCopies(part);
    checkWaiters(part);
  }
  await checkLanes(world, parts);
}

/** Looks at every inquiry and lets the reference explain it. */
async function observe(part: Part, claims: readonly Claim[], lives: readonly Lifetime[]): Promise<void> {
  const before = part.seen;
  const { life } = part.world.gateway();
  const shown = part.world.platform.messagesOf(part.number).filter(({ confirmedTo }) => confirmedTo === life);
  part.confirmed = { now: new Set(shown), before: new Set(shown.filter((one) => part.confirmed.now.has(one))) };
  part.seen = await look(part);
  const { taskId } = part.cast;
  const task = await part.world.store.task(AGENT.keyId, taskId);
  const tasks = new Map(task ? [[taskId, task.stateVersion]] : []);
  const slot = explained(part.slot, claims, { inquiries: part.seen, tasks });
  if (!slot) throw broken("some order explains everything", unexplained(part, claims));
  part.slot = slot;
  checkEnds(part, lives, before);
}

async function look(part: Part): Promise<ReadonlyMap<number, InquiryView>> {
  const { asker } = part.world.gateway().engine;
  const { items } = await asker.list(OPERATOR, { session: part.cast.session, limit: 100 });
  const seen = new Map<number, InquiryView>();
  for (const view of items) {
    const content = serialIn(view.questions[0]?.question ?? "");
    const one =
      part.asks.find(({ id }) => id === view.id) ??
      part.asks.find((ask) => ask.content === content && (ask.id === null || ask.input.id === view.id));
    must(one !== undefined && !seen.has(one.serial), "everything that is asked was asked for", () => view.id);
    one.id = view.id;
    seen.set(one.serial, view);
  }
  return seen;
}

function unexplained(part: Part, claims: readonly Claim[]): string {
  const after = claims.reduce((slot, { deeds: [deed] }) => (deed ? perform(slot, deed).slot : slot), part.slot);
  const found = [...part.seen].flatMap(([serial, view]) => {
    const known = after.inquiries.get(serial);
    return known ? differences(known, view) : [`#${serial} is there: ${view.status}`];
  });
  const missing = [...after.inquiries.keys()]
    .filter((serial) => !part.seen.has(serial))
    .map((serial) => `no #${serial}`);
  return `after ${claims.map(({ what }) => what).join(" | ") || "nothing"}: ${[...found, ...missing].join("; ")}`;
}

/** Nothing goes wrong any more; time passes until nothing is due. */
async function rest(world: World, parts: readonly Part[], lives: readonly Lifetime[]): Promise<void> {
  world.platform.heal();
  await world.calm();
  const until = world.clock.now() + REST_MS;
  await lookAgain(world, parts, lives);
  while (world.clock.now() < until && (await isBusy(world))) await world.pass(5_000);
  await lookAgain(world, parts, lives);
  await checkRest(world, parts);
}

async function isBusy({ store }: World): Promise<boolean> {
  return (await store.nextDue("delivery")) !== null || (await store.nextDue("deadline")) !== null;
}
