import type { VerbCall } from '../../src/model/batch.ts';
import { type NewEvent, newEvent } from '../../src/model/event.ts';
import type { Lease } from '../../src/model/fence.ts';
import type { Cut, JournalRow } from '../../src/model/journal.ts';
import { normalizeItems } from '../../src/model/question-spec.ts';
import type { TaskRecord } from '../../src/model/task.ts';
import { type TaskErrorCode, taskError } from '../../src/model/task-error.ts';
import type { RequeueTaskArgs } from '../../src/model/verbs/requeue-task.ts';
import type { SettleStepArgs } from '../../src/model/verbs/settle-step.ts';
import { failure } from './given.ts';
import type { WorkerMove } from './moves.ts';
import type { Table } from './table.ts';

const ITEMS = normalizeItems([{ id: 'month', prompt: 'Which month?', options: ['june', 'july'], allowOther: false }]);
const OPTIONAL = normalizeItems([{ id: 'month', prompt: 'Which month?', required: false, maxLength: 4 }]);
const UNCERTAIN = failure('may have run', null, { code: 'step_uncertain' });
const DURATIONS = [null, 0, 1, 50, 400] as const;
const CODES: TaskErrorCode[] = ['agent_error', 'agent_error', 'worker_exited', 'nondeterministic'];
const CAUSES: RequeueTaskArgs['cause'][] = ['crashed', 'crashed', 'crashed', 'worker_lost', 'drained', 'parked'];

/** What the copies of tasks report, each as a handle would: it knows what it has reported before. */
export class WorkerCalls {
  readonly #table: Table;
  readonly #nextId: (prefix: string) => string;

  constructor(table: Table, nextId: (prefix: string) => string) {
    this.#table = table;
    this.#nextId = nextId;
  }

  callOf(task: TaskRecord, { move, fence: off, which }: WorkerMove): VerbCall | null {
    const lease: Lease = { taskId: task.id, fence: task.fence + off };
    const asked = { ...lease, askedAt: task.ord };
    if (which % 3 === 0 && this.#reopened(task).length > 0) return this.#spawn(task, lease, 1);
    switch (move) {
      case 'append':
        return { verb: 'appendEvents', args: { ...lease, after: task.emits, events: eventsOf(task, which % 3) } };
      case 'say':
        return this.#say(task, lease, which);
      case 'begin':
        return this.#begin(task, lease, which);
      case 'settle':
        return this.#settle(task, lease, which);
      case 'uncertain': {
        const step = { name: choose(task.marks, which) ?? this.#nextId('step'), attempt: 1 };
        if (this.#rows(task).some(({ key }) => key === step.name)) return null;
        const none = { once: true, ms: 0, message: null, tool: null };
        return { verb: 'settleStep', args: { ...asked, ...none, step, outcome: UNCERTAIN } };
      }
      case 'ask': {
        const ids = { key: this.#nextId('ask'), questionId: this.#nextId('qst') };
        const items = which % 3 === 0 ? OPTIONAL : ITEMS;
        const timeoutMs = DURATIONS[which % 5] ?? null;
        return { verb: 'askQuestion', args: { ...asked, ...ids, items, metadata: {}, timeoutMs } };
      }
      case 'sleep':
        return { verb: 'startTimer', args: { ...asked, key: this.#nextId('sleep'), ms: DURATIONS[which % 5] ?? 20 } };
      case 'spawn':
        return this.#spawn(task, lease, which);
      case 'takeInbox':
        return { verb: 'takeInbox', args: { ...asked, key: this.#nextId('inbox') } };
      case 'history':
        return { verb: 'readHistory', args: { ...asked, key: this.#nextId('history') } };
      case 'withdraw': {
        const asks = this.#rows(task).filter(({ kind }) => kind === 'ask');
        const key = (which % 4 > 0 ? choose(asks, which)?.key : null) ?? this.#nextId('ask');
        return { verb: 'withdrawQuestion', args: { ...asked, key } };
      }
      case 'wait':
        return this.#wait(task, lease, which);
      case 'wake':
        return { verb: 'wakeTask', args: lease };
      case 'finish':
        return { verb: 'finishTask', args: { ...lease, output: { done: true } } };
      case 'fail': {
        const first = which % 4 > 0 ? this.#failFirst(task, lease, which) : null;
        if (first !== null) return first;
        const error = taskError(CODES[which % 4] ?? 'agent_error', 'x');
        const args = {
          ...lease,
          error,
          cut: this.#cut(task, which),
          when: 'now',
          jitter: which % 4 === 1 ? 0.02 : 0,
        } as const;
        return { verb: 'failTask', args };
      }
      case 'deadline': {
        const args = { ...lease, error: taskError('timeout', 'x'), cut: null, when: 'deadline', jitter: 0 } as const;
        return { verb: 'failTask', args };
      }
      case 'requeue': {
        const cause = CAUSES[which % 6] ?? 'drained';
        return { verb: 'requeueTask', args: { ...lease, cause, ...(which % 5 > 0 && { alone: which % 5 > 1 }) } };
      }
      case 'release':
        return { verb: 'releaseTask', args: lease };
    }
  }

  #begin(task: TaskRecord, lease: Lease, which: number): VerbCall {
    // One that is in the middle of a message is ended first, or its copy is gone and a claim has discarded it.
    const again = this.#running(task).filter(({ message }) => message === null);
    const row = which % 4 === 0 ? choose(again, which) : null;
    const step = { name: row?.key ?? this.#nextId('step'), attempt: (row?.tries ?? 0) + 1 };
    const once = row?.once ?? which % 3 === 0;
    const messageId = which % 5 < 2 ? this.#nextId('msg') : null;
    const tool = which % 7 === 0 ? { toolCallId: 'call', name: 'search', input: null } : null;
    return { verb: 'startStep', args: { ...lease, step, askedAt: task.ord, once, messageId, tool } };
  }

  #settle(task: TaskRecord, lease: Lease, which: number): VerbCall | null {
    const row = choose(which % 8 === 0 ? this.#steps(task) : this.#running(task), which);
    if (row === null) return null;
    const outcome: SettleStepArgs['outcome'] =
      which % 5 > 1 ? { status: 'completed', value: '{"paid":true}' } : failure('no', which % 5 === 0 ? 10 : null);
    const step = { name: row.key, attempt: Math.max(1, row.tries) };
    const message = row.message === null ? null : { id: row.message.id, content: 'all of it' };
    const { once, askedAt } = row;
    return { verb: 'settleStep', args: { ...lease, step, once, askedAt, ms: 1, outcome, message, tool: null } };
  }

  /** A step streams a message: the one that it began with, or one of its own. */
  #say(task: TaskRecord, lease: Lease, which: number): VerbCall | null {
    const row = choose(this.#running(task), which);
    if (row === null) return null;
    const messageId = row.message?.id ?? this.#nextId('msg');
    const step = JSON.stringify({ name: row.key, attempt: row.tries });
    const started = { ...newEvent(task.id, 'message.started', { messageId, role: 'assistant' }), step };
    const said = { ...newEvent(task.id, 'message.delta', { messageId, text: `${which} ` }), step };
    const events = [...(row.message === null ? [started] : []), ...Array(which % 3).fill(said)];
    return { verb: 'appendEvents', args: { ...lease, after: task.emits, events } };
  }

  /** Before an attempt fails, a step does: what a cut goes back to. */
  #failFirst(task: TaskRecord, lease: Lease, which: number): VerbCall | null {
    if (this.#failures(task).length > 0) return null;
    return this.#settle(task, lease, 1) ?? this.#begin(task, lease, which);
  }

  #spawn(task: TaskRecord, lease: Lease, which: number): VerbCall {
    const key = choose(this.#reopened(task), which)?.key ?? this.#nextId('child');
    const args = { key, askedAt: task.ord, childId: this.#nextId('task'), agent: 'a', input: null };
    return { verb: 'spawnTask', args: { ...lease, ...args } };
  }

  #wait(task: TaskRecord, lease: Lease, which: number): VerbCall | null {
    const rows = this.#rows(task);
    const pending = rows.filter(({ kind, status }) => ['ask', 'sleep', 'child'].includes(kind) && status === 'pending');
    const open = pending.map(({ key }) => key);
    if (open.length === 0 && which % 5 > 0) return null;
    const some = [open.slice(0, 1), [...open, 'gone'], open.slice(-2), rows.map(({ key }) => key), []][which % 15];
    const ord = which % 7 === 0 ? Math.max(0, task.ord - 1) : task.ord;
    return { verb: 'waitTask', args: { ...lease, ord, keys: some ?? open } };
  }

  /** Where a failure that was delivered to the code would take it back to. */
  #cut(task: TaskRecord, which: number): Cut | null {
    const row = choose(this.#failures(task), which);
    if (row === null || which % 5 === 0) return null;
    const ord = row.ord ?? 0;
    const before = row.emitsDone ?? 0;
    const emits = before + (which % (Math.max(0, task.emits - before) + 1));
    // Called before the failure came, or later, by as many as there are between.
    const askedAt = row.askedAt + (which % (Math.max(0, ord - 1 - row.askedAt) + 1));
    return { keys: [row.key], askedAt, ord, emits: Math.min(emits, task.emits) };
  }

  #reopened(task: TaskRecord): JournalRow[] {
    return this.#rows(task).filter(({ kind, status }) => kind === 'spawn' && status === 'pending');
  }

  #failures(task: TaskRecord): JournalRow[] {
    return this.#rows(task).filter(({ status }) => ['failed', 'declined', 'expired', 'cancelled'].includes(status));
  }

  #running(task: TaskRecord): JournalRow[] {
    return this.#steps(task).filter(({ status }) => status === 'pending');
  }

  #steps(task: TaskRecord): JournalRow[] {
    return this.#rows(task).filter(({ kind }) => kind === 'step');
  }

  #rows(task: TaskRecord): JournalRow[] {
    return this.#table.journal(task.id);
  }
}

function eventsOf(task: TaskRecord, size: number): NewEvent[] {
  const note = { taskId: task.id, conversationId: null, type: 'a.note', step: null, data: '{}' };
  const progress = newEvent(task.id, 'task.progress', { fraction: size / 2, note: null });
  return [note, progress, note].slice(0, size);
}

export function choose<T>(from: readonly T[], at: number): T | null {
  return from[at % from.length] ?? null;
}
