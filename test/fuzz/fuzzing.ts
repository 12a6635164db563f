import { diceOf } from '../support/dice.ts';
import type { Case } from './cases.ts';
import { Connection, HUNG_MS, type Outcome, type Patience } from './connection.ts';
import { FLOWS, type FlowWire, type Said } from './flows.ts';
import { Harvest } from './harvest.ts';
import { faultOf, faultOfAnswer } from './judge.ts';
import type { OddBytes } from './odd-bytes.ts';
import type { OddRequest } from './operation-requests.ts';
import { requestBytes } from './request-bytes.ts';
import { headerOf, isStream } from './response-reader.ts';

/** What went wrong, with all that is needed to send it again. */
export interface Fault {
  what: string;
  request: string;
}

/** So many things are done at once. */
const LANES = 48;
/** More faults say nothing new. */
const MAX_FAULTS = 40;
const MAX_SHOWN = 2000;
/** How long bytes that may be a request are given before this side is ended. */
const BYTES_WAIT_MS = 40;
/** How often old unfinished tasks are cancelled, in requests. */
const TIDY_EVERY = 2000;
const MANY_UNFINISHED = 200;

/** Sends cases to a server, many at once, and keeps what was wrong with the answers. */
export class Fuzzing {
  readonly faults: Fault[] = [];
  /** Of each operation and flow what became of its requests, by status or what else it was. */
  readonly outcomes: Record<string, Record<string, number>> = {};
  sent = 0;
  slowestMs = 0;
  readonly #url: string;
  readonly #host: string;
  readonly #own: [name: string, value: string][];
  readonly #harvest = new Harvest();
  readonly #idle: Connection[] = [];
  #tidied = 0;

  constructor(url: string, ownHeaders: Record<string, string>) {
    this.#url = url;
    this.#host = new URL(url).host;
    this.#own = Object.entries(ownHeaders);
  }

  /** Goes on until so many requests were sent in all. */
  async send(cases: Iterator<Case, never>, untilSent: number, onProgress: () => void): Promise<void> {
    const lane = async () => {
      while (this.sent < untilSent && this.faults.length < MAX_FAULTS) {
        await this.#do(cases.next().value);
        onProgress();
        if (this.sent - this.#tidied > TIDY_EVERY) {
          this.#tidied = this.sent;
          await this.#cancelOldest(MANY_UNFINISHED);
        }
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  }

  /** Cancels what is unfinished, and closes all connections. */
  async rest(): Promise<void> {
    while (await this.#cancelOldest(1)) {}
    for (const connection of this.#idle.splice(0)) connection.close();
  }

  async #do(next: Case): Promise<void> {
    switch (next.kind) {
      case 'bytes':
        return this.#throw(next.bytes);
      case 'request':
        return this.#request(next.request);
      case 'flow':
        return FLOWS[next.name]?.(this.#wire(next.name), diceOf(next.seed));
    }
  }

  async #request(request: OddRequest): Promise<void> {
    const isHead = request.method === 'HEAD';
    const bytes = requestBytes(request, this.#host, this.#harvest, this.#own);
    const outcome = await this.#exchange(bytes, { isHead, leaveAfterMs: request.leaveAfterMs });
    this.#judge(outcome, isHead, request.operation, bytes);
  }

  async #throw({ kind, text, mayAnswer, resets }: OddBytes): Promise<void> {
    const bytes = Buffer.from(this.#harvest.fill(text.replaceAll('{{host}}', this.#host)), 'latin1');
    this.#count('bytes', kind);
    const connection = await Connection.open(this.#url);
    if (resets) return connection.scatter(bytes);
    const { answers, broken, hung } = await connection.throw(bytes, mayAnswer ? BYTES_WAIT_MS : 0);
    // A client that has ended its side may be cut off in the middle of what it is told.
    if (hung) this.#fault('the connection stays open', kind, bytes);
    if (broken !== null && !broken.includes('in the middle')) this.#fault(broken, kind, bytes);
    for (const answer of answers) {
      // Which of the answers is that to a HEAD is not known here.
      const fault = faultOfAnswer(answer, answer.body === '' && text.includes('HEAD '));
      if (fault !== null) this.#fault(fault, kind, bytes);
    }
  }

  #wire(flow: string): FlowWire {
    const bytesOf = (method: string, target: string, body?: unknown, headers: [string, string][] = []) => {
      const json = body === undefined ? null : JSON.stringify(body);
      const typed: [string, string][] = json === null ? headers : [...headers, ['Content-Type', 'application/json']];
      const request = {
        operation: flow,
        method,
        target,
        headers: typed,
        body: json,
        framing: 'length',
        leaveAfterMs: null,
      };
      return requestBytes({ ...request, framing: 'length' }, this.#host, this.#harvest, this.#own);
    };
    return {
      ask: async (method, target, body): Promise<Said> => {
        const bytes = bytesOf(method, target, body, [['Accept', 'application/json']]);
        const outcome = await this.#exchange(bytes, {});
        this.#judge(outcome, false, flow, bytes);
        return outcome.kind === 'answer'
          ? { status: outcome.answer.status, text: outcome.answer.body }
          : { status: 0, text: '' };
      },
      hold: async (target, during) => {
        const bytes = bytesOf('GET', target);
        const connection = await Connection.open(this.#url);
        const held = connection.ask(bytes, { leaveAfterMs: HUNG_MS });
        await during();
        connection.abort();
        this.#judge(await held, false, flow, bytes);
      },
    };
  }

  /** A connection that has been used may have been closed a moment ago: then the request goes over another. */
  async #exchange(bytes: Buffer, patience: Patience): Promise<Outcome> {
    const used = this.#idle.pop();
    if (used?.isUsable) {
      const outcome = await this.#askOver(used, bytes, patience);
      if (outcome.kind !== 'closed') return outcome;
    }
    return this.#askOver(await Connection.open(this.#url), bytes, patience);
  }

  async #askOver(connection: Connection, bytes: Buffer, patience: Patience): Promise<Outcome> {
    const outcome = await connection.ask(bytes, patience);
    const isKept = outcome.kind === 'answer' && headerOf(outcome.answer, 'connection') !== 'close';
    if (isKept && connection.isUsable) this.#idle.push(connection);
    else connection.close();
    return outcome;
  }

  #judge(outcome: Outcome, isHead: boolean, name: string, bytes: Buffer): void {
    if (outcome.kind === 'answer') {
      const { answer, ms } = outcome;
      this.slowestMs = Math.max(this.slowestMs, ms);
      this.#count(name, isStream(answer) ? 'stream' : `${answer.status}`);
      if (answer.status < 300 || answer.status === 409) this.#harvest.gather(answer.body);
    } else this.#count(name, outcome.kind);
    const fault = faultOf(outcome, isHead);
    if (fault !== null) this.#fault(fault, name, bytes);
  }

  /** @returns whether there are more */
  async #cancelOldest(atLeast: number): Promise<boolean> {
    const wire = this.#wire('tidying');
    const { text } = await wire.ask('GET', '/v1/tasks?status=unfinished&order=asc&limit=200');
    const { items = [] }: { items?: { id: string }[] } = JSON.parse(text || '{}');
    if (items.length < atLeast) return false;
    await Promise.all(items.map(({ id }) => wire.ask('POST', `/v1/tasks/${id}/cancel`)));
    return true;
  }

  #count(name: string, what: string): void {
    this.sent += 1;
    const counts = this.outcomes[name] ?? {};
    counts[what] = (counts[what] ?? 0) + 1;
    this.outcomes[name] = counts;
  }

  #fault(what: string, name: string, bytes: Buffer): void {
    this.faults.push({
      what: `${name}: ${what}`,
      request: JSON.stringify(bytes.toString('latin1').slice(0, MAX_SHOWN)),
    });
  }
}
