import { type Cursor, formatCursor, type StartPoint } from '../model/cursor.ts';
import { epochAt, judgeCursor } from '../model/epoch.ts';
import type { ResetReason } from '../model/error.ts';
import { isTerminal, type TaskRecord } from '../model/task.ts';
import type { LogState, Scope, Store } from '../store/store.ts';

/** A reader's place in a log. Within a retelling only trees unfinished at `until` are told, until `seq` has reached it. */
export interface Position {
  seq: number;
  until: number | null;
}

/** Where a stream begins. @see docs/protocol.md §5.2 */
export type Start =
  | { kind: 'at'; position: Position }
  /** Everything, its end included, was told before the cursor. */
  | { kind: 'over'; position: Position }
  /** The cursor cannot be served; the stream goes on from `position`. */
  | { kind: 'reset'; reason: ResetReason; position: Position };

/** What a stream is about: all of an owner's log, or one task with its children. */
export interface Subject {
  scope: Scope;
  /** Null for the whole log. */
  task: TaskRecord | null;
}

export function taskSubject(task: TaskRecord): Subject {
  const scope: Scope =
    task.rootId === task.id
      ? { kind: 'root', taskId: task.id }
      : { kind: 'child', taskId: task.id, rootId: task.rootId };
  return { scope, task };
}

/**
 * Where a reader begins who asks for `asked`.
 *
 * @param asked null when the client named no place
 */
export function startOf(store: Store, owner: string, subject: Subject, asked: StartPoint | null): Start {
  const log = store.log(owner);
  const { task } = subject;
  if (asked === null) return { kind: 'at', position: freshPosition(store, owner, subject) };
  if (asked === 'latest') return { kind: 'at', position: { seq: log.head, until: null } };
  if (asked === 'beginning') return { kind: 'at', position: { seq: beginning(subject, log), until: null } };
  const verdict = judgeCursor(log.epochs, log.head, asked);
  if (verdict !== 'valid') return { kind: 'reset', reason: verdict, position: freshPosition(store, owner, subject) };
  const position = positionOf(asked, task);
  if (task !== null && isTerminal(task.status) && position.seq >= task.lastSeq) return { kind: 'over', position };
  if (isExpired(subject, log, position)) {
    return { kind: 'reset', reason: 'expired', position: freshPosition(store, owner, subject) };
  }
  return { kind: 'at', position };
}

/** Whether something was pruned that a reader at this place would have had to be told. @see docs/protocol.md §5.3 */
export function isExpired({ task }: Subject, log: LogState, position: Position): boolean {
  const mark = task === null ? log.prunedSeq : task.prunedSeq;
  return (position.until ?? position.seq) < mark;
}

/** Where unfinished work starts: where a reader begins who knows nothing, or whose cursor was lost. */
export function freshPosition(store: Store, owner: string, subject: Subject): Position {
  const log = store.log(owner);
  if (subject.task !== null) return { seq: beginning(subject, log), until: null };
  const from = store.unfinishedFrom(owner);
  return from === null ? { seq: log.head, until: null } : { seq: from, until: log.head };
}

/** The cursor for a place: one of a retelling carries the epoch of its `until`. */
export function cursorAt(log: LogState, { seq, until }: Position): string {
  return formatCursor(epochAt(log.epochs, until ?? seq), seq, until);
}

/** The cursor for a seq outside of any retelling. */
export function plainCursor(log: LogState, seq: number): string {
  return cursorAt(log, { seq, until: null });
}

/**
 * Mints the cursors of a page, whose seqs only rise: the epoch is looked up once for all seqs that share it.
 *
 * @param until that of the retelling which the page belongs to; null for a plain one
 */
export function pageCursors({ epochs }: LogState, until: number | null): (seq: number) => string {
  let epoch = until === null ? null : epochAt(epochs, until);
  let goodBelow = until === null ? 0 : Number.POSITIVE_INFINITY;
  return (seq) => {
    if (seq >= goodBelow) {
      epoch = epochAt(epochs, seq);
      goodBelow = epochs.find(({ firstSeq }) => firstSeq > seq)?.firstSeq ?? Number.POSITIVE_INFINITY;
    }
    return formatCursor(epoch, seq, until);
  };
}

function positionOf({ seq, until }: Cursor, task: TaskRecord | null): Position {
  return { seq, until: task !== null || until === null || seq >= until ? null : until };
}

function beginning({ task }: Subject, log: LogState): number {
  return task === null ? log.prunedSeq : Math.max(task.firstSeq - 1, task.prunedSeq);
}
