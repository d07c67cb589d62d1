/**
 * Which channels this process holds, told to the measures: on several machines, where to look when one falls silent.
 *
 * Rule: a channel listens for exactly as long as this process holds it, so that is what is measured.
 */
import type { ChannelSource } from "./engine/engine.ts";
import type { Metrics } from "./gateway/metrics.ts";

/** The same channel, with its holding measured. */
export function measured(source: ChannelSource, metrics: Metrics): ChannelSource {
  return {
    ...source,
    async open(host) {
      const channel = await source.open(host);
      return {
        ...channel,
        listen(signal) {
          signal.addEventListener("abort", metrics.hold(source.name), { once: true });
          return channel.listen(signal);
        },
      };
    },
  };
}
