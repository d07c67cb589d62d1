/**
 * Button payloads: `1.<prompt key>.<question>.<act>`, at most 40 ASCII bytes whatever the question says.
 *
 * The prompt key is 96 random bits in 16 base64url characters and names one copy of one inquiry. Holding a payload
 * gives no authority: that comes from who pressed. A payload that does not parse is forged or foreign and means nothing.
 */

/** What a control does. `option` picks one; `other` opens free text and `back` leaves it; `skip` skips one question. */
export type Act =
  | { readonly kind: "option"; readonly index: number }
  | { readonly kind: "other" }
  | { readonly kind: "back" }
  | { readonly kind: "skip" };

export interface Control {
  readonly promptKey: string;
  /** Index of the question in the inquiry. */
  readonly question: number;
  readonly act: Act;
}

const LETTERS = { other: "o", back: "b", skip: "s" } as const;
const PAYLOAD = /^1\.([A-Za-z0-9_-]{16})\.([0-2])\.([0-3obs])$/;

export function encodeControl(control: Control): string {
  const act = control.act.kind === "option" ? String(control.act.index) : LETTERS[control.act.kind];
  return `1.${control.promptKey}.${control.question}.${act}`;
}

/** Null for anything this version did not write. */
export function decodeControl(payload: string): Control | null {
  const match = PAYLOAD.exec(payload);
  if (!match) return null;
  const [, promptKey = "", question = "", act = ""] = match;
  return { promptKey, question: Number(question), act: decodeAct(act) };
}

function decodeAct(act: string): Act {
  switch (act) {
    case LETTERS.other:
      return { kind: "other" };
    case LETTERS.back:
      return { kind: "back" };
    case LETTERS.skip:
      return { kind: "skip" };
    default:
      return { kind: "option", index: Number(act) };
  }
}
