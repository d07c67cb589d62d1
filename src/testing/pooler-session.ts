/**
 * One client of the pooler: its messages go to a server connection, the answers come back, each way in order.
 *
 * What a client sends is passed on in units which the server answers as one (up to Query, Sync or Flush); an answer is
 * held back until its statement is answered in full. So a test can stand between any two steps. A client which leaves
 * in mid-transaction takes its server connection with it: PostgreSQL rolls back.
 */
import { randomInt } from "node:crypto";
import type { Socket } from "node:net";
import type { Link, Pool } from "./pooler-link.ts";
import { isTrace, leavesTraces, openFlight, type Statement, statementReader } from "./pooler-statements.ts";
import {
  type Message,
  messageReader,
  OPENING,
  openingCode,
  startupParameters,
  transactionStatus,
  write,
  writeError,
} from "./pooler-wire.ts";

/** What a session needs of its pooler. */
export interface House {
  readonly database: string;
  /** Null: each client has a server connection of its own, from `connect`. */
  readonly pool: Pool | null;
  connect(): Link;
  /** Resolves while nothing is paused. */
  gate(): Promise<void>;
  /** Counts statements, waits the delay, and calls the test's hook for each. */
  pass(sql: readonly string[], each: (statement: Statement) => void): Promise<void>;
  answered(statement: Statement): Promise<void>;
}

/** Messages of a client which make the server answer what came before: Query, FunctionCall, Sync, Flush, and a password. */
const ENDS_UNIT = new Set(["", "Q", "F", "S", "H", "p", "X"]);
/** Of these, those after which it says that it is ready. */
const ENDS_ROUND = new Set(["Q", "F", "S"]);

/** What PgBouncer takes; it refuses a session with others. https://www.pgbouncer.org/config.html#ignore_startup_parameters */
const STARTUP_PARAMETERS = new Set([
  ...["user", "database", "application_name", "client_encoding"],
  ...["datestyle", "timezone", "standard_conforming_strings"],
]);

const LOST: Message = { type: "lost", bytes: Buffer.alloc(0) };

export class Session {
  readonly #house: House;
  readonly #socket: Socket;
  readonly #statements = statementReader();
  readonly #flight = openFlight();
  readonly #requests: (unit: readonly Message[]) => void;
  readonly #answers: (message: Message) => void;
  #unit: Message[] = [];
  #held: Buffer[] = [];
  #link: Link | null = null;
  #gone = false;
  /** Rounds: what the server answers with ReadyForQuery. */
  #begun = 0;
  #ended = 0;
  /** The last unit ended with Flush: its round is still open. */
  #unsynced = false;
  /** The session of the server holds state which outlives the transaction. */
  #traces = false;

  constructor(house: House, socket: Socket) {
    this.#house = house;
    this.#socket = socket;
    const fault = () => this.destroy();
    this.#requests = inTurn((unit) => this.#request(unit), fault);
    this.#answers = inTurn((message) => this.#answer(message), fault);
    socket.setNoDelay(true);
    socket.on(
      "data",
      messageReader("client", (message) => this.#collect(message)),
    );
    socket.on("error", () => undefined);
    socket.on("close", () => void this.#leave());
  }

  destroy(): void {
    this.#gone = true;
    this.#socket.destroy();
    this.#link?.destroy();
    this.#link = null;
  }

  /** The client is gone. Where the line is paused, the server does not learn of it before it resumes. */
  async #leave(): Promise<void> {
    this.#gone = true;
    await this.#house.gate();
    this.destroy();
  }

  #collect(message: Message): void {
    this.#unit.push(message);
    if (!ENDS_UNIT.has(message.type)) return;
    this.#requests(this.#unit);
    this.#unit = [];
  }

  async #request(unit: readonly Message[]): Promise<void> {
    await this.#house.gate();
    const last = unit.at(-1)?.type ?? "";
    if (last === "X") this.#socket.end();
    else if (last === "") await this.#open(unit[0] ?? LOST);
    else await this.#forward(unit, last);
  }

  async #open(packet: Message): Promise<void> {
    const code = openingCode(packet);
    if (code === OPENING.cancel) this.#socket.end();
    else if (code === OPENING.tls || code === OPENING.gss) this.#socket.write("N");
    else if (this.#house.pool) await this.#greet(this.#house.pool, startupParameters(packet));
    else this.#introduce(packet);
  }

  /** Without a pool client and server log in with each other, which is a round of its own. */
  #introduce(packet: Message): void {
    this.#begun += 1;
    this.#own(this.#house.connect()).send(packet.bytes);
  }

  async #greet(pool: Pool, parameters: ReadonlyMap<string, string>): Promise<void> {
    const unknown = [...parameters.keys()].find((name) => !STARTUP_PARAMETERS.has(name.toLowerCase()));
    if (unknown) return this.#refuse("08P01", `unsupported startup parameter: ${unknown}`);
    const database = parameters.get("database") ?? parameters.get("user");
    if (database !== this.#house.database) return this.#refuse("3D000", `no such database behind it: ${database}`);
    const settings = await pool.greeting().catch((fault: Error) => this.#refuse("08006", fault.message));
    if (!settings) return;
    const key = write("K", randomInt(2 ** 31 - 1), randomInt(2 ** 31 - 1));
    this.#socket.write(Buffer.concat([write("R", 0), settings, key, write("Z", Buffer.from("I"))]));
  }

  #refuse(code: string, text: string): void {
    this.#socket.end(writeError(code, text));
  }

  async #forward(unit: readonly Message[], last: string): Promise<void> {
    if (ENDS_ROUND.has(last)) this.#begun += 1;
    this.#unsynced = last === "H";
    const round = this.#unsynced ? this.#begun + 1 : this.#begun;
    const link = this.#link ?? (await this.#borrow());
    if (!link) return;
    const sql = this.#statements(unit);
    this.#traces ||= leavesTraces(unit, sql);
    await this.#house.pass(sql, (statement) => this.#flight.add({ ...statement, simple: last === "Q", round }));
    link.send(Buffer.concat(unit.map((message) => message.bytes)));
  }

  /** Null when none can be had, or when the client left while it waited. */
  async #borrow(): Promise<Link | null> {
    const { pool } = this.#house;
    if (!pool) return null;
    const link = await pool.take().catch((fault: Error) => this.#refuse("08006", fault.message));
    if (!link) return null;
    if (!this.#gone) return this.#own(link);
    pool.giveBack(link, false);
    return null;
  }

  #own(link: Link): Link {
    link.owner = { hear: (message) => this.#answers(message), lost: () => this.#answers(LOST) };
    this.#link = link;
    return link;
  }

  async #answer(message: Message): Promise<void> {
    if (message === LOST) return this.#lose();
    if (message.type === "A" && this.#house.pool) return;
    this.#held.push(message.bytes);
    this.#traces ||= isTrace(message);
    const answered = this.#flight.answeredBy(message);
    for (const statement of answered) await this.#house.answered(statement);
    if (message.type === "Z") this.#ready(transactionStatus(message));
    if (message.type === "Z" || answered.length > 0 || this.#flight.isEmpty()) await this.#tell();
  }

  /** A transaction's end is the end of the loan, unless more is on its way. */
  #ready(status: string): void {
    this.#ended += 1;
    const { pool } = this.#house;
    if (!pool || !this.#link || status !== "I" || this.#ended < this.#begun || this.#unsynced) return;
    pool.giveBack(this.#link, this.#traces);
    this.#link = null;
    this.#traces = false;
  }

  async #tell(): Promise<void> {
    await this.#house.gate();
    this.#socket.write(Buffer.concat(this.#held.splice(0)));
  }

  /** The server's last words, such as that it shuts down, still reach the client. */
  async #lose(): Promise<void> {
    this.#link = null;
    await this.#tell();
    this.#socket.end();
  }
}

/** Takes things one after the other, each when the one before is done. After a fault it takes no more. */
function inTurn<T>(take: (one: T) => Promise<void>, onFault: () => void): (one: T) => void {
  const queue: T[] = [];
  let busy = false;

  async function run(): Promise<void> {
    busy = true;
    for (let one = queue.shift(); one !== undefined; one = queue.shift()) await take(one);
    busy = false;
  }
  return (one) => {
    queue.push(one);
    if (!busy) run().catch(onFault);
  };
}
