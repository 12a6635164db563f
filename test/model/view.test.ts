import { expect, test } from 'vitest';
import { View } from '../../src/model/view.ts';
import { givenQuestion, givenRunningTask, QUESTION, TASK } from './given.ts';

const LOG = { owner: 'local', head: 9, prunedSeq: 0, epoch: 'epoch001' };
const nap = { taskId: TASK, key: 'nap', dueAt: 5, open: true };
const key = { key: 'k', fingerprint: 'f', result: '1', at: 1 };

test('finds what was loaded and nothing else', () => {
  const table = givenQuestion();
  const view = new View(LOG);

  view.load({ tasks: table.tasks.values(), questions: table.questions.values(), timers: [nap], keys: [key] });

  expect(view.task(TASK)).toBe(table.task(TASK));
  expect(view.question(QUESTION)).toBe(table.question(QUESTION));
  expect(view.timer(nap)).toBe(nap);
  expect(view.idempotencyKey('k')).toBe(key);
  expect([view.task('x'), view.question('x'), view.timer({ ...nap, key: 'x' }), view.idempotencyKey('x')]).toEqual([
    ...[null, null, null, null],
  ]);
});

test('never lets a late load overwrite what a verb has changed', () => {
  const table = givenQuestion();
  const task = { ...table.task(TASK), priority: 7 };
  const question = { ...table.question(QUESTION), name: 'changed' };
  const view = new View(LOG);
  view.apply({ tasks: [task], questions: [question], timers: [{ ...nap, open: false }] });
  view.applyKey({ ...key, result: '2' });

  view.load({ tasks: table.tasks.values(), questions: table.questions.values(), timers: [nap], keys: [key] });

  expect(view.task(TASK)).toBe(task);
  expect(view.question(QUESTION)).toBe(question);
  expect(view.timer(nap)?.open).toBe(false);
  expect(view.idempotencyKey('k')?.result).toBe('2');
});

test('marks nothing for writing that was only loaded', () => {
  const table = givenQuestion();
  const view = new View(LOG);

  view.load({ tasks: table.tasks.values(), questions: table.questions.values(), timers: [nap], keys: [key] });
  view.load({});

  expect([view.dirtyTasks, view.dirtyQuestions, view.dirtyTimers].map(({ size }) => size)).toEqual([0, 0, 0]);
  expect([view.newKeys, view.pruned, view.dirtyTimerRecords()]).toEqual([[], [], []]);
});

test('marks for writing what a verb has changed', () => {
  const table = givenQuestion();
  const view = new View(LOG);
  view.load({ timers: [{ ...nap, key: 'other' }] });

  view.apply({ tasks: [table.task(TASK)], questions: [table.question(QUESTION)], timers: [nap] });
  view.apply({ timers: [{ ...nap, open: false }], prune: [{ rootId: TASK, upTo: 4 }] });
  view.applyKey(key);

  expect([...view.dirtyTasks]).toEqual([TASK]);
  expect([...view.dirtyQuestions]).toEqual([QUESTION]);
  expect(view.dirtyTimerRecords()).toEqual([{ ...nap, open: false }]);
  expect(view.newKeys).toEqual([key]);
  expect(view.pruned).toEqual([{ rootId: TASK, upTo: 4 }]);
  expect(view.log.prunedSeq).toBe(4);
});

test('tells the timers of two tasks apart that share a key', () => {
  const view = new View(LOG);
  view.load({ timers: [nap, { ...nap, taskId: 'task_b', dueAt: 6 }] });

  expect(view.timer({ taskId: 'task_b', key: 'nap' })?.dueAt).toBe(6);
  expect(view.openTimers(TASK)).toEqual([nap]);
});

test('finds a lane busy only by another task that runs in it', () => {
  const running = { ...givenRunningTask({ concurrencyKey: 'ann' }).task(TASK), firstSeq: 1 };
  const view = new View(LOG);
  view.load({ tasks: [running, { ...running, id: 'task_w', status: 'waiting' }] });

  expect(view.isLaneBusy(running)).toBe(false);
  expect(view.isLaneBusy({ ...running, id: 'task_b' })).toBe(true);
  expect(view.isLaneBusy({ ...running, id: 'task_b', concurrencyKey: 'bob' })).toBe(false);
  expect(view.isLaneBusy({ ...running, id: 'task_b', concurrencyKey: null })).toBe(false);
});
