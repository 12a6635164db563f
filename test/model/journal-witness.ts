import { isDeepStrictEqual } from 'node:util';
import type { VerbCall } from '../../src/model/batch.ts';
import type { Event } from '../../src/model/event.ts';
import type { JournalRow, KeyResolution, RowKind, RowStatus } from '../../src/model/journal.ts';
import type { Json } from '../../src/model/json.ts';
import type { TaskRecord } from '../../src/model/task.ts';
import type { PostMessageArgs, PostMessageResult } from '../../src/model/verbs/post-message.ts';
import { rowId } from '../../src/model/view.ts';
import type { Ran, Records, Table } from './table.ts';

type Must = (rule: string, holds: boolean) => void;

const STATUSES: Record<RowKind, RowStatus[]> = {
  step: ['pending', 'done', 'failed'],
  ask: ['pending', 'answered', 'declined', 'expired', 'withdrawn'],
  sleep: ['pending', 'done'],
  inbox: ['done'],
  history: ['done'],
  spawn: ['pending', 'done'],
  child: ['pending', 'completed', 'failed', 'cancelled'],
};

/** Watches journals being written, with what hangs on their rows: questions, children, sleeps, messages, the inbox. */
export class JournalWitness {
  readonly #table: Table;
  readonly #must: Must;
  /** By task: what was sent to it, and to the tasks that it was retried from. */
  readonly #sent = new Map<string, Json[]>();
  /** By retried task: so many events come before the last of the rows that it began with. */
  readonly #retold = new Map<string, number>();

  /** What the messages that have not ended have said. */
  readonly #open = new Map<string, string>();

  constructor(table: Table, must: Must) {
    this.#table = table;
    this.#must = must;
  }

  see(call: VerbCall, ran: Ran<unknown>, before: Records): void {
    this.#note(call, ran);
    this.#watchResolutions(ran.resolutions, before);
    this.#watchChanges(call, ran, before);
    for (const row of this.#table.rows.values()) this.#watchRow(row);
    for (const task of this.#table.tasks.values()) this.#watchTask(task, before);
    this.#watchMessages(ran.events);
  }

  #note(call: VerbCall, { outcome }: Ran<unknown>): void {
    if (!outcome.ok || outcome.replayed) return;
    if (call.verb === 'addToInbox') {
      const { taskId, message } = call.args;
      this.#sent.set(taskId, [...(this.#sent.get(taskId) ?? []), message]);
    }
    if (call.verb === 'postMessage') this.#noteSteered(call.args, outcome.result as PostMessageResult);
    if (call.verb === 'spawnTask') this.#noteSpawn(call.args.childId);
    if (call.verb !== 'retryTask') return;
    const { taskId, newTaskId } = call.args;
    const rows = this.#table.journal(newTaskId);
    this.#sent.set(newTaskId, this.#kept(this.#table.task(taskId)));
    this.#retold.set(newTaskId, Math.max(0, ...rows.map(({ emitsDone }) => emitsDone ?? 0)));
    this.#must(
      'a retry begins with what is resolved',
      rows.every(({ ord, message }) => ord !== null && message === null),
    );
    const { seed, originAt } = this.#table.task(taskId);
    const retried = this.#table.task(newTaskId);
    this.#must('a chain of retries has one origin', retried.seed === seed && retried.originAt === originAt);
  }

  /** A child that is spawned again begins with the journal of the former one, and what that was sent. */
  #noteSpawn(childId: string): void {
    const { retryOf } = this.#table.task(childId);
    if (retryOf === null) return;
    this.#sent.set(childId, this.#kept(this.#table.task(retryOf)));
    this.#retold.set(childId, Math.max(0, ...this.#table.journal(childId).map(({ emitsDone }) => emitsDone ?? 0)));
  }

  /** A message that began no turn was sent to one. */
  #noteSteered({ messageId, taskId, content, metadata }: PostMessageArgs, { message, task }: PostMessageResult): void {
    if (task.id === taskId) return;
    const sent = { messageId, taskId, content, metadata, createdAt: message.createdAt };
    this.#sent.set(task.id, [...(this.#sent.get(task.id) ?? []), sent]);
  }

  /** Each is told as it is written, and gets the next place, but for a spawn that has one already. */
  #watchResolutions(resolutions: readonly KeyResolution[], before: Records): void {
    const newest = new Map<string, number>();
    for (const { taskId, key, ord, emitsDone, at, status, value } of resolutions) {
      const last = newest.get(taskId) ?? before.tasks.get(taskId)?.ord ?? 0;
      const earlier = before.rows.get(rowId({ taskId, key }));
      const place = earlier?.ord ?? last + 1;
      newest.set(taskId, Math.max(last, ord));
      const row = this.#table.row(taskId, key);
      const told = { ord, emitsDone, at, status, value: row.kind === 'step' ? null : value };
      const written = { ord: row.ord, emitsDone: row.emitsDone, at: row.at, status: row.status, value };
      this.#must('a resolution gets the next place', ord === place);
      this.#must('only a spawn keeps its place', earlier?.ord == null || row.kind === 'spawn');
      this.#must('what is told is written', isDeepStrictEqual(told, written));
      this.#must('all but the value of a step is told', value === (row.kind === 'step' ? null : row.value));
      this.#must('a row is resolved once', earlier === undefined || earlier.status === 'pending');
    }
    const resolved = [...this.#table.rows.values()].filter((row) => {
      const earlier = before.rows.get(rowId(row));
      return row.status !== 'pending' && (earlier?.status ?? 'pending') === 'pending' && before.tasks.has(row.taskId);
    });
    this.#must('every resolution is told', resolved.length === resolutions.length);
  }

  /** Nothing that is resolved changes, but by a cut; nothing of what has ended, but that it is let go of. */
  #watchChanges(call: VerbCall, { outcome }: Ran<unknown>, before: Records): void {
    const cut = call.verb === 'failTask' && outcome.ok && call.args.cut !== null ? call.args.taskId : null;
    for (const [id, row] of before.rows) {
      const task = this.#table.task(row.taskId);
      const after = this.#table.rows.get(id);
      const isCut = task.id === cut && task.status === 'queued';
      const isPruned = after === undefined && this.#table.task(task.rootId).prunedSeq > 0;
      const isFinal = row.status !== 'pending' || before.tasks.get(task.id)?.finishedAt !== null;
      this.#must('what is resolved stays', !isFinal || isCut || isPruned || isDeepStrictEqual(after, row));
      this.#must('a row goes by a cut alone', after !== undefined || isCut || isPruned);
      if (isCut && after !== undefined && row.ord !== null) {
        this.#must('a cut moves no row', after.ord === row.ord && after.at === row.at && after.askedAt === row.askedAt);
        this.#must('a cut only lowers events', Number(after.emitsDone) <= Number(row.emitsDone));
      }
    }
    for (const [id, task] of before.tasks) {
      if (task.finishedAt === null) continue;
      const { held: _, prunedSeq: __, ...after } = this.#table.task(id);
      const { held, prunedSeq: ___, ...earlier } = task;
      this.#must('what has ended stays', isDeepStrictEqual(after, earlier) && (held || !this.#table.task(id).held));
    }
  }

  #watchRow(row: JournalRow): void {
    const task = this.#table.task(row.taskId);
    const isPending = row.status === 'pending';
    const isUnfinished = task.finishedAt === null;
    this.#must('a row has a status of its kind', STATUSES[row.kind].includes(row.status));
    this.#must('what is resolved has a value', isPending === (row.value === null));
    this.#must('what is resolved has a place', isPending ? row.ord === null || row.kind === 'spawn' : row.ord !== null);
    this.#must(
      'a place is whole',
      (row.ord === null) === (row.emitsDone === null) && (row.ord === null) === (row.at === null),
    );
    const isDue = isPending && row.kind === 'sleep' && isUnfinished;
    this.#must('a sleep is due while its task is unfinished', (row.dueAt !== null) === isDue);
    const speaks = isPending && row.kind === 'step' && isUnfinished;
    this.#must('only a step that runs speaks', row.message === null || speaks);
    this.#must('only steps begin', row.kind === 'step' || (row.tries === 0 && !row.once));
    const most = Math.max(task.emits, this.#retold.get(task.id) ?? 0);
    this.#must('no row waits for an event that was not called', (row.emitsDone ?? 0) <= most);
  }

  #watchTask(task: TaskRecord, before: Records): void {
    const rows = this.#table.journal(task.id);
    const isPruned = this.#table.task(task.rootId).prunedSeq > 0;
    const places = rows.flatMap(({ ord }) => ord ?? []);
    this.#must('no place is given twice', new Set(places).size === places.length);
    this.#must('the counter is the last place', isPruned || task.ord === Math.max(0, ...places));
    this.#must('marks are told apart', new Set(task.marks).size === task.marks.length);
    this.#must('no message is lost', isPruned || isDeepStrictEqual(this.#mail(task), this.#kept(task)));
    if (task.finishedAt !== null) return;
    this.#watchOpen(task, rows);
    const earlier = before.tasks.get(task.id);
    const goesBack = earlier !== undefined && task.failures > earlier.failures;
    this.#must('the counters only grow within an attempt', goesBack || isNotBehind(task, earlier));
  }

  /** What it has taken, and what lies in its inbox. */
  #mail(task: TaskRecord): Json[] {
    const rows = this.#table.journal(task.id).filter(({ kind }) => kind === 'inbox');
    const taken = rows.sort((a, b) => Number(a.ord) - Number(b.ord));
    return [...taken.flatMap(({ value }): Json[] => JSON.parse(value ?? '[]')), ...task.inbox];
  }

  /** What was sent to it, without what it had not taken in the end: that is a turn of its own. */
  #kept(task: TaskRecord): Json[] {
    const mail = this.#mail(task);
    const isThere = (entry: Json) => mail.some((each) => isDeepStrictEqual(each, entry));
    return (this.#sent.get(task.id) ?? []).filter((entry) => isThere(entry) || !this.#hasBegun(task, entry));
  }

  #hasBegun({ finishedAt }: TaskRecord, entry: Json): boolean {
    if (finishedAt === null || entry === null || typeof entry !== 'object' || !('taskId' in entry)) return false;
    return this.#table.tasks.has(String(entry.taskId));
  }

  /** What is pending in the journal of an unfinished task is pending outside, and the other way round. */
  #watchOpen(task: TaskRecord, rows: readonly JournalRow[]): void {
    const pending = (kind: RowKind) =>
      rows.filter((row) => row.kind === kind && row.status === 'pending').map(({ key }) => key);
    const questions = this.#table.pendingQuestions(task.id).map(({ name }) => name);
    const children = this.#table.unfinishedChildren(task.id).map(({ spawnKey }) => `${spawnKey}>`);
    this.#must('a row waits for each question', isDeepStrictEqual(pending('ask').sort(), questions.sort()));
    this.#must('a row waits for each child', isDeepStrictEqual(pending('child').sort(), children.sort()));
    const spawned = rows
      .filter(({ kind, status }) => kind === 'spawn' && status === 'done')
      .map(({ key }) => `${key}>`);
    const results = rows.filter(({ kind }) => kind === 'child').map(({ key }) => key);
    this.#must('a spawn has its result beside it', isDeepStrictEqual(spawned.sort(), results.sort()));
  }

  /** Each message ends once, and whole; one that is open belongs to a step that runs. */
  #watchMessages(events: readonly Event[]): void {
    for (const { type, data } of events) {
      if (!type.startsWith('message.')) continue;
      const { messageId, message, text } = JSON.parse(data);
      const id: string = messageId ?? message.id;
      // What people write, and the message of a turn that has said nothing, were never streamed.
      if (message?.role === 'user' || (message?.empty && !this.#open.has(id))) continue;
      const said = this.#open.get(id) ?? '';
      if (type === 'message.started') this.#open.set(id, '');
      else if (type === 'message.delta') this.#open.set(id, `${said}${text}`);
      else {
        const isWhole = message === undefined || message.content === 'all of it' || message.content === said;
        this.#must('a message ends once, with all that was said', this.#open.delete(id) && isWhole);
      }
    }
    const speaking = [...this.#table.rows.values()].flatMap(({ message }) => message?.id ?? []);
    const open = [...this.#open.keys()];
    this.#must('a message that is open is of a step that runs', isDeepStrictEqual(open.sort(), speaking.sort()));
  }
}

function isNotBehind(task: TaskRecord, earlier: TaskRecord | undefined): boolean {
  return earlier === undefined || (task.ord >= earlier.ord && task.emits >= earlier.emits);
}
