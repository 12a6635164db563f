import fc from 'fast-check';
import { expect, test } from 'vitest';
import { agentEventFault, eventJson, MAX_EVENT_BYTES, newEvent } from '../../src/model/event.ts';
import { TASK } from './given.ts';
import { NOON } from './table.ts';

const place = { seq: 102, at: NOON, rootId: TASK };

test('writes an event of the task itself without a step', () => {
  expect(newEvent(TASK, 'task.started', { attempt: 1 })).toEqual({
    ...{ taskId: TASK, conversationId: null, type: 'task.started', step: null, data: '{"attempt":1}' },
  });
});

test('shows clients an event on one line', () => {
  const event = { ...newEvent(TASK, 'task.resumed', {}), ...place };

  expect(eventJson(event)).toBe(
    '{"seq":102,"type":"task.resumed","taskId":"task_a","conversationId":null,"at":"2026-01-01T12:00:00.000Z","data":{}}',
  );
});

test('shows of a child the task at the top of its tree', () => {
  const event = { ...newEvent('task_child', 'task.resumed', {}), ...place };

  expect(JSON.parse(eventJson(event))).toMatchObject({ taskId: 'task_child', rootId: TASK });
});

test('shows the step beside the data', () => {
  const event = { ...newEvent(TASK, 'task.resumed', {}), ...place, step: '{"name":"charge#2","attempt":1}' };

  expect(JSON.parse(eventJson(event))).toMatchObject({ data: {}, step: { name: 'charge#2', attempt: 1 } });
});

test('stays on one line and reads back, whatever text an agent writes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const line = eventJson({ ...newEvent(TASK, 'message.delta', { messageId: 'msg_a', text }), ...place });

      expect(line).not.toMatch(/[\r\n]/);
      expect(JSON.parse(line).data.text).toBe(text);
    }),
    { seed: 1, numRuns: 200 },
  );
});

test.each(['a.b', 'search.done', 'my-agent.tool_2.x', `${'a'.repeat(62)}.b`, 'tasks.x', 'progress.1'])(
  'lets an agent emit %s',
  (type) => {
    expect(agentEventFault(type, '{}')).toBeNull();
  },
);

test.each(['done', 'Search.done', '1a.b', 'a..b', 'a.', '.a', 'a b.c', 'a.b\n', '', `${'a'.repeat(63)}.b`])(
  'refuses %j for a type',
  (type) => {
    expect(agentEventFault(type, '{}')).toMatch(/is not an event type/);
  },
);

test.each(['task', 'question', 'message', 'conversation', 'step', 'tool'])(
  'keeps the names under %s. to the server',
  (prefix) => {
    expect(agentEventFault(`${prefix}.mine`, '{}')).toBe(`"${prefix}.mine" is a name that belongs to the server.`);
  },
);

test('takes 64 KiB of data and not a byte more', () => {
  const fits = `"${'é'.repeat((MAX_EVENT_BYTES - 2) / 2)}"`;

  expect(agentEventFault('a.b', fits)).toBeNull();
  expect(agentEventFault('a.b', `${fits} `)).toBe("An event's data may hold 65536 bytes of JSON.");
});
