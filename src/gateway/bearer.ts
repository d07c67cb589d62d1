/**
 * The key in an `Authorization` header (RFC 6750): the one reading of it, for every door.
 *
 * The scheme counts in any case; what is not exactly one key is none.
 */
export function bearerKey(authorization: string | null | undefined): string | null {
  return /^bearer +(\S+) *$/i.exec(authorization ?? "")?.[1] ?? null;
}
