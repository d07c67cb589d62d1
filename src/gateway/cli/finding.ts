/** What `doctor` finds out: one line for each check, whatever breaks, and never a secret in it. */

export interface Finding {
  readonly check: string;
  readonly state: "ok" | "note" | "fault";
  readonly finding: string;
  /** What to do; absent when nothing is. */
  readonly next?: string;
}

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
