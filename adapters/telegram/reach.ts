/**
 * Where Telegram can push updates to: known before anything starts, so that a wrong address is not found out by silence.
 */

/** The only ones the platform itself sends to; https://core.telegram.org/bots/webhooks, read 2026-11-30. */
const PORTS = ["443", "80", "88", "8443"];

/**
 * What keeps updates from the address, as it reads on behind it; null: nothing. Only a Bot API server of one's own
 * reaches plain http and any port.
 */
export function webhookFault(url: string, apiRoot: string | undefined): string | null {
  if (apiRoot !== undefined && new URL(apiRoot).hostname !== "api.telegram.org") return null;
  const { protocol, port } = new URL(url);
  if (protocol !== "https:") {
    return "must begin with https://, for Telegram pushes updates nowhere else";
  }
  if (PORTS.includes(port || "443")) return null;
  return `must have port ${PORTS.join(", ")}, for Telegram pushes updates to no other; it has ${port}`;
}
