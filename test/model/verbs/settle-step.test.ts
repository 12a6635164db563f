import { expect, test } from 'vitest';
import { taskError } from '../../../src/model/task-error.ts';
import type { SettleStepArgs } from '../../../src/model/verbs/settle-step.ts';
import { dataOf, givenRunningTask, lease, TASK } from '../given.ts';

const step = { name: 'reply', attempt: 1 };
const ref = '{"name":"reply","attempt":1}';
const completed = { status: 'completed' } as const;
const failed = { status: 'failed', error: taskError('agent_error', 'no luck'), retryInMs: 250 } as const;

function settle(over: Partial<SettleStepArgs>) {
  const args = { ...lease(), step, ms: 40, outcome: completed, message: null, tool: null, ...over };
  return { verb: 'settleStep', args } as const;
}

test('tells that a step has completed', () => {
  const table = givenRunningTask();

  const { outcome, events } = table.run(settle({}));

  expect(outcome).toEqual({ ok: true, result: null, replayed: false });
  expect(dataOf(events)).toEqual([['step.completed', { ...step, ms: 40 }]]);
});

test('tells that a step has failed, and when it runs again', () => {
  const table = givenRunningTask();

  const { events } = table.run(settle({ outcome: failed }));

  expect(dataOf(events)).toEqual([['step.failed', { ...step, error: failed.error, retryInMs: 250 }]]);
});

test('[T1] tells the whole message before the end of its step', () => {
  const table = givenRunningTask();

  const { events } = table.run(settle({ message: { id: 'msg_a', content: 'Lisbon in June.' } }));

  const message = {
    ...{ id: 'msg_a', conversationId: null, taskId: TASK, role: 'assistant', content: 'Lisbon in June.' },
    ...{ status: 'complete', empty: false, metadata: {}, createdAt: '2026-01-01T12:00:00.000Z' },
  };
  expect(dataOf(events)).toEqual([
    ['message.completed', { message }],
    ['step.completed', { ...step, ms: 40 }],
  ]);
  expect(events.map((event) => event.step)).toEqual([ref, null]);
});

test('[T8] shows a model that returned nothing as an empty message', () => {
  const table = givenRunningTask();

  const { events } = table.run(settle({ message: { id: 'msg_a', content: '' } }));

  expect(dataOf(events)[0]).toMatchObject(['message.completed', { message: { content: '', empty: true } }]);
});

test.each([
  ['[T1] keeps what was said before a step failed for good as a partial message', 'Lisbon in', false],
  ['[T8] keeps a message that failed before its first word as a partial one that is empty', '', true],
])('%s', (_, content, empty) => {
  const table = givenRunningTask();
  const final = { ...failed, retryInMs: null };

  const { events } = table.run(settle({ outcome: final, message: { id: 'msg_a', content } }));

  const message = {
    ...{ id: 'msg_a', conversationId: null, taskId: TASK, role: 'assistant', content, status: 'partial', empty },
    ...{ metadata: {}, createdAt: '2026-01-01T12:00:00.000Z' },
  };
  expect(dataOf(events)).toEqual([
    ['message.completed', { message }],
    ['step.failed', { ...step, error: failed.error, retryInMs: null }],
  ]);
  expect(events[0]?.step).toBe(ref);
});

test('discards the message of a step that is attempted again', () => {
  const table = givenRunningTask();

  const { events } = table.run(settle({ outcome: failed, message: { id: 'msg_a', content: 'Lisbon' } }));

  expect(dataOf(events)).toEqual([
    ['message.discarded', { messageId: 'msg_a', reason: 'step_failed' }],
    ['step.failed', { ...step, error: failed.error, retryInMs: 250 }],
  ]);
  expect(events[0]?.step).toBe(ref);
});

test("tells that a tool's output is too large to be told", () => {
  const table = givenRunningTask();
  const tool = { toolCallId: 'call_1', output: null, truncated: true } as const;

  const { events } = table.run(settle({ tool }));

  expect(dataOf(events)[0]).toEqual(['tool.returned', tool]);
});

test('tells what a tool gave back before the end of its step', () => {
  const table = givenRunningTask();
  const tool = { toolCallId: 'call_1', output: { sunny: true } };

  const { events } = table.run(settle({ tool }));

  expect(dataOf(events)).toEqual([
    ['tool.returned', tool],
    ['step.completed', { ...step, ms: 40 }],
  ]);
  expect(events[0]?.step).toBe(ref);
});

test('refuses an old fence', () => {
  const table = givenRunningTask();
  const before = table.records();

  const { outcome } = table.run(settle({ fence: 0 }));

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
  expect(table.records()).toEqual(before);
});
