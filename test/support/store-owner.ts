import { uuidv7obj } from 'uuidv7';
import type { Turn } from '../../src/model/agent.ts';
import type { OutcomesOf, VerbCall } from '../../src/model/batch.ts';
import type { ConversationRecord } from '../../src/model/conversation.ts';
import type { NewEvent } from '../../src/model/event.ts';
import { formatId, type IdPrefix } from '../../src/model/id.ts';
import type { JournalRow } from '../../src/model/journal.ts';
import type { Json } from '../../src/model/json.ts';
import type { QuestionRecord } from '../../src/model/question.ts';
import type { TaskRecord } from '../../src/model/task.ts';
import { taskError } from '../../src/model/task-error.ts';
import type { Outcome } from '../../src/model/verb.ts';
import type { ClaimTaskArgs } from '../../src/model/verbs/claim-task.ts';
import type { CreateConversationArgs } from '../../src/model/verbs/create-conversation.ts';
import type { CreateTaskArgs } from '../../src/model/verbs/create-task.ts';
import type { FailTaskArgs } from '../../src/model/verbs/fail-task.ts';
import type { PostMessageArgs } from '../../src/model/verbs/post-message.ts';
import type { RequeueTaskArgs } from '../../src/model/verbs/requeue-task.ts';
import type { SettleStepArgs } from '../../src/model/verbs/settle-step.ts';
import type { StartStepArgs } from '../../src/model/verbs/start-step.ts';
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
    maxAttempts: 1,
    runAt: null,
    conversationId: null,
    ...given,
  };
}

function textItem(id = 'month') {
  const base = { id, prompt: 'Which?', header: null, required: true };
  return { ...base, type: 'text', minLength: null, maxLength: null, default: null } as const;
}

/** Events that an agent emitted: small ones, told apart by `n`. */
export function noteEvents(taskId: string, count: number, data = (n: number) => JSON.stringify({ n })): NewEvent[] {
  return Array.from({ length: count }, (_, n) => ({
    taskId,
    conversationId: null,
    type: 'note.taken',
    step: null,
    data: data(n),
  }));
}

/** What an outcome succeeded with. @throws Error with the refusal */
export function resultOf<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.message}`);
  return outcome.result;
}

let owners = 0;
/** How many events from outside steps each store, by its name as a node, was sent for each task. */
const emitted = new Map<string, Map<string, number>>();

/** An owner whom no other test uses, doing through the store what the engine would. */
export class Owner {
  readonly name: string;
  readonly store: Store;

  constructor(store: Store, name = `owner-${++owners}`) {
    this.store = store;
    this.name = name;
  }

  async create(given: Partial<CreateTaskArgs> = {}): Promise<TaskRecord> {
    return (await this.#do({ verb: 'createTask', args: createArgs(given) })).task;
  }

  async open(given: Partial<CreateConversationArgs> = {}): Promise<ConversationRecord> {
    const args = { conversationId: newId('conv'), title: null, metadata: {}, ...given };
    return (await this.#do({ verb: 'createConversation', args })).conversation;
  }

  async update(conversationId: string, changes: { title: string }): Promise<void> {
    await this.#do({ verb: 'updateConversation', args: { conversationId, ...changes } });
  }

  /** Deletes a conversation. */
  async remove(conversationId: string): Promise<void> {
    await this.#do({ verb: 'deleteConversation', args: { conversationId } });
  }

  async purge(conversationId: string): Promise<void> {
    await this.#do({ verb: 'purgeConversation', args: { conversationId } });
  }

  /** Writes in a conversation; a turn waits for those before it unless `whenBusy` says otherwise. @returns the task that has the message */
  async post(conversationId: string, content: string, given: Partial<PostMessageArgs> = {}): Promise<TaskRecord> {
    const ids = { conversationId, messageId: newId('msg'), taskId: newId('task') };
    const args: PostMessageArgs = { ...ids, agent: 'planner', content, metadata: {}, whenBusy: 'enqueue', ...given };
    return (await this.#do({ verb: 'postMessage', args })).task;
  }

  /** What a task is told of the turns before it. */
  async history({ id: taskId, fence }: TaskRecord): Promise<Turn[]> {
    const { outcomes, resolutions } = await this.store.commit(this.name, [
      { verb: 'readHistory', args: { taskId, fence, key: 'history', askedAt: 0 } },
    ]);
    resultOf(outcomes[0]);
    return JSON.parse(resolutions[0]?.value ?? 'null');
  }

  /** The turns of a conversation, oldest first. */
  async turns(conversationId: string): Promise<string[]> {
    const tasks = await this.store.listTasks(this.name, { conversationId, order: 'asc', limit: 200 });
    return tasks.filter(({ isTurn }) => isTurn).map(({ id }) => id);
  }

  async conversation(id: string): Promise<ConversationRecord> {
    const conversation = await this.store.conversation(this.name, id);
    if (conversation === null) throw new Error(`There is no ${id}.`);
    return conversation;
  }

  async retry(taskId: string): Promise<TaskRecord> {
    return (await this.#do({ verb: 'retryTask', args: { taskId, newTaskId: newId('task') } })).task;
  }

  async claim(taskId: string): Promise<TaskRecord> {
    return (await this.#do({ verb: 'claimTask', args: this.claimArgs(taskId) })).task;
  }

  /** Claims for a copy that begins with the journal. */
  async replay(taskId: string): Promise<{ task: TaskRecord; rows: JournalRow[] }> {
    const { task, rows } = await this.#do({ verb: 'claimTask', args: this.claimArgs(taskId, { warm: false }) });
    return { task, rows: rows ?? [] };
  }

  /** As this process claims, for a copy that waits in memory. */
  claimArgs(taskId: string, given: Partial<ClaimTaskArgs> = {}): ClaimTaskArgs {
    return { taskId, version: '1', warm: true, node: this.store.node, ...given };
  }

  async start(given: Partial<CreateTaskArgs> = {}): Promise<TaskRecord> {
    return this.claim((await this.create(given)).id);
  }

  async append({ id: taskId, fence, emits }: TaskRecord, events = noteEvents(taskId, 1)) {
    const sent = emitted.get(this.store.node) ?? new Map<string, number>();
    emitted.set(this.store.node, sent);
    const after = sent.get(taskId) ?? emits;
    const own = events.filter((event) => event.taskId === taskId && event.step === null).length;
    sent.set(taskId, after + own);
    const batch = await this.store.commit(this.name, [
      { verb: 'appendEvents', args: { taskId, fence, after, events } },
    ]);
    resultOf(batch.outcomes[0]);
    return batch;
  }

  async ask({ id: taskId, fence }: TaskRecord, key: string, timeoutMs: number | null = null): Promise<QuestionRecord> {
    const about = { items: [textItem()], metadata: {}, timeoutMs };
    const args = { taskId, fence, questionId: newId('qst'), key, askedAt: 0, ...about };
    return (await this.#do({ verb: 'askQuestion', args })).question;
  }

  async sleep({ id: taskId, fence }: TaskRecord, key: string, ms: number): Promise<void> {
    await this.#do({ verb: 'startTimer', args: { taskId, fence, key, askedAt: 0, ms } });
  }

  /** Begins a step's function. */
  async begin({ id: taskId, fence }: TaskRecord, name: string, given: Partial<StartStepArgs> = {}): Promise<void> {
    const step = { name, attempt: 1 };
    const args = { taskId, fence, step, askedAt: 0, once: false, messageId: null, tool: null, ...given };
    await this.#do({ verb: 'startStep', args });
  }

  async settle({ id: taskId, fence }: TaskRecord, name: string, given: Partial<SettleStepArgs> = {}): Promise<void> {
    const step = { name, attempt: 1 };
    const outcome = { status: 'completed', value: '"done"' } as const;
    const args = { taskId, fence, step, askedAt: 0, once: false, ms: 5, outcome, message: null, tool: null, ...given };
    await this.#do({ verb: 'settleStep', args });
  }

  /** Begins a step and ends it. @param value JSON text */
  async step(task: TaskRecord, name: string, value = '"done"'): Promise<void> {
    await this.begin(task, name);
    await this.settle(task, name, { outcome: { status: 'completed', value } });
  }

  async spawn({ id: taskId, fence }: TaskRecord, key: string): Promise<TaskRecord> {
    const childId = newId('task');
    const args = { taskId, fence, key, askedAt: 0, childId, agent: 'planner', input: null };
    await this.#do({ verb: 'spawnTask', args });
    return this.task(childId);
  }

  async send(taskId: string, message: Json): Promise<void> {
    await this.#do({ verb: 'addToInbox', args: { taskId, message } });
  }

  async takeInbox({ id: taskId, fence }: TaskRecord, key = 'inbox'): Promise<void> {
    await this.#do({ verb: 'takeInbox', args: { taskId, fence, key, askedAt: 0 } });
  }

  async wait({ id: taskId, fence }: TaskRecord, keys: string[]): Promise<void> {
    const { ord } = await this.task(taskId);
    await this.#do({ verb: 'waitTask', args: { taskId, fence, ord, keys } });
  }

  async answer(questionId: string) {
    const args = { questionId, given: { answer: 'June' }, resolvedBy: this.name };
    const { outcomes } = await this.store.commit(this.name, [{ verb: 'answerQuestion', args }]);
    return outcomes[0];
  }

  async finish({ id: taskId, fence }: TaskRecord): Promise<TaskRecord> {
    return (await this.#do({ verb: 'finishTask', args: { taskId, fence, output: 'done' } })).task;
  }

  async fail({ id: taskId, fence }: TaskRecord, given: Partial<FailTaskArgs> = {}): Promise<TaskRecord> {
    const error = taskError('agent_error', 'No way.');
    const args = { taskId, fence, error, cut: null, when: 'now', jitter: 0, ...given } as const;
    return (await this.#do({ verb: 'failTask', args })).task;
  }

  async cancel(taskId: string): Promise<TaskRecord> {
    return (await this.#do({ verb: 'cancelTask', args: { taskId, reason: null } })).task;
  }

  async requeue({ id: taskId, fence }: TaskRecord, cause: RequeueTaskArgs['cause']): Promise<TaskRecord> {
    return (await this.#do({ verb: 'requeueTask', args: { taskId, fence, cause } })).task;
  }

  async release({ id: taskId, fence }: TaskRecord): Promise<void> {
    await this.#do({ verb: 'releaseTask', args: { taskId, fence } });
  }

  /** Runs a task until the process dies, and again: then it is a suspect. */
  async crashTwice(taskId: string): Promise<void> {
    for (let time = 0; time < 2; time++) await this.requeue(await this.claim(taskId), 'crashed');
  }

  async prune(rootId: string, retentionMs = 0) {
    const { outcomes } = await this.store.commit(this.name, [{ verb: 'pruneTask', args: { rootId, retentionMs } }]);
    return outcomes[0];
  }

  /** The task as it is now. @throws Error when there is none */
  async task(id: string): Promise<TaskRecord> {
    const task = await this.store.task(this.name, id);
    if (task === null) throw new Error(`There is no ${id}.`);
    return task;
  }

  /** Up to the head unless it says otherwise. */
  read(query: Partial<EventQuery> = {}): Promise<EventPage> {
    const all = { scope: { kind: 'log' }, after: 0, upTo: null, unfinishedAt: null, limit: 200 } as const;
    return this.store.readEvents(this.name, { ...all, ...query });
  }

  async seqs(query: Partial<EventQuery> = {}): Promise<number[]> {
    return (await this.read(query)).events.map(({ seq }) => seq);
  }

  /** What time it is for a commit, in epoch ms: the store's own `now` may be a little off. */
  async clock(): Promise<number> {
    const nothing = { verb: 'cancelTask', args: { taskId: newId('task'), reason: null } } as const;
    return (await this.store.commit(this.name, [nothing])).now;
  }

  /** Waits until the clock has moved on from `at`. */
  async later(at?: number): Promise<void> {
    const before = at ?? (await this.clock());
    while ((await this.clock()) <= before) await new Promise(setImmediate);
  }

  /** @throws Error with the refusal */
  async #do<const Call extends VerbCall>(call: Call): Promise<ResultOf<Call>> {
    const { outcomes } = await this.store.commit(this.name, [call]);
    return resultOf<ResultOf<Call>>(outcomes[0]);
  }
}

type ResultOf<Call extends VerbCall> = OutcomesOf<readonly [Call]>[0] extends Outcome<infer Result> ? Result : never;
