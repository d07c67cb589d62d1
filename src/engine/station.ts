/**
 * One channel in this process. It is open, so that what it mounts is there, from the start to the stop; it listens and
 * sends only while this process holds its lease, any number of times.
 *
 * Rules: what a dead holder left is recovered before anything is sent; it listens to one platform once at a time, however
 * long the last listening takes to end.
 */
import type { Context } from "./context.ts";
import { createOutbox, type Outlet, type Tenure, type Worker } from "./outbox.ts";
import { passed } from "./patience.ts";

/** How long what is still under way may hold up a new beginning. */
const ENDING_MS = 2_000;

export interface Station {
  readonly name: string;
  nudge(): void;
  /** Resolves once nothing is in flight from here to the address. */
  quiet(address: string): Promise<void>;
  /** The channel is held from now on: rejects when what was left of it could not be recovered. */
  begin(tenure: Tenure): Promise<void>;
  /**
   * The channel is not to be held any longer: hears what has come, lets sends under way end. `lost`: it is somebody
   * else's already, and no copy is begun any more. Resolves when both have ended, which only closing may bring about.
   */
  end(how: { readonly lost: boolean }): Promise<void>;
  /** Ends whatever is still under way. */
  close(): Promise<void>;
}

/** What goes on while the channel is held. */
interface Work {
  readonly leaving: AbortController;
  worker: Worker | null;
}

/** @param onFault told when the channel stops listening by a fault of its own */
export function createStation(context: Context, opened: Outlet, onFault: (error: unknown) => void): Station {
  const { name, channel } = opened;
  let work: Work | null = null;
  let listened: Promise<void> = Promise.resolve();
  let ending: Promise<void> = Promise.resolve();

  async function listen(before: Promise<void>, signal: AbortSignal): Promise<void> {
    await before;
    if (signal.aborted) return;
    await channel.listen(signal).catch(onFault);
  }

  return {
    name,
    nudge: () => work?.worker?.nudge(),
    quiet: async (address) => work?.worker?.quiet(address),

    async begin(tenure) {
      const mine: Work = { leaving: new AbortController(), worker: null };
      work = mine;
      // What is still under way from before must tell how it ended first: recovering would take it for interrupted.
      await Promise.race([ending, passed(context.clock, ENDING_MS)]);
      await context.store.recover(name, context.clock.now());
      if (mine.leaving.signal.aborted) return;
      mine.worker = createOutbox(context, opened, tenure);
      listened = listen(listened, mine.leaving.signal);
      mine.worker.nudge();
    },

    end({ lost }) {
      const over = work;
      over?.leaving.abort();
      const ended = lost ? Promise.all([listened, over?.worker?.stop()]) : listened.then(() => over?.worker?.stop());
      ending = ended.then(() => {
        if (work === over) work = null;
      });
      return ending;
    },

    close: () => channel.close(),
  };
}
