/** Digests: SHA-256 in hex over text, or over a value written with its keys in order. */
import { createHash } from "node:crypto";

export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

/** The same for values equal up to the order of object keys. */
export function digestOf(value: unknown): string {
  return sha256(JSON.stringify(ordered(value)) ?? "undefined");
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (value === null || typeof value !== "object") return value;
  const keys = Object.keys(value).sort();
  return keys.map((key) => [key, ordered((value as Record<string, unknown>)[key])]);
}
