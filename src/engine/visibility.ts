/** What a caller may see: its own sessions; what is foreign does not exist for it. Operators see every key's inquiries. */
import { AskgateError } from "../core/errors.ts";
import type { Inquiry } from "../core/inquiry.ts";
import type { Caller } from "../ports/asker.ts";
import type { Context } from "./context.ts";

const MAIN = "main";

/** The session an ask goes to; refuses foreign sessions and callers that may not ask people. */
export function ownSession(context: Context, caller: Caller, wanted: string | null): string {
  const session = wanted ?? caller.sessions[0] ?? MAIN;
  if (!sees(caller, session)) {
    throw new AskgateError(
      "not_found",
      `There is no session "${session}" for this key; it has ${caller.sessions.join(", ")}.`,
    );
  }
  const kind = caller.kind === MAIN ? (context.directory().sessions.get(session)?.kind ?? MAIN) : caller.kind;
  if (kind !== MAIN) {
    throw new AskgateError(
      "main_session_only",
      `Session "${session}" is of kind ${kind}; only sessions of kind main may ask people.`,
    );
  }
  return session;
}

export function sees(caller: Caller, session: string): boolean {
  return caller.sessions.length === 0 || caller.sessions.includes(session);
}

/** The inquiry of that id, or `not_found`. */
export async function findInquiry(context: Context, caller: Caller, id: string): Promise<Inquiry> {
  const owner = caller.scope === "operator" ? null : caller.keyId;
  const found = (await context.store.inquiriesById(id, owner)).filter((inquiry) => sees(caller, inquiry.session));
  const [inquiry, other] = found;
  if (!inquiry) throw new AskgateError("not_found", `There is no inquiry "${id}" for this key.`);
  if (other) {
    const names = found.map((one) => one.uid).join(" and ");
    throw new AskgateError("id_conflict", `Several keys used the id "${id}"; name one of ${names} instead.`);
  }
  return inquiry;
}

export function requireOperator(caller: Caller, what: string): void {
  if (caller.scope === "operator") return;
  throw new AskgateError("forbidden", `An agent key may not ${what}; use an operator key.`);
}
