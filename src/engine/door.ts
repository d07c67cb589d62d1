/** What comes in is read or refused, with all its faults in one message. */
import { AskgateError, type ErrorCode } from "../core/errors.ts";
import { type NewInquiryInput, type ReadResult, readInquiry } from "../core/question.ts";

export function valid<T>(code: ErrorCode, read: ReadResult<T>, before = ""): T {
  if (read.ok) return read.value;
  throw new AskgateError(code, before + read.issues.map((issue) => issue.message).join(" "), read.issues);
}

export function readOrRefuse(input: unknown): NewInquiryInput {
  return valid("invalid_inquiry", readInquiry(input), "Nothing was asked. ");
}
