/** The part of the store that knows who may ask and who answers: keys, pairing codes, linked accounts, renamed addresses. */
import type { Instant } from "./clock.ts";

export type KeyScope = "agent" | "operator";
export type SessionKind = "main" | "subagent" | "cron";

export interface KeyRecord {
  readonly id: string;
  /** SHA-256 of the key, hex. */
  readonly hash: string;
  readonly scope: KeyScope;
  /** Empty: every session. */
  readonly sessions: readonly string[];
  readonly kind: SessionKind;
  readonly createdAt: Instant;
  readonly revokedAt: Instant | null;
}

/** A code that links an account to a person. */
export interface PairingRecord {
  readonly hash: string;
  readonly channel: string;
  readonly person: string;
  readonly expiresAt: Instant;
  readonly failures: number;
}

export interface IdentityRecord {
  /** `telegram:100` */
  readonly identity: string;
  readonly person: string;
  readonly pairedAt: Instant;
}

/** Keys, pairing codes, linked identities and renamed addresses. */
export interface AccessStore {
  addKey(key: KeyRecord): Promise<void>;
  keys(): Promise<readonly KeyRecord[]>;
  revokeKey(id: string, at: Instant): Promise<boolean>;
  addPairing(pairing: PairingRecord): Promise<void>;
  /**
   * Uses up the live code of that hash on the channel and links the identity, in one transaction; null when there is
   * none, and then every live code of the channel has one failure more, and is removed at `maxFailures`.
   */
  pair(attempt: {
    readonly hash: string;
    readonly channel: string;
    readonly identity: string;
    readonly maxFailures: number;
    readonly now: Instant;
  }): Promise<string | null>;
  identities(): Promise<readonly IdentityRecord[]>;
  moveAddress(from: string, to: string, at: Instant): Promise<void>;
  movedAddresses(): Promise<readonly { readonly from: string; readonly to: string }[]>;
}
