/** The channel suite itself: every broken promise is caught by a case, and every case is played by some channel. */
import { describe, expect, test } from "vitest";
import { DeliveryError } from "../src/core/delivery.ts";
import type { FittedPrompt } from "../src/core/fit.ts";
import type { Channel, ChannelHost } from "../src/ports/channel.ts";
import { casesFor, offersOf, play } from "../src/testing/channel-case.ts";
import { CHANNEL_CASES } from "../src/testing/channel-suite.ts";
import { CRAMPED, hostileSubject, MUTE } from "../src/testing/hostile-channel.ts";
import type { Loopback, Subject } from "../src/testing/loopback.ts";

const sound = hostileSubject("sound", CRAMPED);

interface Breakage {
  readonly host?: (host: ChannelHost) => ChannelHost;
  readonly channel?: (channel: Channel) => Partial<Channel>;
}

function broken({ host = (one) => one, channel = () => ({}) }: Breakage): Subject {
  const breakOpen = (loopback: Loopback): Loopback => ({
    ...loopback,
    async open(given) {
      const whole = await loopback.open(host(given));
      return { ...whole, ...channel(whole) };
    },
  });
  return { ...sound, start: async () => breakOpen(await sound.start()) };
}

/** The prompt with every span's text changed. */
function rewritten(prompt: FittedPrompt, change: (text: string) => string): FittedPrompt {
  return {
    ...prompt,
    parts: prompt.parts.map((part) => part.map((span) => ({ ...span, text: change(span.text) }))),
  };
}

const BREAKAGES: readonly (readonly [what: string, caughtBy: string, breakage: Breakage])[] = [
  [
    "claims to have sent",
    "shows a prompt with its buttons and names the messages",
    { channel: () => ({ send: async () => ({ parts: ["m1"] }) }) },
  ],
  [
    "swallows markup",
    "shows as written: unbalanced markup",
    {
      channel: ({ send }) => ({
        send: (to, prompt, context) =>
          send(
            to,
            rewritten(prompt, (text) => text.replaceAll("*", "")),
            context,
          ),
      }),
    },
  ],
  [
    "drops buttons",
    "shows a prompt with its buttons and names the messages",
    { channel: ({ send }) => ({ send: (to, prompt, context) => send(to, { ...prompt, rows: [] }, context) }) },
  ],
  [
    "sends parts backwards",
    "shows the parts of a long prompt in order, buttons on the last",
    {
      channel: ({ send }) => ({
        send: (to, prompt, context) => send(to, { ...prompt, parts: [...prompt.parts].reverse() }, context),
      }),
    },
  ],
  [
    "starts a broken send all over",
    "says what did arrive of a broken send, and resumes at the first missing part",
    {
      channel: ({ send }) => ({
        send: (to, prompt, { key }) => send(to, prompt, { key: `${key}${Math.random()}`, partial: null }),
      }),
    },
  ],
  [
    "leaves a closed copy open",
    "closes a copy in place: new text, no buttons",
    { channel: () => ({ edit: async (_to, at) => at }) },
  ],
  [
    "fails in its own words",
    "says what it means when a send meets: rate limited",
    {
      channel: ({ send }) => ({
        send: (...given) => send(...given).catch((error) => Promise.reject(new Error(String(error)))),
      }),
    },
  ],
  [
    "is sure of what it cannot know",
    "is unsure of a message that did arrive without a receipt",
    {
      channel: ({ send }) => ({
        send: (...given) =>
          send(...given).catch(() => Promise.reject(new DeliveryError("unreachable", { sent: "no" }))),
      }),
    },
  ],
  [
    "makes a new id of every delivery",
    "gives an event delivered twice the same id",
    {
      host: (host) => ({
        ...host,
        receive: (event) => host.receive({ ...event, eventId: `${event.eventId}.${Math.random()}` }),
      }),
    },
  ],
  [
    "confirms what could not be kept",
    "brings an event back that could not be kept, under the same id",
    {
      host: (host) => ({
        ...host,
        receive: (event) => host.receive(event).catch(() => ({ notice: null, say: null })),
      }),
    },
  ],
  [
    "mistakes who pressed",
    "hears a press once, with the payload of the button and who pressed",
    { host: (host) => ({ ...host, receive: (event) => host.receive({ ...event, actor: "hostile:9" }) }) },
  ],
  [
    "stops late",
    "stops hearing at once when told to",
    {
      channel: ({ listen }) => ({
        listen: (signal) => listen(signal).then(() => new Promise((wake) => setTimeout(wake, 600))),
      }),
    },
  ],
];

describe("the channel suite", () => {
  test.concurrent.each(BREAKAGES)(
    "catches a channel that %s",
    async (_what, caughtBy, breakage) => {
      const one = CHANNEL_CASES.find(({ name }) => name === caughtBy);
      if (!one) throw new Error(`there is no case "${caughtBy}"`);
      await expect(play(sound, one)).resolves.toBeUndefined();
      await expect(play(broken(breakage), one)).rejects.toThrow();
    },
    30_000,
  );

  test("chooses cases by limits and faults alone", () => {
    const names = (subject: Parameters<typeof casesFor>[0]) => casesFor(subject, CHANNEL_CASES).map((one) => one.name);
    expect(offersOf({ limits: MUTE, plays: [] })).toEqual(new Set(["no replies", "many parts"]));
    expect(offersOf({ limits: CRAMPED, plays: ["chat gone"] })).toEqual(
      new Set(["chat gone", "buttons", "edits", "replies", "many parts"]),
    );
    expect(names({ limits: MUTE, plays: [] }).filter((name) => name.includes("press"))).toEqual([]);
    expect(names({ limits: MUTE, plays: [] })).toContain("claims no replies where it says it knows none");
    expect(names({ limits: CRAMPED, plays: [] })).not.toContain("claims no replies where it says it knows none");
  });

  test("names every case once", () => {
    const names = CHANNEL_CASES.map((one) => one.name);
    expect(new Set(names).size).toBe(names.length);
  });
});
