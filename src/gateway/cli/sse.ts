/** Server-sent events read from a response body (WHATWG HTML, section 9.2.6): only names and data are used here. */

export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let pending = "";
  for await (const chunk of body) {
    pending += decoder.decode(chunk, { stream: true });
    const blocks = pending.split("\n\n");
    pending = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event) yield event;
    }
  }
}

function parseEvent(block: string): ServerEvent | null {
  const lines = block.split("\n");
  const field = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
  const data = field("data");
  return data.length > 0 ? { event: field("event")[0] ?? "message", data: data.join("\n") } : null;
}
