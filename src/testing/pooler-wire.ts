/**
 * The messages of the PostgreSQL protocol 3, as far as a pooler has to tell them apart and write them.
 * https://www.postgresql.org/docs/18/protocol-message-formats.html
 */

export interface Message {
  /** The letter it begins with; "" for the packets which open a connection and have none. */
  readonly type: string;
  /** All of it, to be passed on as it came. */
  readonly bytes: Buffer;
}

/** Codes of the packets without a letter. */
export const OPENING = { cancel: 80_877_102, tls: 80_877_103, gss: 80_877_104 } as const;

const PROTOCOL_3 = 3 << 16;

/** Takes bytes as they arrive and hands on whole messages. A client's first packets have no letter. */
export function messageReader(from: "client" | "server", hand: (message: Message) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let lettered = from === "server";

  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const header = lettered ? 1 : 0;
      if (rest.length < header + 4) return;
      const length = header + rest.readInt32BE(header);
      if (rest.length < length) return;
      const message = { type: lettered ? rest.toString("latin1", 0, 1) : "", bytes: rest.subarray(0, length) };
      rest = rest.subarray(length);
      lettered ||= openingCode(message) >> 16 === 3;
      hand(message);
    }
  };
}

export function openingCode(message: Message): number {
  return message.bytes.readInt32BE(4);
}

/** The name-value pairs of the packet which starts a session. */
export function startupParameters(message: Message): ReadonlyMap<string, string> {
  const words = message.bytes.toString("utf8", 8).split("\0");
  const parameters = new Map<string, string>();
  for (let at = 0; at + 1 < words.length && words[at] !== ""; at += 2) {
    parameters.set(words[at] ?? "", words[at + 1] ?? "");
  }
  return parameters;
}

/** The strings a message begins with: query and names. */
export function leadingStrings(message: Message, count: number): readonly string[] {
  return message.bytes.toString("utf8", 5).split("\0", count);
}

/** Of ReadyForQuery: `I` outside a transaction, `T` in one, `E` in a failed one. */
export function transactionStatus(message: Message): string {
  return message.bytes.toString("latin1", 5, 6);
}

export function write(type: string, ...parts: readonly (string | number | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map(toBytes));
  const head = Buffer.alloc(4);
  head.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type, "latin1"), head, body]);
}

export function writeStartup(parameters: Readonly<Record<string, string>>): Buffer {
  return write("", PROTOCOL_3, ...Object.entries(parameters).flat(), "");
}

export function writeError(code: string, text: string): Buffer {
  return write("E", "SFATAL", "VFATAL", `C${code}`, `M${text}`, "");
}

/** Numbers are 32 bits, texts end with a zero byte. */
function toBytes(part: string | number | Buffer): Buffer {
  if (typeof part === "string") return Buffer.from(`${part}\0`);
  if (typeof part !== "number") return part;
  const four = Buffer.alloc(4);
  four.writeInt32BE(part);
  return four;
}
