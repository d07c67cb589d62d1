/** A rule of the contract that did not hold. */
export class Violation extends Error {
  readonly rule: string;

  constructor(rule: string, detail: string) {
    super(`${rule}: ${detail}`);
    this.name = "Violation";
    this.rule = rule;
  }
}

export function broken(rule: string, detail: string): Violation {
  return new Violation(rule, detail);
}

export function must(holds: boolean, rule: string, detail: () => string): asserts holds {
  if (!holds) throw broken(rule, detail());
}
