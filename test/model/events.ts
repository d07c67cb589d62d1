/** The log of events tells what became of each inquiry: that it was made, once shown, and how it ended, in this order. */
import type { EventRecord } from "../../src/ports/event.ts";
import type { Store } from "../../src/ports/store.ts";
import { must } from "./violation.ts";

const PAGE = 1_000;

export async function checkEvents(store: Store): Promise<number> {
  const log = await readAll(store);
  const stories = new Map<string, EventRecord[]>();
  for (const event of log) stories.set(event.inquiry, [...(stories.get(event.inquiry) ?? []), event]);
  for (const [uid, events] of stories) {
    const inquiry = await store.inquiry(uid);
    const told = events.map(({ type }) => type.replace("inquiry.", ""));
    const kept = told.filter((one) => one !== "delivered").join(", ");
    must(kept === `created, ${inquiry?.status}`, "the log tells each end once", () => `${inquiry?.id}: ${told}`);
    const deliveries = told.filter((one) => one === "delivered").length;
    const shown = inquiry?.shownAt === null ? 0 : 1;
    must(deliveries === shown, "the log tells a showing once", () => `${inquiry?.id}: ${told}`);
  }
  const places = new Set(log.map(({ position }) => position));
  must(places.size === log.length, "each event has a place of its own", () => "two share one");
  return stories.size;
}

async function readAll(store: Store): Promise<readonly EventRecord[]> {
  const log: EventRecord[] = [];
  for (let after: string | null = null; ; ) {
    const { items } = await store.events.read({ after, owner: null, sessions: null, limit: PAGE });
    log.push(...items);
    after = items.at(-1)?.position ?? after;
    if (items.length < PAGE) return log;
  }
}
