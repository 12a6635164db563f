import { expect, test } from 'vitest';
import { decideBatch, needsOf } from '../../src/model/batch.ts';
import { newEvent } from '../../src/model/event.ts';
import { View } from '../../src/model/view.ts';
import {
  answer,
  append,
  askArgs,
  begin,
  CHILD,
  cancel,
  claim,
  claimOf,
  createArgs,
  decline,
  delta,
  fail,
  givenChild,
  givenQuestion,
  givenQueuedTask,
  givenRunningTask,
  givenWaitingTask,
  lease,
  MINUTE,
  note,
  QUESTION,
  sleep,
  TASK,
  typesOf,
} from './given.ts';
import { NOON, Table } from './table.ts';

const HOUR = 60 * MINUTE;
const key = { key: 'k-1', fingerprint: 'POST /v1/tasks {}' };
const create = { verb: 'createTask', args: createArgs(), idempotency: key } as const;

test('asks once for what several calls need', () => {
  const needs = needsOf([
    create,
    cancel,
    claim,
    cancel,
    answer('june'),
    decline(),
    { verb: 'fireTimer', args: { taskId: TASK, key: 'nap' } },
    sleep(),
    fail(),
  ]);

  expect(needs).toEqual({
    tasks: [TASK],
    trees: [TASK],
    pending: [],
    questions: [QUESTION],
    lanes: [TASK],
    rows: [{ taskId: TASK, key: 'nap' }],
    journals: [TASK],
    formerChildren: [],
    conversations: [],
    gatherings: [],
    firstTurns: [],
    histories: [],
    keys: ['k-1'],
  });
});

test('gives the events of a batch places without gaps, and one instant', () => {
  const table = givenRunningTask();

  const { firstSeq, events } = table.commit([append(0, [note(), note()]), cancel]);

  expect(firstSeq).toBe(3);
  expect(events.map(({ seq, at, rootId }) => [seq, at, rootId])).toEqual([
    [3, NOON, TASK],
    [4, NOON, TASK],
    [5, NOON, TASK],
  ]);
});

test('leaves the log as it was when nothing happens', () => {
  const table = new Table();

  const { firstSeq, events } = table.commit([answer('june')]);

  expect([firstSeq, events]).toEqual([1, []]);
  expect(table.log).toEqual({
    owner: 'local',
    head: 0,
    prunedSeq: 0,
    epoch: null,
    unfinishedRoots: 0,
    pendingQuestions: 0,
  });
});

test('gives the log a new epoch with the first event written under it, and not before', () => {
  const table = givenRunningTask();
  table.epoch = 'epoch002';
  table.run(sleep());

  table.run(append(0, [note()]));

  expect(table.epochs).toEqual([
    { epoch: 'epoch001', firstSeq: 1 },
    { epoch: 'epoch002', firstSeq: 3 },
  ]);
});

test('lets each call see what those before it have changed', () => {
  const table = givenQueuedTask();

  const { outcomes } = table.commit([claim, append(0, [note()]), cancel, append(1, [note()])]);

  expect(outcomes.map(({ ok }) => ok)).toEqual([true, true, true, false]);
});

test('moves the newest seq of a task with its own events only', () => {
  const table = givenRunningTask();
  givenRunningTask({ taskId: 'task_b' }, table);

  table.run(append(0, [note()]));

  expect(table.task(TASK)).toMatchObject({ firstSeq: 1, lastSeq: 5 });
  expect(table.task('task_b')).toMatchObject({ firstSeq: 3, lastSeq: 4 });
});

test('moves the newest seq of a root with the events of its tree', () => {
  const table = givenChild();
  table.run(claimOf(CHILD));

  const { events } = table.run(append(0, [note(CHILD)], lease({ taskId: CHILD })));

  expect(events).toMatchObject([{ seq: 5, rootId: TASK }]);
  expect(table.task(CHILD)).toMatchObject({ firstSeq: 3, lastSeq: 5 });
  expect(table.task(TASK)).toMatchObject({ firstSeq: 1, lastSeq: 5 });
});

test('shows the task of a result with the places of its new events', () => {
  const { outcome } = new Table().run(create);

  expect(outcome).toMatchObject({ ok: true, result: { task: { firstSeq: 1, lastSeq: 1 } } });
});

test('says which call each resolution came from', () => {
  const table = givenQuestion();

  const { resolutions } = table.commit([append(0, [note()]), answer('june')]);

  expect(resolutions).toMatchObject([{ call: 1, taskId: TASK, key: 'dates' }]);
});

test('says of each call where its task stood before it', () => {
  const table = givenQuestion();
  table.run(sleep({ ms: 0 }));

  const { ords } = table.commit([
    { verb: 'fireTimer', args: { taskId: TASK, key: 'nap' } },
    answer('june'),
    append(0, [note()]),
    { ...create, args: createArgs({ taskId: 'task_b' }) },
    { verb: 'cancelTask', args: { taskId: 'task_gone', reason: null } },
  ]);

  expect(ords).toEqual([0, null, 2, null, null]);
});

test('says when the earliest of the deadlines and sleeps that it has set is due', () => {
  const table = givenRunningTask();

  const { dueAt } = table.commit([
    { verb: 'askQuestion', args: askArgs({ timeoutMs: 3 * MINUTE }) },
    sleep({ ms: 2 * MINUTE }),
    { verb: 'askQuestion', args: askArgs({ questionId: 'qst_b', key: 'b', timeoutMs: 5 * MINUTE }) },
  ]);

  expect(dueAt).toBe(NOON + 2 * MINUTE);
});

test('says when a task that was put off is to begin', () => {
  const { dueAt } = new Table().run({ verb: 'createTask', args: createArgs({ runAt: NOON + MINUTE }) });

  expect(dueAt).toBe(NOON + MINUTE);
});

test('names no due time when it has closed everything', () => {
  const table = givenWaitingTask();
  table.run({ verb: 'wakeTask', args: lease() });

  const { dueAt } = table.run(cancel);

  expect(dueAt).toBeNull();
});

test('[Q9] gives the same result again for the same Idempotency-Key, though the task has moved on', () => {
  const table = new Table();
  const first = table.run(create);
  table.run(claim);
  const before = table.records();

  const again = table.run({ ...create, args: createArgs({ taskId: 'task_b' }) });

  expect(first.outcome).toMatchObject({ ok: true, replayed: false });
  expect(again.outcome).toEqual({ ...first.outcome, replayed: true });
  expect(table.records()).toEqual(before);
});

test('[Q9] knows a key that came earlier in the same batch', () => {
  const table = new Table();

  const { outcomes, events } = table.commit([create, { ...create, args: createArgs({ taskId: 'task_b' }) }]);

  expect(outcomes).toMatchObject([{ replayed: false }, { replayed: true, result: { task: { id: TASK } } }]);
  expect(events).toHaveLength(1);
});

test('refuses a key that stood for another request', () => {
  const table = new Table();
  table.run(create);

  const other = { ...create, args: createArgs({ taskId: 'task_b' }), idempotency: { ...key, fingerprint: 'else' } };
  const { outcome } = table.run(other);

  expect(outcome).toMatchObject({ ok: false, code: 'idempotency_mismatch' });
  expect(table.tasks.has('task_b')).toBe(false);
});

test('leaves a key unused when the call is refused', () => {
  const table = givenQuestion();
  table.run({ ...answer('may'), idempotency: key });

  const { outcome } = table.run({ ...answer('june'), idempotency: { ...key, fingerprint: 'another' } });

  expect(outcome).toMatchObject({ ok: true, replayed: false });
});

test('keeps a key for a day', () => {
  const table = new Table();
  table.run(create);
  table.now += 24 * HOUR - 1;

  const { outcome } = table.run({ ...create, args: createArgs({ taskId: 'task_b' }) });

  expect(outcome).toMatchObject({ replayed: true });
});

test('forgets a key after a day, and takes it for the new request', () => {
  const table = new Table();
  table.run(create);
  table.now += 24 * HOUR;

  const { outcome } = table.run({ ...create, args: createArgs({ taskId: 'task_b' }) });

  expect(outcome).toMatchObject({ replayed: false, result: { task: { id: 'task_b' } } });
  expect(table.keys.get('k-1')).toMatchObject({ at: table.now });
});

test('takes a forgotten key for a request that turns out to be a repetition by itself', () => {
  const table = givenQuestion();
  table.run({ ...answer('june'), idempotency: key });
  table.now += 24 * HOUR;

  table.run({ ...answer('june'), idempotency: key });

  expect(table.keys.get('k-1')).toMatchObject({ at: table.now });
});

test('keeps the key of a request that was a repetition by itself', () => {
  const table = givenQuestion();
  table.run(answer('june'));
  table.run({ ...answer('june'), idempotency: key });

  const { outcome } = table.run({ ...answer('july'), idempotency: { ...key, fingerprint: 'july' } });

  expect(outcome).toMatchObject({ ok: false, code: 'idempotency_mismatch' });
});

test('throws at an event whose task is not loaded, for that is a bug', () => {
  const table = givenRunningTask();

  const stray = () => table.run(append(0, [note('task_stray')]));

  expect(stray).toThrow('An event of task_stray, which is not loaded.');
});

test('throws at a child whose root is not loaded, for that is a bug', () => {
  const table = givenChild();
  const child = table.task(CHILD);
  const view = new View(table.log);
  view.load({ tasks: [{ ...child, parentId: null, spawnKey: null }] });

  const decide = () => decideBatch(view, [{ verb: 'cancelTask', args: { taskId: child.id, reason: null } }], 'e', NOON);

  expect(decide).toThrow(`An event of ${TASK}, which is not loaded.`);
});

test('stamps the events of a later batch later', () => {
  const table = givenRunningTask();
  table.now += 5;

  const { events } = table.run({
    verb: 'appendEvents',
    args: { ...lease(), after: 0, events: [newEvent(TASK, 'task.progress', { fraction: null, note: 'on' })] },
  });

  expect(events).toMatchObject([{ at: NOON + 5, seq: 3 }]);
});

test('knows what was said of a message in the same batch', () => {
  const table = givenRunningTask();
  table.commit([begin({ key: 'reply', messageId: 'msg_a' }), append(0, [delta('Lis')])]);

  const { events } = table.commit([append(0, [delta('bon'), delta('?', 'msg_b', 'other'), delta(' in')]), cancel]);

  expect(typesOf(events).slice(-2)).toEqual(['message.completed', 'task.cancelled']);
  expect(JSON.parse(events.at(-2)?.data ?? '')).toMatchObject({ message: { id: 'msg_a', content: 'Lisbon in' } });
});

test('lets a later call find the rows that earlier ones have made', () => {
  const table = givenQueuedTask();

  const { outcomes } = table.commit([
    claim,
    sleep({ ms: 0 }),
    { verb: 'fireTimer', args: { taskId: TASK, key: 'nap' } },
    { verb: 'fireTimer', args: { taskId: TASK, key: 'nap' } },
  ]);

  expect(outcomes.map(({ ok }) => ok)).toEqual([true, true, true, false]);
  expect(table.row(TASK, 'nap')).toMatchObject({ status: 'done', ord: 1 });
});
