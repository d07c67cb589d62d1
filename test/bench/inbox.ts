/** A person at an open inbox who answers each prompt with "1" as soon as it is printed, over the terminal's own protocol. */

import { until } from "../../src/testing/until.ts";

export type Handler = (request: Request) => Promise<Response>;

export interface Person {
  readonly name: string;
  /** Called with the time at which a prompt was printed. */
  onPrompt: (at: number) => void;
  /** Called with the time at which the answer was typed. */
  onAnswer: (at: number) => void;
  leave(): void;
}

const HEADERS = { authorization: "Bearer bench" };

export async function sit(name: string, handler: Handler): Promise<Person> {
  const url = `http://askgate.test/channels/terminal?person=${name}`;
  const gone = new AbortController();
  const person: Person = { name, onPrompt: () => {}, onAnswer: () => {}, leave: () => gone.abort() };
  const response = await until("the inbox is served", async () => {
    const answer = await handler(new Request(url, { headers: HEADERS, signal: gone.signal }));
    return answer.ok ? answer : null;
  });
  const post = (body: unknown) =>
    handler(new Request(url, { method: "POST", headers: HEADERS, body: JSON.stringify(body) }));
  let lines = 0;
  const take = async (frame: string) => {
    const [, event, data = ""] = /^event: (.*)\ndata: (.*)$/s.exec(frame) ?? [];
    if (event !== "prompt") return;
    const { id, parts } = JSON.parse(data) as { id: string; parts: { text: string }[][] };
    person.onPrompt(performance.now());
    await post({ kind: "seen", id });
    const open = parts.flat().some((span) => span.text.includes("Answer within"));
    if (!open) return;
    person.onAnswer(performance.now());
    lines += 1;
    await post({ kind: "text", id: `line ${lines}`, text: "1" });
  };
  void read(response, take);
  return person;
}

async function read(response: Response, take: (frame: string) => Promise<void>): Promise<void> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    const frames = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
    rest = frames.pop() ?? "";
    for (const frame of frames) void take(frame);
  }
}
