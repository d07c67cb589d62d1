/** What the commands print for people of what others wrote, and what an interrupt may not cost: in this process. */
import { tmpdir } from "node:os";
import { afterEach, describe, expect, it } from "vitest";
import { createClient } from "../src/client.ts";
import { type Cli, createCli } from "../src/gateway/cli/cli.ts";
import { runCommand } from "../src/gateway/cli/commands.ts";
import { type GatewayStand, openGateway } from "../src/testing/asker-engine.ts";
import { until } from "../src/testing/until.ts";
import { HOSTILE } from "./fixtures/hostile-screen.ts";

const opened: GatewayStand[] = [];
afterEach(async () => {
  for (const stand of opened.splice(0)) await stand.close();
});

interface Desk {
  readonly stand: GatewayStand;
  readonly out: string[];
  readonly notes: string[];
  run(argv: readonly string[]): Promise<number>;
}

async function openDesk(send: typeof fetch = fetch): Promise<Desk> {
  const stand = await openGateway();
  opened.push(stand);
  const { url, keys } = stand;
  const out: string[] = [];
  const notes: string[] = [];
  const cli: Cli = {
    ...createCli({
      config: () => ({ data: tmpdir(), url, keys, locale: "en", telegram: null }),
      startGateway: () => Promise.reject(new Error("a gateway is running already")),
      tryDatabase: () => Promise.reject(new Error("the database is the gateway's")),
      migrate: () => Promise.reject(new Error("the database is the gateway's")),
      move: () => Promise.reject(new Error("the database is the gateway's")),
    }),
    client: (name) => createClient({ url, key: keys[name], fetch: send }),
    out: (line) => out.push(line),
    note: (line) => notes.push(line),
  };
  return { stand, out, notes, run: (argv) => runCommand(argv, cli) };
}

const asked = (id: string, text = HOSTILE) => ({
  id,
  questions: [
    {
      id: "ok",
      header: "Ok",
      question: `Q ${text}`,
      options: [{ label: `A ${text}`, description: `D ${text}` }, { label: "No" }],
    },
  ],
});

describe("text of others on the operator's screen", () => {
  it.each([
    ["list", ["list"]],
    ["show", ["show", "one"]],
    ["answer", ["answer", "one", `--text=B ${HOSTILE}`]],
    ["skip", ["skip", "one"]],
    ["cancel", ["cancel", "one"]],
  ])("does nothing in `%s`: it stays on its row and no control reaches the screen", async (_name, argv) => {
    const shapes = [];
    for (const text of ["harmless", HOSTILE]) {
      const desk = await openDesk();
      await createClient({ url: desk.stand.url, key: desk.stand.keys.operator }).ask(asked("one", text));
      expect(await desk.run(argv)).toBe(0);
      const shown = desk.out.join("\n");
      expect(shown).not.toMatch(/[^\P{Cc}\n]|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
      expect(shown).not.toMatch(/^forged/m);
      shapes.push(shown.split("\n").length);
    }
    expect(shapes[1]).toBe(shapes[0]);
  });

  it("is whole and as written in JSON and in the answer that `wait` gives to a program", async () => {
    const desk = await openDesk();
    const operator = createClient({ url: desk.stand.url, key: desk.stand.keys.operator });
    await operator.ask(asked("one"));
    expect(await desk.run(["show", "one", "--json"])).toBe(0);
    expect(JSON.parse(desk.out[0] ?? "").questions[0].question).toBe(`Q ${HOSTILE}`);
    await operator.answer("one", { answers: { ok: [`A ${HOSTILE}`] } });
    desk.out.length = 0;
    expect(await desk.run(["wait", "one"])).toBe(0);
    expect(desk.out).toEqual([`A ${HOSTILE}`]);
  });

  it("does nothing in an error", async () => {
    const desk = await openDesk();
    expect(await desk.run(["show", "gone\u202e"])).toBe(1);
    expect(desk.notes.join("\n")).not.toMatch(/\u202e/);
  });
});

describe("an interrupt of `ask`", () => {
  /** A network that brings the headers of the waiting call at once, and its body never, until the call is given up. */
  const slow: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (!String(input).endsWith("/v1/ask_user") || calls++ > 0) return response;
    const never = new Promise<string>((_resolve, reject) => {
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    });
    return Object.assign(response, { text: () => never });
  };
  let calls = 0;

  it.each([
    ["answered", { answers: { answer: ["Yes"] } }, 0, ["Yes"]],
    ["skipped", { skip: ["answer"] }, 5, []],
  ])("that comes when the question is %s already gives that outcome, with its exit code", async (_, by, code, out) => {
    calls = 0;
    const desk = await openDesk(slow);
    const asking = desk.run(["ask", "Go on?", "-o", "Yes", "-o", "No"]);
    const operator = createClient({ url: desk.stand.url, key: desk.stand.keys.operator });
    const open = await until("it is asked", async () => (await operator.list({ status: "waiting" })).items[0]);
    await operator.answer(open.id, by);
    process.emit("SIGINT");
    expect(await asking).toBe(code);
    expect(desk.out).toEqual(out);
    expect(desk.notes.join("\n")).not.toMatch(/over|is cancelled/);
  });
});
