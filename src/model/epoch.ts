import type { Cursor } from './cursor.ts';

/** The events of a log from `firstSeq` on were written under this epoch, up to the next row's `firstSeq`. */
export interface EpochRow {
  epoch: string;
  firstSeq: number;
}

const EPOCH_LENGTH = 8;
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Names an epoch from 8 random bytes. The slight bias of the modulus does not matter here. */
export function formatEpoch(random: Uint8Array): string {
  return Array.from(random.subarray(0, EPOCH_LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
}

/**
 * The epoch that a cursor for `seq` carries: that of the newest row whose `firstSeq` ≤ `seq`, the oldest row's for 0.
 *
 * @param epochs a log's rows, ascending
 * @returns null for a log without rows, whose only cursor is `0`
 */
export function epochAt(epochs: readonly EpochRow[], seq: number): string | null {
  const row = epochs.findLast(({ firstSeq }) => firstSeq <= seq) ?? epochs[0];
  return row === undefined ? null : row.epoch;
}

/**
 * Whether a cursor still tells the truth about this log. A restored file, a copied-back directory and a fork all come
 * out as a position above what its epoch is known to hold here, or as an epoch nobody here has heard of.
 *
 * @param head the log's newest seq
 * @see docs/decisions/001-one-log-per-owner.md
 */
export function judgeCursor(epochs: readonly EpochRow[], head: number, cursor: Cursor): 'valid' | 'unknown' | 'ahead' {
  const at = epochs.findIndex(({ epoch }) => epoch === cursor.epoch);
  if (at < 0) return 'unknown';
  const next = epochs[at + 1];
  const last = next === undefined ? head : next.firstSeq - 1;
  const position = cursor.until ?? cursor.seq;
  return position <= last && cursor.seq <= position ? 'valid' : 'ahead';
}
