/** What comes in is read or refused, with all its faults in one message. */
import { AskgateError, type ErrorCode, type Issue } from "../core/errors.ts";
import { type Directory, peopleIn } from "../core/people.ts";
import { type NewInquiryInput, type ReadResult, readInquiry } from "../core/question.ts";

export function valid<T>(code: ErrorCode, read: ReadResult<T>, before = ""): T {
  if (read.ok) return read.value;
  throw new AskgateError(code, before + read.issues.map((issue) => issue.message).join(" "), read.issues);
}

export function readOrRefuse(input: unknown): NewInquiryInput {
  return valid("invalid_inquiry", readInquiry(input), "Nothing was asked. ");
}

/** Asking somebody who does not exist is asking nobody; a callback that is never made is worse than none. */
export function refuseUnreachable(directory: Directory, input: NewInquiryInput): void {
  const issues = input.respondents.flatMap((name, index) => unknownRespondent(directory, name, index));
  if (input.callbackUrl !== null) issues.push(NO_CALLBACKS);
  if (issues.length === 0) return;
  const faults = issues.map((issue) => issue.message).join(" ");
  throw new AskgateError("invalid_inquiry", `Nothing was asked. ${faults}`, issues);
}

function unknownRespondent(directory: Directory, name: string, index: number): Issue[] {
  if (peopleIn(directory, [name]).length > 0) return [];
  const people = [...directory.people.values()];
  const roles = people.flatMap((person) => person.roles.map((role) => `role:${role}`));
  const known = [...new Set([...people.map((person) => person.name), ...roles])].join(", ");
  const path = `respondents[${index}]`;
  const message = `${path} must name a person or a role somebody has: ${known}. Received: "${name}".`;
  return [{ path, rule: "unknown", received: `"${name}"`, message }];
}

const NO_CALLBACKS: Issue = {
  path: "callbackUrl",
  rule: "unsupported",
  received: "an address",
  message:
    "callbackUrl must be left out: this version calls nobody back. Wait with GET /v1/inquiries/{id}?wait=50 instead.",
};
