import { oneQuestionLess, resolutionEvent } from './closing.ts';
import { endTree } from './ending.ts';
import type { Message, NewEvent } from './event.ts';
import {
  type Cut,
  childKey,
  type JournalRow,
  type RowStatus,
  STEP_TIMEOUT,
  STEP_UNCERTAIN,
  type StepFailure,
} from './journal.ts';
import type { Json } from './json.ts';
import { messageDiscarded, stepRef } from './message.ts';
import type { QuestionRecord } from './question.ts';
import type { TaskRecord } from './task.ts';
import type { View } from './view.ts';

/** A journal that something was taken out of, and what of the task goes along with it. */
export interface Journal {
  /** What is left, as it is now. */
  rows: JournalRow[];
  dropped: JournalRow[];
  marks: string[];
  inbox: Json[];
}

/** What a cut changes of a task that goes on, but for the task itself. */
interface CutBack {
  task: TaskRecord;
  tasks: TaskRecord[];
  questions: QuestionRecord[];
  rows: JournalRow[];
  droppedRows: JournalRow[];
  messages: Message[];
  events: NewEvent[];
}

/** What would end the next attempt too if it were found there, or was done because of the failure. */
const FAILED: ReadonlySet<RowStatus> = new Set(['failed', 'expired', 'declined', 'withdrawn', 'cancelled']);

/**
 * Takes the journal of a task that goes on, which must be loaded with its tree, back to before the delivery of a failure.
 * What hung on the rows that go is undone: questions are withdrawn, children cancelled, messages discarded, and what an
 * inbox had taken is put back. There is nothing to tell of it to a copy: the next attempt begins a new one.
 *
 * @see docs/durability.md
 */
export function applyCut(view: View, task: TaskRecord, cut: Cut, now: number): CutBack {
  // While it replayed, its code had told again more than is stored: what was not is still to come.
  const emits = Math.min(cut.emits, task.emits);
  const before = new Map(view.rows(task.id).map((row) => [row.key, row]));
  const { rows, dropped, marks, inbox } = cutJournal({ ...task, rows: [...before.values()] }, { ...cut, emits });
  const back: CutBack = {
    task: { ...task, marks, inbox, ord: newestOrd(rows), emits },
    tasks: [],
    questions: [],
    rows: rows.filter((row) => row !== before.get(row.key)),
    droppedRows: dropped,
    messages: [],
    events: [],
  };
  for (const row of dropped) if (row.status === 'pending') undo(view, row, back, now);
  return back;
}

/** The same without anything to undo, for the copy of a journal. Expects the marks and inbox before, gives those after. */
export function cutJournal(journal: Omit<Journal, 'dropped'>, cut: Cut): Journal {
  const isCut = ({ askedAt, key, status, ord }: JournalRow) =>
    askedAt > cut.askedAt || cut.keys.includes(key) || (FAILED.has(status) && ord !== null && ord >= cut.ord);
  const left = dropRows(journal, isCut, cut.keys);
  return { ...left, rows: left.rows.map((row) => emitsLowered(row, cut.emits)) };
}

/**
 * Takes rows out of a journal. A spawn that stays while the result of its child goes is reopened, in its place; a `once`
 * step that had begun leaves its key as a mark.
 *
 * @param excused steps that have failed, and need no mark if that was their own failure
 */
export function dropRows(
  { rows, marks, inbox }: Omit<Journal, 'dropped'>,
  isDropped: (row: JournalRow) => boolean,
  excused: readonly string[],
): Journal {
  const dropped = rows.filter(isDropped);
  const gone = new Set(dropped.map(({ key }) => key));
  const left = rows.filter(({ key }) => !gone.has(key));
  const uncertain = dropped.filter(
    (row) => row.once && row.tries > 0 && !(excused.includes(row.key) && failedItself(row)),
  );
  const taken = dropped.filter(({ kind }) => kind === 'inbox').sort((a, b) => Number(a.ord) - Number(b.ord));
  return {
    rows: left.map((row) => (row.kind === 'spawn' && gone.has(childKey(row.key)) ? reopened(row) : row)),
    dropped,
    marks: [...new Set([...marks, ...uncertain.map(({ key }) => key)])],
    inbox: [...taken.flatMap((row): Json[] => JSON.parse(jsonOf(row))), ...inbox],
  };
}

/** The place of the last of the resolutions in a journal; 0 when nothing in it is resolved. */
export function newestOrd(rows: readonly JournalRow[]): number {
  return rows.reduce((newest, { ord }) => Math.max(newest, ord ?? 0), 0);
}

function reopened(spawn: JournalRow): JournalRow {
  return { ...spawn, status: 'pending', value: null };
}

/** The events of the path that is cut off will not come again before the row. */
function emitsLowered(row: JournalRow, emits: number): JournalRow {
  return row.emitsDone !== null && row.emitsDone > emits ? { ...row, emitsDone: emits } : row;
}

/** Whether a step that has failed did so in its function, and not since nobody knows how far that has come. */
function failedItself(row: JournalRow): boolean {
  const { fields }: StepFailure = JSON.parse(jsonOf(row));
  return fields.code !== STEP_UNCERTAIN && fields.code !== STEP_TIMEOUT;
}

function jsonOf({ taskId, key, value }: JournalRow): string {
  if (value === null) throw new Error(`${key} of ${taskId} has come to nothing yet.`);
  return value;
}

/** Takes back what a pending row that goes has begun. A sleep has nothing but its row. */
function undo(view: View, row: JournalRow, back: CutBack, now: number): void {
  const { taskId, key } = row;
  if (row.kind === 'ask') {
    const question = pendingQuestion(view, row);
    const resolution = { status: 'cancelled', at: now, reason: 'withdrawn' } as const;
    back.questions.push({ ...question, resolution });
    back.events.push(resolutionEvent(question, resolution));
    back.task = oneQuestionLess(back.task);
  }
  if (row.kind === 'child') {
    const child = view
      .unfinishedChildren(taskId)
      .find(({ spawnKey }) => spawnKey !== null && childKey(spawnKey) === key);
    if (child === undefined) throw new Error(`No child of ${taskId} is under ${key}.`);
    const ended = endTree(view, child, { status: 'cancelled', reason: 'parent_retried' }, now);
    back.tasks.push(...ended.tasks);
    back.questions.push(...ended.questions);
    back.rows.push(...ended.rows);
    back.messages.push(...ended.messages);
    back.events.push(...ended.events);
  }
  if (row.message !== null) {
    const data = { messageId: row.message.id, reason: 'step_interrupted' } as const;
    back.events.push(messageDiscarded(taskId, stepRef(row), data));
  }
}

function pendingQuestion(view: View, { taskId, key }: JournalRow): QuestionRecord {
  const question = view.pendingQuestions(taskId).find(({ name }) => name === key);
  if (question === undefined) throw new Error(`No question of ${taskId} is pending under ${key}.`);
  return question;
}
