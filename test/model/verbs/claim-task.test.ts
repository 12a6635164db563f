import { expect, test } from 'vitest';
import {
  answer,
  begin,
  cancel,
  claim,
  claimOf,
  createArgs,
  dataOf,
  fail,
  givenCancelledTask,
  givenQueuedTask,
  givenRunningTask,
  givenWaitingTask,
  lease,
  MINUTE,
  settle,
  sleep,
  TASK,
  wait,
} from '../given.ts';
import { NOON, Table } from '../table.ts';

const claimB = claimOf('task_b');

test('begins the first attempt under a new fence', () => {
  const table = givenQueuedTask({ timeoutMs: MINUTE });

  const { outcome, events } = table.run(claimOf(TASK, { version: '7' }));

  expect(outcome).toMatchObject({
    ok: true,
    result: { task: { status: 'running', fence: 1, attempt: 1, version: '7', held: true, begins: false }, rows: [] },
  });
  expect(dataOf(events)).toEqual([['task.started', { attempt: 1 }]]);
  expect(table.task(TASK)).toMatchObject({ startedAt: NOON, runningSince: NOON, deadlineAt: NOON + MINUTE });
});

test('goes on with the same attempt and version after a wait, under a higher fence and without an event', () => {
  const table = givenWaitingTask();
  table.run(answer('june'));
  table.now += MINUTE;

  const { outcome, events } = table.run(claimOf(TASK, { version: '2' }));

  expect(outcome).toMatchObject({
    ok: true,
    result: { task: { fence: 2, attempt: 1, version: '1', startedAt: NOON } },
  });
  expect(events).toEqual([]);
});

test('says of which node the newest claim is', () => {
  const table = givenQueuedTask();
  expect(table.task(TASK).node).toBeNull();

  table.run(claim);
  table.run({ verb: 'requeueTask', args: { ...lease(), cause: 'crashed' } });
  expect(table.task(TASK).node).toBe('node_a');

  const { outcome } = table.run(claimOf(TASK, { node: 'node_b' }));
  expect(outcome).toMatchObject({ ok: true, result: { task: { fence: 2, node: 'node_b' } } });
});

test('[T9] gives a task that waited only the running time that it has left', () => {
  const table = givenWaitingTask({ timeoutMs: null });
  table.now += 60 * MINUTE;
  table.run(answer('june'));

  table.run(claim);

  expect(table.task(TASK)).toMatchObject({ ranMs: 0, deadlineAt: table.now + 30 * MINUTE });
});

test.each([
  ['running', givenRunningTask()],
  ['waiting', givenWaitingTask()],
  ['cancelled', givenCancelledTask()],
  ['unknown', new Table()],
])('leaves a %s task alone', (_status, table) => {
  const before = table.records();

  const { outcome } = table.run(claim);

  expect(outcome).toMatchObject({ ok: false, code: 'not_claimable' });
  expect(table.records()).toEqual(before);
});

test('runs one task of a lane at a time', () => {
  const table = givenRunningTask({ concurrencyKey: 'ann' });
  givenQueuedTask({ taskId: 'task_b', concurrencyKey: 'ann' }, table);

  const { outcome } = table.run(claimB);

  expect(outcome).toMatchObject({ ok: false, code: 'not_claimable' });
  expect(table.task('task_b').status).toBe('queued');
});

test('claims the first of a lane and refuses the second in one batch', () => {
  const table = givenQueuedTask({ concurrencyKey: 'ann' });
  givenQueuedTask({ taskId: 'task_b', concurrencyKey: 'ann' }, table);

  const { outcomes } = table.commit([claim, claimB]);

  expect(outcomes).toMatchObject([{ ok: true }, { ok: false, code: 'not_claimable' }]);
});

test('runs tasks of different lanes side by side', () => {
  const table = givenRunningTask({ concurrencyKey: 'ann' });
  givenQueuedTask({ taskId: 'task_b', concurrencyKey: 'bob' }, table);

  const { outcome } = table.run(claimB);

  expect(outcome.ok).toBe(true);
});

test('frees the lane while its task waits', () => {
  const table = givenRunningTask({ concurrencyKey: 'ann' });
  givenQueuedTask({ taskId: 'task_b', concurrencyKey: 'ann' }, table);
  table.run(sleep());
  table.run(wait('nap'));

  const { outcome } = table.run(claimB);

  expect(outcome.ok).toBe(true);
});

test('takes the lane of a task that is new in the batch for busy, since nobody has looked', () => {
  const table = givenRunningTask({ concurrencyKey: 'ann' });

  const { outcomes } = table.commit([
    { verb: 'createTask', args: createArgs({ taskId: 'task_b', concurrencyKey: 'ann' }) },
    claimB,
  ]);

  expect(outcomes).toMatchObject([{ ok: true }, { ok: false, code: 'not_claimable' }]);
});

test('begins another attempt after one that was lost, and tells it', () => {
  const table = givenRunningTask();
  table.run({ verb: 'requeueTask', args: { ...lease(), cause: 'worker_lost' } });

  const { events } = table.run(claim);

  expect(dataOf(events)).toEqual([['task.started', { attempt: 2 }]]);
  expect(table.task(TASK)).toMatchObject({ attempt: 2, begins: false, fence: 2 });
});

test('goes on with the same attempt after a drain, without an event', () => {
  const table = givenRunningTask();
  table.run({ verb: 'requeueTask', args: { ...lease(), cause: 'drained' } });

  const { events } = table.run(claim);

  expect(events).toEqual([]);
  expect(table.task(TASK)).toMatchObject({ attempt: 1, fence: 2 });
});

test('gives the whole journal to a copy that begins', () => {
  const table = givenWaitingTask({ askedAt: 1 });
  table.run({ verb: 'wakeTask', args: lease() });
  table.run(claim);
  table.commit([begin({ fence: 2 }), settle({ fence: 2 })]);
  table.run({ verb: 'requeueTask', args: { ...lease({ fence: 2 }), cause: 'drained' } });

  const { outcome } = table.run(claim);

  const rows = [table.row(TASK, 'charge'), table.row(TASK, 'dates')];
  expect(rows).toMatchObject([{ status: 'done' }, { status: 'pending' }]);
  expect(outcome).toMatchObject({ ok: true, result: { task: table.task(TASK), rows } });
});

test('gives no journal to a copy that goes on from memory', () => {
  const table = givenWaitingTask();
  table.run(answer('june'));

  const { outcome } = table.run(claimOf(TASK, { warm: true }));

  expect(outcome).toMatchObject({ ok: true, result: { task: { fence: 2, held: true }, rows: null } });
});

test('[T1] discards what a step was saying that runs again, after the start of the attempt', () => {
  const table = givenRunningTask();
  table.run(begin({ key: 'reply', messageId: 'msg_a' }));
  table.run(begin({ key: 'charge' }));
  table.run({ verb: 'requeueTask', args: { ...lease(), cause: 'worker_lost' } });

  const { events, outcome } = table.run(claim);

  expect(dataOf(events)).toEqual([
    ['task.started', { attempt: 2 }],
    ['message.discarded', { messageId: 'msg_a', reason: 'step_interrupted' }],
  ]);
  expect(events[1]?.step).toBe('{"name":"reply","attempt":1}');
  expect(table.row(TASK, 'reply').message).toBeNull();
  expect(outcome).toMatchObject({ result: { rows: [{ key: 'charge' }, { key: 'reply', message: null, tries: 1 }] } });
});

test('leaves a task alone that is put off, even when its time has come', () => {
  const table = givenQueuedTask({ runAt: NOON + MINUTE });
  table.now += 2 * MINUTE;

  const { outcome } = table.run(claim);

  expect(outcome).toMatchObject({ ok: false, code: 'not_claimable', message: `${TASK} is not ready yet.` });
});

test('leaves a task alone whose last attempt a worker still runs', () => {
  const table = givenRunningTask({ timeoutMs: MINUTE, maxAttempts: 2 });
  table.now += MINUTE;
  table.run(fail({ when: 'deadline', jitter: 0 }));

  const { outcome } = table.run(claim);

  expect(table.task(TASK)).toMatchObject({ status: 'queued', runAt: null, held: true });
  expect(outcome).toMatchObject({ ok: false, code: 'not_claimable' });
});

test('keeps the lane busy while a worker holds a task that was cancelled', () => {
  const table = givenRunningTask({ concurrencyKey: 'ann' });
  givenQueuedTask({ taskId: 'task_b', concurrencyKey: 'ann' }, table);
  table.run(cancel);

  const busy = table.run(claimB);
  table.run({ verb: 'releaseTask', args: lease() });
  const free = table.run(claimB);

  expect(busy.outcome).toMatchObject({ ok: false, code: 'not_claimable' });
  expect(free.outcome.ok).toBe(true);
});

test('never runs two attempts of a task of a lane side by side', () => {
  const table = givenRunningTask({ concurrencyKey: 'ann', maxAttempts: 2, timeoutMs: MINUTE });
  table.now += MINUTE;
  table.run(fail({ when: 'deadline' }));

  const busy = table.run(claim);
  table.run({ verb: 'releaseTask', args: lease() });
  const free = table.run(claim);

  expect(busy.outcome).toMatchObject({ ok: false, code: 'not_claimable' });
  expect(free.outcome.ok).toBe(true);
});
