import { expect, test } from 'vitest';
import { givenCancelledTask, givenQueuedTask, givenRunningTask, givenWaitingTask, TASK } from '../given.ts';
import { Table } from '../table.ts';

const send = { verb: 'addToInbox', args: { taskId: TASK, message: { text: 'hurry' } } } as const;

test.each([
  ['queued', givenQueuedTask()],
  ['running', givenRunningTask()],
  ['waiting', givenWaitingTask()],
])('sends a %s task a message, and leaves its status as it is', (status, table) => {
  const { outcome, events } = table.run(send);

  expect(outcome).toMatchObject({ ok: true, result: { task: table.task(TASK) } });
  expect(events).toEqual([]);
  expect(table.task(TASK)).toMatchObject({ status, inbox: [{ text: 'hurry' }] });
});

test('keeps the messages in their order', () => {
  const table = givenRunningTask();

  table.commit([send, { ...send, args: { ...send.args, message: 'now' } }]);

  expect(table.task(TASK).inbox).toEqual([{ text: 'hurry' }, 'now']);
});

test('refuses a message to a task that has ended, and shows it', () => {
  const table = givenCancelledTask();

  const { outcome } = table.run(send);

  expect(outcome).toMatchObject({ ok: false, code: 'task_finished', details: { task: table.task(TASK) } });
});

test('knows no task with another id', () => {
  const { outcome } = new Table().run(send);

  expect(outcome).toMatchObject({ ok: false, code: 'not_found' });
});
