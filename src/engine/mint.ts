/** Identifiers: random, unguessable, and readable where a person has to type them. */
import type { Entropy, Instant } from "../ports/clock.ts";

/** Crockford's base 32: no i, l, o or u to misread. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

function base32(bytes: Uint8Array): string {
  let bits = 0;
  let value = 0;
  let text = "";
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(value >> bits) & 31];
    }
  }
  return bits > 0 ? text + ALPHABET[(value << (5 - bits)) & 31] : text;
}

/**
 * 48 bits of time, then random ones. What is made together lies together in every index of the store, so that a commit
 * touches few pages however much is waiting.
 */
function timeOrdered(entropy: Entropy, now: Instant, randomBytes: number): string {
  const bytes = new Uint8Array(6 + randomBytes);
  new DataView(bytes.buffer).setUint32(0, Math.floor(now / 2 ** 16));
  new DataView(bytes.buffer).setUint16(4, now % 2 ** 16);
  bytes.set(entropy.bytes(randomBytes), 6);
  return base32(bytes);
}

/** `inq_` and 26 characters: the time and 80 random bits. */
export function mintInquiryId(entropy: Entropy, now: Instant): string {
  return `inq_${timeOrdered(entropy, now, 10)}`;
}

/** 20 characters: the time and 48 random bits; never seen outside the store. */
export function mintRowId(entropy: Entropy, now: Instant): string {
  return timeOrdered(entropy, now, 6);
}

/** 96 random bits in 16 base64url characters; see control.ts. */
export function mintPromptKey(entropy: Entropy): string {
  return Buffer.from(entropy.bytes(12)).toString("base64url");
}

/** `key_` and 8 characters. */
export function mintKeyId(entropy: Entropy): string {
  return `key_${base32(entropy.bytes(5))}`;
}

/** `ag_` (agent) or `op_` (operator) and 52 characters: 256 random bits. */
export function mintKey(entropy: Entropy, scope: "agent" | "operator"): string {
  return `${scope === "agent" ? "ag" : "op"}_${base32(entropy.bytes(32))}`;
}

/** 40 random bits as two groups of four, like `7KQM-3XPA`. */
export function mintPairingCode(entropy: Entropy): string {
  const text = base32(entropy.bytes(5)).toUpperCase();
  return `${text.slice(0, 4)}-${text.slice(4)}`;
}

/** What a person typed, as the code was minted: case, spaces, the dash and misread letters do not matter. */
export function normalisePairingCode(text: string): string | null {
  const letters = text.toUpperCase().replace(/[\s-]/g, "").replace(/[IL]/g, "1").replace(/O/g, "0");
  return /^[0-9A-HJKMNP-TV-Z]{8}$/.test(letters) ? `${letters.slice(0, 4)}-${letters.slice(4)}` : null;
}
