/**
 * What stands on the screen: lines come in from elsewhere while a person types, and neither garbles the other.
 *
 * With a keyboard the half-typed line is taken away, the text printed, and the line put back. Without one (a pipe) text
 * is just printed and lines are read as they come.
 */
import { clearLine, createInterface, cursorTo } from "node:readline";
import { clean } from "../../core/text.ts";
import type { PromptSpan } from "./terminal-link.ts";

export interface Screen {
  print(text: string): void;
  /** Lines typed, until the input ends or `close`. */
  readonly lines: AsyncIterable<string>;
  /** Whether somebody sits at a keyboard. */
  readonly interactive: boolean;
  close(): void;
}

/** `caret` stands in front of what is typed. `interrupted` is called at Ctrl+C, which a terminal in use does not signal. */
export function openScreen(caret: string, interrupted: () => void): Screen {
  const interactive = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const reader = createInterface({
    input: process.stdin,
    terminal: interactive,
    ...(interactive && { output: process.stdout }),
  });
  const queue = createQueue();
  let open = true;
  reader.on("line", (line) => queue.push(line));
  reader.on("close", () => {
    open = false;
    queue.end();
  });
  reader.on("SIGINT", interrupted);
  if (interactive) {
    reader.setPrompt(`${caret} `);
    reader.prompt();
  }
  return {
    interactive,
    lines: queue.lines,
    print(text) {
      if (!interactive) {
        process.stdout.write(`${text}\n`);
        return;
      }
      clearLine(process.stdout, 0);
      cursorTo(process.stdout, 0);
      process.stdout.write(`${text}\n`);
      if (open) reader.prompt(true);
    },
    close: () => reader.close(),
  };
}

/** Readline's own iterator loses lines that come before it is read. */
function createQueue() {
  const waiting: string[] = [];
  let ended = false;
  let wake = () => {};
  async function* read(): AsyncGenerator<string> {
    for (;;) {
      const line = waiting.shift();
      if (line !== undefined) yield line;
      else if (ended) return;
      else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  }
  return {
    lines: read(),
    push(line: string) {
      waiting.push(line);
      wake();
    },
    end() {
      ended = true;
      wake();
    },
  };
}

/** One row of a screen, whoever wrote parts of it: nothing in it moves the cursor, breaks the line or turns its direction. */
export function row(text: string): string {
  return clean(text).replace(/\s/g, " ");
}

const BOLD = "\u001b[1m";
const DIM = "\u001b[2m";
const PLAIN = "\u001b[0m";

/** A prompt as text; styles only where they can be seen. */
export function render(parts: readonly (readonly PromptSpan[])[], styled: boolean): string {
  const codes: Readonly<Record<string, string>> = { bold: BOLD, italic: DIM, code: DIM };
  const show = ({ text, style }: PromptSpan) => {
    const code = styled ? codes[style] : undefined;
    return code ? `${code}${text}${PLAIN}` : text;
  };
  return parts.map((part) => part.map(show).join("")).join("\n");
}
