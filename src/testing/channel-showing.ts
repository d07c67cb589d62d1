/**
 * What a channel promises about showing: all of it, in order, as written, and changed in place.
 */
import { expect } from "vitest";
import { type Case, copyOf, lastOf, show } from "./channel-case.ts";
import { HOSTILE_TEXTS, LONG_TEXTS } from "./hostile-texts.ts";
import { longerThan, PROMPT_KEY, promptOf, textsOf } from "./prompts.ts";
import { until } from "./until.ts";

const LABELS = ["Staging", "Production"];

const literal = [...HOSTILE_TEXTS, ...LONG_TEXTS].map(
  ([name, text]): Case => ({
    name: `shows as written: ${name}`,
    needs: [],
    run: async (stage) => void (await show(stage, { text, labels: [text, LABELS[0] ?? ""] })),
  }),
);

export const SHOWING: readonly Case[] = [
  ...literal,
  {
    name: "shows a prompt with its buttons and names the messages",
    needs: [],
    async run(stage) {
      const { parts } = await show(stage, { text: "Where?", labels: LABELS });
      expect(await stage.loopback.shown()).toEqual(parts);
    },
  },
  {
    name: "shows the parts of a long prompt in order, buttons on the last",
    needs: ["many parts"],
    async run(stage) {
      const { parts } = await show(stage, { text: longerThan(stage.limits), labels: LABELS });
      expect(parts.length).toBeGreaterThan(1);
      expect((await stage.loopback.shown()).map((seen) => seen.id)).toEqual(parts.map((part) => part.id));
    },
  },
  {
    name: "gives prompts sent side by side a receipt each",
    needs: [],
    async run(stage) {
      const wishes = Array.from({ length: 10 }, (_, index) => ({
        text: `Question ${index}?`,
        labels: LABELS,
        promptKey: PROMPT_KEY.slice(0, -1) + index,
      }));
      const sent = await Promise.all(wishes.map((wish) => show(stage, wish)));
      expect(new Set(sent.map((one) => one.last.id)).size).toBe(wishes.length);
    },
  },
  {
    name: "says a short message of its own",
    needs: [],
    async run({ channel, loopback }) {
      await channel.say(loopback.place.address, "Recorded.", null);
      await until("it was said", async () => (await loopback.shown()).some((seen) => seen.text === "Recorded."));
    },
  },
  {
    name: "takes an edit to the same content for a success",
    needs: ["edits"],
    async run(stage) {
      const { prompt, receipt, parts } = await show(stage, { text: "Where?", labels: LABELS });
      expect(await stage.channel.edit(stage.loopback.place.address, receipt, prompt)).toEqual(receipt);
      expect(await stage.loopback.shown()).toEqual(parts);
    },
  },
  {
    name: "closes a copy in place: new text, no buttons",
    needs: ["edits"],
    async run(stage) {
      const { receipt } = await show(stage, { text: "Where?", labels: LABELS });
      const closed = promptOf(stage.limits, { text: "Answered: Staging" });
      const edited = await stage.channel.edit(stage.loopback.place.address, receipt, closed);
      const shown = await stage.loopback.shown();
      expect(await copyOf(stage, edited)).toEqual(shown);
      expect(shown.map((seen) => seen.text)).toEqual(textsOf(closed));
      expect(shown.flatMap((seen) => seen.buttons)).toEqual([]);
    },
  },
  {
    name: "closes a copy of several parts: none of the old text, no buttons",
    needs: ["edits", "many parts"],
    async run(stage) {
      const { receipt } = await show(stage, { text: longerThan(stage.limits), labels: LABELS });
      const closed = promptOf(stage.limits, { text: "Answered: Staging" });
      await stage.channel.edit(stage.loopback.place.address, receipt, closed);
      const shown = await stage.loopback.shown();
      expect(shown.flatMap((seen) => seen.buttons)).toEqual([]);
      expect(shown.map((seen) => seen.text).join(" ")).toContain(lastOf(textsOf(closed)));
      expect(shown.filter((seen) => seen.text.includes("environment"))).toEqual([]);
    },
  },
  {
    name: "shows every part of an edit that grows",
    needs: ["edits", "many parts"],
    async run(stage) {
      const { receipt } = await show(stage, { text: "Where?", labels: LABELS });
      const grown = promptOf(stage.limits, { text: longerThan(stage.limits), labels: LABELS });
      const edited = await stage.channel.edit(stage.loopback.place.address, receipt, grown);
      const parts = await copyOf(stage, edited);
      expect(parts.map((part) => part.text)).toEqual(textsOf(grown));
      expect((await stage.loopback.shown()).flatMap((seen) => seen.buttons)).toEqual(grown.rows.flat());
    },
  },
  {
    name: "opens an entry field and closes it again",
    needs: ["entry field", "edits"],
    async run({ channel, loopback, limits }) {
      const { address } = loopback.place;
      const asked = promptOf(limits, { text: "Where?", labels: LABELS });
      const entry = { placeholder: "Type your answer", text: "Your own answer:" };
      const receipt = await channel.send(address, asked, { key: PROMPT_KEY, partial: null });
      expect(await loopback.entryOpen()).toBe(false);
      const opened = await channel.edit(address, receipt, { ...asked, entry });
      expect(await loopback.entryOpen()).toBe(true);
      await channel.edit(address, opened, asked);
      expect(await loopback.entryOpen()).toBe(false);
    },
  },
];
