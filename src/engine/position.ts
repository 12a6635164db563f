import type { ConversationRecord } from '../model/conversation.ts';
import { type Cursor, formatCursor, type StartPoint } from '../model/cursor.ts';
import { epochAt, judgeCursor } from '../model/epoch.ts';
import type { ResetReason } from '../model/error.ts';
import { type Event, isTerminalEvent } from '../model/event.ts';
import { isTerminal, type TaskRecord } from '../model/task.ts';
import type { LogState, Queries, Scope } from '../store/store.ts';

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

/** What a stream is about: all of an owner's log, one conversation, or one task with its children. */
export interface Subject {
  scope: Scope;
  /** Null for anything but a task. */
  task: TaskRecord | null;
  /** Null for anything but a conversation. */
  conversation: ConversationRecord | null;
}

export const EVERYTHING: Subject = { scope: { kind: 'log' }, task: null, conversation: null };

export function conversationSubject(conversation: ConversationRecord): Subject {
  return { scope: { kind: 'conversation', conversationId: conversation.id }, task: null, conversation };
}

/**
 * The same as it is now; a conversation that is not there any more, as it was.
 *
 * @returns null when its task was deleted with its conversation: there is no event that would tell its stream so
 */
export async function subjectNow(reads: Queries, owner: string, subject: Subject): Promise<Subject | null> {
  const { task, conversation } = subject;
  if (task !== null) {
    const now = await reads.task(owner, task.id);
    return now && { ...subject, task: now };
  }
  if (conversation === null) return subject;
  return { ...subject, conversation: (await reads.conversation(owner, conversation.id)) ?? conversation };
}

/** Whether a stream ends with this event. */
export function isEndOf({ task, conversation }: Subject, event: Event): boolean {
  if (task !== null) return event.taskId === task.id && isTerminalEvent(event.type);
  return conversation !== null && event.type === 'conversation.deleted' && event.conversationId === conversation.id;
}

export function taskSubject(task: TaskRecord): Subject {
  const scope: Scope =
    task.rootId === task.id
      ? { kind: 'root', taskId: task.id }
      : { kind: 'child', taskId: task.id, rootId: task.rootId };
  return { scope, task, conversation: null };
}

/**
 * Where a reader begins who asks for `asked`.
 *
 * @param reads those of one snapshot
 * @param asked null when the client named no place
 */
export async function startOf(
  reads: Queries,
  owner: string,
  subject: Subject,
  asked: StartPoint | null,
): Promise<Start> {
  const { log, position: fresh } = await freshPosition(reads, owner, subject);
  const { task } = subject;
  if (asked === null) return { kind: 'at', position: fresh };
  if (asked === 'latest') return { kind: 'at', position: { seq: log.head, until: null } };
  if (asked === 'beginning') return { kind: 'at', position: { seq: beginning(subject, log), until: null } };
  const verdict = judgeCursor(log.epochs, log.head, asked);
  if (verdict !== 'valid') return { kind: 'reset', reason: verdict, position: fresh };
  const position = positionOf(asked, task);
  if (task !== null && isTerminal(task.status) && position.seq >= task.lastSeq) return { kind: 'over', position };
  if (isExpired(subject, log, position)) return { kind: 'reset', reason: 'expired', position: fresh };
  return { kind: 'at', position };
}

/** Whether something was pruned that a reader at this place would have had to be told. @see docs/protocol.md §5.3 */
export function isExpired(subject: Subject, log: LogState, position: Position): boolean {
  return (position.until ?? position.seq) < markOf(subject, log);
}

/** The highest seq pruned out of what a stream is about. */
function markOf({ task, conversation }: Subject, log: LogState): number {
  return (task ?? conversation ?? log).prunedSeq;
}

/**
 * Where unfinished work starts: where a reader begins who knows nothing, or whose cursor was lost. With the log of that
 * instant.
 *
 * @param reads those of one snapshot
 */
export async function freshPosition(
  reads: Queries,
  owner: string,
  subject: Subject,
): Promise<{ log: LogState; position: Position }> {
  const { task, conversation } = subject;
  const [log, from] = await Promise.all([
    reads.log(owner),
    task === null ? reads.unfinishedFrom(owner, conversation?.id) : null,
  ]);
  return {
    log,
    position: task === null ? retellingFrom(from, log) : { seq: beginning(subject, log), until: null },
  };
}

/** @param from just before the first event of what is unfinished; null when nothing is */
export function retellingFrom(from: number | null, { head }: LogState): Position {
  return from === null ? { seq: head, until: null } : { seq: from, until: head };
}

/** The cursor for a place: one of a retelling carries the epoch of its `until`. */
export function cursorAt(log: LogState, { seq, until }: Position): string {
  return formatCursor(epochAt(log.epochs, until ?? seq), seq, until);
}

/** The cursor for a seq outside of any retelling. */
export function plainCursor(log: LogState, seq: number): string {
  return cursorAt(log, { seq, until: null });
}

/** The cursor for all that there is. */
export function headCursor(log: LogState): string {
  return plainCursor(log, log.head);
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

function beginning(subject: Subject, log: LogState): number {
  const { task } = subject;
  const mark = markOf(subject, log);
  return task === null ? mark : Math.max(task.firstSeq - 1, mark);
}
