/**
 * What a channel promises about hearing: each event once by its id, as it was, and never confirmed before it was kept.
 */
import { expect } from "vitest";
import { type Case, heard, lastOf, type Stage, show } from "./channel-case.ts";
import { HOSTILE_TEXTS } from "./hostile-texts.ts";
import type { SeenButton } from "./loopback.ts";
import { timed, until } from "./until.ts";

/** Milliseconds in which a channel that is told to stop has stopped. */
const STOPS_WITHIN_MS = 500;
/** The platform's clock and ours may differ by rounding, never by a minute. */
const SAME_TIME_MS = 60_000;
const ASKED = { text: "Where?", labels: ["Staging", "Production"] };

export const HEARING: readonly Case[] = [
  {
    name: "hears a press once, with the payload of the button and who pressed",
    needs: ["buttons"],
    async run(stage) {
      await stage.listen();
      const { last } = await show(stage, ASKED);
      const pressed = lastOf(last.buttons);
      await stage.loopback.press(last, pressed);
      await stage.loopback.write("and on");
      const events = await heard(stage, 2);
      expect(events.filter((event) => event.kind === "press")).toEqual([
        expect.objectContaining({ ...stage.loopback.place, direct: true, control: pressed.control, message: last.id }),
      ]);
      expect(events.every((event) => Math.abs(event.at - stage.host.clock.now()) < SAME_TIME_MS)).toBe(true);
    },
  },
  {
    name: "hears two presses as two events",
    needs: ["buttons"],
    async run(stage) {
      await stage.listen();
      const { last } = await show(stage, ASKED);
      for (const button of last.buttons) await stage.loopback.press(last, button);
      const controls = (await heard(stage, 2)).map((event) => (event.kind === "press" ? event.control : ""));
      expect(controls.sort()).toEqual(last.buttons.map((button) => button.control).sort());
    },
  },
  {
    name: "passes a payload nobody wrote on as it came, or drops it, and lives",
    needs: ["buttons"],
    async run(stage) {
      await stage.listen();
      const { last } = await show(stage, ASKED);
      const forged: SeenButton = { label: "forged", control: "forged" };
      await stage.loopback.press(last, forged);
      await stage.loopback.press(last, lastOf(last.buttons));
      const known = [forged.control, lastOf(last.buttons).control];
      await until("the true press was received", () =>
        stage.host.arrivals.some((event) => controlOf(event) === known[1]),
      );
      expect(stage.host.arrivals.filter((event) => !known.includes(controlOf(event)))).toEqual([]);
    },
  },
  {
    name: "shows the notice of a press to who pressed",
    needs: ["buttons"],
    async run(stage) {
      await stage.listen();
      stage.host.replyWith({ notice: "Recorded." });
      const { last } = await show(stage, ASKED);
      await stage.loopback.press(last, lastOf(last.buttons));
      await until("the notice was shown", async () => (await stage.loopback.notices()).includes("Recorded."));
    },
  },
  {
    name: "shows what is to be said about a typed message",
    needs: [],
    async run(stage) {
      await stage.listen();
      stage.host.replyWith({ say: "Which one?" });
      await stage.loopback.write("2");
      await until("it was said", async () => (await stage.loopback.shown()).some((seen) => seen.text === "Which one?"));
    },
  },
  ...[...HOSTILE_TEXTS, ["a number", "2"] as const].map(
    ([name, text]): Case => ({
      name: `hears as typed: ${name}`,
      needs: [],
      async run(stage) {
        await stage.listen();
        await stage.loopback.write(text);
        const [event] = await heard(stage, 1);
        const { actor, address } = stage.loopback.place;
        expect(event).toMatchObject({ kind: "text", content: "text", text, actor, address, direct: true });
      },
    }),
  ),
  {
    name: "hears which message a text replies to, and that another replies to none",
    needs: ["replies"],
    async run(stage) {
      const { last } = await show(stage, ASKED);
      await stage.listen();
      await stage.loopback.write("2", last);
      await stage.loopback.write("3");
      const replies = (await heard(stage, 2)).map((event) => event.kind === "text" && [event.text, event.replyTo]);
      expect(replies.sort()).toEqual([
        ["2", last.id],
        ["3", null],
      ]);
    },
  },
  {
    name: "claims no replies where it says it knows none",
    needs: ["no replies"],
    async run(stage) {
      const { last } = await show(stage, ASKED);
      await stage.listen();
      await stage.loopback.write("2", last);
      expect(await heard(stage, 1)).toMatchObject([{ kind: "text", replyTo: null }]);
    },
  },
  {
    name: "gives an event delivered twice the same id",
    needs: ["event repeated"],
    async run(stage) {
      await stage.listen();
      stage.loopback.play("event repeated");
      await stage.loopback.write("once");
      await until("both deliveries were received", () => textsIn(stage).length >= 2);
      await stage.loopback.write("and on");
      expect((await heard(stage, 2)).map((event) => event.kind === "text" && event.text).sort()).toEqual([
        "and on",
        "once",
      ]);
    },
  },
  {
    name: "brings an event back that could not be kept, under the same id",
    needs: [],
    async run(stage) {
      await stage.listen();
      stage.host.refuseNext();
      await stage.loopback.write("do not lose me");
      const [event] = await heard(stage, 1);
      expect(event).toMatchObject({ kind: "text", text: "do not lose me" });
      expect(stage.host.refused.map((one) => one.eventId)).toEqual([event?.eventId]);
    },
  },
  {
    name: "goes on hearing after the line broke",
    needs: ["listening interrupted"],
    async run(stage) {
      await stage.listen();
      stage.loopback.play("listening interrupted");
      await stage.loopback.write("before");
      await stage.loopback.write("after");
      expect((await heard(stage, 2)).map((event) => event.kind === "text" && event.text)).toEqual(["before", "after"]);
    },
  },
  {
    name: "stops hearing at once when told to",
    needs: [],
    async run(stage) {
      const stop = await stage.listen();
      expect(await timed(stop())).toBeLessThan(STOPS_WITHIN_MS);
    },
  },
  {
    name: "closes at once without ever having listened",
    needs: [],
    run: async ({ channel }) => expect(await timed(channel.close())).toBeLessThan(STOPS_WITHIN_MS),
  },
];

function controlOf(event: Stage["host"]["arrivals"][number]): string {
  return event.kind === "press" ? event.control : "";
}

function textsIn(stage: Stage): readonly string[] {
  return stage.host.arrivals.flatMap((event) => (event.kind === "text" ? [event.text] : []));
}
