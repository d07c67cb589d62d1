import { describe, expect, it } from "vitest";
import {
  DELIVERY,
  DeliveryError,
  type DeliveryEvent,
  type DeliveryState,
  type FailureReason,
  moveDelivery,
  nextAttempt,
  RETRY,
  RETRY_AFTER,
} from "../../src/core/delivery.ts";

const EVENTS: readonly DeliveryEvent[] = [
  "ready",
  "sent",
  "unsure",
  "absent",
  "delayed",
  "refused",
  "lost",
  "found",
  "done",
];

/** Every pair, one row a state, in the order of EVENTS; a dot where nothing changes. */
const TABLE: Readonly<Record<DeliveryState, string>> = {
  //        ready   sent  unsure  absent delayed refused lost    found done
  pending: ".       shown unknown absent .       failed  .       shown closed",
  queued: " pending .     .       .      .       failed  .       .     closed",
  absent: " pending .     .       .      .       failed  .       .     closed",
  unknown: ".       shown .       absent .       failed  .       shown closed",
  shown: "  .       .     .       .      .       .       pending .     closed",
  failed: " .       .     .       .      .       .       .       shown .",
  closed: " .       .     .       .      .       .       .       shown .",
};

const pairs = Object.entries(TABLE).flatMap(([state, row]) =>
  row
    .trim()
    .split(/\s+/)
    .map(
      (to, index) => [state, EVENTS[index], to === "." ? state : to] as [DeliveryState, DeliveryEvent, DeliveryState],
    ),
);

describe("a copy", () => {
  it("has a row for every state and a cell for every event", () => {
    expect(Object.keys(DELIVERY).sort()).toEqual(Object.keys(TABLE).sort());
    const named = Object.values(DELIVERY).flatMap((row) => Object.keys(row));
    expect(named.filter((event) => !EVENTS.some((one) => one === event))).toEqual([]);
    expect(pairs).toHaveLength(Object.keys(TABLE).length * EVENTS.length);
  });

  it.each(pairs)("%s, %s: %s", (state, event, to) => {
    expect(moveDelivery(state, event)).toBe(to);
  });

  it("that is shown is never sent again unless it was lost", () => {
    for (const event of EVENTS.filter((one) => one !== "lost" && one !== "done")) {
      expect(moveDelivery("shown", event)).toBe("shown");
    }
  });

  it("that is over comes back only by proof that someone sees it", () => {
    for (const state of ["failed", "closed"] as const) {
      for (const event of EVENTS.filter((one) => one !== "found")) expect(moveDelivery(state, event)).toBe(state);
    }
  });
});

describe("the next attempt", () => {
  const NOW = 1_000_000;
  const wait = (reason: FailureReason, attempts: number, lane: keyof typeof RETRY, retryAfterMs?: number) => {
    const error = new DeliveryError(reason, { sent: "no", ...(retryAfterMs === undefined ? {} : { retryAfterMs }) });
    const at = nextAttempt(error, attempts, NOW, RETRY[lane]);
    return at === null ? null : at - NOW;
  };

  it("is when the platform says", () => {
    expect(wait("rate-limited", 1, "open", 17_000)).toBe(17_000);
    expect(wait("rate-limited", 99, "close", 17_000)).toBe(17_000);
    expect(wait("rate-limited", 1, "open")).toBe(RETRY_AFTER.defaultMs);
  });

  it("of a network fault doubles up to the lane's longest wait", () => {
    expect([0, 1, 2, 3, 4, 5, 6, 7, 10_000].map((attempts) => wait("unreachable", attempts, "open"))).toEqual([
      1_000, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000,
    ]);
  });

  it("of a closing edit ends after 25, about three hours", () => {
    const waits = Array.from({ length: 24 }, (_, index) => wait("unreachable", index + 1, "close") ?? 0);
    const hours = waits.reduce((sum, one) => sum + one, 0) / 3_600_000;
    expect(hours).toBeGreaterThan(2);
    expect(hours).toBeLessThan(4);
    expect(wait("unreachable", 25, "close")).toBeNull();
  });

  it("under a new address is now", () => {
    expect(wait("moved", 1, "open")).toBe(0);
  });

  it.each(["absent", "gone", "unauthorized", "rejected"] as const)("never comes by itself when %s", (reason) => {
    expect(wait(reason, 1, "open")).toBeNull();
    expect(wait(reason, 1, "close")).toBeNull();
  });
});

describe("a delivery error", () => {
  it("says whether the message may have arrived, and what did", () => {
    const error = new DeliveryError("unreachable", {
      sent: "unknown",
      detail: "socket closed",
      partial: { parts: ["1"] },
    });
    expect(error).toMatchObject({ reason: "unreachable", sent: "unknown", message: "socket closed" });
    expect(error).toMatchObject({ partial: { parts: ["1"] }, retryAfterMs: null, movedTo: null });
    expect(new DeliveryError("moved", { sent: "no", movedTo: "telegram:-100" })).toMatchObject({
      message: "moved",
      movedTo: "telegram:-100",
    });
  });
});
