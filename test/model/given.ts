import { type Event, type NewEvent, newEvent } from '../../src/model/event.ts';
import type { Lease } from '../../src/model/fence.ts';
import type { Cut } from '../../src/model/journal.ts';
import type { QuestionItem } from '../../src/model/question-item.ts';
import { type ItemSpec, normalizeItems } from '../../src/model/question-spec.ts';
import { taskError } from '../../src/model/task-error.ts';
import type { AskQuestionArgs } from '../../src/model/verbs/ask-question.ts';
import type { ClaimTaskArgs } from '../../src/model/verbs/claim-task.ts';
import type { CreateTaskArgs } from '../../src/model/verbs/create-task.ts';
import type { FailTaskArgs } from '../../src/model/verbs/fail-task.ts';
import type { PostMessageArgs } from '../../src/model/verbs/post-message.ts';
import type { SettleStepArgs } from '../../src/model/verbs/settle-step.ts';
import type { SpawnTaskArgs } from '../../src/model/verbs/spawn-task.ts';
import type { StartStepArgs } from '../../src/model/verbs/start-step.ts';
import type { StartTimerArgs } from '../../src/model/verbs/start-timer.ts';
import { Table } from './table.ts';

export const MINUTE = 60_000;

/** The task of most tests. */
export const TASK = 'task_a';
/** Its question. */
export const QUESTION = 'qst_a';
/** Its child. */
export const CHILD = 'task_child';
export const CONVERSATION = 'conv_a';

export function createArgs(over: Partial<CreateTaskArgs> = {}): CreateTaskArgs {
  const args = { taskId: TASK, agent: 'trip-planner', input: { city: 'Lisbon' }, metadata: {} };
  const limits = { timeoutMs: 30 * MINUTE, maxAttempts: 1, runAt: null, conversationId: null };
  return { ...args, ...limits, priority: 0, concurrencyKey: null, ...over };
}

export function givenQueuedTask(over: Partial<CreateTaskArgs> = {}, table = new Table()): Table {
  table.run({ verb: 'createTask', args: createArgs(over) });
  return table;
}

export function givenRunningTask(over: Partial<CreateTaskArgs> = {}, table = new Table()): Table {
  givenQueuedTask(over, table);
  table.run(claimOf(over.taskId ?? TASK));
  return table;
}

/** A running task with a pending question; `of` names the items by what they are. */
export function givenQuestion(over: Partial<AskQuestionArgs> = {}, table = givenRunningTask()): Table {
  table.run({ verb: 'askQuestion', args: askArgs(over) });
  return table;
}

/** A task that waits for its question. */
export function givenWaitingTask(over: Partial<AskQuestionArgs> = {}): Table {
  const table = givenQuestion(over);
  table.run(wait(over.key ?? 'dates'));
  return table;
}

/** A task that sleeps for a minute. */
export function givenSleepingTask(): Table {
  const table = givenRunningTask();
  table.run(sleep());
  table.run(wait('nap'));
  return table;
}

export function givenCancelledTask(): Table {
  const table = givenRunningTask();
  table.run({ verb: 'cancelTask', args: { taskId: TASK, reason: null } });
  return table;
}

/** A running task with a child that is queued. */
export function givenChild(over: Partial<SpawnTaskArgs> = {}, table = givenRunningTask()): Table {
  table.run(spawn(over));
  return table;
}

export function open(conversationId = CONVERSATION) {
  const args = { conversationId, title: 'Lisbon', metadata: { from: 'web' } };
  return { verb: 'createConversation', args } as const;
}

/** Writes in the conversation: a turn, unless `whenBusy` makes something else of it. Its ids end with its content. */
export function post(content: string, over: Partial<PostMessageArgs> = {}) {
  const ids = { conversationId: CONVERSATION, messageId: `msg_by_${content}`, taskId: `task_${content}` };
  const args: PostMessageArgs = { ...ids, agent: 'chat', content, metadata: {}, whenBusy: 'enqueue', ...over };
  return { verb: 'postMessage', args } as const;
}

export function steer(content: string) {
  return post(content, { whenBusy: 'steer' });
}

export function givenConversation(table = new Table()): Table {
  table.run(open());
  return table;
}

/** A conversation whose first turn, `task_a`, is running. */
export function givenTurn(over: Partial<PostMessageArgs> = {}): Table {
  const table = givenConversation();
  table.run(post('a', over));
  table.run(claim);
  return table;
}

/** What the worker of the first claim holds. */
export function lease(over: Partial<Lease> = {}): Lease {
  return { taskId: TASK, fence: 1, ...over };
}

export function askArgs(over: Partial<AskQuestionArgs> = {}): AskQuestionArgs {
  const args = { ...lease(), questionId: QUESTION, key: 'dates', askedAt: 0, items: MONTH, metadata: {} };
  return { ...args, timeoutMs: 15 * MINUTE, ...over };
}

export function answer(value: string, by = 'ann') {
  const args = { questionId: QUESTION, given: { answer: value }, resolvedBy: by };
  return { verb: 'answerQuestion', args } as const;
}

export function decline(reason: string | null = null, by = 'ann') {
  return { verb: 'declineQuestion', args: { questionId: QUESTION, reason, resolvedBy: by } } as const;
}

export function claimOf(taskId: string, over: Partial<ClaimTaskArgs> = {}) {
  return { verb: 'claimTask', args: { taskId, version: '1', warm: false, node: 'node_a', ...over } } as const;
}

export const claim = claimOf(TASK);
export const cancel = { verb: 'cancelTask', args: { taskId: TASK, reason: 'changed my mind' } } as const;
export const finish = { verb: 'finishTask', args: { ...lease(), output: { booked: true } } } as const;

/** Begins the step `charge`, or another. */
export function begin(over: Partial<StartStepArgs> & { key?: string; attempt?: number } = {}) {
  const { key = 'charge', attempt = 1, ...args } = over;
  const step = { name: key, attempt };
  const none = { askedAt: 0, once: false, messageId: null, tool: null };
  return { verb: 'startStep', args: { ...lease(), step, ...none, ...args } } as const;
}

/** Ends the step `charge`, or another: well, unless an outcome says otherwise. */
export function settle(over: Partial<SettleStepArgs> & { key?: string; attempt?: number } = {}) {
  const { key = 'charge', attempt = 1, ...args } = over;
  const step = { name: key, attempt };
  const none = { askedAt: 0, once: false, ms: 40, message: null, tool: null };
  const outcome = { status: 'completed', value: '"paid"' } as const;
  return { verb: 'settleStep', args: { ...lease(), step, outcome, ...none, ...args } } as const;
}

/** How a step fails; for good unless it runs again. */
export function failure(message = 'no luck', retryInMs: number | null = null, fields: Record<string, string> = {}) {
  const thrown = JSON.stringify({ name: 'Error', message, fields, cause: null });
  return { status: 'failed', error: taskError('agent_error', message), failure: thrown, retryInMs } as const;
}

export function sleep(over: Partial<StartTimerArgs> = {}) {
  return { verb: 'startTimer', args: { ...lease(), key: 'nap', askedAt: 0, ms: MINUTE, ...over } } as const;
}

export function spawn(over: Partial<SpawnTaskArgs> = {}) {
  const child = { key: 'flights', askedAt: 0, childId: CHILD, agent: 'searcher', input: null };
  return { verb: 'spawnTask', args: { ...lease(), ...child, ...over } } as const;
}

/** Waits for keys, before anything was resolved. */
export function wait(...keys: string[]) {
  return { verb: 'waitTask', args: { ...lease(), ord: 0, keys } } as const;
}

export function append(after: number, events: NewEvent[], held = lease()) {
  return { verb: 'appendEvents', args: { ...held, after, events } } as const;
}

export function note(taskId = TASK): NewEvent {
  return { taskId, conversationId: null, type: 'a.note', step: null, data: '{}' };
}

/** What a step says, as it streams. */
export function delta(text: string, messageId = 'msg_a', key = 'reply'): NewEvent {
  return { ...newEvent(TASK, 'message.delta', { messageId, text }), step: JSON.stringify({ name: key, attempt: 1 }) };
}

export function fail(over: Partial<FailTaskArgs> = {}) {
  const error = taskError('agent_error', 'no flights');
  return { verb: 'failTask', args: { ...lease(), error, cut: null, when: 'now', jitter: 0, ...over } } as const;
}

export function cutAt(over: Partial<Cut> = {}): Cut {
  return { keys: [], askedAt: 0, ord: 1, emits: 0, ...over };
}

/** One item as an agent writes it, with a prompt that does not matter. */
export function item(spec: Omit<ItemSpec, 'prompt' | 'id'> & { id?: string }): QuestionItem {
  const [only] = normalizeItems([{ id: 'it', prompt: 'What?', ...spec } as ItemSpec]);
  return only as QuestionItem;
}

export const MONTH = normalizeItems([{ id: 'month', prompt: 'Which month?', options: ['june', 'july'] }]);

export function typesOf(events: readonly Event[]): string[] {
  return events.map(({ type }) => type);
}

/** Each event as `[type, data]`. */
export function dataOf(events: readonly Event[]): [string, unknown][] {
  return events.map(({ type, data }) => [type, JSON.parse(data)]);
}
