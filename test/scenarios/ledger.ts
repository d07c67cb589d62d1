/**
 * The figures of a run and what went wrong in it. Whatever is counted as lost, duplicated, late or open is also told in
 * words, so that no figure stands without its case.
 */
export interface Tally {
  runs: number;
  faults: number;
  inquiries: number;
  /** Answers somebody was told are recorded: the tick on a press, a 2xx on a post. */
  acknowledged: number;
  /** Acknowledged, or given while all was well, and not there or not what was given. */
  lost: number;
  /** Two inquiries of one call, two answers of one inquiry, two answerable prompts. */
  duplicated: number;
  /** Deadlines missed by more than a second outside of a start's grace, met too early, or moved. */
  late: number;
  /** Copies that could still be answered after the end. */
  open: number;
}

export type Wrong = "lost" | "duplicated" | "late" | "open";

export interface Ledger {
  readonly tally: Readonly<Tally>;
  readonly problems: readonly string[];
  count(what: "runs" | "faults" | "inquiries" | "acknowledged"): void;
  wrong(what: Wrong, words: string): void;
}

/** @param hear is told of each problem as it is found */
export function createLedger(hear: (problem: string) => void = () => {}): Ledger {
  const tally: Tally = { runs: 0, faults: 0, inquiries: 0, acknowledged: 0, lost: 0, duplicated: 0, late: 0, open: 0 };
  const problems: string[] = [];
  return {
    tally,
    problems,
    count(what) {
      tally[what] += 1;
    },
    wrong(what, words) {
      tally[what] += 1;
      problems.push(`${what}: ${words}`);
      hear(`${what}: ${words}`);
    },
  };
}

const COLUMNS = ["runs", "faults", "inquiries", "acknowledged", "lost", "duplicated", "late", "open"] as const;

/** One row for each ledger, by its name `STORE\tSTEP`, and the sum. */
export function tableOf(ledgers: ReadonlyMap<string, Ledger>): string {
  const rows = [...ledgers].map(([name, { tally }]) => [
    ...name.split("\t"),
    ...COLUMNS.map((one) => String(tally[one])),
  ]);
  rows.sort(([oneStore = "", one = ""], [otherStore = "", other = ""]) =>
    oneStore === otherStore ? one.localeCompare(other, "en", { numeric: true }) : oneStore.localeCompare(otherStore),
  );
  const sum = COLUMNS.map((one) => String([...ledgers.values()].reduce((total, { tally }) => total + tally[one], 0)));
  const all = [["store", "step", ...COLUMNS], ...rows, ["", "together", ...sum]];
  const widths = (all[0] ?? []).map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const align = (cell: string, column: number) =>
    column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  return all.map((row) => row.map(align).join("  ")).join("\n");
}
