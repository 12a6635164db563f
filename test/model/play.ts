import type { VerbCall } from '../../src/model/batch.ts';
import { newEvent } from '../../src/model/event.ts';
import type { Lease } from '../../src/model/fence.ts';
import { normalizeItems } from '../../src/model/question-spec.ts';
import type { TaskRecord } from '../../src/model/task.ts';
import { taskError } from '../../src/model/task-error.ts';
import type { Outcome } from '../../src/model/verb.ts';
import type { Move, Step } from './moves.ts';
import type { Table } from './table.ts';

type AboutQuestion = Extract<Move, { move: 'answer' | 'decline' | 'expire' }>;

/** What was decided in one go, and between which changes from outside. */
export interface Part {
  now: number;
  epoch: string;
  spawn: { parentId: string; id: string } | null;
  calls: VerbCall[];
}

const ITEMS = normalizeItems([{ id: 'month', prompt: 'Which month?', options: ['june', 'july'], allowOther: false }]);
const OPTIONAL = normalizeItems([{ id: 'month', prompt: 'Which month?', required: false, maxLength: 4 }]);

/**
 * Makes calls of moves, one after the other, and hands each to `decide`, which decides it over `table`.
 *
 * @returns the same calls, cut into batches
 */
export function play(steps: readonly Step[], table: Table, decide: (call: VerbCall) => Outcome<unknown>): Part[] {
  const caller = new Caller(table);
  const parts: Part[] = [];
  let headBefore = 0;
  let cut = true;

  const begin = (spawn: Part['spawn'] = null) => {
    parts.push({ now: table.now, epoch: table.epoch, spawn, calls: [] });
    headBefore = table.log.head;
    cut = false;
  };

  for (const each of steps) {
    if (each.kind === 'clock') table.now += each.ms;
    if (each.kind === 'restart') table.epoch = `epoch${String(parts.length + 2).padStart(3, '0')}`;
    if (each.kind === 'spawn') {
      const parent = caller.unfinished(each.pick);
      if (parent === null) continue;
      const spawn = { parentId: parent.id, id: caller.nextId('task') };
      table.putChild(spawn.parentId, spawn.id);
      begin(spawn);
    }
    if (each.kind !== 'move') {
      cut = cut || each.kind !== 'spawn';
      continue;
    }
    const call = caller.callOf(each.move);
    if (call === null) continue;
    if (cut || each.cut || claimsItsOwn(call, headBefore)) begin();
    parts.at(-1)?.calls.push(call);
    caller.made(call, decide(call));
  }
  return parts;

  /** A claim cannot know the lane of a task that its own batch creates. */
  function claimsItsOwn(call: VerbCall, head: number): boolean {
    if (call.verb !== 'claimTask') return false;
    const task = table.task(call.args.taskId);
    return task.concurrencyKey !== null && task.firstSeq > head;
  }
}

class Caller {
  readonly #table: Table;
  readonly #keyed: VerbCall[] = [];
  #ids = 0;

  constructor(table: Table) {
    this.#table = table;
  }

  nextId(prefix: string): string {
    this.#ids++;
    // Neither ascending nor descending, so that no order may come from ids alone.
    return `${prefix}_${(this.#ids * 37) % 101}_${this.#ids}`;
  }

  made(call: VerbCall, outcome: Outcome<unknown>): void {
    if (call.idempotency !== undefined && outcome.ok) this.#keyed.push(call);
  }

  unfinished(at: number): TaskRecord | null {
    return choose(
      this.#tasks(({ finishedAt }) => finishedAt === null),
      at,
    );
  }

  callOf(move: Move): VerbCall | null {
    switch (move.move) {
      case 'create': {
        const args = { taskId: this.nextId('task'), agent: 'a', input: null, metadata: {}, priority: 0 };
        const { lane: concurrencyKey, timeoutMs } = move;
        return this.#withKey({ verb: 'createTask', args: { ...args, concurrencyKey, timeoutMs } }, move.keyed);
      }
      case 'claim': {
        const task = this.#likely(({ status }) => status === 'queued', move.pick);
        return task && { verb: 'claimTask', args: { taskId: task.id, version: '1' } };
      }
      case 'cancel': {
        const task = this.#likely(({ status }) => status === 'cancelled' || move.pick % 2 === 0, move.pick);
        return task && { verb: 'cancelTask', args: { taskId: task.id, reason: null } };
      }
      case 'repeat':
        return this.#repeat(move.pick, move.changed);
      case 'answer':
      case 'decline':
      case 'expire':
        return this.#aboutQuestion(move);
      case 'fire': {
        const timer = choose([...this.#table.timers.values()], move.pick);
        const task = this.#likely(() => true, move.pick);
        if (timer !== null && move.which > 0)
          return { verb: 'fireTimer', args: { taskId: timer.taskId, key: timer.key } };
        return task && { verb: 'fireTimer', args: { taskId: task.id, key: 'gone' } };
      }
      case 'prune': {
        const task = this.#likely(({ finishedAt }) => finishedAt !== null, move.pick);
        return task && { verb: 'pruneTask', args: { rootId: task.id, retentionMs: 40 } };
      }
      case 'wake': {
        const task = this.#likely(({ status }) => status === 'waiting', move.pick);
        return task && { verb: 'wakeTask', args: held(task, move.fence) };
      }
      default: {
        const task = this.#likely(({ status }) => status === 'running', move.pick);
        return task && this.#work(task, held(task, move.fence), move);
      }
    }
  }

  #work(task: TaskRecord, lease: Lease, move: Exclude<Move, { move: 'create' }>): VerbCall | null {
    switch (move.move) {
      case 'append': {
        const note = { taskId: task.id, type: 'a.note', step: null, data: '{}' };
        const progress = newEvent(task.id, 'task.progress', { fraction: move.size / 2, note: null });
        return { verb: 'appendEvents', args: { ...lease, events: [note, progress, note].slice(0, move.size) } };
      }
      case 'step': {
        const of = { step: { name: 'say', attempt: 1 }, tool: null };
        const outcome = { status: 'completed' } as const;
        if (move.size === 0) return { verb: 'startStep', args: { ...lease, ...of, messageId: 'msg_a' } };
        return { verb: 'settleStep', args: { ...lease, ...of, ms: 1, outcome, message: { id: 'msg_a', content: '' } } };
      }
      case 'ask': {
        const ask = { key: this.nextId('ask'), questionId: this.nextId('qst'), metadata: {}, timeoutMs: move.ms };
        const items = move.pick % 3 === 0 ? OPTIONAL : ITEMS;
        return { verb: 'askQuestion', args: { ...lease, ...ask, items } };
      }
      case 'sleep':
        return { verb: 'startTimer', args: { ...lease, key: this.nextId('sleep'), ms: move.ms ?? 20 } };
      case 'withdraw': {
        const question = choose(this.#questionsOf(task), move.which);
        return { verb: 'withdrawQuestion', args: { ...lease, key: question?.name ?? 'gone' } };
      }
      case 'wait': {
        const asked = this.#questionsOf(task).map(({ name }) => name);
        const pending = this.#table.pendingQuestions(task.id).map(({ name }) => name);
        const timers = this.#table.openTimers(task.id).map(({ key }) => key);
        const open = [...pending, ...timers];
        const keys = [open, open, open.slice(0, 1), timers, pending, open.slice(-2), [...open, 'gone'], asked][
          move.which
        ];
        return { verb: 'waitTask', args: { ...lease, keys: keys ?? [] } };
      }
      case 'finish':
        return { verb: 'finishTask', args: { ...lease, output: { done: true } } };
      case 'fail':
        return { verb: 'failTask', args: { ...lease, error: taskError('agent_error', 'x'), when: 'now' } };
      case 'deadline':
        return { verb: 'failTask', args: { ...lease, error: taskError('timeout', 'x'), when: 'deadline' } };
      default:
        return null;
    }
  }

  #aboutQuestion(move: AboutQuestion): VerbCall | null {
    const all = [...this.#table.questions.values()];
    const pending = all.filter(({ resolution }) => resolution === null);
    const question = choose(move.pick % 3 > 0 && pending.length > 0 ? pending : all, move.pick);
    const questionId = question?.id ?? 'qst_gone';
    if (move.move === 'expire') return { verb: 'expireQuestion', args: { questionId } };
    const resolvedBy = move.pick % 2 === 0 ? 'ann' : 'bob';
    if (move.move === 'decline') {
      return this.#withKey({ verb: 'declineQuestion', args: { questionId, reason: null, resolvedBy } }, move.keyed);
    }
    const given = move.bare ? { answer: move.value } : { answers: { month: move.value } };
    return this.#withKey({ verb: 'answerQuestion', args: { questionId, given, resolvedBy } }, move.keyed);
  }

  /** What a client sends that has not seen the reply: another id for a new task, the rest as it was. */
  #repeat(at: number, changed: boolean): VerbCall | null {
    const first = choose(this.#keyed, at);
    if (first?.idempotency === undefined) return null;
    const idempotency = changed ? { ...first.idempotency, fingerprint: 'another request' } : first.idempotency;
    if (first.verb !== 'createTask') return { ...first, idempotency };
    return { ...first, args: { ...first.args, taskId: this.nextId('task') }, idempotency };
  }

  #withKey(call: VerbCall, isKeyed: boolean): VerbCall {
    if (!isKeyed) return call;
    return { ...call, idempotency: { key: this.nextId('key'), fingerprint: call.verb } };
  }

  #questionsOf(task: TaskRecord) {
    return [...this.#table.questions.values()].filter(({ taskId }) => taskId === task.id);
  }

  /** Mostly a task of which it makes sense, at times any. */
  #likely(makesSense: (task: TaskRecord) => boolean, at: number): TaskRecord | null {
    const sensible = this.#tasks(makesSense);
    return at % 5 > 0 && sensible.length > 0
      ? choose(sensible, at)
      : choose(
          this.#tasks(() => true),
          at,
        );
  }

  #tasks(which: (task: TaskRecord) => boolean): TaskRecord[] {
    return [...this.#table.tasks.values()].filter(which);
  }
}

function held({ id, fence }: TaskRecord, off: number): Lease {
  return { taskId: id, fence: fence + off };
}

function choose<T>(from: readonly T[], at: number): T | null {
  return from[at % from.length] ?? null;
}
