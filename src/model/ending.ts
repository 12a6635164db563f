import type { ChildResult } from './agent.ts';
import { type Message, type NewEvent, newEvent, type StepRef } from './event.ts';
import { type Cut, childKey, type JournalRow } from './journal.ts';
import type { Json } from './json.ts';
import { said, stepRef } from './message.ts';
import type { CancelReason, QuestionRecord } from './question.ts';
import { type Resolved, resolveRow } from './resolving.ts';
import { rowOf } from './row.ts';
import { moveTask, type TaskRecord } from './task.ts';
import type { TaskError } from './task-error.ts';
import { type BegunTurn, beginTurn, emptyMessageId, untaken, withoutWritten } from './turn.ts';
import { accept, type Decision, type TaskResult } from './verb.ts';
import type { View } from './view.ts';

/** How a task comes to its end. */
export type Ending =
  | { status: 'completed'; output: Json }
  /** `cut`: where `retry` takes its journal back to. */
  | { status: 'failed'; error: TaskError; cut: Cut | null }
  /** `interrupted`: by what was written next, or with its conversation. What was sent to it and not taken begins nothing then. */
  | { status: 'cancelled'; reason: string | null; interrupted?: boolean };

/** What the end of a tree of tasks changes. */
export interface EndedTree {
  /** The one at the top, as it is then. */
  task: TaskRecord;
  tasks: TaskRecord[];
  questions: QuestionRecord[];
  rows: JournalRow[];
  messages: Message[];
  events: NewEvent[];
}

/**
 * Ends a task whose tree is loaded: its pending questions and unfinished children end in the same transaction, the
 * children first, and its own terminal event is the last of its tree. The parent of a child is told what came of it.
 *
 * @param task as it is when it ends: `held` stays as it is, since a worker may still run its code
 * @see docs/protocol.md §4
 */
export function endTask(view: View, task: TaskRecord, ending: Ending, now: number): Decision<TaskResult> {
  const { task: ended, tasks, questions, rows, messages, events } = endTree(view, task, ending, now);
  const told = tellParent(view, ended, ending, now);
  const result = { task: ended };
  if (told === null) return accept(result, { changes: { tasks, questions, rows, messages }, events });
  return accept(result, {
    changes: { tasks: [...tasks, told.task], questions, rows: [...rows, told.row], messages },
    events: [...events, ...told.events],
    resolutions: [told.resolution],
  });
}

/** As {@link endTask}, without a word to the parent: for one that ends as well, or takes the child back. */
export function endTree(view: View, task: TaskRecord, ending: Ending, now: number): EndedTree {
  const tasks: TaskRecord[] = [];
  const questions: QuestionRecord[] = [];
  const rows: JournalRow[] = [];
  const messages: Message[] = [];
  const events: NewEvent[] = [];
  const interrupted = ending.status === 'cancelled' && ending.interrupted === true;

  const end = (each: TaskRecord, how: Ending): TaskRecord => {
    const reason = interrupted ? 'interrupted' : questionReason(how);
    for (const child of view.unfinishedChildren(each.id))
      end(child, { status: 'cancelled', reason: 'parent_finished' });
    for (const question of view.pendingQuestions(each.id)) {
      questions.push({ ...question, resolution: { status: 'cancelled', at: now, reason } });
      events.push(newEvent(each.id, 'question.cancelled', { questionId: question.id, reason, resolvedBy: null }));
    }
    let last = each;
    const say = (step: StepRef | null, message: Parameters<typeof said>[2]) => {
      const done = said(last, step, message, now);
      last = done.task;
      messages.push(...done.messages);
      events.push(done.event);
    };
    for (const row of view.rows(each.id).filter(isAtWork)) {
      rows.push({ ...row, dueAt: null, message: null });
      // People have seen the text live: it is kept as far as it came.
      if (row.message !== null) {
        const { id } = row.message;
        say(stepRef(row), { id, content: view.messageText(id), status: 'partial' });
      }
    }
    // One that is tried again has its message already, in the attempt before.
    if (last.isTurn && last.messageCount === 0 && last.retryOf === null) {
      say(null, {
        id: emptyMessageId(each.id),
        content: '',
        status: how.status === 'completed' ? 'complete' : 'partial',
      });
    }
    events.push(terminalEvent(each.id, how));
    const ended = {
      ...moveTask(last, how.status, now),
      output: how.status === 'completed' ? how.output : null,
      error: how.status === 'failed' ? how.error : null,
      cut: how.status === 'failed' ? how.cut : null,
      pendingQuestionCount: 0,
    };
    const next = interrupted ? [] : nextTurns(view, ended, now);
    tasks.push(
      next.length === 0 ? ended : { ...ended, inbox: withoutWritten(ended) },
      ...next.map((turn) => turn.task),
    );
    messages.push(...next.map(({ message }) => message));
    events.push(...next.flatMap((turn) => turn.events));
    return ended;
  };

  return { task: end(task, ending), tasks, questions, rows, messages, events };
}

function questionReason({ status }: Ending): CancelReason {
  return status === 'cancelled' ? 'cancelled' : 'task_finished';
}

/** What was sent to a turn that ends without having taken it begins turns of its own, unless another retry of it did so. */
function nextTurns(view: View, turn: TaskRecord, now: number): BegunTurn[] {
  const { owner, agent, conversationId, isTurn } = turn;
  if (!isTurn || conversationId === null) return [];
  const written = untaken(turn).filter(({ taskId }) => view.task(taskId) === null);
  return written.map((each) => beginTurn(owner, agent, conversationId, each, now));
}

/** What a child that has ended with its own end is to its parent's code. Null for a root. */
function tellParent(view: View, child: TaskRecord, ending: Ending, now: number): Resolved | null {
  const { parentId, spawnKey } = child;
  if (parentId === null || spawnKey === null) return null;
  const parent = view.task(parentId);
  const row = rowOf(view, { taskId: parentId, key: childKey(spawnKey) }, 'child');
  if (parent === null || row === null) throw new Error(`The parent of ${child.id} does not wait for it.`);
  return resolveRow(parent, row, { status: ending.status, value: JSON.stringify(resultOf(ending)) }, now);
}

export function terminalEvent(taskId: string, ending: Ending): NewEvent {
  switch (ending.status) {
    case 'completed':
      return newEvent(taskId, 'task.completed', { output: ending.output });
    case 'failed':
      return newEvent(taskId, 'task.failed', { error: ending.error });
    case 'cancelled':
      return newEvent(taskId, 'task.cancelled', { reason: ending.reason });
  }
}

/** A sleep that is not over, or a step that is in the middle of a message. */
function isAtWork({ dueAt, message }: JournalRow): boolean {
  return dueAt !== null || message !== null;
}

export function resultOf(ending: Ending): ChildResult {
  switch (ending.status) {
    case 'completed':
      return { status: 'completed', output: ending.output };
    case 'failed':
      return { status: 'failed', error: { code: ending.error.code, message: ending.error.message } };
    case 'cancelled':
      return { status: 'cancelled', reason: ending.reason };
  }
}
