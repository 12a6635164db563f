import { expect, test } from 'vitest';
import { newRow } from '../../../src/model/row.ts';
import { fireTimer } from '../../../src/model/verbs/fire-timer.ts';
import { View } from '../../../src/model/view.ts';
import { cancel, givenQuestion, givenRunningTask, givenSleepingTask, MINUTE, sleep, TASK, typesOf } from '../given.ts';

const fire = { verb: 'fireTimer', args: { taskId: TASK, key: 'nap' } } as const;

test('ends a sleep whose time has come, and wakes its task', () => {
  const table = givenSleepingTask();
  table.now += MINUTE;

  const { outcome, events, resolutions } = table.run(fire);

  expect(outcome).toEqual({ ok: true, result: null, replayed: false });
  expect(typesOf(events)).toEqual(['task.resumed']);
  const told = { status: 'done', value: 'null', ord: 1, emitsDone: 0, at: table.now };
  expect(resolutions).toEqual([{ taskId: TASK, key: 'nap', ...told, call: 0 }]);
  expect(table.task(TASK).status).toBe('queued');
  expect(table.row(TASK, 'nap')).toMatchObject({ ...told, dueAt: null });
});

test('leaves a running task running', () => {
  const table = givenRunningTask();
  table.run(sleep({ ms: 0 }));

  const { events } = table.run(fire);

  expect(events).toEqual([]);
  expect(table.task(TASK).status).toBe('running');
});

test('leaves a sleep alone whose time has not come', () => {
  const table = givenSleepingTask();
  table.now += MINUTE - 1;
  const before = table.records();

  const { outcome } = table.run(fire);

  expect(outcome).toMatchObject({ ok: false, code: 'not_due' });
  expect(table.records()).toEqual(before);
});

test('fires once, also when it is called twice in one batch', () => {
  const table = givenSleepingTask();
  table.now += MINUTE;

  const { outcomes, events } = table.commit([fire, fire]);

  expect(outcomes).toMatchObject([{ ok: true }, { ok: false, code: 'not_due' }]);
  expect(typesOf(events)).toEqual(['task.resumed']);
});

test('never ends the sleep of a task that has ended', () => {
  const table = givenSleepingTask();
  table.run(cancel);
  table.now += MINUTE;

  const { outcome } = table.run(fire);

  expect(outcome).toMatchObject({ ok: false, code: 'not_due' });
});

test('finds nothing to end under the key of a question', () => {
  const { outcome } = givenQuestion().run({ verb: 'fireTimer', args: { taskId: TASK, key: 'dates' } });

  expect(outcome).toMatchObject({ ok: false, code: 'not_due' });
});

test('finds nothing to end under an unknown key', () => {
  const { outcome } = givenRunningTask().run(fire);

  expect(outcome).toMatchObject({ ok: false, code: 'not_due' });
});

test('refuses a sleep whose task is not there', () => {
  const view = new View({
    owner: 'local',
    head: 0,
    prunedSeq: 0,
    epoch: null,
    unfinishedRoots: 0,
    pendingQuestions: 0,
  });
  view.load({ rows: [newRow({ taskId: TASK, key: 'nap' }, { kind: 'sleep', askedAt: 0, dueAt: 0 })] });

  const { outcome } = fireTimer.decide(view, fire.args, 1);

  expect(outcome).toMatchObject({ ok: false, code: 'not_due' });
});
