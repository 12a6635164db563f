import type { VerbCall } from '../../src/model/batch.ts';
import type { TaskRecord } from '../../src/model/task.ts';
import type { Outcome } from '../../src/model/verb.ts';
import type { ClientMove, LoopMove, Move } from './moves.ts';
import type { Table } from './table.ts';
import { choose, WorkerCalls } from './worker-calls.ts';

type AboutQuestion = Extract<ClientMove, { move: 'answer' | 'decline' }> | { move: 'expire'; pick: number };

const CLIENT = new Set(['create', 'cancel', 'send', 'retry', 'decline', 'answer', 'repeat', 'write', 'close']);
const CONVERSATIONS = 3;
const NEW_TASK = { move: 'create', lane: null, timeoutMs: 100_000, maxAttempts: 6, inMs: null, keyed: false } as const;
const LOOPS = new Set(['claim', 'expire', 'fire', 'ready', 'prune']);

/** Makes a call of a move, by what is in the table: mostly one that makes sense, at times any. */
export class Caller {
  readonly #table: Table;
  readonly #worker: WorkerCalls;
  readonly #keyed: VerbCall[] = [];
  #ids = 0;

  constructor(table: Table) {
    this.#table = table;
    this.#worker = new WorkerCalls(table, (prefix) => this.#nextId(prefix));
  }

  made(call: VerbCall, outcome: Outcome<unknown>): void {
    if (call.idempotency !== undefined && outcome.ok) this.#keyed.push(call);
  }

  callOf(move: Move): VerbCall | null {
    if (isClientMove(move)) return this.#client(move);
    if (this.#hasNothingToDo(move)) return this.#client(NEW_TASK);
    if (isLoopMove(move)) return this.#loop(move);
    const status = move.move === 'wake' ? 'waiting' : 'running';
    const makesSense = (task: TaskRecord) =>
      move.move === 'release' ? task.held && task.status !== 'running' : task.status === status;
    const task = this.#likely(makesSense, move.pick);
    if (task === null && status === 'running') return this.#loop({ ...move, move: 'claim' });
    return task && this.#worker.callOf(task, move);
  }

  /** A worker without work, and nothing that would bring it any. */
  #hasNothingToDo({ move }: Move): boolean {
    return !LOOPS.has(move) && [...this.#table.tasks.values()].every(({ finishedAt }) => finishedAt !== null);
  }

  #client(move: ClientMove): VerbCall | null {
    switch (move.move) {
      case 'create': {
        const { lane: concurrencyKey, timeoutMs, maxAttempts, inMs, keyed } = move;
        const args = { taskId: this.#nextId('task'), agent: 'a', input: null, metadata: {}, priority: 0 };
        const runAt = inMs === null ? null : this.#table.now + inMs;
        const limits = { concurrencyKey, timeoutMs, maxAttempts, runAt, conversationId: null };
        return this.#withKey({ verb: 'createTask', args: { ...args, ...limits } }, keyed);
      }
      case 'cancel': {
        const task = this.#likely((each) => each.status === 'cancelled' || isVictim(each, move.pick), move.pick);
        return task && { verb: 'cancelTask', args: { taskId: task.id, reason: null } };
      }
      case 'send': {
        const task = this.#likely(({ finishedAt }) => finishedAt === null, move.pick);
        return task && { verb: 'addToInbox', args: { taskId: task.id, message: this.#nextId('mail') } };
      }
      case 'retry': {
        const task = this.#likely(({ status }) => status === 'failed' || status === 'cancelled', move.pick);
        if (task === null) return null;
        const args = { taskId: task.id, newTaskId: this.#nextId('task') };
        return this.#withKey({ verb: 'retryTask', args }, move.keyed);
      }
      case 'repeat':
        return this.#repeat(move.pick, move.changed);
      case 'write':
        return this.#write(move);
      case 'close': {
        const conversation = choose([...this.#table.conversations.keys()], move.pick);
        if (conversation === null) return null;
        const args = { conversationId: conversation };
        if (move.which % 3 > 0) return { verb: 'updateConversation', args: { ...args, title: this.#nextId('title') } };
        return { verb: 'deleteConversation', args };
      }
      default:
        return this.#aboutQuestion(move);
    }
  }

  #write({ pick, whenBusy, keyed }: ClientMove & { move: 'write' }): VerbCall {
    const all = [...this.#table.conversations.values()];
    const open = all.filter(({ deletedAt }) => deletedAt === null);
    const conversation = choose(pick % 4 === 3 ? all : open, pick);
    if (conversation === null || (pick === 0 && open.length < CONVERSATIONS)) {
      const args = { conversationId: this.#nextId('conv'), title: null, metadata: {} };
      return this.#withKey({ verb: 'createConversation', args }, keyed);
    }
    const ids = { conversationId: conversation.id, messageId: this.#nextId('msg'), taskId: this.#nextId('task') };
    const args = { ...ids, agent: 'a', content: this.#nextId('text'), metadata: {}, whenBusy };
    return this.#withKey({ verb: 'postMessage', args }, keyed);
  }

  #loop(move: LoopMove): VerbCall | null {
    switch (move.move) {
      case 'claim': {
        const task = this.#likely(({ status, runAt }) => status === 'queued' && runAt === null, move.pick);
        if (task === null) return null;
        // Only a copy that waited is still in memory.
        const warm = move.which % 3 === 0 && !task.begins;
        const node = `node_of_${this.#table.epoch}`;
        return { verb: 'claimTask', args: { taskId: task.id, version: '1', warm, node } };
      }
      case 'fire': {
        const sleeps = [...this.#table.rows.values()].filter(({ dueAt }) => dueAt !== null);
        const row = choose(move.which > 2 ? sleeps : [...this.#table.rows.values()], move.pick);
        if (row === null && move.which > 0) return null;
        return { verb: 'fireTimer', args: { taskId: row?.taskId ?? 'task_gone', key: row?.key ?? 'gone' } };
      }
      case 'ready': {
        const task = this.#likely(({ runAt }) => runAt !== null, move.pick);
        return task && { verb: 'readyTask', args: { taskId: task.id } };
      }
      case 'prune': {
        const task = this.#likely(({ finishedAt }) => finishedAt !== null, move.pick);
        return task && { verb: 'pruneTask', args: { rootId: task.id, retentionMs: 40 } };
      }
      case 'expire':
        return this.#aboutQuestion({ move: 'expire', pick: move.pick });
    }
  }

  #aboutQuestion(move: AboutQuestion): VerbCall | null {
    const all = [...this.#table.questions.values()];
    const pending = all.filter(({ resolution }) => resolution === null);
    const question = choose(move.pick % 3 > 0 ? pending : all, move.pick);
    if (question === null && move.pick % 4 > 0) return null;
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
    if (first.verb === 'createTask') {
      return { ...first, args: { ...first.args, taskId: this.#nextId('task') }, idempotency };
    }
    if (first.verb === 'retryTask') {
      return { ...first, args: { ...first.args, newTaskId: this.#nextId('task') }, idempotency };
    }
    if (first.verb === 'postMessage') {
      const ids = { messageId: this.#nextId('msg'), taskId: this.#nextId('task') };
      return { ...first, args: { ...first.args, ...ids }, idempotency };
    }
    if (first.verb === 'createConversation') {
      return { ...first, args: { ...first.args, conversationId: this.#nextId('conv') }, idempotency };
    }
    return { ...first, idempotency };
  }

  #withKey(call: VerbCall, isKeyed: boolean): VerbCall {
    if (!isKeyed) return call;
    return { ...call, idempotency: { key: this.#nextId('key'), fingerprint: call.verb } };
  }

  #likely(makesSense: (task: TaskRecord) => boolean, at: number): TaskRecord | null {
    const all = [...this.#table.tasks.values()];
    return choose(at % 12 > 0 ? all.filter(makesSense) : all, at);
  }

  #nextId(prefix: string): string {
    this.#ids++;
    // Neither ascending nor descending, so that no order may come from ids alone.
    return `${prefix}_${(this.#ids * 37) % 101}_${this.#ids}`;
  }
}

/** Mostly a child, so that its parent goes on. */
function isVictim({ parentId, finishedAt }: TaskRecord, pick: number): boolean {
  return finishedAt === null && (parentId !== null || pick % 3 === 0);
}

function isClientMove(move: Move): move is ClientMove {
  return CLIENT.has(move.move);
}

function isLoopMove(move: Move): move is LoopMove {
  return LOOPS.has(move.move);
}
