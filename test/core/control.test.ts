import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Control, decodeControl, encodeControl } from "../../src/core/control.ts";

const KEY = "AZaz09-_AZaz09-_";
const acts: readonly Control["act"][] = [
  ...[0, 1, 2, 3].map((index) => ({ kind: "option", index }) as const),
  { kind: "other" },
  { kind: "back" },
  { kind: "skip" },
];
const controls = [0, 1, 2].flatMap((question) => acts.map((act): Control => ({ promptKey: KEY, question, act })));

describe("button payloads", () => {
  it("are at most 40 ASCII bytes, each its own, and read back as written", () => {
    const payloads = controls.map(encodeControl);
    expect(new Set(payloads).size).toBe(controls.length);
    for (const payload of payloads) expect(payload).toMatch(/^[!-~]{1,40}$/);
    expect(payloads.map(decodeControl)).toEqual(controls);
  });

  it.each([
    ["nothing", ""],
    ["another version", `2.${KEY}.0.0`],
    ["no version", `${KEY}.0.0`],
    ["a short key", `1.${KEY.slice(1)}.0.0`],
    ["a long key", `1.${KEY}A.0.0`],
    ["a key of other letters", `1.${KEY.slice(1)}+.0.0`],
    ["a fourth question", `1.${KEY}.3.0`],
    ["a negative question", `1.${KEY}.-1.0`],
    ["a fifth option", `1.${KEY}.0.4`],
    ["an unknown act", `1.${KEY}.0.x`],
    ["an act in capitals", `1.${KEY}.0.O`],
    ["digits of another script", `1.${KEY}.0.\u0661`],
    ["a line break after", `1.${KEY}.0.0\n`],
    ["a space before", ` 1.${KEY}.0.0`],
    ["a part too many", `1.${KEY}.0.0.0`],
    ["two payloads", `1.${KEY}.0.0 1.${KEY}.0.1`],
    ["a label", "Staging"],
    ["a megabyte", "1.".repeat(500_000)],
  ])("mean nothing with %s", (_, payload) => {
    expect(decodeControl(payload)).toBeNull();
  });

  it("that were not written here mean nothing, whatever they are", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^1\.[A-Za-z0-9_.-]{0,24}$/)),
        (payload) => {
          const control = decodeControl(payload);
          expect(control === null || encodeControl(control) === payload).toBe(true);
        },
      ),
    );
  });
});
