import type { RowKind, RowStatus } from '../model/journal.ts';

/** Which statuses a row of each kind may have. */
const ROW_STATUSES: Record<RowKind, readonly RowStatus[]> = {
  step: ['pending', 'done', 'failed'],
  ask: ['pending', 'answered', 'declined', 'expired', 'withdrawn'],
  sleep: ['pending', 'done'],
  inbox: ['done'],
  history: ['done'],
  spawn: ['pending', 'done'],
  child: ['pending', 'completed', 'failed', 'cancelled'],
};

/** The same as a condition on a row of `journal`. */
export const STATUS_FITS_KIND = Object.entries(ROW_STATUSES)
  .map(([kind, statuses]) => `kind = '${kind}' and status in ('${statuses.join("', '")}')`)
  .join(' or ');
