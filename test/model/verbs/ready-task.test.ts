import { expect, test } from 'vitest';
import { cancel, givenQueuedTask, MINUTE, TASK } from '../given.ts';
import { NOON, Table } from '../table.ts';

const ready = { verb: 'readyTask', args: { taskId: TASK } } as const;

test('offers a task whose time has come, without a word', () => {
  const table = givenQueuedTask({ runAt: NOON + MINUTE });
  table.now += MINUTE;

  const { outcome, events } = table.run(ready);

  expect(outcome).toEqual({ ok: true, result: null, replayed: false });
  expect(events).toEqual([]);
  expect(table.task(TASK)).toMatchObject({ status: 'queued', runAt: null });
});

test('leaves a task alone whose time has not come, whatever the caller thinks', () => {
  const table = givenQueuedTask({ runAt: NOON + MINUTE });
  table.now += MINUTE - 1;

  const { outcome } = table.run(ready);

  expect(outcome).toMatchObject({ ok: false, code: 'not_due' });
  expect(table.task(TASK).runAt).toBe(NOON + MINUTE);
});

test('offers a task once', () => {
  const table = givenQueuedTask({ runAt: NOON + MINUTE });
  table.now += MINUTE;

  const { outcomes } = table.commit([ready, ready]);

  expect(outcomes).toMatchObject([{ ok: true }, { ok: false, code: 'not_due' }]);
});

test('leaves a task alone that was cancelled before its time', () => {
  const table = givenQueuedTask({ runAt: NOON + MINUTE });
  table.run(cancel);
  table.now += MINUTE;

  const { outcome } = table.run(ready);

  expect(outcome).toMatchObject({ ok: false, code: 'not_due' });
});

test('knows no task with another id', () => {
  const { outcome } = new Table().run(ready);

  expect(outcome).toMatchObject({ ok: false, code: 'not_due' });
});
