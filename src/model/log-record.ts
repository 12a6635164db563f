/** One owner's log: where it stands, and how much of the owner's is unfinished. */
export interface LogRecord {
  owner: string;
  /** The newest seq; 0 for an empty log. */
  head: number;
  /** The highest seq pruned out of the log; 0 when nothing was. */
  prunedSeq: number;
  /** The epoch of its newest `log_epoch` row; null before the first event. */
  epoch: string | null;
  /** How many tasks without a parent have not ended. */
  unfinishedRoots: number;
  pendingQuestions: number;
}

/** The log of an owner of whom nothing is stored yet. */
export function newLog(owner: string): LogRecord {
  return { owner, head: 0, prunedSeq: 0, epoch: null, unfinishedRoots: 0, pendingQuestions: 0 };
}
