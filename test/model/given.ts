import type { Event } from '../../src/model/event.ts';
import type { Lease } from '../../src/model/fence.ts';
import type { QuestionItem } from '../../src/model/question-item.ts';
import { type ItemSpec, normalizeItems } from '../../src/model/question-spec.ts';
import type { AskQuestionArgs } from '../../src/model/verbs/ask-question.ts';
import type { CreateTaskArgs } from '../../src/model/verbs/create-task.ts';
import { Table } from './table.ts';

export const MINUTE = 60_000;

/** The task of most tests. */
export const TASK = 'task_a';
/** Its question. */
export const QUESTION = 'qst_a';

export function createArgs(over: Partial<CreateTaskArgs> = {}): CreateTaskArgs {
  const args = { taskId: TASK, agent: 'trip-planner', input: { city: 'Lisbon' }, metadata: {} };
  return { ...args, timeoutMs: 30 * MINUTE, priority: 0, concurrencyKey: null, ...over };
}

export function givenQueuedTask(over: Partial<CreateTaskArgs> = {}, table = new Table()): Table {
  table.run({ verb: 'createTask', args: createArgs(over) });
  return table;
}

export function givenRunningTask(over: Partial<CreateTaskArgs> = {}, table = new Table()): Table {
  givenQueuedTask(over, table);
  table.run({ verb: 'claimTask', args: { taskId: over.taskId ?? TASK, version: '1' } });
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
  table.run({ verb: 'waitTask', args: { ...lease(), keys: [over.key ?? 'dates'] } });
  return table;
}

/** A task that sleeps for a minute. */
export function givenSleepingTask(): Table {
  const table = givenRunningTask();
  table.run({ verb: 'startTimer', args: { ...lease(), key: 'nap', ms: MINUTE } });
  table.run({ verb: 'waitTask', args: { ...lease(), keys: ['nap'] } });
  return table;
}

export function givenCancelledTask(): Table {
  const table = givenRunningTask();
  table.run({ verb: 'cancelTask', args: { taskId: TASK, reason: null } });
  return table;
}

export function askArgs(over: Partial<AskQuestionArgs> = {}): AskQuestionArgs {
  const args = { ...lease(), questionId: QUESTION, key: 'dates', items: MONTH, metadata: {} };
  return { ...args, timeoutMs: 15 * MINUTE, ...over };
}

/** What the worker of the first claim holds. */
export function lease(over: Partial<Lease> = {}): Lease {
  return { taskId: TASK, fence: 1, ...over };
}

export function answer(value: string, by = 'ann') {
  const args = { questionId: QUESTION, given: { answer: value }, resolvedBy: by };
  return { verb: 'answerQuestion', args } as const;
}

export function decline(reason: string | null = null, by = 'ann') {
  return { verb: 'declineQuestion', args: { questionId: QUESTION, reason, resolvedBy: by } } as const;
}

export const claim = { verb: 'claimTask', args: { taskId: TASK, version: '1' } } as const;
export const cancel = { verb: 'cancelTask', args: { taskId: TASK, reason: 'changed my mind' } } as const;

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
