/** The contract of the access store: keys, pairing codes, linked identities, renamed addresses. */
import { expect, it } from "vitest";
import type { KeyRecord } from "../ports/access-store.ts";
import type { Store } from "../ports/store.ts";

const key: KeyRecord = {
  id: "key_1",
  hash: "h1",
  scope: "agent",
  sessions: ["main", "other"],
  kind: "main",
  createdAt: 1,
  revokedAt: null,
};

export function accessSuite(store: () => Store): void {
  it("keeps keys and revokes each once", async () => {
    const { access } = store();
    await access.addKey(key);
    await access.addKey({ ...key, id: "key_2", hash: "h2", scope: "operator", sessions: [], createdAt: 2 });
    expect((await access.keys())[0]).toEqual(key);
    expect(await access.revokeKey("key_1", 5)).toBe(true);
    expect(await access.revokeKey("key_1", 6)).toBe(false);
    expect(await access.revokeKey("key_9", 6)).toBe(false);
    expect((await access.keys()).map(({ id, revokedAt }) => [id, revokedAt])).toEqual([
      ["key_1", 5],
      ["key_2", null],
    ]);
  });

  it("links an identity by a live code of its channel, once", async () => {
    const { access } = store();
    await access.addPairing({ hash: "code", channel: "telegram", person: "ana", expiresAt: 100, failures: 0 });
    const attempt = { hash: "code", channel: "telegram", identity: "telegram:100", maxFailures: 5, now: 50 };
    expect(await access.pair({ ...attempt, channel: "discord" })).toBeNull();
    expect(await access.pair({ ...attempt, now: 100 })).toBeNull();
    const results = await Promise.all([access.pair(attempt), access.pair(attempt)]);
    expect(results.sort()).toEqual(["ana", null]);
    expect(await access.identities()).toEqual([{ identity: "telegram:100", person: "ana", pairedAt: 50 }]);
  });

  it("gives an identity to the person who paired it last", async () => {
    const { access } = store();
    for (const person of ["ana", "ben"]) {
      await access.addPairing({ hash: person, channel: "telegram", person, expiresAt: 100, failures: 0 });
      await access.pair({ hash: person, channel: "telegram", identity: "telegram:100", maxFailures: 5, now: 50 });
    }
    expect(await access.identities()).toEqual([{ identity: "telegram:100", person: "ben", pairedAt: 50 }]);
  });

  it("burns every live code of the channel after the given failures, and none of another", async () => {
    const { access } = store();
    for (const channel of ["telegram", "discord"]) {
      await access.addPairing({ hash: channel, channel, person: "ana", expiresAt: 100, failures: 0 });
    }
    const attempt = { channel: "telegram", identity: "telegram:100", maxFailures: 3, now: 50 };
    for (const hash of ["a", "b", "c"]) expect(await access.pair({ ...attempt, hash })).toBeNull();
    expect(await access.pair({ ...attempt, hash: "telegram" })).toBeNull();
    expect(await access.pair({ ...attempt, hash: "discord", channel: "discord" })).toBe("ana");
  });

  it("points every earlier name of an address to the newest", async () => {
    const { access } = store();
    await access.moveAddress("telegram:1", "telegram:2", 1);
    await access.moveAddress("telegram:2", "telegram:3", 2);
    expect(await access.movedAddresses()).toEqual([
      { from: "telegram:1", to: "telegram:3" },
      { from: "telegram:2", to: "telegram:3" },
    ]);
    await access.moveAddress("telegram:3", "telegram:1", 3);
    const targets = (await access.movedAddresses()).map(({ to }) => to);
    expect(new Set(targets)).toEqual(new Set(["telegram:1"]));
    expect((await access.movedAddresses()).some(({ from }) => from === "telegram:1")).toBe(false);
  });
}
