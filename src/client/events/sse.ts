import { createParser } from 'eventsource-parser';
import type { LogEvent, StreamItem } from '../event.ts';

/** What has come in one piece of a stream. */
export interface Piece {
  items: StreamItem[];
  /** The stream is finished for good. */
  ended: boolean;
}

/** Turns the text of an event stream into what the server says by it. */
export interface SseDecoder {
  decode(text: string): Piece;
  /** What the server last asked for with `retry:`, in ms. */
  readonly retryMs: number | null;
}

/** A block counts once it is complete: cut off within one, a reader has nothing of it, its id included. @see docs/protocol.md §5.3 */
export function createSseDecoder(): SseDecoder {
  let piece: Piece = { items: [], ended: false };
  let retryMs: number | null = null;
  const parser = createParser({
    onEvent({ event, id = '', data }) {
      switch (event) {
        case undefined: {
          const told: Omit<LogEvent, 'id'> = JSON.parse(data);
          piece.items.push({ id, ...told } as LogEvent);
          break;
        }
        case 'caught-up':
          piece.items.push({ type: 'caught-up', id });
          break;
        case 'reset':
          piece.items.push({ type: 'reset', id, reason: JSON.parse(data).reason });
          break;
        case 'end':
          piece.ended = true;
          break;
        // `bye` says no more than that the connection ends, which it does; a later version may send other signals.
      }
    },
    onRetry(ms) {
      retryMs = ms;
    },
  });
  return {
    decode(text) {
      piece = { items: [], ended: false };
      parser.feed(text);
      return piece;
    },
    get retryMs() {
      return retryMs;
    },
  };
}
