/**
 * Desks: channels in memory whose people press the first button of whatever they are shown, at once. They cost next to
 * nothing, so what is measured is the engine and its store.
 */
import { z } from "zod";
import type { FittedPrompt } from "../../src/core/fit.ts";
import type { Limits } from "../../src/core/limits.ts";
import type { Person } from "../../src/core/people.ts";
import type { Channel, ChannelHost, ChannelModule } from "../../src/ports/channel.ts";

const limits: Limits = {
  text: { max: 4_096, unit: "codePoints" },
  buttons: { max: 100, perRow: 3, label: { max: 60, unit: "codePoints" }, payloadBytes: 64 },
  edits: true,
  replies: true,
  entryField: false,
  attendance: "always",
  pace: { perSecond: null, perAddressMs: 0, perGroupMs: 0 },
  repeat: "idempotent",
  unknownWaitMs: 0,
};

export interface DeskConfig {
  /** Called with the time at which a question was shown, and with that at which it was answered. */
  readonly onShown: (at: number) => void;
  readonly onAnswered: (at: number) => void;
}

export function deskModule(name: string): ChannelModule<DeskConfig> {
  const config: z.ZodType<DeskConfig> = z.custom<DeskConfig>();
  return { name, limits, config, open: async (settings, host) => openDesk(name, settings, host) };
}

/** Who sits at which desk; `desk0` has the people `desk0-0`, `desk0-1` and so on, and the first of all owns the house. */
export function peopleAt(desk: string, count: number): readonly Person[] {
  return Array.from({ length: count }, (_, seat) => ({
    name: `${desk}-${seat}`,
    identities: [`${desk}:${seat}`],
    roles: desk === "desk0" && seat === 0 ? ["owner"] : [],
    locale: "en",
  }));
}

function openDesk(name: string, { onShown, onAnswered }: DeskConfig, host: ChannelHost): Channel {
  let serial = 0;
  const start = `${process.pid}-${Date.now()}`;

  function press(address: string, control: string, message: string): void {
    serial += 1;
    onAnswered(performance.now());
    const who = { actor: address, actorName: address, address, direct: true };
    const event = {
      kind: "press",
      eventId: `${start}-${serial}`,
      at: host.clock.now(),
      control,
      message,
      ...who,
    } as const;
    host.receive(event).catch((error: unknown) => host.log.error({ err: error }, "a press was lost"));
  }

  return {
    async send(to, prompt: FittedPrompt) {
      serial += 1;
      const message = `${start}-${serial}`;
      const [button] = prompt.rows.flat();
      if (prompt.open && button) {
        onShown(performance.now());
        setImmediate(press, to, button.control, message);
      }
      return { parts: [message] };
    },
    edit: async (_to, at) => at,
    say: async () => {},
    async listen(signal) {
      host.report("up");
      host.log.debug({ channel: name }, "the desk is open");
      if (!signal.aborted) await new Promise((done) => signal.addEventListener("abort", done, { once: true }));
    },
    close: async () => {},
  };
}
