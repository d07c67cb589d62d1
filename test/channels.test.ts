/**
 * Every channel keeps the contract of channels, and Askgate works over every one of them. A new channel is one line
 * here; the two hostile ones keep the suites and the engine honest.
 */
import { expect, test } from "vitest";
import { telegram } from "../adapters/telegram.ts";
import { terminal } from "../adapters/terminal.ts";
import { BRIDGE_CASES, bridgeCasesFor, bridgeSuite } from "../src/testing/bridge-suite.ts";
import { casesFor } from "../src/testing/channel-case.ts";
import { CHANNEL_CASES, channelSuite } from "../src/testing/channel-suite.ts";
import { CRAMPED, hostileSubject, MUTE } from "../src/testing/hostile-channel.ts";
import { telegramSubject, telegramWebhookSubject } from "../src/testing/telegram-loopback.ts";
import { terminalSubject } from "../src/testing/terminal-loopback.ts";

const SUBJECTS = [
  telegramSubject(telegram, ({ token, url }) => ({ token, apiRoot: url, commands: [], webhook: null })),
  telegramWebhookSubject(telegram, ({ token, url }, webhook) => ({ token, apiRoot: url, commands: [], webhook })),
  terminalSubject(terminal),
  hostileSubject("a channel of forty units and nothing else", MUTE),
  hostileSubject("a channel of tiny buttons that says everything twice", CRAMPED, { twice: true }),
];

for (const subject of SUBJECTS) {
  channelSuite(subject);
  bridgeSuite(subject);
}

test("every case of both suites is played by some channel", () => {
  const played = new Set(SUBJECTS.flatMap((one) => [...casesFor(one, CHANNEL_CASES), ...bridgeCasesFor(one)]));
  expect([...CHANNEL_CASES, ...BRIDGE_CASES].filter((one) => !played.has(one)).map((one) => one.name)).toEqual([]);
});
