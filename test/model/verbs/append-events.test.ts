import { expect, test } from 'vitest';
import { newEvent } from '../../../src/model/event.ts';
import { dataOf, givenCancelledTask, givenRunningTask, lease, TASK } from '../given.ts';

const search = { taskId: TASK, type: 'search.done', step: null, data: '{"hits":3}' };
const progress = (fraction: number) => newEvent(TASK, 'task.progress', { fraction, note: null });

test('[T1] appends in the order of the calls', () => {
  const table = givenRunningTask();

  const { outcome, events } = table.run({
    verb: 'appendEvents',
    args: { ...lease(), events: [search, progress(0.5)] },
  });

  expect(outcome).toEqual({ ok: true, result: null, replayed: false });
  expect(dataOf(events)).toEqual([
    ['search.done', { hits: 3 }],
    ['task.progress', { fraction: 0.5, note: null }],
  ]);
});

test('[T10] keeps the latest progress with the task', () => {
  const table = givenRunningTask();

  table.run({ verb: 'appendEvents', args: { ...lease(), events: [progress(0.5), progress(0.9), search] } });

  expect(table.task(TASK).progress).toEqual({ fraction: 0.9, note: null });
});

test('leaves the progress as it was when there is none among the events', () => {
  const table = givenRunningTask();
  table.run({ verb: 'appendEvents', args: { ...lease(), events: [progress(0.5)] } });

  table.run({ verb: 'appendEvents', args: { ...lease(), events: [search] } });

  expect(table.task(TASK).progress).toEqual({ fraction: 0.5, note: null });
});

test('appends nothing after the end of the task', () => {
  const table = givenCancelledTask();
  const before = table.records();

  const { outcome } = table.run({ verb: 'appendEvents', args: { ...lease(), events: [search] } });

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
  expect(table.records()).toEqual(before);
});
