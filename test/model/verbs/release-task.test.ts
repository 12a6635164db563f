import { expect, test } from 'vitest';
import {
  cancel,
  claim,
  fail,
  givenCancelledTask,
  givenRunningTask,
  givenWaitingTask,
  lease,
  MINUTE,
  TASK,
} from '../given.ts';
import { Table } from '../table.ts';

const release = { verb: 'releaseTask', args: lease() } as const;

test('lets go of a task that was cancelled while its code ran', () => {
  const table = givenCancelledTask();

  const { outcome, events } = table.run(release);

  expect(outcome).toEqual({ ok: true, result: null, replayed: false });
  expect(events).toEqual([]);
  expect(table.task(TASK)).toMatchObject({ status: 'cancelled', held: false });
});

test('lets go of a task that is queued for another attempt', () => {
  const table = givenRunningTask({ maxAttempts: 2, timeoutMs: MINUTE });
  table.now += MINUTE;
  table.run(fail({ when: 'deadline' }));

  table.run(release);

  expect(table.task(TASK)).toMatchObject({ status: 'queued', held: false });
});

test('lets go once', () => {
  const table = givenCancelledTask();

  const { outcomes } = table.commit([release, release]);

  expect(outcomes).toMatchObject([{ ok: true }, { ok: false, code: 'lease_lost' }]);
});

test('never lets go of a task that was claimed again', () => {
  const table = givenRunningTask({ maxAttempts: 2, timeoutMs: MINUTE });
  table.now += MINUTE;
  table.run(fail({ when: 'deadline' }));
  table.commit([release, claim, cancel]);
  const before = table.records();

  const { outcome } = table.run(release);

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
  expect(table.records()).toEqual(before);
  expect(table.task(TASK)).toMatchObject({ fence: 2, held: true });
});

test.each([
  ['a running task', givenRunningTask()],
  ['a task at rest', givenWaitingTask()],
  ['an unknown task', new Table()],
])('leaves %s alone', (_what, table) => {
  const before = table.records();

  const { outcome } = table.run(release);

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
  expect(table.records()).toEqual(before);
});
