import { connect, type Socket } from 'node:net';
import { isStream, ResponseReader, type WireAnswer, WireError } from './response-reader.ts';

/** What became of bytes that were sent. */
export type Outcome =
  | { kind: 'answer'; answer: WireAnswer; ms: number }
  /** The client went before the answer was whole: of a stream always, which has no end. */
  | { kind: 'left'; head: WireAnswer | null; soFar: string }
  | { kind: 'closed' }
  | { kind: 'hung'; ms: number }
  | { kind: 'broken'; why: string };

export interface Patience {
  isHead?: boolean;
  /** Go away after so long, if the answer has not come by then, or is a stream. */
  leaveAfterMs?: number | null;
}

/** Nothing that was asked for takes longer, on a machine that has other things to do. */
export const HUNG_MS = 30_000;
/** Loopback addresses to come from, so that ports which the system keeps for a minute do not run out. */
const SOURCES = 200;
/** At the beginning, and behind what ends a head. */
const METHOD = /(?:^|\r\n\r\n)([A-Z]+) \S* HTTP/g;
let opened = 0;

/** A connection on which bytes go as they are, and every answer is read to the letter. */
export class Connection {
  readonly #socket: Socket;
  readonly #reader: ResponseReader;
  readonly #answers: WireAnswer[] = [];
  /** Of the requests that were sent, one after the other. */
  #areHeads: boolean[] = [];
  #isClosed = false;
  #isAborted = false;
  #broken: string | null = null;
  #changed: () => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#reader = new ResponseReader(
      (answer) => this.#answers.push(answer),
      () => this.#areHeads.shift() ?? false,
    );
    socket.on('data', (bytes) => this.#read(() => this.#reader.push(bytes)));
    socket.on('end', () => this.#read(() => this.#reader.end()));
    // A reset is a way to be refused.
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#isClosed = true;
      this.#changed();
    });
  }

  /** @throws Error of `node:net` when nobody listens */
  static open(url: string): Promise<Connection> {
    const { port } = new URL(url);
    const localAddress = `127.0.0.${2 + (opened++ % SOURCES)}`;
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress, noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Connection(socket));
      });
    });
  }

  get isUsable(): boolean {
    return !this.#isClosed && this.#broken === null && !this.#socket.destroyed && this.#socket.writable;
  }

  /** Sends a request, and waits for what becomes of it. Nothing else may be under way. */
  async ask(bytes: Buffer, { isHead = false, leaveAfterMs = null }: Patience = {}): Promise<Outcome> {
    const startedAt = performance.now();
    this.#areHeads = [isHead];
    this.#socket.write(bytes);
    const outcome = await this.#outcome(startedAt, leaveAfterMs);
    if (outcome.kind === 'left') this.abort();
    else if (outcome.kind !== 'answer') this.#socket.destroy();
    return outcome;
  }

  /**
   * Sends bytes that may be no request, ends this side, and reads what there is until the server has closed its own.
   *
   * @returns all answers, and null for `broken` when all of it was HTTP
   */
  async throw(
    bytes: Buffer,
    waitsMs: number,
  ): Promise<{ answers: WireAnswer[]; broken: string | null; hung: boolean }> {
    this.#areHeads = [...bytes.toString('latin1').matchAll(METHOD)].map(([, method]) => method === 'HEAD');
    this.#socket.write(bytes);
    if (waitsMs > 0) await this.#until(() => this.#answers.length > 0, waitsMs);
    this.#socket.end();
    const isOver = await this.#until(() => this.#isClosed, HUNG_MS);
    this.#socket.destroy();
    return { answers: this.#answers.splice(0), broken: this.#broken, hung: !isOver };
  }

  /** Sends bytes, and is gone. */
  scatter(bytes: Buffer): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.once('close', () => resolve());
      this.#socket.write(bytes, () => this.abort());
    });
  }

  /** Goes away with a reset, so that no port is kept. */
  abort(): void {
    this.#isAborted = true;
    this.#socket.resetAndDestroy();
  }

  close(): void {
    this.#socket.destroy();
  }

  async #outcome(startedAt: number, leaveAfterMs: number | null): Promise<Outcome> {
    const isOver = () => this.#answers.length > 0 || this.#isClosed || this.#broken !== null;
    const isOpenStream = () => this.#reader.unfinished !== null && isStream(this.#reader.unfinished);
    const came = await this.#until(() => isOver() || isOpenStream(), leaveAfterMs ?? HUNG_MS);
    // Of a stream whoever waits for no time takes what has come with the head.
    if (came && !isOver()) await this.#until(isOver, leaveAfterMs ?? 0);
    const answer = this.#answers.shift();
    const ms = performance.now() - startedAt;
    if (this.#broken !== null) return { kind: 'broken', why: this.#broken };
    if (answer !== undefined) return { kind: 'answer', answer, ms };
    if (this.#isClosed && !this.#isAborted) return { kind: 'closed' };
    if (this.#isAborted || came || leaveAfterMs !== null) {
      return { kind: 'left', head: this.#reader.unfinished, soFar: this.#reader.soFar };
    }
    return { kind: 'hung', ms };
  }

  /** @returns whether it came to hold in time */
  #until(holds: () => boolean, withinMs: number): Promise<boolean> {
    if (holds()) return Promise.resolve(true);
    if (withinMs <= 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const settle = (value: boolean) => {
        clearTimeout(timer);
        this.#changed = () => {};
        resolve(value);
      };
      const timer = setTimeout(() => settle(false), withinMs);
      this.#changed = () => {
        if (holds()) settle(true);
      };
    });
  }

  #read(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#broken = error.message;
      this.#socket.destroy();
    }
    this.#changed();
  }
}
