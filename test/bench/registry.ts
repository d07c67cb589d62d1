/**
 * What the figures stand beside: questions held in memory alone, each a promise with a timer, as agent frameworks ship
 * it. Nothing survives a restart, nobody is shown anything, and no race is decided; it is the floor, not a rival.
 */

interface Pending {
  readonly question: string;
  readonly resolve: (answer: string) => void;
  readonly timer: NodeJS.Timeout;
}

/** Cycles of ask, show, answer and return in a second, so many at once. */
export async function registryPerSecond(inFlight: number, seconds: number): Promise<number> {
  const pending = new Map<string, Pending>();
  let serial = 0;
  let cycles = 0;
  const ask = (question: string) =>
    new Promise<string>((resolve) => {
      serial += 1;
      const id = `q_${serial}`;
      const timer = setTimeout(() => answer(id, ""), 900_000);
      pending.set(id, { question, resolve, timer });
      setImmediate(answer, id, "Staging");
    });
  const answer = (id: string, text: string) => {
    const one = pending.get(id);
    if (one === undefined) return;
    pending.delete(id);
    clearTimeout(one.timer);
    one.resolve(text);
  };
  const until = performance.now() + seconds * 1_000;
  const agent = async () => {
    while (performance.now() < until) {
      await ask("Where do I deploy?");
      cycles += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, agent));
  return cycles / seconds;
}
