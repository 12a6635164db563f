import { expect, test } from 'vitest';
import type { SettleStepArgs } from '../../../src/model/verbs/settle-step.ts';
import { append, begin, dataOf, failure, givenRunningTask, note, settle as settleAny, sleep, TASK } from '../given.ts';
import { NOON, type Table } from '../table.ts';

const step = { name: 'reply', attempt: 1 };
const ref = '{"name":"reply","attempt":1}';
const failed = failure('no luck', 250);

function settle(over: Partial<SettleStepArgs>) {
  return settleAny({ key: 'reply', ...over });
}

function givenStep(over: Parameters<typeof begin>[0] = {}): Table {
  const table = givenRunningTask();
  table.run(begin({ key: 'reply', ...over }));
  return table;
}

test('tells that a step has completed', () => {
  const table = givenStep();

  const { outcome, events } = table.run(settle({}));

  expect(outcome).toEqual({ ok: true, result: null, replayed: false });
  expect(dataOf(events)).toEqual([['step.completed', { ...step, ms: 40 }]]);
});

test('tells that a step has failed, and when it runs again', () => {
  const table = givenStep();

  const { events } = table.run(settle({ outcome: failed }));

  expect(dataOf(events)).toEqual([['step.failed', { ...step, error: failed.error, retryInMs: 250 }]]);
});

test('[T1] tells the whole message before the end of its step', () => {
  const table = givenStep();

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
  const table = givenStep();

  const { events } = table.run(settle({ message: { id: 'msg_a', content: '' } }));

  expect(dataOf(events)[0]).toMatchObject(['message.completed', { message: { content: '', empty: true } }]);
});

test.each([
  ['[T1] keeps what was said before a step failed for good as a partial message', 'Lisbon in', false],
  ['[T8] keeps a message that failed before its first word as a partial one that is empty', '', true],
])('%s', (_, content, empty) => {
  const table = givenStep();
  const { events } = table.run(settle({ outcome: failure(), message: { id: 'msg_a', content } }));

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
  const table = givenStep();

  const { events } = table.run(settle({ outcome: failed, message: { id: 'msg_a', content: 'Lisbon' } }));

  expect(dataOf(events)).toEqual([
    ['message.discarded', { messageId: 'msg_a', reason: 'step_failed' }],
    ['step.failed', { ...step, error: failed.error, retryInMs: 250 }],
  ]);
  expect(events[0]?.step).toBe(ref);
});

test("tells that a tool's output is too large to be told", () => {
  const table = givenStep();
  const tool = { toolCallId: 'call_1', output: null, truncated: true } as const;

  const { events } = table.run(settle({ tool }));

  expect(dataOf(events)[0]).toEqual(['tool.returned', tool]);
});

test('tells what a tool gave back before the end of its step', () => {
  const table = givenStep();
  const tool = { toolCallId: 'call_1', output: { sunny: true } };

  const { events } = table.run(settle({ tool }));

  expect(dataOf(events)).toEqual([
    ['tool.returned', tool],
    ['step.completed', { ...step, ms: 40 }],
  ]);
  expect(events[0]?.step).toBe(ref);
});

test('refuses an old fence', () => {
  const table = givenStep();
  const before = table.records();

  const { outcome } = table.run(settle({ fence: 0 }));

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
  expect(table.records()).toEqual(before);
});

test('journals what a step came to, after the events before it', () => {
  const table = givenStep({ askedAt: 2 });
  table.run(append(0, [note()]));

  const { resolutions } = table.run(settle({ askedAt: 9, outcome: { status: 'completed', value: '{"paid":true}' } }));

  const told = { status: 'done', ord: 1, emitsDone: 1, at: NOON };
  expect(resolutions).toEqual([{ taskId: TASK, key: 'reply', ...told, value: null, call: 0 }]);
  expect(table.row(TASK, 'reply')).toMatchObject({ ...told, value: '{"paid":true}', askedAt: 2, tries: 1 });
  expect(table.task(TASK).ord).toBe(1);
});

test('journals how a step has failed for good', () => {
  const table = givenStep({ messageId: 'msg_a' });

  const { resolutions } = table.run(settle({ outcome: failure() }));

  expect(resolutions).toMatchObject([{ key: 'reply', status: 'failed', value: null }]);
  expect(table.row(TASK, 'reply')).toMatchObject({
    ...{ status: 'failed', ord: 1, message: null },
    value: '{"name":"Error","message":"no luck","fields":{},"cause":null}',
  });
});

test('leaves a step pending that runs again, with nothing said', () => {
  const table = givenStep({ messageId: 'msg_a' });

  const { resolutions } = table.run(settle({ outcome: failed, message: { id: 'msg_a', content: 'Lisbon' } }));

  expect(resolutions).toEqual([]);
  expect(table.row(TASK, 'reply')).toMatchObject({ status: 'pending', tries: 1, message: null });
  expect(table.task(TASK).ord).toBe(0);
});

test('leaves a step as it is that has come to something already', () => {
  const table = givenStep();
  table.run(settle({}));
  const before = table.records();

  const { outcome, events } = table.run(settle({ outcome: failure() }));

  expect(outcome).toEqual({ ok: true, result: null, replayed: false });
  expect(events).toEqual([]);
  expect(table.records()).toEqual(before);
});

test('journals a step that fails without having run, since it may have run under a row that is gone', () => {
  const table = givenRunningTask();
  const uncertain = failure('may have run', null, { code: 'step_uncertain' });

  const { events } = table.run(settle({ once: true, askedAt: 4, outcome: uncertain, ms: 0 }));

  expect(dataOf(events)).toEqual([['step.failed', { ...step, error: uncertain.error, retryInMs: null }]]);
  expect(table.row(TASK, 'reply')).toMatchObject({
    ...{ kind: 'step', status: 'failed', once: true, tries: 0, askedAt: 4, ord: 1, value: uncertain.failure },
  });
});

test.each([
  ['completes', settle({})],
  ['is to run again', settle({ outcome: failed })],
])('fails loudly at a step that %s and has not begun', (_how, call) => {
  const table = givenRunningTask();

  expect(() => table.run(call)).toThrow(`reply of ${TASK} ends, and has not begun.`);
});

test('fails loudly at a key of another kind', () => {
  const table = givenRunningTask();
  table.run(sleep({ key: 'reply' }));

  expect(() => table.run(settle({}))).toThrow(`reply of ${TASK} is of kind sleep, not step.`);
});
