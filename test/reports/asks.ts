/** What the tests of the field reports ask. */

export interface Asking {
  readonly id: string;
  readonly header: string;
  readonly question: string;
  readonly options: readonly { readonly label: string; readonly description?: string }[];
  readonly multiSelect?: true;
}

/** One question of the id `q`, unless it is named. */
export function question(text: string, labels: readonly string[], id = "q"): Asking {
  return { id, header: "Choice", question: text, options: labels.map((label) => ({ label })) };
}

/** The same, taking several of its options. */
export function several(text: string, labels: readonly string[], id = "q"): Asking {
  return { ...question(text, labels, id), multiSelect: true };
}

/** The input of a call with one question. */
export function one(text: string, labels: readonly string[], more: object = {}): object {
  return { questions: [question(text, labels)], ...more };
}

/** To the group, for Ana alone. */
export const GROUP_OF_ANA = { to: ["telegram:-1001"], respondents: ["ana"] } as const;

/** To the group, for both. */
export const GROUP_OF_BOTH = { to: ["telegram:-1001"], respondents: ["ana", "ben"] } as const;
