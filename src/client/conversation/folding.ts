import type { CaughtUp, LogEvent } from '../event.ts';
import { fold } from './conversation-fold.ts';
import { EMPTY_FOLD, type FoldState } from './fold-state.ts';

/** What a conversation has come to, and what of that is fit to be shown. */
export interface Folding {
  /** What reads and events have come to. */
  truth(): FoldState;
  /** The same, but for what is only half told again. */
  shown(): FoldState;
  /** Begins anew with what was read. What was shown stays until all that is unfinished has been told again. */
  begin(read: FoldState): void;
  tell(item: LogEvent | CaughtUp): void;
  /** For what is known from elsewhere than reads and events. */
  change(to: (state: FoldState) => FoldState): void;
}

export function createFolding(): Folding {
  let truth = EMPTY_FOLD;
  /** Null while the truth is shown. */
  let meanwhile: FoldState | null = null;
  /** The last seq of the retelling. */
  let until = 0;

  return {
    truth: () => truth,
    shown: () => meanwhile ?? truth,
    begin(read) {
      const [, , head] = read.cursor?.split('.') ?? [];
      const isFirst = truth.conversation === null;
      until = Number(head);
      meanwhile = head === undefined ? null : isFirst ? read : (meanwhile ?? truth);
      truth = read;
    },
    tell(item) {
      truth = fold(truth, item);
      if (item.type === 'caught-up' || item.seq > until) meanwhile = null;
    },
    change(to) {
      truth = to(truth);
      meanwhile &&= to(meanwhile);
    },
  };
}
