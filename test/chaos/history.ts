import { createWriteStream, type WriteStream } from 'node:fs';
import type { Json } from '../../src/model/json.ts';
import type { SseBlock } from '../support/sse-reader.ts';

/** What clients ask for that has an effect. */
export type Verb = 'create' | 'answer' | 'decline' | 'cancel';

/** A request, which was sent until a reply settled it. */
export interface Request {
  client: string;
  verb: Verb;
  /** The ticket of a task to be, else the id of the question or task. */
  target: string;
  path: string;
  body: Json;
  /** The Idempotency-Key. */
  key: string | null;
  /** The status of each sending, and the code of a refusal; null when no reply came of it. */
  tries: { at: number; status: number | null; code: string | null }[];
  /** Null when nothing had settled it when the round was over. */
  reply: Reply | null;
}

export interface Reply {
  status: number;
  replayed: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: rules look into every shape of it
  body: any;
}

/** A block with data, as a reader got it. */
export type Block = Pick<SseBlock, 'id' | 'event' | 'data'>;

/** A connection that a reader had, from where the one before it had come to. */
export interface Connection {
  /** The cursor it asked with; null for none. */
  asked: string | null;
  status: number;
  blocks: Block[];
}

/** What one reader was told, over all its connections. */
export interface Reading {
  reader: string;
  /** The stream, with its query. */
  path: string;
  connections: Connection[];
}

/** A process of the server, from its start to its end. Times are epoch ms. */
export interface Life {
  pid: number;
  bootedAt: number;
  /** When it served; null when it ended before. */
  readyAt: number | null;
  /** When it was told to end; null when it was not. */
  toldToEndAt: number | null;
  /** Null while it lives. */
  endedAt: number | null;
  /** Who ended it. */
  endedBy: 'kill' | 'stop' | 'itself' | null;
  /** When it was stopped by SIGSTOP, and when it went on; null while it stands still, and for ever when it ended so. */
  pauses: { from: number; to: number | null }[];
  /** Whether it was started so that it may end by itself. */
  mayEndItself: boolean;
  code: number | null;
  signal: string | null;
  stderr: string;
}

/** What clients and the server's processes did in a round: kept for the rules, and as lines of JSON for people. */
export class History {
  readonly requests: Request[] = [];
  readonly readings: Reading[] = [];
  readonly lives: Life[] = [];
  readonly #file: WriteStream;

  constructor(file: string) {
    this.#file = createWriteStream(file);
  }

  /** Writes a line. What the rules see of it is what it says when they look. */
  note(kind: 'request' | 'connection' | 'life' | 'phase', what: object): void {
    this.#file.write(`${JSON.stringify({ kind, noted: Date.now(), ...what })}\n`);
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#file.end(resolve));
  }
}
