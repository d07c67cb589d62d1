/**
 * What a channel promises about failing: it says why, whether the message may have arrived, and what did arrive.
 */
import { expect } from "vitest";
import { DeliveryError } from "../core/delivery.ts";
import { type Case, copyOf, type Stage, show } from "./channel-case.ts";
import { type Play, WAIT_MS } from "./loopback.ts";
import { longerThan, PROMPT_KEY, promptOf, textsOf } from "./prompts.ts";

const ASKED = { text: "Where?", labels: ["Staging", "Production"] };

type Meaning = Partial<Pick<DeliveryError, "reason" | "sent" | "retryAfterMs">>;

/** What each fault means in the words of the port. */
const MEANINGS: readonly (readonly [Play, Meaning])[] = [
  ["rate limited", { reason: "rate-limited", sent: "no", retryAfterMs: WAIT_MS }],
  ["out of reach", { reason: "unreachable", sent: "no" }],
  ["receipt lost", { reason: "unreachable", sent: "unknown" }],
  ["chat gone", { reason: "gone", sent: "no" }],
  ["token refused", { reason: "unauthorized", sent: "no" }],
  ["content refused", { reason: "rejected", sent: "no" }],
  ["chat moved", { reason: "moved", sent: "no" }],
  ["surface closed", { reason: "absent", sent: "no" }],
];

export const FAILING: readonly Case[] = [
  ...MEANINGS.map(
    ([fault, meaning]): Case => ({
      name: `says what it means when a send meets: ${fault}`,
      needs: [fault],
      async run(stage) {
        stage.loopback.play(fault);
        expect(await failure(send(stage, ASKED))).toMatchObject(meaning);
      },
    }),
  ),
  {
    name: "names the new address of a chat that moved",
    needs: ["chat moved"],
    async run(stage) {
      stage.loopback.play("chat moved");
      expect((await failure(send(stage, ASKED))).movedTo).toBe(stage.loopback.moved);
    },
  },
  {
    name: "is unsure of a message that did arrive without a receipt",
    needs: ["receipt lost"],
    async run(stage) {
      stage.loopback.play("receipt lost");
      expect((await failure(send(stage, ASKED))).sent).toBe("unknown");
      expect(await stage.loopback.shown()).toHaveLength(1);
    },
  },
  {
    name: "sends again after a fault has passed",
    needs: ["rate limited"],
    async run(stage) {
      stage.loopback.play("rate limited");
      await failure(send(stage, ASKED));
      const { parts } = await show(stage, ASKED);
      expect(await stage.loopback.shown()).toEqual(parts);
    },
  },
  {
    name: "says what did arrive of a broken send, and resumes at the first missing part",
    needs: ["rate limited", "many parts"],
    async run(stage) {
      const long = { ...ASKED, text: longerThan(stage.limits) };
      stage.loopback.play("rate limited", 1);
      const { partial } = await failure(send(stage, long));
      expect(partial?.parts).toHaveLength(1);
      const { receipt, parts } = await show(stage, long, partial);
      expect(receipt.parts.slice(0, 1)).toEqual(partial?.parts);
      expect(await stage.loopback.shown()).toEqual(parts);
    },
  },
  {
    name: "lets an edit fail in the same words, and the copy stands as it was",
    needs: ["rate limited", "edits"],
    async run(stage) {
      const { receipt, parts } = await show(stage, ASKED);
      const closed = promptOf(stage.limits, { text: "Answered: Staging" });
      stage.loopback.play("rate limited");
      const edit = stage.channel.edit(stage.loopback.place.address, receipt, closed);
      expect(await failure(edit)).toMatchObject({ reason: "rate-limited", retryAfterMs: WAIT_MS });
      expect(await stage.loopback.shown()).toEqual(parts);
      const edited = await stage.channel.edit(stage.loopback.place.address, receipt, closed);
      expect((await copyOf(stage, edited)).map((seen) => seen.text)).toEqual(textsOf(closed));
    },
  },
  {
    name: "opens without reaching the platform",
    needs: ["out of reach"],
    async run(stage) {
      stage.loopback.play("out of reach");
      const second = await stage.loopback.open(stage.host);
      await second.close();
      expect((await failure(send(stage, ASKED))).reason).toBe("unreachable");
    },
  },
];

function send(stage: Stage, wish: typeof ASKED) {
  const { channel, loopback, limits } = stage;
  return channel.send(loopback.place.address, promptOf(limits, wish), { key: PROMPT_KEY, partial: null });
}

/** The failure of something that must fail, and only in the one way the port allows. */
async function failure(work: Promise<unknown>): Promise<DeliveryError> {
  const error = await work.then(
    (value) => new Error(`it succeeded with ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof DeliveryError)) throw error;
  return error;
}
