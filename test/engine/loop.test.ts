/** What a loop says of a fault that lasts: when it comes, when it has passed, and no more. */
import { expect, test } from "vitest";
import { createLoop } from "../../src/engine/loop.ts";
import type { Log } from "../../src/ports/log.ts";
import { skippingClock } from "../../src/testing/skipping-clock.ts";
import { until } from "../../src/testing/until.ts";

test("a fault is logged as an error when it comes and told when it has passed, each time anew", async () => {
  const logged: string[] = [];
  const noting = (level: string) => () => logged.push(level);
  const log: Log = { debug: noting("debug"), info: noting("info"), warn: noting("warn"), error: noting("error") };
  const clock = skippingClock();
  const faults = [true, true, true, false, false, true, false];
  let looks = 0;
  const loop = createLoop(clock, log, "test", async () => {
    if (faults[looks++]) throw new Error("the database is away");
    return null;
  });
  for (let at = 0; at < faults.length; at++) {
    loop.nudge();
    await until("it has looked", () => looks > at);
  }
  await loop.stop();
  expect(logged).toEqual(["error", "debug", "debug", "info", "error", "info"]);
});
