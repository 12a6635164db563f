import { expect, test } from 'vitest';
import { append, givenRunningTask, givenWaitingTask, lease, note, TASK } from '../given.ts';
import { NOON } from '../table.ts';

const take = { verb: 'takeInbox', args: { ...lease(), key: 'inbox', askedAt: 2 } } as const;
const send = (message: string) => ({ verb: 'addToInbox', args: { taskId: TASK, message } }) as const;

test('takes the messages that are there, oldest first, and journals them', () => {
  const table = givenRunningTask();
  table.commit([send('a'), append(0, [note()]), send('b')]);

  const { outcome, events, resolutions } = table.run(take);

  const told = { status: 'done', value: '["a","b"]', ord: 1, emitsDone: 1, at: NOON };
  expect(outcome).toEqual({ ok: true, result: null, replayed: false });
  expect(events).toEqual([]);
  expect(resolutions).toEqual([{ taskId: TASK, key: 'inbox', ...told, call: 0 }]);
  expect(table.row(TASK, 'inbox')).toMatchObject({ kind: 'inbox', askedAt: 2, ...told });
  expect(table.task(TASK)).toMatchObject({ inbox: [], ord: 1 });
});

test('finds nothing when nothing came since', () => {
  const table = givenRunningTask();
  table.commit([send('a'), take]);

  table.run({ ...take, args: { ...take.args, key: 'inbox#2' } });

  expect(table.row(TASK, 'inbox#2')).toMatchObject({ status: 'done', value: '[]', ord: 2 });
});

test('fails loudly at a key that is taken', () => {
  const table = givenRunningTask();
  table.run(take);

  expect(() => table.run(take)).toThrow(`There is a row under inbox of ${TASK} already.`);
});

test('refuses a worker that has put the task to rest', () => {
  const table = givenWaitingTask();

  const { outcome } = table.run(take);

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
});
