/** Every channel keeps the contract of channels: one line for each, and two hostile ones to keep the suite honest. */
import { telegram } from "../adapters/telegram.ts";
import { terminal } from "../adapters/terminal.ts";
import { channelSuite } from "../src/testing/channel-suite.ts";
import { CRAMPED, hostileSubject, MUTE } from "../src/testing/hostile-channel.ts";
import { telegramSubject } from "../src/testing/telegram-loopback.ts";
import { terminalSubject } from "../src/testing/terminal-loopback.ts";

channelSuite(telegramSubject(telegram, ({ token, url }) => ({ token, apiRoot: url, commands: [] })));
channelSuite(terminalSubject(terminal));
channelSuite(hostileSubject("a channel of forty units and nothing else", MUTE));
channelSuite(hostileSubject("a channel of tiny buttons that says everything twice", CRAMPED, { twice: true }));
