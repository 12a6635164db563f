import { formatCursor } from '../model/cursor.ts';
import { type Event, eventJson } from '../model/event.ts';
import { eventFrame } from './frame.ts';

/** The events of a scope after a seq, up to `head`: all of them, or as many as are sent at a time. */
export interface Recent {
  head: number;
  /** Whether that is all that is known. */
  isAll: boolean;
  /** Under which all of them were written. */
  epoch: string;
  events: readonly Event[];
  /** All of them as SSE messages; built once for every reader that stands at the same place. */
  frames(): Buffer;
}

/** A ring holds at least so many events, if they are small, and is cut when it reaches twice that … */
const RING_EVENTS = 1024;
/** … or so many bytes. */
const RING_BYTES = 4 * 1024 * 1024;
/** So much is sent at a time, and one event more: a reader that takes little must not make the server keep much for it. */
const STRETCH_BYTES = 256 * 1024;
/** What an event takes beside its data. */
const ENTRY_BYTES = 200;

/** The newest events of a scope. */
export interface Ring {
  /** Every event of the scope after this seq is in `entries`. */
  base: number;
  entries: Event[];
  /** About how much memory the entries hold. */
  bytes: number;
  chunk: { after: number; head: number; bytes: Buffer } | null;
}

export function createRing(base: number): Ring {
  return { base, entries: [], bytes: 0, chunk: null };
}

/** Empties a ring: what comes after this seq it will hold again. */
export function restart(ring: Ring, base: number): void {
  ring.base = base;
  ring.entries = [];
  ring.bytes = 0;
  ring.chunk = null;
}

export function push(ring: Ring, entry: Event): void {
  ring.entries.push(entry);
  ring.bytes += sizeOf(entry);
  if (ring.bytes > RING_BYTES) restart(ring, entry.seq);
  else if (ring.entries.length === 2 * RING_EVENTS) {
    ring.entries = ring.entries.slice(-RING_EVENTS);
    ring.base = (ring.entries[0]?.seq ?? 1) - 1;
    ring.bytes = ring.entries.reduce((sum, each) => sum + sizeOf(each), 0);
  }
}

function sizeOf({ data }: Event): number {
  return data.length + ENTRY_BYTES;
}

/** What a ring holds after a seq. @param known the seq up to which it is complete */
export function recent(ring: Ring, after: number, known: number, epoch: string): Recent {
  const { entries } = ring;
  let from = entries.length;
  while (from > 0 && (entries[from - 1]?.seq ?? 0) > after) from--;
  const events: Event[] = [];
  let bytes = 0;
  for (const event of entries.slice(from)) {
    if (bytes >= STRETCH_BYTES) break;
    events.push(event);
    bytes += sizeOf(event);
  }
  const isAll = from + events.length === entries.length;
  const head = isAll ? known : (events.at(-1)?.seq ?? known);
  return {
    head,
    isAll,
    epoch,
    events,
    frames() {
      if (ring.chunk?.after === after && ring.chunk.head === head) return ring.chunk.bytes;
      let text = '';
      for (const event of events) text += eventFrame(formatCursor(epoch, event.seq), eventJson(event));
      const bytes = Buffer.from(text);
      ring.chunk = { after, head, bytes };
      return bytes;
    },
  };
}
