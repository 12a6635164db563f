import type { RowKind } from '../model/journal.ts';
import type { Deliveries } from './deliveries.ts';
import type { StartRow } from './protocol.ts';
import { rowName } from './report-name.ts';

/** Why code that asks for this cannot be the code that wrote the row. */
export function otherKind(row: StartRow, asked: RowKind): string {
  return `The journal has ${rowName(row.kind, row.key)}, but the code asks for ${rowName(asked, row.key)}.`;
}

/**
 * Why code that is replayed and makes no headway is taken for another: what its journal has next, and what it came to
 * instead.
 *
 * @param held what it has called for that the journal does not know, the first of it; null when there is nothing
 */
export function noHeadway({ missing, emits }: Deliveries, hasEnded: boolean, held: string | null): string {
  const due = missing === null ? `its event number ${emits.called + 1}` : rowName(missing.kind, missing.key);
  const instead = held !== null ? `it came to ${held}` : hasEnded ? 'it has ended' : 'it does nothing';
  return `The journal has ${due} next, but the code has not come to that again: ${instead} instead.`;
}
