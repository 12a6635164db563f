import { expect, test } from 'vitest';
import type { Turn } from '../../../src/model/agent.ts';
import { decideBatch } from '../../../src/model/batch.ts';
import { View } from '../../../src/model/view.ts';
import { begin, givenRunningTask, givenTurn, lease, TASK } from '../given.ts';
import { NOON } from '../table.ts';

const TURN: Turn = {
  taskId: 'task_before',
  status: 'completed',
  entries: [{ kind: 'message', role: 'user', content: 'Hello', status: 'complete' }],
};

function read(over = {}) {
  return { verb: 'readHistory', args: { ...lease(), key: 'history', askedAt: 0, ...over } } as const;
}

test('tells a task of the turns before it: the call is resolved at once, and journaled', () => {
  const table = givenTurn();
  const view = new View(table.log);
  view.load({ tasks: table.tasks.values(), histories: [[TASK, [TURN]]] });

  const { resolutions, events } = decideBatch(view, [read()], 'epoch001', NOON);

  const value = JSON.stringify([TURN]);
  expect(resolutions).toMatchObject([{ taskId: TASK, key: 'history', status: 'done', value, ord: 1 }]);
  expect(view.row({ taskId: TASK, key: 'history' })).toMatchObject({ kind: 'history', status: 'done', value, ord: 1 });
  expect(events).toEqual([]);
});

test('tells a task of no conversation that nothing was before', () => {
  const table = givenRunningTask();

  const { outcome } = table.run(read());

  expect(outcome.ok).toBe(true);
  expect(table.row(TASK, 'history')).toMatchObject({ status: 'done', value: '[]' });
});

test('refuses a worker that no longer holds the task', () => {
  const table = givenTurn();

  const { outcome } = table.run(read({ fence: 2 }));

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
  expect(table.journal(TASK)).toEqual([]);
});

test('fails loudly at a key that is taken', () => {
  const table = givenTurn();
  table.run(begin({ key: 'history' }));

  expect(() => table.run(read())).toThrow();
});
