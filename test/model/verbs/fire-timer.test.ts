import { expect, test } from 'vitest';
import { fireTimer } from '../../../src/model/verbs/fire-timer.ts';
import { View } from '../../../src/model/view.ts';
import { cancel, givenRunningTask, givenSleepingTask, lease, MINUTE, TASK, typesOf } from '../given.ts';

const fire = { verb: 'fireTimer', args: { taskId: TASK, key: 'nap' } } as const;

test('ends a sleep whose time has come, and wakes its task', () => {
  const table = givenSleepingTask();
  table.now += MINUTE;

  const { outcome, events, resolutions } = table.run(fire);

  expect(outcome).toEqual({ ok: true, result: null, replayed: false });
  expect(typesOf(events)).toEqual(['task.resumed']);
  expect(resolutions).toEqual([{ taskId: TASK, key: 'nap', outcome: { status: 'slept' }, call: 0 }]);
  expect(table.task(TASK).status).toBe('queued');
  expect(table.openTimers(TASK)).toEqual([]);
});

test('leaves a running task running', () => {
  const table = givenRunningTask();
  table.run({ verb: 'startTimer', args: { ...lease(), key: 'nap', ms: 0 } });

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

test('finds no timer of a task that has ended', () => {
  const table = givenSleepingTask();
  table.run(cancel);
  table.now += MINUTE;

  const { outcome } = table.run(fire);

  expect(outcome).toMatchObject({ ok: false, code: 'not_due' });
});

test('refuses a timer whose task is not there', () => {
  const view = new View({ owner: 'local', head: 0, prunedSeq: 0, epoch: null });
  view.load({ timers: [{ taskId: TASK, key: 'nap', dueAt: 0, open: true }] });

  const { outcome } = fireTimer.decide(view, fire.args, 1);

  expect(outcome).toMatchObject({ ok: false, code: 'not_due' });
});
