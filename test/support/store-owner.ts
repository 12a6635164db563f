import { uuidv7obj } from 'uuidv7';
import type { NewEvent } from '../../src/model/event.ts';
import { formatId, type IdPrefix } from '../../src/model/id.ts';
import type { QuestionRecord } from '../../src/model/question.ts';
import type { TaskRecord } from '../../src/model/task.ts';
import type { Outcome } from '../../src/model/verb.ts';
import type { CreateTaskArgs } from '../../src/model/verbs/create-task.ts';
import type { EventPage, EventQuery, Store } from '../../src/store/store.ts';

export function newId(prefix: IdPrefix): string {
  return formatId(prefix, uuidv7obj().bytes);
}

export function createArgs(given: Partial<CreateTaskArgs> = {}): CreateTaskArgs {
  return {
    taskId: newId('task'),
    agent: 'planner',
    input: { city: 'Köln' },
    metadata: {},
    timeoutMs: 60_000,
    priority: 0,
    concurrencyKey: null,
    ...given,
  };
}

function textItem(id = 'month') {
  const base = { id, prompt: 'Which?', header: null, required: true };
  return { ...base, type: 'text', minLength: null, maxLength: null, default: null } as const;
}

/** Events that an agent emitted: small ones, told apart by `n`. */
export function noteEvents(taskId: string, count: number, data = (n: number) => JSON.stringify({ n })): NewEvent[] {
  return Array.from({ length: count }, (_, n) => ({ taskId, type: 'note.taken', step: null, data: data(n) }));
}

/** What an outcome succeeded with. @throws Error with the refusal */
export function resultOf<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.message}`);
  return outcome.result;
}

let owners = 0;

/** An owner whom no other test uses, doing through the store what the engine would. */
export class Owner {
  readonly name: string;
  readonly store: Store;

  constructor(store: Store, name = `owner-${++owners}`) {
    this.store = store;
    this.name = name;
  }

  async create(given: Partial<CreateTaskArgs> = {}): Promise<TaskRecord> {
    const { outcomes } = await this.store.commit(this.name, [{ verb: 'createTask', args: createArgs(given) }]);
    return resultOf(outcomes[0]).task;
  }

  async claim(taskId: string): Promise<TaskRecord> {
    const { outcomes } = await this.store.commit(this.name, [{ verb: 'claimTask', args: { taskId, version: '1' } }]);
    return resultOf(outcomes[0]).task;
  }

  async start(given: Partial<CreateTaskArgs> = {}): Promise<TaskRecord> {
    return this.claim((await this.create(given)).id);
  }

  async append({ id: taskId, fence }: TaskRecord, events = noteEvents(taskId, 1)) {
    const batch = await this.store.commit(this.name, [{ verb: 'appendEvents', args: { taskId, fence, events } }]);
    resultOf(batch.outcomes[0]);
    return batch;
  }

  async ask({ id: taskId, fence }: TaskRecord, key: string, timeoutMs: number | null = null): Promise<QuestionRecord> {
    const args = { taskId, fence, questionId: newId('qst'), key, items: [textItem()], metadata: {}, timeoutMs };
    const { outcomes } = await this.store.commit(this.name, [{ verb: 'askQuestion', args }]);
    return resultOf(outcomes[0]).question;
  }

  async sleep({ id: taskId, fence }: TaskRecord, key: string, ms: number): Promise<void> {
    const { outcomes } = await this.store.commit(this.name, [{ verb: 'startTimer', args: { taskId, fence, key, ms } }]);
    resultOf(outcomes[0]);
  }

  async wait({ id: taskId, fence }: TaskRecord, keys: string[]): Promise<void> {
    const { outcomes } = await this.store.commit(this.name, [{ verb: 'waitTask', args: { taskId, fence, keys } }]);
    resultOf(outcomes[0]);
  }

  async answer(questionId: string) {
    const args = { questionId, given: { answer: 'June' }, resolvedBy: this.name };
    const { outcomes } = await this.store.commit(this.name, [{ verb: 'answerQuestion', args }]);
    return outcomes[0];
  }

  async finish({ id: taskId, fence }: TaskRecord): Promise<TaskRecord> {
    const { outcomes } = await this.store.commit(this.name, [
      { verb: 'finishTask', args: { taskId, fence, output: 'done' } },
    ]);
    return resultOf(outcomes[0]).task;
  }

  async prune(rootId: string, retentionMs = 0) {
    const { outcomes } = await this.store.commit(this.name, [{ verb: 'pruneTask', args: { rootId, retentionMs } }]);
    return outcomes[0];
  }

  read(query: Partial<EventQuery> = {}): EventPage {
    const upTo = this.store.log(this.name).head;
    return this.store.readEvents(this.name, {
      scope: { kind: 'log' },
      after: 0,
      upTo,
      unfinishedAt: null,
      limit: 200,
      ...query,
    });
  }

  seqs(query: Partial<EventQuery> = {}): number[] {
    return this.read(query).events.map(({ seq }) => seq);
  }
}
