import { createCatchingUp } from '../../../src/engine/catching-up.ts';
import { type Copies, createCopies } from '../../../src/engine/copies.ts';
import type { NumberedReport } from '../../../src/engine/copy.ts';
import { createLog } from '../../../src/engine/log.ts';
import { createOneAtATime } from '../../../src/engine/one-at-a-time.ts';
import { verbOfReport } from '../../../src/engine/report-verb.ts';
import { createUnderWay } from '../../../src/engine/under-way.ts';
import type { VerbCall } from '../../../src/model/batch.ts';
import type { TaskRecord } from '../../../src/model/task.ts';
import type { Command, CopyReport } from '../../../src/worker/protocol.ts';
import { newId, Owner } from '../../support/store-owner.ts';
import { createGate } from './gate.ts';
import type { SharedStore, View } from './shared-store.ts';

/**
 * One task on one node of two, whose copy is the test: it reports, and writes down what it is told. The answers of this
 * node's commits and its readings come as late as the test likes.
 */
export class ScriptedCopy {
  readonly sent: Command[] = [];
  readonly cuts: string[] = [];
  /** Places of what it was told, in this order. */
  readonly told: number[] = [];
  /** What is wrong with what it was told. */
  readonly faults: string[] = [];
  readonly here: View;
  readonly there: Owner;
  readonly copies: Copies;
  readonly answers = createGate();
  readonly readings = createGate();
  taskId = '';
  /** As its worker knows it. */
  fence = 0;
  status: 'running' | 'asking to wait' | 'waiting' | 'dropped' = 'running';
  readonly #reports = new WeakMap<VerbCall, NumberedReport>();
  /** Of each report, the task's newest place when it was committed. */
  readonly #places = new Map<number, number>();
  readonly #log;
  readonly #states;
  #n = 0;
  #emits = 0;
  #asked: string[] = [];

  constructor(shared: SharedStore, owner: string) {
    const here = shared.view('here', {
      answered: this.answers.wait,
      reading: this.readings.wait,
      listens: false,
    });
    this.here = here;
    this.there = new Owner(shared.view('there', { listens: false }), owner);
    const onFatal = (error: unknown) => {
      throw error;
    };
    this.copies = createCopies({
      warmMs: 3_600_000,
      send: (command) => this.#hear(command),
      reportOf: (call) => this.#reports.get(call) ?? null,
      onStranded: ({ taskId }, why) => this.faults.push(`stranded ${taskId}: ${why.message}`),
      onParked: () => this.cuts.push('parked'),
      onCut: () => this.cuts.push('cut'),
      onBehind: (owner) => this.#states.ask(owner),
    });
    const underWay = createUnderWay();
    this.#log = underWay.watch(
      createLog({ store: here, listeners: [this.copies.committed], follow: () => null, onFatal }),
    );
    const catchingUp = createCatchingUp({
      cluster: here.cluster,
      copies: this.copies,
      underWay,
      now: here.now,
      onWoken() {},
    });
    this.#states = createOneAtATime(catchingUp.read, onFatal);
  }

  async begin(): Promise<void> {
    this.taskId = (await this.there.create({ timeoutMs: 1e9 })).id;
    this.claim();
    await this.settle();
  }

  /** Claims the task for this node. */
  claim(): void {
    const warm = this.copies.claim(this.taskId);
    this.#commit([{ verb: 'claimTask', args: { taskId: this.taskId, version: '1', warm, node: this.here.node } }]);
  }

  emit(): void {
    const { taskId } = this;
    const event = { taskId, conversationId: null, type: 'note.taken', step: null, data: '{}' };
    this.#report({ kind: 'append', after: this.#emits, events: [event] });
    this.#emits += 1;
  }

  ask(): void {
    const item = { id: 'a', prompt: 'Well?', header: null, required: true, type: 'boolean', default: null } as const;
    const questionId = newId('qst');
    const key = questionId;
    this.#asked.push(key);
    this.#report({ kind: 'ask', questionId, key, askedAt: 0, items: [item], metadata: {}, timeoutMs: null });
  }

  step(): void {
    const step = { name: newId('msg'), attempt: 1 };
    const outcome = { status: 'completed', value: '7' } as const;
    this.#report(
      { kind: 'startStep', step, askedAt: 0, once: false, messageId: null, tool: null },
      { kind: 'settleStep', step, askedAt: 0, once: false, ms: 1, outcome, message: null, tool: null },
    );
  }

  /** Only at rest: when all that it has reported is on disk. */
  wait(): void {
    const open = this.#asked.filter((key) => !this.toldKeys.includes(key));
    if (open.length === 0 || !this.isAcknowledged) return;
    this.status = 'asking to wait';
    this.#report({ kind: 'wait', ord: this.told.at(-1) ?? 0, keys: open });
  }

  readonly toldKeys: string[] = [];

  /** Somebody answers the oldest open question, at the other node or at this one. */
  async answer(where: 'here' | 'there'): Promise<void> {
    const open = await this.there.store.listQuestions(this.there.name, {
      status: 'pending',
      taskId: this.taskId,
      limit: 1,
    });
    const [question] = open;
    if (question === undefined) return;
    const args = { questionId: question.id, given: { answers: { a: true } }, resolvedBy: 'bea' };
    const call = { verb: 'answerQuestion', args } as const;
    if (where === 'here') this.#commit([call]);
    else await this.there.store.commit(this.there.name, [call]);
  }

  /** The other node claims the task, if it is in the queue. */
  async steal(): Promise<void> {
    const args = this.there.claimArgs(this.taskId, { warm: false });
    await this.there.store.commit(this.there.name, [{ verb: 'claimTask', args }]);
  }

  async cancel(): Promise<void> {
    await this.there.store.commit(this.there.name, [
      { verb: 'cancelTask', args: { taskId: this.taskId, reason: null } },
    ]);
  }

  /** The task as it is stored. */
  record(): Promise<TaskRecord> {
    return this.there.task(this.taskId);
  }

  get isAcknowledged(): boolean {
    return (this.acknowledged.at(-1)?.n ?? 0) === this.#n;
  }

  look(): void {
    this.#states.ask(this.there.name);
  }

  /** Lets everything come to its end. */
  async settle(): Promise<void> {
    for (let idle = 0; idle < 3; ) {
      await turn();
      const moved = this.answers.letOne() || this.readings.letOne();
      idle = moved ? 0 : idle + 1;
    }
  }

  /** Lets no timer of its be left behind. */
  close(): void {
    const copy = this.copies.get(this.taskId);
    if (copy !== undefined) this.copies.lose(copy);
    this.#states.stop();
  }

  /** All places that the task has given, and the copy has yet to be told of none of them. */
  async places(): Promise<number[]> {
    const [state] = (await this.there.store.cluster?.copies(this.there.name, [{ taskId: this.taskId, ord: 0 }])) ?? [];
    return state?.resolutions.map(({ ord }) => ord) ?? [];
  }

  #report(...given: CopyReport[]): void {
    const { taskId, fence } = this;
    const calls = given.map((each) => {
      this.#n += 1;
      const numbered: NumberedReport = { taskId, fence, n: this.#n, ...each };
      const call = verbOfReport(numbered, undefined);
      this.#reports.set(call, numbered);
      return call;
    });
    this.#commit(calls);
  }

  #commit(calls: VerbCall[]): void {
    const noting: VerbCall[] = calls;
    void this.#log.commit(this.there.name, noting).then(({ ords }) => {
      for (const [at, call] of noting.entries()) {
        const report = this.#reports.get(call);
        if (report !== undefined) this.#places.set(report.n, ords[at] ?? 0);
      }
    });
  }

  #hear(command: Command): void {
    this.sent.push(command);
    switch (command.kind) {
      case 'start':
        this.fence = command.fence;
        return;
      case 'adopt':
        if (this.status !== 'waiting') this.faults.push(`adopted while ${this.status}`);
        if (command.fence !== this.fence + 1) this.faults.push('adopted by a stranger');
        this.fence = command.fence;
        this.status = 'running';
        this.#learn(command.resolutions);
        return;
      case 'resolve':
        if (this.status === 'waiting') this.faults.push('told while it waits');
        this.#learn(command.resolutions);
        return;
      case 'waited':
        this.status = command.answer === 'waiting' ? 'waiting' : 'running';
        this.acknowledged.push({ n: command.n, told: this.told.at(-1) ?? 0 });
        return;
      case 'ack':
        this.acknowledged.push({ n: command.n, told: this.told.at(-1) ?? 0 });
        return;
      case 'drop':
        if (command.fence !== this.fence) this.faults.push('dropped as another');
        this.status = 'dropped';
    }
  }

  readonly acknowledged: { n: number; told: number }[] = [];

  /** Acknowledgements that came before what was resolved before their reports. */
  overtaking(): string[] {
    return this.acknowledged.flatMap(({ n, told }) => {
      const place = this.#places.get(n) ?? 0;
      return told < place ? `report ${n}, committed at ${place}, was acknowledged at ${told}` : [];
    });
  }

  #learn(resolutions: readonly { ord: number; key: string }[]): void {
    for (const { ord, key } of resolutions) {
      this.told.push(ord);
      this.toldKeys.push(key);
    }
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
