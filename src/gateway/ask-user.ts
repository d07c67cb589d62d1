/**
 * `POST /v1/ask_user`: one response that lasts as long as a person needs.
 *
 * Nothing is sent before the inquiry is stored, so a refusal still has its status. Then headers at once, white space at
 * each pulse, and one JSON document at settlement. A reader that goes away detaches; the question stays open. The result
 * counts as collected only when the connection took it.
 */
import type { Asker, Caller, ToolResult } from "../ports/asker.ts";
import type { Log } from "../ports/log.ts";
import { problemDocument } from "./problem.ts";
import type { Pulse } from "./pulse.ts";

export interface AskUserDeps {
  readonly asker: Asker;
  readonly log: Log;
  readonly pulse: Pulse;
}

export interface AskUserCall {
  readonly caller: Caller;
  readonly input: unknown;
  readonly idempotencyKey: string | undefined;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
  /** Called as soon as the inquiry is stored. */
  readonly onAsked: (id: string) => void;
}

export async function askUser(deps: AskUserDeps, call: AskUserCall): Promise<Response> {
  const detach = new AbortController();
  const signal = AbortSignal.any([call.signal, detach.signal]);
  const { id, result } = await ask(deps.asker, call, signal);
  call.onAsked(id);
  const body = waitingBody(
    deps,
    result,
    () => detach.abort(),
    () => collect(deps, call.caller, id),
  );
  return new Response(body, {
    status: 200,
    headers: {
      "content-type": "application/json",
      location: `/v1/inquiries/${encodeURIComponent(id)}`,
      "x-accel-buffering": "no",
    },
  });
}

/** Resolves as soon as the inquiry is stored; rejects when it was refused. */
async function ask(
  asker: Asker,
  call: AskUserCall,
  signal: AbortSignal,
): Promise<{ id: string; result: Promise<ToolResult> }> {
  let asked: (id: string) => void = () => {};
  const stored = new Promise<string>((resolve) => {
    asked = resolve;
  });
  const key = call.idempotencyKey === undefined ? {} : { idempotencyKey: call.idempotencyKey };
  const result = asker.askUser(call.caller, call.input, { signal, onAsked: asked, ...key });
  const id = await Promise.race([stored, result.then((one) => one.inquiry_id)]);
  return { id, result };
}

/** Its queue holds nothing: that the reader comes back for more is how we know that it has what was written. */
function waitingBody(
  deps: AskUserDeps,
  result: Promise<ToolResult>,
  detach: () => void,
  collected: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let state: "waiting" | "written" | "gone" = "waiting";
  let settled = false;
  let stop = (): void => {};
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        stop = deps.pulse.add(() => controller.enqueue(encoder.encode(" ")));
        const write = (document: unknown): void => {
          stop();
          if (state === "gone") return;
          state = "written";
          controller.enqueue(encoder.encode(`${JSON.stringify(document)}\n`));
        };
        result.then(
          (outcome) => {
            settled = outcome.status !== "waiting";
            write(outcome);
          },
          (error: unknown) => write(problemDocument(error, deps.log)),
        );
      },
      pull(controller) {
        if (state !== "written") return;
        controller.close();
        if (settled) collected();
      },
      cancel() {
        state = "gone";
        stop();
        detach();
      },
    },
    { highWaterMark: 0 },
  );
}

function collect(deps: AskUserDeps, caller: Caller, id: string): void {
  deps.asker.collect(caller, id).catch((error: unknown) => {
    deps.log.warn({ inquiry: id, fault: String(error) }, "a collected result could not be noted");
  });
}
