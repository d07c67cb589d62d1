/**
 * `inbox`: a person at a terminal. Shows what is open, takes answers in words, and stays through restarts.
 *
 * With piped input each line waits for an open question, so that `echo 2 | askgate inbox` answers it; when the input
 * ends after at least one line, the command ends too.
 */
import { Command } from "commander";
import { type Locale, localeOf, say } from "../../core/locales/locale.ts";
import { type Cli, interruptible } from "./cli.ts";
import { openScreen, render, type Screen } from "./screen.ts";
import { type Link, openLink, type Surface } from "./terminal-link.ts";

interface InboxOptions {
  readonly person?: string;
  readonly json?: boolean;
}

export function inboxCommand(cli: Cli): Command {
  return new Command("inbox")
    .description("show a person's open questions and take the answers")
    .option("--person <name>", "whose inbox; default: the owner's")
    .action((options: InboxOptions) => inbox(cli, options));
}

async function inbox(cli: Cli, { person, json = false }: InboxOptions): Promise<void> {
  const locale = localeOf(cli.config().locale);
  const interrupt = interruptible();
  const leave = new AbortController();
  const signal = AbortSignal.any([interrupt.signal, leave.signal]);
  const screen = openScreen(say(locale, "inbox.prompt"), () => leave.abort());
  signal.addEventListener("abort", () => screen.close(), { once: true });
  const link = openLink(cli, person ?? null, json ? jsonSurface(cli) : textSurface(screen, locale), signal);
  const ready = () => (screen.interactive ? Promise.resolve() : link.untilOpen(signal));
  try {
    const typed = passOn(screen, link, ready, (text) => screen.print(json ? JSON.stringify({ reply: text }) : text));
    await Promise.race([link.done, typed.then((ended) => (ended ? undefined : link.done))]);
    if (screen.interactive) screen.print(say(locale, "inbox.bye"));
  } finally {
    leave.abort();
    interrupt.release();
  }
}

/** Hands in line after line; true when the input ended and had any. */
async function passOn(
  screen: Screen,
  link: Link,
  ready: () => Promise<void>,
  print: (text: string) => void,
): Promise<boolean> {
  let typed = false;
  for await (const line of screen.lines) {
    if (line.trim() === "") continue;
    await ready();
    const reply = await link.say(line);
    typed = true;
    if (reply !== null) print(reply);
  }
  return screen.interactive || typed;
}

function textSurface(screen: Screen, locale: Locale): Surface {
  return {
    opened: (person, again) => {
      if (!again) screen.print(`${say(locale, "inbox.opened", { person })}\n${say(locale, "inbox.waiting")}`);
    },
    prompt: (parts) => screen.print(`\n${render(parts, screen.interactive)}`),
    message: (text) => screen.print(text),
    lost: () => screen.print(say(locale, "inbox.disconnected")),
    unserved: (why) => screen.print(why),
  };
}

function jsonSurface(cli: Cli): Surface {
  const print = (value: object) => cli.out(JSON.stringify(value));
  return {
    opened: (person) => print({ opened: person }),
    prompt: (parts) => print({ prompt: render(parts, false) }),
    message: (text) => print({ message: text }),
    lost: () => print({ lost: true }),
    unserved: (why) => print({ unserved: why }),
  };
}
