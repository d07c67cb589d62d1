/**
 * Linking an account to a person: a code shown on the operator's terminal, sent by direct message.
 *
 * 40 random bits, 10 minutes, one use, burnt by 5 failures; stored hashed. Only a message that looks like a code costs
 * a failure, and whoever fails learns nothing but that.
 */
import { sha256 } from "../core/digest.ts";
import { AskgateError } from "../core/errors.ts";
import { say } from "../core/locales/locale.ts";
import type { Access } from "../ports/access.ts";
import type { InboundEvent, Reply } from "../ports/channel.ts";
import { localeFor } from "./authority.ts";
import type { Context } from "./context.ts";
import type { DirectoryKeeper } from "./directory.ts";
import { mintPairingCode, normalisePairingCode } from "./mint.ts";
import { NOTHING, spoken } from "./replies.ts";

const LIFETIME_MS = 10 * 60_000;
const MAX_FAILURES = 5;

export interface Pairing {
  pair(channel: string, person: string | null): ReturnType<Access["pair"]>;
  /** A direct message from an account nobody is linked to. */
  attempt(event: Extract<InboundEvent, { kind: "text" }>): Promise<Reply>;
}

export function createPairing(context: Context, keeper: DirectoryKeeper): Pairing {
  const { store, clock, entropy, log } = context;

  async function pair(channel: string, name: string | null): ReturnType<Access["pair"]> {
    const person = keeper.personNamed(name);
    if (person === null)
      throw new AskgateError("not_found", `There is no person "${name}"; the people are ${keeper.names().join(", ")}.`);
    const linkable = [...context.channels].filter(([, { attendance }]) => attendance === "always").map(([on]) => on);
    if (!linkable.includes(channel)) {
      const on = linkable.length > 0 ? `Accounts are linked on: ${linkable.join(", ")}.` : "No such channel is on.";
      throw new AskgateError(
        "not_found",
        `There are no accounts to link on "${channel}". ${on} A channel is on when its token is set.`,
      );
    }
    const code = mintPairingCode(entropy);
    const expiresAt = clock.now() + LIFETIME_MS;
    await store.access.addPairing({ hash: sha256(code), channel, person, expiresAt, failures: 0 });
    return { code, person, channel, expiresAt };
  }

  async function attempt(event: Extract<InboundEvent, { kind: "text" }>): Promise<Reply> {
    const locale = localeFor(context, null, null);
    const starts = /^\/start\b/i.test(event.text);
    const code = normalisePairingCode(event.text.replace(/^\/start\b/i, ""));
    if (code === null) return starts ? spoken(say(locale, "pair.welcome")) : NOTHING;
    if (event.actor === null) return NOTHING;
    const channel = event.actor.slice(0, event.actor.indexOf(":"));
    const person = await store.access.pair({
      hash: sha256(code),
      channel,
      identity: event.actor,
      maxFailures: MAX_FAILURES,
      now: clock.now(),
    });
    log.info({ channel, actor: event.actor, linked: person !== null }, "a pairing code was sent");
    if (person === null) return spoken(say(locale, "pair.wrong"));
    await keeper.refresh();
    return spoken(say(localeFor(context, keeper.person(person), null), "pair.linked", { person }));
  }

  return { pair, attempt };
}
