/**
 * What is in a message but is not the answer: quoted lines, a mail's tail, the bot's name before or after the words.
 *
 * Never touches the middle of a text, nor a mail address.
 */

const LEADING_MENTION = /^(?:<@!?\w{1,40}>|<at>[^<]{1,80}<\/at>|@[\p{L}\p{N}_.-]{1,64}(?=[\s,:]|$))[\s,:]*/u;
const MENTION = /^(?:<@!?\w{1,40}>|@[\p{L}\p{N}_.-]{1,64})$/u;

/** The reply without all that. */
export function cutAround(reply: string): string {
  const lines = reply.split("\n");
  const tail = lines.findIndex(
    (line) => line === "-- " || (line.startsWith("On ") && line.trimEnd().endsWith("wrote:")),
  );
  const kept = lines.slice(0, tail < 0 ? undefined : tail);
  const own = kept.filter((line) => !line.startsWith(">") && !line.startsWith("Sent from my "));
  return withoutMentions(own.join("\n").trim());
}

function withoutMentions(text: string): string {
  const rest = text.replace(LEADING_MENTION, "");
  const last = Math.max(rest.lastIndexOf(" "), rest.lastIndexOf("\n"));
  return last > 0 && MENTION.test(rest.slice(last + 1)) ? rest.slice(0, last).trimEnd() : rest;
}
