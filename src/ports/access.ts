/** The access port: keys of programs, pairing codes of people, and whose surfaces may be opened. */

import type { KeyScope, SessionKind } from "./access-store.ts";
import type { Caller } from "./asker.ts";
import type { Instant } from "./clock.ts";

export interface NewKey {
  readonly scope: KeyScope;
  readonly sessions?: readonly string[];
  readonly kind?: SessionKind;
}

export interface KeyView {
  readonly id: string;
  readonly scope: KeyScope;
  readonly sessions: readonly string[];
  readonly kind: SessionKind;
  readonly createdAt: string;
  readonly revokedAt?: string;
}

export interface Access {
  /** Who holds this key; null for an unknown or revoked one. */
  authenticate(key: string): Promise<Caller | null>;
  /** Whether the caller may do what follows and open people's inboxes: an operator whose key names no sessions. */
  mayAdminister(caller: Caller): boolean;
  /** The key itself is in this answer only; it is stored hashed. Rejects with `forbidden`, as the rest. */
  addKey(caller: Caller, input: NewKey): Promise<KeyView & { readonly key: string }>;
  keys(caller: Caller): Promise<readonly KeyView[]>;
  /** False when there is no such key. */
  revokeKey(caller: Caller, id: string): Promise<boolean>;
  /**
   * A code that links an account on the channel to the person (default: the owner): 10 minutes, one use, burnt by
   * 5 failures. Rejects with AskgateError `not_found` for an unknown person or a channel without accounts.
   */
  pair(
    caller: Caller,
    channel: string,
    person: string | null,
  ): Promise<{ code: string; person: string; channel: string; expiresAt: Instant }>;
  /** The name under which a person is known; null given means the owner; null returned means nobody. */
  personNamed(name: string | null): string | null;
  /** Whether that channel has at least one linked account. */
  paired(channel: string): boolean;
}
