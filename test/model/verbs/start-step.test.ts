import { expect, test } from 'vitest';
import { dataOf, givenRunningTask, lease, TASK } from '../given.ts';

const step = { name: 'charge#2', attempt: 3 };

test('tells only that a plain step begins', () => {
  const table = givenRunningTask();

  const { outcome, events } = table.run({ verb: 'startStep', args: { ...lease(), step, messageId: null, tool: null } });

  expect(outcome).toEqual({ ok: true, result: null, replayed: false });
  expect(dataOf(events)).toEqual([['step.started', step]]);
  expect(events[0]?.step).toBeNull();
});

test('tells the message that a step will write, as of the step', () => {
  const table = givenRunningTask();

  const { events } = table.run({ verb: 'startStep', args: { ...lease(), step, messageId: 'msg_a', tool: null } });

  expect(dataOf(events)).toEqual([
    ['step.started', step],
    ['message.started', { messageId: 'msg_a', role: 'assistant' }],
  ]);
  expect(events[1]?.step).toBe('{"name":"charge#2","attempt":3}');
});

test('tells the tool call that a step is, as of the step', () => {
  const table = givenRunningTask();
  const tool = { toolCallId: 'call_1', name: 'charge', input: { cents: 500 } };

  const { events } = table.run({ verb: 'startStep', args: { ...lease(), step, messageId: null, tool } });

  expect(dataOf(events)).toEqual([
    ['step.started', step],
    ['tool.called', tool],
  ]);
  expect(events[1]?.step).toBe('{"name":"charge#2","attempt":3}');
});

test('refuses an old fence', () => {
  const table = givenRunningTask();
  const before = table.records();

  const { outcome } = table.run({
    verb: 'startStep',
    args: { taskId: TASK, fence: 0, step, messageId: null, tool: null },
  });

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
  expect(table.records()).toEqual(before);
});
