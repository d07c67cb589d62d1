/**
 * What both ways of hearing share: which updates are asked for, and how to come back from a fault of the platform.
 *
 * A fault is said to the host and to the log, then waited out; it ends nothing.
 */
import type { ChannelState } from "../../src/ports/channel.ts";
import { bounded } from "./api.ts";
import { retryAfterOf, statusOf } from "./failure.ts";
import { describe, type Ears } from "./hand.ts";
import type { Self } from "./inbound.ts";
import { nap } from "./nap.ts";
import type { Identity } from "./self.ts";

const CALL_TIMEOUT_MS = 15_000;

/** Edits, reactions and the rest say nothing to us. */
export const ALLOWED_UPDATES = ["message", "callback_query"] as const;

/**
 * Waits before the next attempt: after faults doubling but never long, since people wait to be heard; steady for another
 * poller, slow while the token is bad. A wait the platform asks for is kept, within reason.
 */
const WAIT = { firstMs: 1_000, maxMs: 5_000, conflictMs: 3_000, unauthorizedMs: 60_000, mostAskedMs: 300_000 } as const;

export interface Listening extends Ears {
  readonly commands: readonly { readonly command: string; readonly description: string }[];
  readonly identity: Identity;
}

/** Who we are, said in the log. The command list is a courtesy and may fail. */
export async function introduce({ api, host, commands, identity }: Listening, stop: AbortSignal): Promise<Self> {
  const { readsGroups, ...self } = await identity.asked(stop);
  host.log.info({ channel: "telegram", bot: self.username, readsGroups }, "updates are read");
  if (commands.length === 0) return self;
  try {
    await bounded(stop, CALL_TIMEOUT_MS, (signal) => api.call("setMyCommands", { commands }, signal));
  } catch (error) {
    host.log.warn({ channel: "telegram", error: describe(api, error) }, "the command list was not set");
  }
  return self;
}

/** @param failures in a row, this one included */
export async function recover(
  { api, host }: Ears,
  failures: number,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  const { state, waitMs } = verdict(error, failures);
  const reason = describe(api, error);
  host.report(state, reason);
  host.log.warn({ channel: "telegram", state, error: reason, waitMs }, "updates cannot be read");
  await nap(host.clock, waitMs, signal).over;
}

function verdict(error: unknown, failures: number): { readonly state: ChannelState; readonly waitMs: number } {
  const status = statusOf(error);
  if (status === 409) return { state: "conflict", waitMs: WAIT.conflictMs };
  if (status === 401 || status === 404) return { state: "unauthorized", waitMs: WAIT.unauthorizedMs };
  const asked = retryAfterOf(error);
  const askedMs = asked === null ? null : Math.min(WAIT.mostAskedMs, Math.max(WAIT.firstMs, asked));
  return { state: "down", waitMs: askedMs ?? Math.min(WAIT.maxMs, WAIT.firstMs * 2 ** (failures - 1)) };
}
