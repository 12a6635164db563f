/** What an agent's code waits for under a key. `child`: the result of the `spawn` whose key stands before its `>`. */
export type RowKind = 'step' | 'ask' | 'sleep' | 'inbox' | 'history' | 'spawn' | 'child';

/**
 * `done` and `failed` for a step, `done` for a sleep, an inbox, a history and a spawn; `answered` to `withdrawn` for an ask;
 * `completed`, `failed` and `cancelled` for a child.
 */
export type RowStatus =
  | 'pending'
  | 'done'
  | 'failed'
  | 'answered'
  | 'declined'
  | 'expired'
  | 'withdrawn'
  | 'completed'
  | 'cancelled';

export interface RowKey {
  taskId: string;
  /** The name that the agent gave, from its second use with `#2`, `#3` …; a child's result has that of its spawn and `>`. */
  key: string;
}

/** One key of a task's journal. @see docs/durability.md */
export interface JournalRow extends RowKey {
  kind: RowKind;
  status: RowStatus;
  /**
   * JSON text; null while it is pending. A step: its value, or its {@link StepFailure}. An ask: the agent's `Reply`. A
   * sleep: `null`. An inbox: the array of messages. A history: the array of turns. A spawn: the child's id. A child: its `ChildResult`.
   */
  value: string | null;
  /** How many deliveries the code had been given when it called. */
  askedAt: number;
  /**
   * Its place among the resolutions of the task, growing, with gaps; null while it is pending, as are the next two. Only
   * a spawn that was reopened, since the result of its child was taken back, is pending and keeps all three: once it has
   * another child it is delivered at its old place.
   */
  ord: number | null;
  /** The task's `emits` when it was resolved: events up to this number are delivered before it, others after. */
  emitsDone: number | null;
  /** When it was resolved, epoch ms. */
  at: number | null;
  /** How many times a step's function has begun; 0 for the other kinds. */
  tries: number;
  once: boolean;
  /** When a pending sleep ends, epoch ms; null for everything else, and when its task has ended. */
  dueAt: number | null;
  /** The message that a pending step has begun and not ended, and the seq before its first event; null when there is none. */
  message: { id: string; afterSeq: number } | null;
}

/** The key under which the result of a child stands, beside that of its spawn. */
export function childKey(spawnKey: string): string {
  return `${spawnKey}>`;
}

/** How a step failed for good, as the agent's `catch` sees it, live as on replay. */
export interface StepFailure {
  name: string;
  message: string;
  /** The error's own enumerable properties that are scalars: `code`, `status` … */
  fields: { [name: string]: string | number | boolean | null };
  cause: StepFailure | null;
}

/** The `code` of the error that a `once` step throws when it may have run before. */
export const STEP_UNCERTAIN = 'step_uncertain';
/** The code of a step that has used up its time, while its function may go on. */
export const STEP_TIMEOUT = 'step_timeout';

/** What a key came to, in the order of the store. */
export interface KeyResolution extends RowKey {
  ord: number;
  emitsDone: number;
  /** Epoch ms. */
  at: number;
  status: Exclude<RowStatus, 'pending'>;
  /** As {@link JournalRow.value}; null for a step, whose copy has it. */
  value: string | null;
}

/**
 * Where an attempt's journal is taken back to, seen from its failure: what the code did because of it must not be found
 * by another path.
 */
export interface Cut {
  /** The rows whose failure ended the attempt. */
  keys: string[];
  /** Deliveries before the first of them. */
  askedAt: number;
  /** The `ord` of the first of them. */
  ord: number;
  /** Events that the code had emitted outside steps by then. */
  emits: number;
}
