import { expect, test } from 'vitest';
import type { RequeueTaskArgs } from '../../../src/model/verbs/requeue-task.ts';
import {
  append,
  begin,
  CHILD,
  claim,
  claimOf,
  dataOf,
  givenChild,
  givenRunningTask,
  givenWaitingTask,
  lease,
  MINUTE,
  note,
  settle,
  TASK,
  typesOf,
} from '../given.ts';
import { NOON, type Table } from '../table.ts';

type Cause = RequeueTaskArgs['cause'];

function requeue(cause: Cause, over: Partial<RequeueTaskArgs> = {}) {
  return { verb: 'requeueTask', args: { ...lease(), cause, ...over } } as const;
}

/** The process dies with a running task, is started again, and claims it. */
function crash(table: Table, alone = false): void {
  table.run(requeue('crashed', { fence: table.task(TASK).fence, alone }));
  table.run(claim);
}

test.each<Cause>(['crashed', 'worker_lost'])('tells that an attempt was lost: %s, and begins another', (cause) => {
  const table = givenRunningTask();

  const { outcome, events } = table.run(requeue(cause));

  expect(outcome).toMatchObject({ ok: true, result: { task: table.task(TASK) } });
  expect(dataOf(events)).toEqual([['task.recovered', { attempt: 1, reason: cause }]]);
  expect(table.task(TASK)).toMatchObject({
    ...{ status: 'queued', begins: true, attempt: 1, failures: 0, held: false, runAt: null },
    ...{ runningSince: null, deadlineAt: null },
  });
});

test.each<Cause>(['drained', 'parked'])('goes on with the same attempt, without a word: %s', (cause) => {
  const table = givenRunningTask();

  const { events } = table.run(requeue(cause));

  expect(events).toEqual([]);
  expect(table.task(TASK)).toMatchObject({ status: 'queued', begins: false, held: false });
});

test.each<[Cause, number]>([
  ['crashed', 0],
  ['worker_lost', MINUTE],
  ['drained', MINUTE],
  ['parked', MINUTE],
])('counts the time that it ran, unless nobody knows how long that was: %s', (cause, ranMs) => {
  const table = givenRunningTask();
  table.now += MINUTE;

  table.run(requeue(cause));

  expect(table.task(TASK).ranMs).toBe(ranMs);
});

test('keeps the time that it ran before a wait over a crash', () => {
  const table = givenRunningTask();
  table.now += MINUTE;
  table.run(requeue('drained'));
  table.run(claim);
  table.now += MINUTE;

  table.run(requeue('crashed', { fence: 2 }));

  expect(table.task(TASK).ranMs).toBe(MINUTE);
});

test('keeps the journal whole', () => {
  const table = givenRunningTask();
  table.commit([begin(), settle(), begin({ key: 'reply', messageId: 'msg_a' })]);
  const before = table.journal(TASK);

  table.run(requeue('crashed'));

  expect(table.journal(TASK)).toEqual(before);
});

test('counts the crashes in a row without progress between', () => {
  const table = givenRunningTask();

  crash(table);
  crash(table);

  expect(table.task(TASK)).toMatchObject({ crashes: 2, crashMark: 0, aloneCrashes: 0 });
});

test.each([
  ['a step was journaled', [begin({ fence: 3 }), settle({ fence: 3 })]],
  ['an event was emitted', [append(0, [note()], lease({ fence: 3 }))]],
])('counts anew when there was progress: %s', (_what, calls) => {
  const table = givenRunningTask();
  crash(table, true);
  crash(table, true);
  table.commit(calls);

  crash(table, true);

  expect(table.task(TASK)).toMatchObject({ status: 'running', crashes: 1, crashMark: 1, aloneCrashes: 0 });
});

test.each<Cause>(['worker_lost', 'drained', 'parked'])('counts no crash when it is %s', (cause) => {
  const table = givenRunningTask();
  crash(table);

  table.run(requeue(cause, { fence: 2 }));

  expect(table.task(TASK)).toMatchObject({ crashes: 1 });
});

test('fails a task for good at the third crash with it alone', () => {
  const table = givenChild();
  table.run(claimOf(CHILD));
  table.run(requeue('crashed'));
  table.run(claim);
  crash(table, true);
  crash(table);
  crash(table, true);
  expect(table.task(TASK).status).toBe('running');

  const { events } = table.run(requeue('crashed', { fence: 5, alone: true }));

  const error = { code: 'crash_loop', message: 'The server died 3 times while the task ran alone.' };
  expect(typesOf(events)).toEqual(['task.cancelled', 'task.failed']);
  expect(table.task(TASK)).toMatchObject({ status: 'failed', error, held: false, cut: null, finishedAt: NOON });
  expect(table.task(CHILD)).toMatchObject({ status: 'cancelled' });
});

test('refuses to queue what a worker does not hold', () => {
  const table = givenWaitingTask();

  const { outcome } = table.run(requeue('drained'));

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
});
