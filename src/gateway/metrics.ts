/**
 * Measures of one gateway in the text format of Prometheus, in a registry of its own: several may live in one process,
 * whose own measures each of them tells.
 *
 * Every label has a bounded set of values that this house chooses: channels, kinds, statuses, reasons, patterns of
 * routes. Nothing a caller writes and nobody's name ever becomes one.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { HealthView } from "../ports/health.ts";
import type { Meter } from "../ports/meter.ts";

export interface Metrics {
  readonly meter: Meter;
  readonly contentType: string;
  /** One request, `ms` until its headers went out; `route` is a pattern. */
  request(method: string, route: string, status: number, ms: number): void;
  /** Somebody follows the events until the result is called, once. */
  follow(): () => void;
  /** This process holds the channel until the result is called. */
  hold(channel: string): () => void;
  /** Everything measured so far, and how the gateway stands now. */
  text(health: HealthView): Promise<string>;
}

/** Seconds. A read may wait 50; a send is cut at 20; nobody is asked for longer than an hour. */
const BUCKETS = {
  http: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  sent: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
  shown: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  settled: [1, 5, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600],
} as const;

const METHODS = new Set(["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"]);

let ofProcess: Registry | null = null;

/** Memory, processor, event loop: measured once, because each measuring of the event loop is a timer for good. */
function processRegistry(): Registry {
  if (ofProcess === null) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  return ofProcess;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const shared = processRegistry();
  const requests = timer(registry, "http", "Seconds from a request to its headers.", ["method", "route", "status"]);
  const followers = gauge(registry, "followers", "Streams of events that are open.");
  const held = new Set<string>();
  const standing = standingGauges(registry, held);
  return {
    meter: createMeter(registry),
    contentType: registry.contentType,
    request: (method, route, status, ms) =>
      requests.observe({ method: METHODS.has(method) ? method : "other", route, status }, ms / 1_000),
    follow() {
      followers.inc();
      return () => followers.dec();
    },
    hold(channel) {
      held.add(channel);
      return () => held.delete(channel);
    },
    async text(health) {
      standing(health);
      const [own, process] = await Promise.all([registry.metrics(), shared.metrics()]);
      return `${own}\n${process}`;
    },
  };
}

function createMeter(registry: Registry): Meter {
  const asked = counter(registry, "asked", "Inquiries asked.", ["kind"]);
  const shown = timer(registry, "shown", "Seconds from asking to the first confirmed showing.", ["channel"]);
  const settled = timer(registry, "settled", "Seconds from asking to the end.", ["status"]);
  const sent = timer(registry, "sent", "Seconds one send or edit took.", ["channel", "outcome"]);
  const heard = counter(registry, "heard", "Events that people caused on a channel.", ["channel", "kind"]);
  return {
    asked: (kind) => asked.inc({ kind }),
    shown: (channel, ms) => shown.observe({ channel }, ms / 1_000),
    settled: (status, ms) => settled.observe({ status }, ms / 1_000),
    sent: (channel, outcome, ms) => sent.observe({ channel, outcome }, ms / 1_000),
    heard: (channel, kind) => heard.inc({ channel, kind }),
  };
}

function standingGauges(registry: Registry, held: ReadonlySet<string>): (health: HealthView) => void {
  const ready = gauge(registry, "ready", "1 while the store serves.");
  const up = gauge(registry, "channel_up", "1 while the channel is up, whoever holds it.", ["channel"]);
  const holding = gauge(registry, "channel_held", "1 while this process holds the channel.", ["channel"]);
  return (health) => {
    ready.set(Number(health.ready));
    for (const [channel, { state }] of Object.entries(health.channels)) {
      up.set({ channel }, Number(state === "up"));
      holding.set({ channel }, Number(held.has(channel)));
    }
  };
}

function counter<L extends string>(registry: Registry, name: string, help: string, labelNames: readonly L[]) {
  return new Counter({ name: `askgate_${name}_total`, help, labelNames, registers: [registry] });
}

function gauge<L extends string>(registry: Registry, name: string, help: string, labelNames: readonly L[] = []) {
  return new Gauge({ name: `askgate_${name}`, help, labelNames, registers: [registry] });
}

function timer<L extends string>(
  registry: Registry,
  name: keyof typeof BUCKETS,
  help: string,
  labelNames: readonly L[],
) {
  const buckets = [...BUCKETS[name]];
  return new Histogram({ name: `askgate_${name}_seconds`, help, labelNames, buckets, registers: [registry] });
}
