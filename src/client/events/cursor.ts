/**
 * The seq in a cursor, of a retelling too.
 *
 * @param cursor `<epoch>.<seq>` or `<epoch>.<seq>.<until>`, as the server minted it
 * @see docs/protocol.md §5.2
 */
export function seqOf(cursor: string): number {
  return Number(cursor.split('.')[1]);
}

/** The place that a stream was asked to start after; null for `0` and `latest`, which are asked for and are none. */
export function placeOf(asked: string | null): string | null {
  return asked?.includes('.') ? asked : null;
}

export function isAfter(cursor: string, other: string): boolean {
  return seqOf(cursor) > seqOf(other);
}

/** Whether both were minted for the same stretch of the log's history. */
export function isSameEpoch(cursor: string, other: string): boolean {
  return cursor.split('.')[0] === other.split('.')[0];
}
