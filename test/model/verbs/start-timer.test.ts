import { expect, test } from 'vitest';
import { givenCancelledTask, givenRunningTask, MINUTE, sleep, TASK } from '../given.ts';
import { NOON } from '../table.ts';

test('begins a sleep by the clock of the store, without an event', () => {
  const table = givenRunningTask();

  const { outcome, events, dueAt } = table.run(sleep({ askedAt: 2 }));

  expect(outcome).toEqual({ ok: true, result: null, replayed: false });
  expect(events).toEqual([]);
  expect(table.journal(TASK)).toEqual([
    {
      ...{ taskId: TASK, key: 'nap', kind: 'sleep', status: 'pending', value: null, askedAt: 2, dueAt: NOON + MINUTE },
      ...{ ord: null, emitsDone: null, at: null, tries: 0, once: false, message: null },
    },
  ]);
  expect(dueAt).toBe(NOON + MINUTE);
});

test('refuses a worker whose task has ended', () => {
  const table = givenCancelledTask();

  const { outcome } = table.run(sleep({ askedAt: 2 }));

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
  expect(table.journal(TASK)).toEqual([]);
});

test('fails loudly at a key that is taken', () => {
  const table = givenRunningTask();
  table.run(sleep());

  expect(() => table.run(sleep())).toThrow(`There is a row under nap of ${TASK} already.`);
});
