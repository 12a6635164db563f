import { expect, test } from 'vitest';
import { givenCancelledTask, givenRunningTask, lease, MINUTE, TASK } from '../given.ts';
import { NOON } from '../table.ts';

const startTimer = { verb: 'startTimer', args: { ...lease(), key: 'nap', ms: MINUTE } } as const;

test('sets a timer by the clock of the store, without an event', () => {
  const table = givenRunningTask();

  const { outcome, events, dueAt } = table.run(startTimer);

  expect(outcome).toEqual({ ok: true, result: null, replayed: false });
  expect(events).toEqual([]);
  expect(table.openTimers(TASK)).toEqual([{ taskId: TASK, key: 'nap', dueAt: NOON + MINUTE, open: true }]);
  expect(dueAt).toBe(NOON + MINUTE);
});

test('refuses a worker whose task has ended', () => {
  const table = givenCancelledTask();

  const { outcome } = table.run(startTimer);

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
  expect(table.openTimers(TASK)).toEqual([]);
});
