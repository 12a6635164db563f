import { expect, test } from 'vitest';
import { createArgs, dataOf, givenQueuedTask, TASK } from '../given.ts';
import { NOON, Table } from '../table.ts';

test('[T3] puts a task in the queue and tells it', () => {
  const table = new Table();

  const { outcome, events } = table.run({ verb: 'createTask', args: createArgs({ metadata: { from: 'web' } }) });

  expect(outcome).toMatchObject({ ok: true, replayed: false, result: { task: table.task(TASK) } });
  expect(table.task(TASK)).toMatchObject({
    ...{ owner: 'local', status: 'queued', parentId: null, rootId: TASK, attempt: 0, fence: 0, ranMs: 0 },
    ...{ createdAt: NOON, startedAt: null, finishedAt: null, deadlineAt: null, firstSeq: 1, lastSeq: 1, prunedSeq: 0 },
    metadata: { from: 'web' },
  });
  expect(dataOf(events)).toEqual([
    ['task.created', { agent: 'trip-planner', input: { city: 'Lisbon' }, parentId: null, retryOf: null }],
  ]);
});

test('never replaces a task that has the same id', () => {
  const table = givenQueuedTask();
  const before = table.records();

  const { outcome } = table.run({ verb: 'createTask', args: createArgs({ input: 'another' }) });

  expect(outcome).toMatchObject({ ok: false, code: 'internal' });
  expect(table.records()).toEqual(before);
});
