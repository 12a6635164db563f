import { expect, test } from 'vitest';
import { newEvent } from '../../../src/model/event.ts';
import {
  append,
  begin,
  dataOf,
  delta,
  givenCancelledTask,
  givenRunningTask,
  note,
  settle,
  sleep,
  TASK,
} from '../given.ts';

const search = { taskId: TASK, conversationId: null, type: 'search.done', step: null, data: '{"hits":3}' };
const ofStep = { step: '{"name":"charge","attempt":1}' };
const progress = (fraction: number) => newEvent(TASK, 'task.progress', { fraction, note: null });
const starts = (messageId: string, step: string | null = ofStep.step) => ({
  ...newEvent(TASK, 'message.started', { messageId, role: 'assistant' }),
  step,
});

test('[T1] appends in the order of the calls', () => {
  const table = givenRunningTask();

  const { outcome, events } = table.run(append(0, [search, progress(0.5)]));

  expect(outcome).toEqual({ ok: true, result: null, replayed: false });
  expect(dataOf(events)).toEqual([
    ['search.done', { hits: 3 }],
    ['task.progress', { fraction: 0.5, note: null }],
  ]);
});

test('[T10] keeps the latest progress with the task', () => {
  const table = givenRunningTask();

  table.run(append(0, [progress(0.5), progress(0.9), search]));

  expect(table.task(TASK).progress).toEqual({ fraction: 0.9, note: null });
});

test('leaves the progress as it was when there is none among the events', () => {
  const table = givenRunningTask();
  table.run(append(0, [progress(0.5)]));

  table.run(append(1, [search]));

  expect(table.task(TASK).progress).toEqual({ fraction: 0.5, note: null });
});

test('counts the events and the progress from outside steps, and no others', () => {
  const table = givenRunningTask();
  table.run(begin());

  table.run(append(0, [search, { ...search, ...ofStep }, progress(0.5), { ...progress(0.9), ...ofStep }]));

  expect(table.task(TASK)).toMatchObject({ emits: 2, progress: { fraction: 0.9 } });
});

test('leaves the task as it was for what its steps emit, but for the counts', () => {
  const table = givenRunningTask();
  table.run(begin());
  const { lastSeq, eventCount, eventsLength, ...before } = table.task(TASK);

  table.run(append(0, [{ ...search, ...ofStep }]));

  const counts = { eventCount: eventCount + 1, eventsLength: eventsLength + search.data.length };
  expect(table.task(TASK)).toEqual({ ...before, ...counts, lastSeq: lastSeq + 1 });
});

test.each([0, 2])('fails loudly at events that would follow %i others, where the store has one', (after) => {
  const table = givenRunningTask();
  table.run(append(0, [note()]));

  const stray = () => table.run(append(after, [note()]));

  expect(stray).toThrow(`${TASK} has emitted 1 events, not the ${after} before these.`);
});

test('remembers the message that a step begins by itself, and from where on it is told', () => {
  const table = givenRunningTask();
  table.run(begin());
  const { head } = table.log;

  table.run(append(0, [search, starts('msg_a'), delta('Lis', 'msg_a', 'charge')]));

  expect(table.row(TASK, 'charge').message).toEqual({ id: 'msg_a', afterSeq: head + 1 });
});

test('remembers the message of a step that began in the same batch', () => {
  const table = givenRunningTask();

  table.commit([begin(), append(0, [starts('msg_a')])]);

  expect(table.row(TASK, 'charge').message).toEqual({ id: 'msg_a', afterSeq: table.log.head - 1 });
});

test('takes no message that is of no step for one of a row', () => {
  const table = givenRunningTask();

  table.run(append(0, [starts('msg_a', null)]));

  expect(table.journal(TASK)).toEqual([]);
});

test.each([
  ['has not begun', []],
  ['has ended', [begin(), settle()]],
])('fails loudly at a message of a step that %s', (_what, calls) => {
  const table = givenRunningTask();
  table.commit(calls);

  const stray = () => table.run(append(0, [starts('msg_a')]));

  expect(stray).toThrow(`charge of ${TASK} speaks, and does not run.`);
});

test('fails loudly at a message of what is no step', () => {
  const table = givenRunningTask();
  table.run(sleep({ key: 'charge' }));

  const stray = () => table.run(append(0, [starts('msg_a')]));

  expect(stray).toThrow(`charge of ${TASK} is of kind sleep, not step.`);
});

test('appends nothing after the end of the task', () => {
  const table = givenCancelledTask();
  const before = table.records();

  const { outcome } = table.run(append(0, [search]));

  expect(outcome).toMatchObject({ ok: false, code: 'lease_lost' });
  expect(table.records()).toEqual(before);
});
