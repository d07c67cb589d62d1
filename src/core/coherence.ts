/**
 * The rules between the fields of an input: what must be unique, and what must name something that is there.
 *
 * Works on the raw value, which may be malformed anywhere, so that these faults are told together with those of shape.
 * Says nothing about a field that is itself malformed; that is the schema's to say.
 */
import type { Fault, Path } from "./fault.ts";
import { foldCase, isBlank, withoutMark } from "./reply/fold.ts";
import { meansOther } from "./reply/words.ts";

export function incoherences(raw: unknown): readonly Fault[] {
  const questions = elements(field(raw, "questions"));
  const ids = questions.map((question) => field(question, "id"));
  return [
    ...repeats(ids, (index) => ["questions", index, "id"], String),
    ...questions.flatMap(withinQuestion),
    ...withinTimeout(raw, questions),
  ];
}

/** Whether a word means this label: the label itself, or the label without its recommendation mark. */
export function isLabel(word: string, label: string): boolean {
  return word === label || word === withoutMark(label);
}

function withinQuestion(question: unknown, index: number): readonly Fault[] {
  const path: Path = ["questions", index];
  const options = elements(field(question, "options"));
  const labels = options.map((option) => field(option, "label"));
  const repeated = repeats(labels, (at) => [...path, "options", at, "label"], labelKey);
  const left = labels.filter((label) => typeof label !== "string" || !meansOther(label)).length;
  const faults = [...repeated];
  if (left < labels.length && left < 2) {
    const must = `must hold 2 options besides one that means Other, which Askgate adds itself and removed here: ${left} left, add another`;
    faults.push({ path: [...path, "options"], rule: "min", input: field(question, "options"), must, limit: 2 });
  }
  if (Array.isArray(field(question, "options")) && options.length === 0) {
    if (field(question, "allowOther") === false) {
      const must = "must not be false where there are no options: nothing could be answered, so leave it out";
      faults.push({ path: [...path, "allowOther"], rule: "conflict", input: false, must });
    }
    if (field(question, "multiSelect") === true) {
      const must = "must not be true where there are no options: leave it out, or name the options";
      faults.push({ path: [...path, "multiSelect"], rule: "conflict", input: true, must });
    }
  }
  return faults;
}

function labelKey(label: string): string {
  return foldCase(withoutMark(foldCase(label)));
}

/** Each text that came before, after `keyOf`. */
function repeats(
  values: readonly unknown[],
  pathOf: (index: number) => Path,
  keyOf: (value: string) => string,
): readonly Fault[] {
  const first = new Map<string, number>();
  return values.flatMap((value, index) => {
    if (typeof value !== "string" || isBlank(value)) return [];
    const key = keyOf(value);
    const earlier = first.get(key);
    if (earlier === undefined) {
      first.set(key, index);
      return [];
    }
    const must = `must be unique, but means the same as number ${earlier + 1}: rename or remove it`;
    return [{ path: pathOf(index), rule: "unique", input: value, must }];
  });
}

function withinTimeout(raw: unknown, questions: readonly unknown[]): readonly Fault[] {
  const onTimeout = field(raw, "onTimeout");
  if (onTimeout === undefined) return [];
  const faults: Fault[] = [];
  if (field(raw, "reversible") !== true) {
    const must =
      "needs reversible: true, because silence is never consent: say that the step can be undone, or leave it out";
    faults.push({ path: ["onTimeout"], rule: "requires", input: onTimeout, must, limit: "reversible: true" });
  }
  const use = field(onTimeout, "use");
  for (const id of isObject(use) ? Object.keys(use) : []) {
    const question = questions.find((one) => field(one, "id") === id);
    faults.push(...withinDefault(["onTimeout", "use", id], field(use, id), question, questions));
  }
  return faults;
}

function withinDefault(path: Path, value: unknown, question: unknown, questions: readonly unknown[]): readonly Fault[] {
  if (question === undefined) {
    const ids = questions.map((one) => field(one, "id")).filter((id) => typeof id === "string");
    const must = `must be the id of a question: use one of ${ids.join(", ")}, or leave it out`;
    return [{ path, rule: "unknown_question", input: value, must }];
  }
  if (!Array.isArray(value)) return [];
  const labels = elements(field(question, "options"))
    .map((option) => field(option, "label"))
    .filter((label) => typeof label === "string")
    .filter((label) => !meansOther(label));
  const faults: Fault[] = value.flatMap((word, index) => {
    if (typeof word !== "string" || labels.some((label) => isLabel(word, label))) return [];
    const known = labels.map((label) => JSON.stringify(label)).join(", ") || "its options, once it has any";
    const must = `must be a label of its question: use one of ${known}`;
    return [{ path: [...path, index], rule: "unknown_label", input: word, must }];
  });
  faults.push(
    ...repeats(
      value,
      (index) => [...path, index],
      (word) => withoutMark(word),
    ),
  );
  if (field(question, "multiSelect") !== true && value.length !== 1) {
    faults.push({
      path,
      rule: "length",
      input: value,
      must: "must hold one label, as the question takes one answer",
      limit: 1,
    });
  }
  return faults;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An own field; undefined for anything else. */
function field(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function elements(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
