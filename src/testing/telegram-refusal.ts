/** An answer of the loopback Telegram other than `ok`. */
import type { Json } from "./telegram-world.ts";

/** `message` is the platform's description. */
export class Refused extends Error {
  readonly status: number;
  readonly parameters: Json | undefined;

  constructor(status: number, description: string, parameters?: Json) {
    super(description);
    this.status = status;
    this.parameters = parameters;
  }
}

export function badRequest(description: string, parameters?: Json): Refused {
  return new Refused(400, `Bad Request: ${description}`, parameters);
}
