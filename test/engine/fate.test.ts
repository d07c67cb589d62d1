/** What becomes of a copy, as a table: where it stood and what happened, and what is stored of it then. */
import { describe, expect, test } from "vitest";
import { DeliveryError, type DeliveryState, type FailureDetail, type FailureReason } from "../../src/core/delivery.ts";
import type { Inquiry } from "../../src/core/inquiry.ts";
import { graceEnd } from "../../src/engine/deadlines.ts";
import { afterFailure, beforeSend, type Outcome, tooLate } from "../../src/engine/fate.ts";
import type { Delivery, DeliveryRow } from "../../src/ports/store.ts";
import { CRAMPED } from "../../src/testing/hostile-channel.ts";
import { inquiry } from "../core/prompts.ts";

const NOW = 1_000_000;
const UNTIL = NOW + 900_000;
const ENTROPY = { bytes: (length: number) => new Uint8Array(length) };
const BLIND = { ...CRAMPED, repeat: "blind", unknownWaitMs: 30_000 } as const;
const IDEMPOTENT = { ...CRAMPED, repeat: "idempotent", unknownWaitMs: 0 } as const;
const OPEN = inquiry({ expiresAt: UNTIL });
const SETTLED = inquiry({ expiresAt: UNTIL, status: "answered", settledAt: NOW });
const HALF = { parts: ["m1"] };
const WHOLE = { parts: ["m1", "m2"] };

function row(over: Partial<Delivery> = {}, more: Partial<DeliveryRow> = {}): DeliveryRow {
  return {
    ...{ id: "r", lane: "delivery", inquiry: "inq_1", dueAt: NOW, attempts: 0, epoch: 1, interrupted: false },
    notBefore: null,
    delivery: {
      ...{ channel: "c", address: "c:1", state: "pending", reason: null, promptKey: "key", digest: null },
      ...{ receipt: null, entry: null, plain: false, unknownUntil: null, ...over },
    },
    ...more,
  };
}

/** The state and reason stored, in how many seconds it is looked at again, and how long the address must wait. */
function told({ copy, dueAt, notBefore }: Outcome): string {
  const seconds = (at: number | null | undefined) => (at === null || at === undefined ? "-" : `${(at - NOW) / 1000}`);
  const parts = copy.receipt ? copy.receipt.parts.join("+") : "-";
  const marks = (copy.plain ? " plain" : "") + (copy.promptKey === "key" ? "" : " new key");
  return `${copy.state} ${copy.reason ?? ""} ${seconds(dueAt)} ${seconds(notBefore)} ${parts}${marks}`;
}

function failing(
  from: DeliveryRow,
  reason: FailureReason,
  detail: Partial<FailureDetail>,
  { asked = OPEN, limits = BLIND as typeof BLIND | typeof IDEMPOTENT } = {},
): string {
  const error = new DeliveryError(reason, { sent: "no", ...detail });
  return told(afterFailure({ entropy: ENTROPY, now: NOW }, from, limits, asked, error));
}

const SHOWN = row({ state: "shown", digest: "digest", receipt: WHOLE });
const PLAIN = row({ plain: true });
type Failure = readonly [string, DeliveryRow, FailureReason, Partial<FailureDetail>, string];

describe("a failed attempt on an open inquiry", () => {
  // The name, from where, what failed; state, reason, looked at again in s, address waits s, parts, marks.
  test.each<Failure>([
    ["nothing arrived", row(), "unreachable", {}, "pending unreachable 1 - -"],
    ["the third time", row({}, { attempts: 2 }), "unreachable", {}, "pending unreachable 4 - -"],
    ["the hundredth time", row({}, { attempts: 99 }), "unreachable", {}, "pending unreachable 30 - -"],
    ["a part arrived", row(), "unreachable", { partial: HALF }, "pending unreachable 1 - m1"],
    ["a part had arrived", row({ receipt: HALF }), "unreachable", {}, "pending unreachable 1 - m1"],
    ["it may have arrived", row(), "unreachable", { sent: "unknown" }, "unknown unconfirmed 30 - -"],
    ["its rest may have", row(), "unreachable", { sent: "unknown", partial: HALF }, "unknown unconfirmed 30 - m1"],
    [
      "so may its repeat",
      row({ state: "unknown", reason: "repeated" }),
      "unreachable",
      { sent: "unknown" },
      "unknown delivery_unknown - - -",
    ],
    [
      "the repeat did not",
      row({ state: "unknown", reason: "repeated" }),
      "unreachable",
      {},
      "unknown unreachable 1 - -",
    ],
    ["a wait is named", row(), "rate-limited", { retryAfterMs: 7_000 }, "pending rate_limited 7 7 -"],
    ["a wait is not named", row(), "rate-limited", {}, "pending rate_limited 5 5 -"],
    ["a wait beyond the deadline", row(), "rate-limited", { retryAfterMs: 900_000 }, "failed rate_limited - 900 -"],
    ["the chat is gone", row(), "gone", {}, "failed gone - - -"],
    ["the chat went after a part", row(), "gone", { partial: HALF }, "failed gone - - m1"],
    ["the token is bad", row(), "unauthorized", {}, "failed unauthorized - - -"],
    ["nobody has it open", row(), "absent", {}, "absent absent - - -"],
    ["the native form is refused", row(), "rejected", {}, "pending  0 - - plain"],
    ["refused after a part", row(), "rejected", { partial: HALF }, "pending  0 - m1 plain"],
    ["the plain form is refused too", PLAIN, "rejected", {}, "failed rejected - - - plain"],
    ["the chat moved", row(), "moved", { movedTo: "c:2" }, "pending  0 - -"],
    ["it moved for the sixth time", row({}, { attempts: 5 }), "moved", { movedTo: "c:2" }, "pending gone 0 - -"],
    ["shown, not reached", SHOWN, "unreachable", { sent: "unknown" }, "shown  1 - m1+m2"],
    ["shown, a wait is named", SHOWN, "rate-limited", { retryAfterMs: 7_000 }, "shown  7 7 m1+m2"],
    ["shown, deleted", SHOWN, "gone", {}, "pending gone 0 - - new key"],
    ["shown, not to be edited", SHOWN, "unauthorized", {}, "shown  - - m1+m2"],
    ["shown, the edit is refused", SHOWN, "rejected", {}, "shown  0 - m1+m2 plain"],
  ])("%s", (_, from, reason, detail, outcome) => {
    expect(failing(from, reason, detail)).toBe(outcome);
  });

  test("that may have arrived is simply repeated where the platform drops the second", () => {
    const limits = IDEMPOTENT;
    expect(failing(row(), "unreachable", { sent: "unknown" }, { limits })).toBe("pending unreachable 1 - -");
  });

  test("is left to prove itself for half of what is left before the deadline at most", () => {
    const asked = inquiry({ expiresAt: NOW + 20_001 });
    expect(failing(row(), "unreachable", { sent: "unknown" }, { asked })).toBe("unknown unconfirmed 10 - -");
  });

  test.each<FailureReason>(["rejected", "gone"])(
    "that is %s is shown anew: what the copy showed is forgotten",
    (reason) => {
      const error = new DeliveryError(reason, { sent: "no" });
      const { copy } = afterFailure({ entropy: ENTROPY, now: NOW }, SHOWN, BLIND, OPEN, error);
      expect(copy.digest).toBeNull();
    },
  );

  test("is not repeated past the deadline", () => {
    const asked = inquiry({ expiresAt: NOW + 1_000 });
    expect(failing(row(), "unreachable", {}, { asked })).toBe("failed unreachable - - -");
  });
});

describe("a failed closing edit", () => {
  test.each<Failure>([
    ["not reached", SHOWN, "unreachable", { sent: "unknown" }, "shown  1 - m1+m2"],
    ["the 25th time", row(SHOWN.delivery, { attempts: 24 }), "unreachable", {}, "closed unreachable - - m1+m2"],
    ["a wait is named", SHOWN, "rate-limited", { retryAfterMs: 7_000 }, "shown  7 7 m1+m2"],
    ["the wait ends past the deadline", SHOWN, "rate-limited", { retryAfterMs: 901_000 }, "shown  901 901 m1+m2"],
    ["deleted", SHOWN, "gone", {}, "closed gone - - m1+m2"],
    ["refused", SHOWN, "rejected", {}, "shown  0 - m1+m2 plain"],
    [
      "refused as plain text too",
      row({ ...SHOWN.delivery, plain: true }),
      "rejected",
      {},
      "closed rejected - - m1+m2 plain",
    ],
    ["in part", SHOWN, "unreachable", { partial: HALF }, "shown  1 - m1"],
  ])("%s", (_, from, reason, detail, outcome) => {
    expect(failing(from, reason, detail, { asked: SETTLED })).toBe(outcome);
  });
});

describe("before a send", () => {
  const unknown = (over: Partial<Delivery>) => row({ state: "unknown", reason: "unconfirmed", ...over });
  const hold = (from: DeliveryRow, limits: typeof BLIND | typeof IDEMPOTENT = BLIND) => {
    const outcome = beforeSend(ENTROPY, from, limits, OPEN, NOW);
    return outcome ? told(outcome) : "send";
  };

  test.each<readonly [string, DeliveryRow, string]>([
    ["pending", row(), "send"],
    ["pending, interrupted", row({}, { interrupted: true }), "unknown unconfirmed 30 - -"],
    ["unknown, still to prove itself", unknown({ unknownUntil: NOW + 5_000 }), "unknown unconfirmed 5 - -"],
    ["unknown, its time is over", unknown({ unknownUntil: NOW }), "unknown repeated 0 - - new key"],
    ["unknown, about to be repeated", unknown({ reason: "repeated" }), "send"],
    [
      "unknown, the repeat was interrupted",
      row({ state: "unknown", reason: "repeated" }, { interrupted: true }),
      "unknown delivery_unknown - - -",
    ],
    ["unknown for good", unknown({ reason: "delivery_unknown" }), "unknown delivery_unknown - - -"],
  ])("%s", (_, from, outcome) => {
    expect(hold(from)).toBe(outcome);
  });

  test.each<DeliveryState>(["queued", "absent", "failed"])("%s: not sent, whatever the platform can", (state) => {
    const reason = state === "failed" ? "gone" : null;
    expect([BLIND, IDEMPOTENT].map((limits) => hold(row({ state, reason }), limits))).toEqual(
      Array.from({ length: 2 }, () => `${state} ${reason ?? ""} - - -`),
    );
  });

  test("an interrupted one is sent again at once where the platform drops the second", () => {
    expect(hold(row({}, { interrupted: true }), IDEMPOTENT)).toBe("send");
  });
});

describe("an address that must wait", () => {
  test.each<readonly [string, DeliveryRow, Inquiry, number, string]>([
    ["shorter than the inquiry lives", row(), OPEN, UNTIL - 1_000, "pending  899 - -"],
    ["to its deadline", row(), OPEN, UNTIL, "failed rate_limited - - -"],
    ["longer, but it is shown there", SHOWN, OPEN, UNTIL + 1_000, "shown  901 - m1+m2"],
    ["longer, but it is to be closed", SHOWN, SETTLED, UNTIL + 1_000, "shown  901 - m1+m2"],
  ])("%s", (_, from, asked, notBefore, outcome) => {
    expect(told(tooLate(from, asked, notBefore))).toBe(outcome);
  });
});

test.each([
  ["all platforms heard, at once", 0, true, 10],
  ["all platforms heard, later", 30, true, 10],
  ["one is behind, at once", 0, false, 10],
  ["one is behind, after the least", 12, false, 13],
  ["one is behind, near the most", 59.5, false, 60],
  ["one is behind for good", 3_600, false, 60],
])("nothing expires before: %s", (_, seconds, caughtUp, end) => {
  const behindSince = caughtUp ? null : NOW;
  expect((graceEnd(NOW, NOW + seconds * 1_000, behindSince) - NOW) / 1_000).toBe(end);
});
