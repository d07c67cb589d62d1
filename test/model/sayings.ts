/** What people say to a question, in their own words, and what it means: only what every reader would understand alike. */
import type { Asked, Entry, Word } from "./reference.ts";
import type { Saying } from "./schedule.ts";

const FREE = "rather something evergreen";

export type Meaning =
  | { readonly kind: "entries"; readonly entries: Readonly<Record<string, Entry>> }
  | { readonly kind: "cancel" };

/** The words, chosen for the questions open when they are said. */
export function wordsFor(say: Saying, all: readonly Asked[], open: readonly Asked[]): string {
  const [question, another] = open;
  if (!question || say === "cancel" || say === "skip") return say;
  if (say === "all lines" && all.length > 1)
    return open.map((one) => `${all.indexOf(one) + 1}: ${one.options.length > 0 ? "2" : FREE}`).join("\n");
  const one = oneAnswer(say, question);
  return another ? `${all.indexOf(question) + 1}: ${one}` : one;
}

function oneAnswer(say: Saying, { options, many }: Asked): string {
  if (options.length === 0) return FREE;
  switch (say) {
    case "first":
      return "1";
    case "second":
    case "several":
      return say === "several" && many ? "1, 3" : "2";
    case "label":
      return options[1] ?? "";
    case "none":
      return many ? "none" : "1";
    case "wrong":
      return "9";
    default:
      return FREE;
  }
}

/** What the words mean to an inquiry with these questions open. Null: nothing clear. */
export function meaningOf(words: string, all: readonly Asked[], open: readonly Asked[]): Meaning | null {
  if (open.length === 0) return null;
  if (words === "cancel") return { kind: "cancel" };
  if (words === "skip") return { kind: "entries", entries: Object.fromEntries(open.map((one) => [one.id, "skip"])) };
  const lines = words.split("\n").map((line) => /^(\d): (.*)$/.exec(line));
  const entries: Record<string, Entry> = {};
  const [only, another] = open;
  if (lines.some((line) => line === null)) {
    const entry = only && !another ? read(words, only) : null;
    return entry && only ? { kind: "entries", entries: { [only.id]: entry } } : null;
  }
  for (const line of lines) {
    const question = all[Number(line?.[1]) - 1];
    const entry = question && open.includes(question) ? read(line?.[2] ?? "", question) : null;
    if (question && entry) entries[question.id] = entry;
  }
  return Object.keys(entries).length > 0 ? { kind: "entries", entries } : null;
}

function read(words: string, { options, many, open }: Asked): readonly Word[] | null {
  if (words === "none" && many) return [];
  if (/^\d(, \d)*$/.test(words) && options.length > 0) {
    const labels = words.split(", ").flatMap((number) => options[Number(number) - 1] ?? []);
    return labels.length > 0 ? labels.map((label) => ({ kind: "option", label })) : null;
  }
  return entryOf(words, options, open);
}

function entryOf(words: string, options: readonly string[], open: boolean): readonly Word[] | null {
  if (options.includes(words)) return [{ kind: "option", label: words }];
  return open ? [{ kind: "text", text: words }] : null;
}

/** What a program would send for it, entry by entry; wrong ones too. */
export function entriesFor(say: Saying, open: readonly Asked[]): Readonly<Record<string, Entry>> {
  const chosen = say === "all lines" ? open : open.slice(0, 1);
  return Object.fromEntries(chosen.map((one): [string, Entry] => [one.id, wordsOf(say, one)]));
}

function wordsOf(say: Saying, { options, many }: Asked): Entry {
  const option = (index: number): Word => ({ kind: "option", label: options[index] ?? "" });
  if (say === "skip") return "skip";
  if (say === "none") return [];
  if (say === "wrong" || say === "free" || say === "cancel" || options.length === 0)
    return [{ kind: "text", text: FREE }];
  if (say === "several" && many) return [option(0), option(1)];
  return [option(say === "first" ? 0 : 1)];
}

export function inWords(entry: Entry): readonly string[] {
  return entry === "skip" ? [] : entry.map((word) => (word.kind === "option" ? word.label : word.text));
}
