/**
 * Which SQL statements pass between a client and the server, and which of them are answered.
 *
 * A simple query counts as one statement and is answered when the server is ready again. In the extended protocol each
 * Execute counts, with the text which Parse gave its statement, and is answered when it is complete, suspended or failed.
 */
import { leadingStrings, type Message } from "./pooler-wire.ts";

export interface Statement {
  readonly sql: string;
  /** From 1, over all clients of a pooler. */
  readonly index: number;
}

export interface Flying extends Statement {
  readonly simple: boolean;
  /** The ReadyForQuery, counted from 1, which ends its round. */
  readonly round: number;
}

/**
 * Ends the answer to one Execute, unless it is an error, after which the server skips the rest of the round:
 * CommandComplete, EmptyQueryResponse, PortalSuspended.
 */
const COMPLETE = new Set(["C", "I", "s"]);

/** Command tags of statements which change the session, and calls which do so without a tag of their own. */
const TRACE_TAG = /^(SET|LISTEN|PREPARE|DECLARE|LOAD)\b/;
const TRACE_CALL = /\b(set_config|pg_advisory_lock|pg_try_advisory_lock|temp|temporary)\b/i;

/** Knows the prepared statements and portals of one client: gives the SQL of each statement which a unit runs. */
export function statementReader(): (unit: readonly Message[]) => readonly string[] {
  const prepared = new Map<string, string>();
  const portals = new Map<string, string>();

  function read(message: Message): string | null {
    const [first = "", second = ""] = leadingStrings(message, 2);
    if (message.type === "P") prepared.set(first, second);
    if (message.type === "B") portals.set(first, prepared.get(second) ?? "");
    if (message.type === "Q") return first;
    return message.type === "E" ? (portals.get(first) ?? "") : null;
  }
  return (unit) => unit.map(read).filter((sql) => sql !== null);
}

/** The statements sent and not yet answered, in order. */
export interface Flight {
  add(statement: Flying): void;
  /** The statements which this message of the server answers. */
  answeredBy(message: Message): readonly Statement[];
  isEmpty(): boolean;
}

export function openFlight(): Flight {
  let flying: readonly Flying[] = [];
  let rounds = 0;

  /** Takes out all that `is`. */
  function land(is: (one: Flying) => boolean): readonly Flying[] {
    const landed = flying.filter(is);
    flying = flying.filter((one) => !is(one));
    return landed;
  }

  return {
    isEmpty: () => flying.length === 0,
    add(statement) {
      flying = [...flying, statement];
    },
    answeredBy({ type }) {
      if (type === "Z") rounds += 1;
      if (type === "Z") return land(({ round }) => round <= rounds);
      const [head] = flying;
      if (!head || head.simple) return [];
      if (type === "E") return land(({ round }) => round === head.round).slice(0, 1);
      return COMPLETE.has(type) ? land((one) => one === head) : [];
    },
  };
}

/** Whether a statement's text, or an answer's command tag, says that the session changed beyond its transaction. */
export function leavesTraces(unit: readonly Message[], sql: readonly string[]): boolean {
  const named = unit.some((message) => message.type === "P" && leadingStrings(message, 1)[0] !== "");
  return named || sql.some((text) => TRACE_CALL.test(text));
}

export function isTrace(answer: Message): boolean {
  return answer.type === "C" && TRACE_TAG.test(leadingStrings(answer, 1)[0] ?? "");
}
