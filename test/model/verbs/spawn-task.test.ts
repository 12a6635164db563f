import { expect, test } from 'vitest';
import {
  append,
  CHILD,
  cancel,
  claimOf,
  cutAt,
  dataOf,
  fail,
  givenChild,
  givenQueuedTask,
  givenRunningTask,
  givenWaitingTask,
  lease,
  note,
  sleep,
  spawn,
  TASK,
} from '../given.ts';
import { NOON, type Table } from '../table.ts';

const DEPTH = 16;

/** A running task under so many others. */
function givenDescent(depth: number): Table {
  const table = givenRunningTask();
  for (let at = 1, taskId = TASK; at <= depth; at++) {
    table.run(spawn({ taskId, childId: `task_${at}` }));
    taskId = `task_${at}`;
    table.run(claimOf(taskId));
  }
  return table;
}

test('queues a child, and tells it', () => {
  const table = givenRunningTask({ priority: 7, concurrencyKey: 'ann', metadata: { from: 'web' }, maxAttempts: 3 });

  const { outcome, events } = table.run(spawn({ input: { to: 'Lisbon' } }));

  expect(outcome).toEqual({ ok: true, result: null, replayed: false });
  expect(events.map(({ taskId, rootId }) => [taskId, rootId])).toEqual([[CHILD, TASK]]);
  expect(dataOf(events)).toEqual([
    ['task.created', { agent: 'searcher', input: { to: 'Lisbon' }, parentId: TASK, retryOf: null }],
  ]);
  expect(table.task(CHILD)).toMatchObject({
    ...{ owner: 'local', status: 'queued', parentId: TASK, rootId: TASK, spawnKey: 'flights', depth: 1 },
    ...{ priority: 7, concurrencyKey: null, metadata: {}, timeoutMs: 30 * 60_000, maxAttempts: 1 },
    ...{ seed: `${TASK} flights`, originAt: NOON, retryOf: null },
  });
});

test('journals the child, and beside it a row that waits for its result', () => {
  const table = givenRunningTask();
  table.run(append(0, [note()]));

  const { resolutions } = table.run(spawn({ askedAt: 2 }));

  const told = { status: 'done', value: `"${CHILD}"`, ord: 1, emitsDone: 1, at: NOON };
  expect(resolutions).toEqual([{ taskId: TASK, key: 'flights', ...told, call: 0 }]);
  expect(table.journal(TASK)).toMatchObject([
    { key: 'flights', kind: 'spawn', askedAt: 2, ...told },
    { key: 'flights>', kind: 'child', askedAt: 2, status: 'pending', value: null, ord: null },
  ]);
});

test('gives a spawn that was reopened another child, in its old place', () => {
  const table = givenRunningTask({ maxAttempts: 2 });
  table.run(spawn({ askedAt: 2, childId: 'task_first' }));
  table.run({ verb: 'cancelTask', args: { taskId: 'task_first', reason: null } });
  table.now += 1000;
  table.run(fail({ cut: cutAt({ keys: ['flights>'], askedAt: 3, ord: 2 }) }));
  table.run(claimOf(TASK));
  const held = lease({ fence: 2 });

  const { resolutions } = table.run(spawn({ ...held, askedAt: 2 }));

  const told = { status: 'done', value: `"${CHILD}"`, ord: 1, emitsDone: 0, at: NOON };
  expect(resolutions).toEqual([{ taskId: TASK, key: 'flights', ...told, call: 0 }]);
  expect(table.row(TASK, 'flights')).toMatchObject({ ...told, askedAt: 2 });
  expect(table.row(TASK, 'flights>')).toMatchObject({ status: 'pending', askedAt: 2 });
  expect(table.task(TASK).ord).toBe(1);
});

test(`lets children nest ${DEPTH} deep`, () => {
  const table = givenDescent(DEPTH);

  expect(table.task(`task_${DEPTH}`)).toMatchObject({ status: 'running', depth: DEPTH, rootId: TASK });
});

test('fails a child at once that is deeper, and its parent is told', () => {
  const table = givenDescent(DEPTH);
  const parentId = `task_${DEPTH}`;

  const { outcome, events, resolutions } = table.run(spawn({ taskId: parentId }));

  const error = { code: 'limit_exceeded', message: 'Children may nest 16 deep.' };
  expect(outcome.ok).toBe(true);
  expect(dataOf(events)).toMatchObject([
    ['task.created', { parentId }],
    ['task.failed', { error }],
  ]);
  expect(resolutions).toMatchObject([
    { key: 'flights', status: 'done', ord: 1 },
    { key: 'flights>', status: 'failed', ord: 2, value: JSON.stringify({ status: 'failed', error }) },
  ]);
  expect(table.task(CHILD)).toMatchObject({ status: 'failed', error, attempt: 0, finishedAt: NOON });
  expect(table.row(parentId, 'flights>')).toMatchObject({ status: 'failed', ord: 2 });
  expect(table.task(parentId)).toMatchObject({ status: 'running', ord: 2 });
});

test('never replaces a task that has the same id', () => {
  const table = givenRunningTask();
  givenQueuedTask({ taskId: CHILD }, table);
  const before = table.records();

  const { outcome } = table.run(spawn());

  expect(outcome).toMatchObject({ ok: false, code: 'internal' });
  expect(table.records()).toEqual(before);
});

test('fails loudly at a spawn that has its child', () => {
  const table = givenChild();

  expect(() => table.run(spawn({ childId: 'task_b' }))).toThrow(`There is a row under flights> of ${TASK} already.`);
});

test('fails loudly at a key of another kind', () => {
  const table = givenRunningTask();
  table.run(sleep({ key: 'flights' }));

  expect(() => table.run(spawn())).toThrow(`flights of ${TASK} is of kind sleep, not spawn.`);
});

test('ends the child that the same batch has made', () => {
  const table = givenRunningTask();

  table.commit([spawn(), cancel]);

  expect(table.task(CHILD).status).toBe('cancelled');
});

test('refuses a worker that has put the task to rest', () => {
  const table = givenWaitingTask();

  const { outcome } = table.run(spawn());

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
});
