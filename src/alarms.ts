/**
 * Moments somebody wants to be woken at, earliest first; those of one moment in the order they were set.
 *
 * A heap whose members know their places, so that each of a hundred thousand is set, cancelled and found due in a few
 * steps and a cancelled one is forgotten at once. It reads no clock.
 */
import type { Instant } from "./ports/clock.ts";

export interface Alarm {
  readonly at: Instant;
  readonly wake: () => void;
}

export interface Alarms {
  /** The result takes it out again; any number of calls do it once. */
  set(alarm: Alarm): () => void;
  first(): Alarm | undefined;
  /** Takes out everything up to that moment, in order. */
  takeDue(now: Instant): readonly Alarm[];
  clear(): void;
}

interface Member {
  readonly alarm: Alarm;
  readonly order: number;
  /** Where it stands in the heap; -1 once it was taken out. */
  place: number;
}

type Heap = Member[];

export function createAlarms(): Alarms {
  const heap: Heap = [];
  let count = 0;
  return {
    set(alarm) {
      const member: Member = { alarm, order: count++, place: heap.length };
      heap.push(member);
      rise(heap, member);
      return () => remove(heap, member);
    },
    first: () => heap[0]?.alarm,
    takeDue(now) {
      const due: Alarm[] = [];
      for (let top = heap[0]; top !== undefined && top.alarm.at <= now; top = heap[0]) {
        due.push(top.alarm);
        remove(heap, top);
      }
      return due;
    },
    clear() {
      for (const member of heap.splice(0)) member.place = -1;
    },
  };
}

function put(heap: Heap, member: Member, place: number): void {
  heap[place] = member;
  member.place = place;
}

function rise(heap: Heap, member: Member): void {
  for (;;) {
    const { place } = member;
    const upper = place > 0 ? heap[(place - 1) >> 1] : undefined;
    if (upper === undefined || !precedes(member, upper)) return;
    put(heap, member, upper.place);
    put(heap, upper, place);
  }
}

function sink(heap: Heap, member: Member): void {
  for (;;) {
    const { place } = member;
    const left = heap[2 * place + 1];
    const right = heap[2 * place + 2];
    const lower = left !== undefined && right !== undefined && precedes(right, left) ? right : left;
    if (lower === undefined || !precedes(lower, member)) return;
    put(heap, member, lower.place);
    put(heap, lower, place);
  }
}

function remove(heap: Heap, member: Member): void {
  const { place } = member;
  if (place < 0) return;
  const last = heap.pop();
  member.place = -1;
  if (last === undefined || last === member) return;
  put(heap, last, place);
  rise(heap, last);
  sink(heap, last);
}

function precedes(one: Member, other: Member): boolean {
  return one.alarm.at === other.alarm.at ? one.order < other.order : one.alarm.at < other.alarm.at;
}
