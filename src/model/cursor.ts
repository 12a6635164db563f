/**
 * "I have everything up to here": a place in a log. `until` is set within a retelling and is the log's head when that began.
 *
 * @see docs/protocol.md §5.2
 */
export interface Cursor {
  epoch: string;
  seq: number;
  until: number | null;
}

/** Where a reader asks to begin: `0`, `latest`, or after a cursor. */
export type StartPoint = 'beginning' | 'latest' | Cursor;

const EPOCH_LENGTH = 8;
/** At most 42 characters. */
const CURSOR = /^[a-z0-9]{8}\.(0|[1-9][0-9]{0,15})(?:\.(0|[1-9][0-9]{0,15}))?$/;

/** @returns null when the text is none of the forms a client may send */
export function parseStartPoint(text: string): StartPoint | null {
  if (text === '0') return 'beginning';
  if (text === 'latest') return 'latest';
  const match = CURSOR.exec(text);
  if (match === null) return null;
  const [, seqText, untilText] = match;
  const seq = Number(seqText);
  const until = untilText === undefined ? null : Number(untilText);
  if (!Number.isSafeInteger(seq) || (until !== null && !Number.isSafeInteger(until))) return null;
  return { epoch: text.slice(0, EPOCH_LENGTH), seq, until };
}

/** The text of a cursor; `0` for a log in which nothing was ever written. */
export function formatCursor(epoch: string | null, seq: number, until: number | null = null): string {
  if (epoch === null) return '0';
  return until === null ? `${epoch}.${seq}` : `${epoch}.${seq}.${until}`;
}
