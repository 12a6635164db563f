/** An answer as it stood on the wire. */
export interface WireAnswer {
  status: number;
  /** Names in lower case, in the order in which they came. */
  headers: [name: string, value: string][];
  body: string;
}

/** What a server sent is no HTTP. */
export class WireError extends Error {
  override readonly name = 'WireError';
}

type Framing = { kind: 'none' } | { kind: 'length'; left: number } | { kind: 'chunked' } | { kind: 'rest' };

const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) [ -~]*$/;
const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([\t\x20-\x7e\x80-\xff]*)$/;

export function headerOf(answer: Pick<WireAnswer, 'headers'>, name: string): string | null {
  return answer.headers.find(([found]) => found === name)?.[1] ?? null;
}

export function isStream(answer: Pick<WireAnswer, 'headers'>): boolean {
  return headerOf(answer, 'content-type')?.startsWith('text/event-stream') ?? false;
}

/** Reads answers off a connection, strictly: RFC 9112, with nothing forgiven that a server has no reason to send. */
export class ResponseReader {
  #rest: Buffer = Buffer.alloc(0);
  #open: { answer: WireAnswer; parts: Buffer[]; framing: Framing } | null = null;
  readonly #onAnswer: (answer: WireAnswer) => void;
  readonly #isHead: () => boolean;

  /** @param isHead whether the request that is answered next was a HEAD, to which there is no body */
  constructor(onAnswer: (answer: WireAnswer) => void, isHead: () => boolean) {
    this.#onAnswer = onAnswer;
    this.#isHead = isHead;
  }

  /** The answer whose head has come and whose end has not; null between answers. */
  get unfinished(): WireAnswer | null {
    return this.#open?.answer ?? null;
  }

  /** What has come of the unfinished answer's body. */
  get soFar(): string {
    return Buffer.concat(this.#open?.parts ?? []).toString();
  }

  /** @throws WireError */
  push(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    while (this.#rest.length > 0 && this.#step()) {}
  }

  /** The server has closed its side. @throws WireError when an answer is cut off by that */
  end(): void {
    const open = this.#open;
    if (open === null && this.#rest.length === 0) return;
    if (open?.framing.kind !== 'rest') throw new WireError('The connection was closed in the middle of an answer.');
    this.#finish();
  }

  /** @returns false when more bytes are needed */
  #step(): boolean {
    if (this.#open === null) return this.#readHead();
    const { framing, parts } = this.#open;
    switch (framing.kind) {
      case 'none':
        return false;
      case 'length': {
        const part = this.#rest.subarray(0, framing.left);
        parts.push(part);
        framing.left -= part.length;
        this.#rest = this.#rest.subarray(part.length);
        if (framing.left === 0) this.#finish();
        return true;
      }
      case 'rest':
        parts.push(this.#rest);
        this.#rest = Buffer.alloc(0);
        return true;
      case 'chunked':
        return this.#readChunk(parts);
    }
  }

  #readHead(): boolean {
    const end = this.#rest.indexOf('\r\n\r\n');
    if (end < 0) return false;
    const [statusLine = '', ...lines] = this.#rest.subarray(0, end).toString('latin1').split('\r\n');
    this.#rest = this.#rest.subarray(end + 4);
    const status = Number(STATUS_LINE.exec(statusLine)?.[1]);
    if (Number.isNaN(status)) throw new WireError(`No status line: ${JSON.stringify(statusLine.slice(0, 200))}`);
    const headers = lines.map((line): [string, string] => {
      const [, name, value] = HEADER_LINE.exec(line) ?? [];
      if (name === undefined || value === undefined) throw new WireError(`No header: ${JSON.stringify(line)}`);
      return [name.toLowerCase(), value];
    });
    // 100 Continue is no answer yet.
    if (status < 200) return true;
    const answer = { status, headers, body: '' };
    const framing = framingOf(answer, this.#isHead());
    this.#open = { answer, parts: [], framing };
    if (framing.kind === 'none' || (framing.kind === 'length' && framing.left === 0)) this.#finish();
    return true;
  }

  #readChunk(parts: Buffer[]): boolean {
    const end = this.#rest.indexOf('\r\n');
    if (end < 0) return false;
    const size = this.#rest.subarray(0, end).toString('latin1');
    if (!/^[0-9a-f]+$/i.test(size)) throw new WireError(`No size of a chunk: ${JSON.stringify(size.slice(0, 100))}`);
    const from = end + 2;
    const to = from + Number.parseInt(size, 16);
    if (this.#rest.length < to + 2) return false;
    parts.push(this.#rest.subarray(from, to));
    this.#rest = this.#rest.subarray(to + 2);
    if (to === from) this.#finish();
    return true;
  }

  #finish(): void {
    if (this.#open === null) return;
    const { answer, parts } = this.#open;
    this.#open = null;
    this.#onAnswer({ ...answer, body: Buffer.concat(parts).toString() });
  }
}

function framingOf(answer: WireAnswer, isHead: boolean): Framing {
  if (isHead || answer.status === 204 || answer.status === 304) return { kind: 'none' };
  const length = headerOf(answer, 'content-length');
  const coding = headerOf(answer, 'transfer-encoding');
  if (length !== null && coding !== null) throw new WireError('Both a length and a transfer coding.');
  if (coding === 'chunked') return { kind: 'chunked' };
  return length === null ? { kind: 'rest' } : { kind: 'length', left: Number(length) };
}
