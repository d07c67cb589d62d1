/**
 * The platform's send rates, for the loopback server: about 30 messages a second over all, 1 a second per chat, 20 a
 * minute per group (https://core.telegram.org/bots/faq, read 2026-11-30).
 *
 * The page allows short bursts without a figure; here each allowance may be spent in one burst (30, 3 and 20) and
 * refills steadily. It judges sends alone, never edits.
 */
import { Refused } from "./telegram-refusal.ts";
import type { Json, World } from "./telegram-world.ts";

interface Bucket {
  level: number;
  at: number;
}

/** The result throws 429 where the platform would. */
export function createPace(world: World): (method: string, body: Json) => void {
  const buckets = new Map<string, Bucket>();

  function refill(name: string, burst: number, perSecond: number): { bucket: Bucket; perSecond: number } {
    const now = Date.now();
    const old = buckets.get(name) ?? { level: burst, at: now };
    const bucket = { level: Math.min(burst, old.level + ((now - old.at) / 1000) * perSecond), at: now };
    buckets.set(name, bucket);
    return { bucket, perSecond };
  }

  return (method, body) => {
    if (method !== "sendMessage") return;
    const chat = world.chats.get(Number(body.chat_id));
    const all = [refill("all", 30, 30), refill(`chat ${body.chat_id}`, 3, 1)];
    if (chat && chat.type !== "private") all.push(refill(`group ${body.chat_id}`, 20, 1 / 3));
    const dry = all.find(({ bucket }) => bucket.level < 1);
    if (dry) {
      const seconds = Math.max(1, Math.ceil((1 - dry.bucket.level) / dry.perSecond));
      throw new Refused(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });
    }
    for (const { bucket } of all) bucket.level--;
  };
}
