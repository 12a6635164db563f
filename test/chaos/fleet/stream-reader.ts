import type { IncomingMessage } from 'node:http';
import type { Dice } from '../../support/dice.ts';
import { openSocketReader, type SocketReader } from '../../support/socket-reader.ts';
import type { SseBlock } from '../../support/sse-reader.ts';
import type { Connection, Reading } from '../history.ts';
import { pass } from '../pass.ts';
import type { Field } from './field.ts';

const MAX_CUT_BYTES = 30_000;
/** A slow reader takes so many blocks, then nothing for a while. */
const SLOW_BLOCKS = 20;
const SLOW_MS = 400;

export interface StreamReader {
  /** Reads on to where nothing more is to be told at present. Settles when it has, or when the clients are to leave. */
  finish(): Promise<void>;
}

export interface StreamReaderOptions {
  reader: string;
  /** The stream, with its query. */
  path: string;
  /** The cursor of the first connection; null for none. */
  start: string | null;
  isSlow?: boolean;
}

/**
 * Reads a stream over many connections: each goes on behind the last id of the one before, and is cut at a random byte,
 * or by the server's end. Stays away when the stream has ended, but for one look.
 */
export function readStream(field: Field, { reader, path, start, isSlow = false }: StreamReaderOptions): StreamReader {
  const dice = field.diceFor(reader);
  const reading: Reading = { reader, path, connections: [] };
  field.history.readings.push(reading);
  let cursor = start;
  let current: SocketReader | null = null;
  let hasEnded = false;
  let finishing = false;
  let isDone = false;
  field.over.addEventListener('abort', () => current?.destroy());

  async function connect(): Promise<void> {
    const isLast = finishing;
    const asked = cursor;
    const response: { opened: IncomingMessage | null } = { opened: null };
    let isOver = false;
    const onBlock = ({ event, id }: SseBlock) => {
      // What was still held back for a slow reader when its connection broke.
      if (isOver) return;
      cursor = id ?? cursor;
      hasEnded ||= event === 'end';
      if (isSlow && !isLast && response.opened !== null) dawdle(response.opened, dice);
      if (!isLast || (event !== 'caught-up' && event !== 'end')) return;
      isDone = true;
      current?.destroy();
    };
    const cut = isLast || dice.below(3) === 0 ? {} : { cutAfterBytes: 1 + dice.below(MAX_CUT_BYTES) };
    current = openSocketReader(`${field.url}${path}`, { cursor: asked, onBlock, ...cut });
    response.opened = await current.opened.catch(() => null);
    await current.closed;
    isOver = true;
    if (response.opened === null) return;
    const { statusCode: status = 0 } = response.opened;
    const blocks = current.blocks.map(({ id, event, data }) => ({ id, event, data }));
    const connection: Connection = { asked, status, blocks };
    reading.connections.push(connection);
    field.history.note('connection', { reader, path, ...connection });
    if (status !== 200) isDone = true;
  }

  async function run(): Promise<void> {
    while (!isDone && !field.over.aborted) {
      await connect();
      // Who saw the end looks once more at most: it is told that there is nothing.
      if (hasEnded && dice.below(2) === 0) isDone = true;
      if (!finishing) await pass(dice.below(80), field.over);
    }
  }
  const running = run();

  return {
    finish() {
      finishing = true;
      current?.destroy();
      return running;
    },
  };
}

/** Takes nothing for a while, now and then. */
function dawdle(response: IncomingMessage, dice: Dice): void {
  if (dice.below(SLOW_BLOCKS) > 0) return;
  response.pause();
  setTimeout(() => response.resume(), dice.below(SLOW_MS));
}
