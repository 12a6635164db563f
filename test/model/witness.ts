import { isDeepStrictEqual } from 'node:util';
import type { VerbCall } from '../../src/model/batch.ts';
import type { Event } from '../../src/model/event.ts';
import { type QuestionRecord, toQuestion } from '../../src/model/question.ts';
import type { TaskRecord, TaskStatus } from '../../src/model/task.ts';
import { ConversationWitness } from './conversation-witness.ts';
import { JournalWitness } from './journal-witness.ts';
import type { Ran, Records, Table } from './table.ts';

const DAY = 24 * 60 * 60_000;

const STATUS_AFTER: Record<string, TaskStatus> = {
  'task.created': 'queued',
  'task.started': 'running',
  'task.waiting': 'waiting',
  'task.resumed': 'queued',
  'task.retrying': 'queued',
  'task.recovered': 'queued',
  'task.completed': 'completed',
  'task.failed': 'failed',
  'task.cancelled': 'cancelled',
};
const TERMINAL = new Set(['completed', 'failed', 'cancelled']);

/**
 * Watches a table being changed and keeps its own account of what must be true, from what it sees happen: the events,
 * the claims, the clock. It shares no code with what decides.
 */
export class Witness {
  readonly #table: Table;
  readonly #status = new Map<string, TaskStatus>();
  /** Who claimed each last. */
  readonly #nodes = new Map<string, string>();
  readonly #ran = new Map<string, number>();
  /** How long each had run before its present run. */
  readonly #ranBefore = new Map<string, number>();
  readonly #waitsFor = new Map<string, { ord: number; keys: string[] }>();
  readonly #journals: JournalWitness;
  readonly #conversations: ConversationWitness;
  readonly #first = new Map<string, { fingerprint: string; result: string; at: number }>();
  #clock: number;
  #broken: string[] = [];

  constructor(table: Table) {
    this.#table = table;
    this.#clock = table.now;
    const must = (rule: string, holds: boolean) => this.#must(rule, holds);
    this.#journals = new JournalWitness(table, must);
    this.#conversations = new ConversationWitness(table, must);
  }

  /** To be called before each call: time has passed for those that run. */
  passTime(): void {
    const ms = this.#table.now - this.#clock;
    this.#clock = this.#table.now;
    for (const { id, status } of this.#table.tasks.values()) {
      if (status === 'running') this.#ran.set(id, (this.#ran.get(id) ?? 0) + ms);
    }
  }

  /** @returns the rules that the call has broken */
  see(call: VerbCall, ran: Ran<unknown>, before: Records): string[] {
    this.#broken = [];
    this.#note(call, ran);
    this.#watchLog();
    this.#watchCounts();
    this.#watchLanes();
    for (const task of this.#table.tasks.values()) this.#watchTask(task);
    for (const question of this.#table.questions.values()) this.#watchQuestion(question, before);
    this.#watchRefusal(call, ran, before);
    this.#watchFence(call, ran, before);
    this.#watchOrd(call, ran, before);
    this.#watchAnswer(call, ran, before);
    this.#watchKey(call, ran);
    this.#journals.see(call, ran, before);
    this.#conversations.see(call, ran);
    return this.#broken;
  }

  /** What limits are judged by, counted the slow way. */
  #watchCounts(): void {
    const { log, tasks, questions, conversations, told } = this.#table;
    const unfinished = [...tasks.values()].filter(({ status }) => !TERMINAL.has(status));
    const pending = [...questions.values()].filter(({ resolution }) => resolution === null);
    this.#must('the pending questions are counted', log.pendingQuestions === pending.length);
    this.#must(
      'the unfinished roots are counted',
      log.unfinishedRoots === unfinished.filter(({ parentId }) => parentId === null).length,
    );
    for (const { id, unfinishedRoots } of conversations.values()) {
      const inIt = unfinished.filter(({ conversationId, parentId }) => conversationId === id && parentId === null);
      this.#must('the unfinished tasks of a conversation are counted', unfinishedRoots === inIt.length);
    }
    const own = new Map<string | null, { count: number; length: number }>();
    for (const { taskId, data } of told) {
      const { count, length } = own.get(taskId) ?? { count: 0, length: 0 };
      own.set(taskId, { count: count + 1, length: length + data.length });
    }
    for (const { id, eventCount, eventsLength, unfinishedBelow } of tasks.values()) {
      const below = unfinished.filter((task) => task.rootId === id && task.id !== id);
      this.#must('the unfinished tasks below one are counted', unfinishedBelow === below.length);
      this.#must('the events of a task are counted', own.get(id)?.count === eventCount);
      this.#must('their JSON is measured', own.get(id)?.length === eventsLength);
    }
  }

  #must(rule: string, holds: boolean): void {
    if (!holds) this.#broken.push(rule);
  }

  #note(call: VerbCall, { outcome, events }: Ran<unknown>): void {
    if (outcome.ok && call.verb === 'requeueTask') this.#noteRequeue(call.args);
    for (const { taskId, type } of events) {
      const status = STATUS_AFTER[type];
      if (taskId === null) continue;
      if (status !== undefined) this.#status.set(taskId, status);
      if (type === 'task.retrying') this.#ran.set(taskId, 0);
    }
    if (!outcome.ok) return;
    if (call.verb === 'claimTask') {
      const { taskId, node } = call.args;
      this.#nodes.set(taskId, node);
      this.#status.set(taskId, 'running');
      this.#ranBefore.set(taskId, this.#ran.get(taskId) ?? 0);
    }
    if (call.verb === 'waitTask' && outcome.result === 'waiting') {
      const { taskId, ord, keys } = call.args;
      this.#waitsFor.set(taskId, { ord, keys });
    }
  }

  /** What ran when the process died counts for nothing; a drain has no event. */
  #noteRequeue({ taskId, cause }: { taskId: string; cause: string }): void {
    this.#status.set(taskId, 'queued');
    if (cause === 'crashed') this.#ran.set(taskId, this.#ranBefore.get(taskId) ?? 0);
  }

  #watchLog(): void {
    const { told, log, tasks, events } = this.#table;
    const marks = [...tasks.values()].map(({ prunedSeq }) => prunedSeq);
    this.#must('seqs are 1, 2, 3 …', told.every(({ seq }, at) => seq === at + 1) && log.head === told.length);
    this.#must('the mark of the log is the highest of its tasks', log.prunedSeq === Math.max(0, ...marks));
    const kept = told.filter(({ rootId, seq }) => rootId === null || seq > this.#table.task(rootId).prunedSeq);
    this.#must('what is above the marks is kept', isDeepStrictEqual(events, kept));
  }

  #watchLanes(): void {
    const lanes = [...this.#table.tasks.values()]
      .filter(({ held, concurrencyKey }) => held && concurrencyKey !== null)
      .map(({ concurrencyKey }) => concurrencyKey);
    this.#must('one task is held in a lane', new Set(lanes).size === lanes.length);
  }

  #watchTask(task: TaskRecord): void {
    const { told, now } = this.#table;
    const own = told.filter(({ taskId }) => taskId === task.id);
    const tree = task.parentId === null ? told.filter(({ rootId }) => rootId === task.id) : own;
    const pending = this.#table.pendingQuestions(task.id);
    const since = task.runningSince ?? now;

    this.#must('the status is what the events say', task.status === (this.#status.get(task.id) ?? 'queued'));
    this.#must('firstSeq is its first event', task.firstSeq === own[0]?.seq);
    this.#must('lastSeq is the last of its tree', task.lastSeq === tree.at(-1)?.seq);
    this.#must('pendingQuestionCount counts', task.pendingQuestionCount === pending.length);
    this.#must('ranMs counts running alone', task.ranMs + now - since === (this.#ran.get(task.id) ?? 0));
    const running = task.status === 'running';
    const deadlineAt = running ? since + Math.max(0, task.timeoutMs - task.ranMs) : null;
    this.#must('a deadline is the time left, while it runs', task.deadlineAt === deadlineAt);
    this.#must('it runs since it was claimed', running === (task.runningSince !== null));
    const starts = own.filter(({ type }) => type === 'task.started').length;
    this.#must('each attempt is told when it begins', task.attempt === starts);
    this.#must('what runs is held', task.held || !running);
    this.#must('a task is of the node that claimed it last', task.node === (this.#nodes.get(task.id) ?? null));
    this.#must('what waits is not held', !task.held || task.status !== 'waiting');
    this.#must('a worker holds only what it was given', !task.held || task.fence > 0);
    this.#must('only what is queued is put off', task.runAt === null || task.status === 'queued');
    this.#must('only a failed task is taken back by a retry', task.cut === null || task.status === 'failed');
    const failures = own.filter(({ type }) => type === 'task.retrying').length;
    this.#must('failures are told', task.failures === failures && failures < Math.max(1, task.maxAttempts));
    if (task.status === 'waiting') {
      const open = this.#table.pendingRows(task.id).map(({ key }) => key);
      const { ord, keys } = this.#waitsFor.get(task.id) ?? { ord: -1, keys: [] };
      this.#must('no wake-up is lost', keys.length > 0 && keys.every((key) => open.includes(key)) && task.ord === ord);
    }
    if (TERMINAL.has(task.status)) this.#watchEnded(task, own, tree);
    else this.#must('nothing of the unfinished is pruned', task.prunedSeq === 0 && task.finishedAt === null);
  }

  #watchEnded(task: TaskRecord, own: Event[], tree: Event[]): void {
    const ends = own.filter(({ type }) => TERMINAL.has(STATUS_AFTER[type] ?? ''));
    const open = [...this.#table.pendingQuestions(task.id), ...this.#table.unfinishedChildren(task.id)];
    this.#must('a task ends once', ends.length === 1 && task.finishedAt === ends[0]?.at);
    this.#must('nothing follows the end', own.at(-1) === ends[0]);
    this.#must('the end of a root is the last of its tree', task.parentId !== null || tree.at(-1) === ends[0]);
    this.#must('an ended task leaves nothing open', open.length === 0);
    this.#must('only a failed task has an error', (task.error !== null) === (task.status === 'failed'));
  }

  #watchQuestion(question: QuestionRecord, before: Records): void {
    const mark = `"${question.id}"`;
    const about = this.#table.told.filter(({ type, data }) => type.startsWith('question.') && data.includes(mark));
    const [asked, ...ends] = about;
    const wire = toQuestion(question);
    const pending = { ...wire, status: 'pending', answers: null, resolvedBy: null, reason: null, resolvedAt: null };
    this.#must('a question is asked first', asked?.type === 'question.asked');
    this.#must('the asking tells it whole', isDeepStrictEqual(JSON.parse(asked?.data ?? '{}').question, pending));
    this.#must('a question ends once', ends.length === (question.resolution === null ? 0 : 1));
    for (const { type, data, at } of ends) {
      const { questionId, answers = null, reason = null, resolvedBy } = JSON.parse(data);
      const told = { questionId, answers, reason, resolvedBy, type, at };
      const stored = {
        questionId: question.id,
        answers: wire.answers,
        reason: wire.reason,
        resolvedBy: wire.resolvedBy,
      };
      const whole = { ...stored, type: `question.${wire.status}`, at: question.resolution?.at };
      this.#must('the event tells the resolution that is stored', isDeepStrictEqual(told, whole));
    }
    const { resolution, expiresAt } = question;
    const late = resolution !== null && expiresAt !== null && resolution.at >= expiresAt;
    const inTime = wire.status === 'expired' ? late : !late || resolution?.status === 'cancelled';
    this.#must('it is answered before the deadline and expires after it', resolution === null || inTime);
    const earlier = before.questions.get(question.id);
    const isFinal = earlier === undefined || earlier.resolution === null || isDeepStrictEqual(question, earlier);
    this.#must('the first resolution stays', isFinal);
  }

  /** A refusal and a repetition change nothing, but that a late comer expires the question that it came too late for. */
  #watchRefusal(call: VerbCall, { outcome, events, resolutions }: Ran<unknown>, before: Records): void {
    if (outcome.ok && !outcome.replayed) return;
    const late = 'questionId' in call.args ? before.questions.get(call.args.questionId) : undefined;
    const { now } = this.#table;
    if (late?.resolution === null && late.expiresAt !== null && now >= late.expiresAt && !outcome.ok) {
      if (outcome.code !== 'question_resolved') return;
      const { resolution } = this.#table.question(late.id);
      this.#must('a late comer expires the question', isDeepStrictEqual(resolution, { status: 'expired', at: now }));
      return;
    }
    const { keys: _after, ...after } = this.#table.records();
    const { keys: _earlier, ...earlier } = before;
    this.#must('a refusal changes nothing', isDeepStrictEqual(after, earlier));
    this.#must('a refusal tells nothing', events.length + resolutions.length === 0);
  }

  #watchFence(call: VerbCall, { outcome }: Ran<unknown>, before: Records): void {
    if (call.verb === 'claimTask' && outcome.ok) {
      const { taskId } = call.args;
      this.#must(
        'a claim gives a new fence',
        this.#table.task(taskId).fence === (before.tasks.get(taskId)?.fence ?? 0) + 1,
      );
    }
    if (!('fence' in call.args)) return;
    const task = before.tasks.get(call.args.taskId);
    const allowed = call.verb === 'releaseTask' ? task?.held : task !== undefined && !TERMINAL.has(task.status);
    if (task?.fence === call.args.fence && allowed) return;
    this.#must('an old fence changes nothing', !outcome.ok && outcome.code === 'lease_lost');
  }

  #watchOrd({ args }: VerbCall, { ords }: Ran<unknown>, before: Records): void {
    const ord = 'taskId' in args ? (before.tasks.get(args.taskId)?.ord ?? null) : null;
    this.#must('a call says where its task stood before it', isDeepStrictEqual(ords, [ord]));
  }

  #watchAnswer(call: VerbCall, { outcome }: Ran<unknown>, before: Records): void {
    if (call.verb !== 'answerQuestion' || call.idempotency !== undefined) return;
    const resolution = before.questions.get(call.args.questionId)?.resolution ?? null;
    if (resolution === null) return;
    const { given } = call.args;
    const month = 'answer' in given ? given.answer : (given.answers.month ?? null);
    const same = resolution.status === 'answered' && (resolution.answers.month ?? null) === month;
    this.#must('an equal answer is a repetition', same === (outcome.ok && outcome.replayed));
    this.#must('another answer has lost', same || (!outcome.ok && outcome.code === 'question_resolved'));
  }

  #watchKey({ idempotency }: VerbCall, { outcome }: Ran<unknown>): void {
    if (idempotency === undefined) return;
    const { now } = this.#table;
    const first = this.#first.get(idempotency.key);
    if (first === undefined || now - first.at >= DAY) {
      const { fingerprint } = idempotency;
      if (outcome.ok) {
        this.#first.set(idempotency.key, { fingerprint, result: JSON.stringify(outcome.result), at: now });
      }
    } else if (first.fingerprint === idempotency.fingerprint) {
      const again = { ok: true, result: JSON.parse(first.result), replayed: true };
      this.#must('a key gives the same result again', isDeepStrictEqual(outcome, again));
    } else {
      this.#must('a key stands for one request', !outcome.ok && outcome.code === 'idempotency_mismatch');
    }
  }
}
