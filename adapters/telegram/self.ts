/**
 * Who the bot is, by getMe: asked once by whoever needs it first, and known to everybody in the process from then on.
 *
 * Nothing can be read without it: the bot's id is part of every event's id, its name decides which words are for it. A
 * failed question is asked again by the next one who needs it, never answered with a guess.
 */
import { type Api, bounded } from "./api.ts";
import type { Self } from "./inbound.ts";

const CALL_TIMEOUT_MS = 15_000;

export interface Identity {
  /** As known, else as asked now; whoever comes meanwhile waits for the same answer. */
  known(): Promise<Self>;
  /** As asked now: a name may have changed since. */
  asked(stop: AbortSignal): Promise<Self & { readonly readsGroups: boolean }>;
}

/** @param life ends a question nobody waits for any more */
export function createIdentity(api: Api, life: AbortSignal): Identity {
  let self: Self | null = null;
  let asking: Promise<Self> | null = null;

  async function asked(stop: AbortSignal): Promise<Self & { readonly readsGroups: boolean }> {
    const me = await bounded(stop, CALL_TIMEOUT_MS, (signal) => api.call("getMe", {}, signal));
    const { id, username, can_read_all_group_messages } = (me ?? {}) as { [field: string]: unknown };
    if (!Number.isSafeInteger(id) || typeof username !== "string") {
      throw new Error("getMe was answered without id and username");
    }
    self = { id: id as number, username };
    return { ...self, readsGroups: can_read_all_group_messages === true };
  }

  return {
    asked,
    async known() {
      if (self) return self;
      asking ??= asked(life).finally(() => {
        asking = null;
      });
      return await asking;
    },
  };
}
