import { expect, test } from 'vitest';
import type { StartStepArgs } from '../../../src/model/verbs/start-step.ts';
import { begin, claim, dataOf, failure, givenRunningTask, lease, settle, sleep, TASK } from '../given.ts';

const step = { name: 'charge#2', attempt: 1 };
const start = (over: Partial<StartStepArgs> = {}) => begin({ step, ...over });

test('tells only that a plain step begins', () => {
  const table = givenRunningTask();

  const { outcome, events } = table.run(start());

  expect(outcome).toEqual({ ok: true, result: null, replayed: false });
  expect(dataOf(events)).toEqual([['step.started', step]]);
  expect(events[0]?.step).toBeNull();
});

test('tells the message that a step will write, as of the step', () => {
  const table = givenRunningTask();

  const { events } = table.run(start({ messageId: 'msg_a' }));

  expect(dataOf(events)).toEqual([
    ['step.started', step],
    ['message.started', { messageId: 'msg_a', role: 'assistant' }],
  ]);
  expect(events[1]?.step).toBe('{"name":"charge#2","attempt":1}');
});

test('tells the tool call that a step is, as of the step', () => {
  const table = givenRunningTask();
  const tool = { toolCallId: 'call_1', name: 'charge', input: { cents: 500 } };

  const { events } = table.run(start({ tool }));

  expect(dataOf(events)).toEqual([
    ['step.started', step],
    ['tool.called', tool],
  ]);
  expect(events[1]?.step).toBe('{"name":"charge#2","attempt":1}');
});

test('refuses an old fence', () => {
  const table = givenRunningTask();
  const before = table.records();

  const { outcome } = table.run(start({ fence: 0 }));

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
  expect(table.records()).toEqual(before);
});

test('journals that a step has begun', () => {
  const table = givenRunningTask();

  const { resolutions } = table.run(start({ askedAt: 2, once: true }));

  expect(resolutions).toEqual([]);
  expect(table.journal(TASK)).toEqual([
    {
      ...{ taskId: TASK, key: 'charge#2', kind: 'step', status: 'pending', value: null, askedAt: 2, dueAt: null },
      ...{ ord: null, emitsDone: null, at: null, tries: 1, once: true, message: null },
    },
  ]);
});

test('remembers the message that a step writes, and from where on it is told', () => {
  const table = givenRunningTask();
  const { head } = table.log;

  table.run(start({ messageId: 'msg_a', tool: { toolCallId: 'call_1', name: 'charge', input: null } }));

  expect(table.row(TASK, 'charge#2').message).toEqual({ id: 'msg_a', afterSeq: head + 2 });
});

test('counts each time that a step begins, and keeps when it was asked for', () => {
  const table = givenRunningTask();
  table.commit([begin({ askedAt: 2 }), settle({ outcome: failure('no luck', 250) })]);
  table.run({ verb: 'requeueTask', args: { ...lease(), cause: 'drained' } });
  table.run(claim);

  table.run(begin({ fence: 2, askedAt: 0, attempt: 2, messageId: 'msg_b' }));

  expect(table.row(TASK, 'charge')).toMatchObject({
    status: 'pending',
    askedAt: 2,
    tries: 2,
    message: { id: 'msg_b' },
  });
});

test.each([0, 1, 3])('fails loudly at attempt %i of a step that has begun once', (attempt) => {
  const table = givenRunningTask();
  table.run(begin());

  const stray = () => table.run(begin({ attempt }));

  expect(stray).toThrow(`charge of ${TASK} has begun 1 times: this is not attempt ${attempt}.`);
});

test('fails loudly at a step that has come to something', () => {
  const table = givenRunningTask();
  table.commit([begin(), settle()]);

  expect(() => table.run(begin({ attempt: 2 }))).toThrow(`charge of ${TASK} begins, and is done already.`);
});

test('fails loudly at a key of another kind', () => {
  const table = givenRunningTask();
  table.run(sleep({ key: 'charge' }));

  expect(() => table.run(begin())).toThrow(`charge of ${TASK} is of kind sleep, not step.`);
});
