/**
 * Wrong stores and gateways, planted to see that the rules catch them. Each is wrong in one way and right in all others;
 * those that must not be wrong every time are wrong every third.
 */
import type { Clock } from "../../src/ports/clock.ts";
import type { Commit, OutboxRow, Store } from "../../src/ports/store.ts";
import type { Planted } from "./world.ts";

export interface Fault {
  readonly name: string;
  readonly planted: Planted;
  /** The rules that may catch it first. */
  readonly caughtBy: readonly string[];
}

const EXPLAINED = "some order explains everything";
const CLOSED = "no copy shows controls of what is over";

/** True at every third call. */
function everyThird(): () => boolean {
  let calls = 0;
  return () => ++calls % 3 === 0;
}

function store(change: (inner: Store, clock: Clock) => Partial<Store>): Planted {
  return { store: (inner, clock) => ({ ...inner, ...change(inner, clock) }) };
}

function commits(change: (commit: Commit) => Commit): Planted {
  return store((inner) => ({ commit: (commit) => inner.commit(change(commit)) }));
}

function without<T extends object, K extends keyof T>(whole: T, ...names: readonly K[]): Omit<T, K> {
  return Object.fromEntries(Object.entries(whole).filter(([name]) => !names.includes(name as K))) as Omit<T, K>;
}

/** One thing at a time. */
function inTurn(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work);
    last = mine.catch(() => {});
    return mine;
  };
}

/** Whatever version a change was decided on, it is written over the newest. */
const anyVersion = store((inner) => {
  const turn = inTurn();
  return {
    commit: (commit) =>
      turn(async () => {
        const update = (commit.update ?? []).map(async (one) => {
          const now = await inner.inquiry(one.inquiry.uid);
          return { ...one, from: now?.version ?? one.from };
        });
        return inner.commit({ ...commit, ...(commit.update && { update: await Promise.all(update) }) });
      }),
  };
});

const anyEpoch = store((inner) => {
  const claimed = new Map<string, string>();
  return {
    async claim(request) {
      const rows = await inner.claim(request);
      for (const row of rows) claimed.set(row.id, row.inquiry);
      return rows;
    },
    async settle(settlement) {
      if (await inner.settle(settlement)) return true;
      const copies = await inner.copies(claimed.get(settlement.row) ?? "");
      const row = copies.find(({ id }) => id === settlement.row);
      return row ? inner.settle({ ...settlement, epoch: row.epoch }) : false;
    },
  };
});

/** A change that lost its race takes its key all the same. */
const keyKept = store((inner) => ({
  async commit(commit) {
    const result = await inner.commit(commit);
    if (result.outcome === "conflict" && commit.once) await inner.commit({ once: commit.once });
    return result;
  },
}));

const notApplied = (() => {
  const now = everyThird();
  return store((inner) => ({
    commit: async (commit) => (commit.update && now() ? { outcome: "done" as const } : inner.commit(commit)),
  }));
})();

function rows(change: (claimed: readonly OutboxRow[]) => readonly OutboxRow[]): Planted {
  return store((inner) => ({ claim: async (request) => change(await inner.claim(request)) }));
}

function eventsRead(change: <T>(items: readonly T[]) => readonly T[]): Planted {
  return store((inner) => ({
    events: {
      ...inner.events,
      async read(request) {
        const page = await inner.events.read(request);
        return request.after === null ? { ...page, items: change(page.items) } : page;
      },
    },
  }));
}

/** Right after a start, what is overdue is closed at once. */
const noGrace: Planted = {
  async afterStart(inner, clock) {
    const now = clock.now();
    const { items } = await inner.list({ ...ALL, status: "waiting" });
    for (const inquiry of items.filter(
      ({ expiresAt, shownAt, reversible }) => expiresAt <= now + 20_000 && shownAt !== null && !reversible,
    )) {
      const ended = {
        ...inquiry,
        status: "timed_out" as const,
        version: inquiry.version + 1,
        settledAt: Math.max(now, inquiry.expiresAt),
      };
      await inner.commit({
        update: [{ from: inquiry.version, inquiry: ended }],
        wake: [{ inquiry: inquiry.uid, at: now }],
      });
    }
  },
};
const ALL = { owner: null, sessions: null, session: null, cursor: null, limit: 100 } as const;

const deafWaiter: Planted = {
  engine(engine) {
    const now = everyThird();
    const { asker } = engine;
    return {
      ...engine,
      asker: {
        ...asker,
        async askUser(caller, input, options) {
          const result = await asker.askUser(caller, input, options);
          return now() ? new Promise<never>(() => {}) : result;
        },
      },
    };
  },
};

export const FAULTS: readonly Fault[] = [
  {
    name: "a commit ignores `once`, and no reply is kept",
    planted: store((inner) => ({
      commit: (commit) => inner.commit(without(commit, "once")),
      replyOf: async () => null,
    })),
    caughtBy: ["the same key gets the same reply", EXPLAINED],
  },
  { name: "an update ignores `from`", planted: anyVersion, caughtBy: [EXPLAINED] },
  {
    name: "a settlement under an old epoch is accepted",
    planted: anyEpoch,
    caughtBy: [CLOSED, "one answerable prompt at most", "every copy is closed or given up"],
  },
  {
    name: "a claim hands a row out twice",
    planted: rows((claimed) => claimed.flatMap((row) => (row.lane === "delivery" ? [row, row] : [row]))),
    caughtBy: ["one answerable prompt at most", CLOSED],
  },
  {
    name: "copies are not woken",
    planted: commits((commit) => without(commit, "wake")),
    caughtBy: [
      CLOSED,
      "every copy is closed or given up",
      "what waits has a deadline, nothing else has",
      "what waits has its deadline",
    ],
  },
  {
    name: "a deadline is not stored",
    planted: commits((commit) => ({
      ...commit,
      ...(commit.add && { add: commit.add.filter(({ lane }) => lane !== "deadline") }),
    })),
    caughtBy: ["what waits has a deadline, nothing else has", "what waits has its deadline", "no deadline is missed"],
  },
  { name: "a commit is acknowledged but not applied", planted: notApplied, caughtBy: [EXPLAINED] },
  {
    name: "a press proves nothing",
    planted: commits((commit) => without(commit, "adopt")),
    caughtBy: ["a press proves a copy"],
  },
  {
    name: "an interrupted claim looks like any other",
    planted: rows((claimed) => claimed.map((row) => ({ ...row, interrupted: false }))),
    caughtBy: ["one answerable prompt at most", CLOSED],
  },
  {
    name: "a showing is not recorded",
    planted: store((inner) => ({ settle: (settlement) => inner.settle(without(settlement, "shownAt")) })),
    caughtBy: ["what was shown counts as shown"],
  },
  { name: "a waiter is not told", planted: deafWaiter, caughtBy: ["every waiter is told"] },
  {
    name: "an event is in the log twice",
    planted: eventsRead((items) => [...items, ...items.slice(-1)]),
    caughtBy: ["the log tells each end once", "the log tells a showing once"],
  },
  {
    name: "an event is not in the log",
    planted: eventsRead((items) => items.slice(1)),
    caughtBy: ["the log tells each end once"],
  },
  { name: "expiry does not wait for the grace", planted: noGrace, caughtBy: ["nothing expires in the grace"] },
  {
    name: "a deadline is early",
    planted: store((inner) => ({
      claim: (request) => inner.claim(request.lane === "deadline" ? { ...request, now: request.now + 2_000 } : request),
      nextDue: async (lane, channel) => {
        const due = await inner.nextDue(lane, channel);
        return lane === "deadline" && due !== null ? due - 2_000 : due;
      },
    })),
    caughtBy: ["no deadline is early"],
  },
  {
    name: "a taken result is handed out again",
    planted: store(() => ({ collect: async () => {} })),
    caughtBy: ["attaches to what nobody waits for or has"],
  },
  {
    name: "a key is taken although the change was refused",
    planted: keyKept,
    caughtBy: ["the same key gets the same reply", EXPLAINED],
  },
  {
    name: "a retry is forgotten",
    planted: store((inner) => ({ settle: (settlement) => inner.settle({ ...settlement, dueAt: null }) })),
    caughtBy: ["what is to be sent is due"],
  },
  {
    name: "the line never moves on",
    planted: store(() => ({ ready: async () => {} })),
    caughtBy: ["the line moves on"],
  },
  {
    name: "a claim of the dead stays",
    planted: store(() => ({ recover: async () => {} })),
    caughtBy: ["no claim outlives its holder", "the line moves on"],
  },
];
