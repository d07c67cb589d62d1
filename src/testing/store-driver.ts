/** Short ways to ask, claim and settle through a store. */
import type { Inquiry } from "../core/inquiry.ts";
import type { ClaimRequest, Delivery, DeliveryRow, OutboxRow, Settlement, Store } from "../ports/store.ts";
import { copyOf, inquiryOf } from "./store-samples.ts";

export const HERE = "telegram:100";
export const LEASE_MS = 30_000;

type Patch = NonNullable<Settlement["delivery"]>;

export function usingStore(store: () => Store) {
  type Change = Omit<Partial<Settlement>, "delivery"> & { readonly delivery?: Partial<Patch> };

  async function ask(
    uid: string,
    address: string,
    change: Parameters<typeof copyOf>[2] = {},
    born: Partial<Inquiry> = {},
  ) {
    const inquiry = inquiryOf(uid, born);
    const row = copyOf(inquiry, address, { dueAt: 1_000, ...change });
    await store().commit({ create: [inquiry], add: [row] });
    return { inquiry, row: row.id };
  }
  function claim(now: number, change: Partial<ClaimRequest> = {}) {
    return store().claim({ lane: "delivery", limit: 100, now, leaseMs: LEASE_MS, ...change });
  }
  function settle(held: OutboxRow | undefined, { delivery: patch, ...change }: Change = {}): Promise<boolean> {
    if (held === undefined) throw new Error("nothing was claimed");
    const delivery = patch && { ...workersPartOf(held.delivery ?? never()), ...patch };
    return store().settle({
      row: held.id,
      epoch: held.epoch,
      dueAt: null,
      attempts: 0,
      ...change,
      ...(delivery && { delivery }),
    });
  }
  async function copy(row: string): Promise<DeliveryRow> {
    const [, inquiry = ""] = /^copy_(.*)@/.exec(row) ?? [];
    const found = (await store().copies(inquiry)).find((one) => one.id === row);
    return found ?? never();
  }
  function next(address = HERE): Promise<number | null> {
    return store().nextDue("delivery", address === HERE ? undefined : address.split(":", 1)[0]);
  }
  return { ask, claim, settle, copy, next };
}

/** What a worker may write of a copy. */
export function workersPartOf({ channel: _channel, address: _address, entry: _entry, ...patch }: Delivery): Patch {
  return patch;
}

function never(): never {
  throw new Error("no such copy");
}
