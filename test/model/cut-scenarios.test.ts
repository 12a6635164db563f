import { expect, test } from 'vitest';
import type { Cut } from '../../src/model/journal.ts';
import {
  append,
  askArgs,
  begin,
  CHILD,
  cancel,
  claimOf,
  cutAt,
  fail,
  failure,
  finish,
  givenRunningTask,
  lease,
  note,
  settle,
  sleep,
  spawn,
  TASK,
} from './given.ts';
import type { Table } from './table.ts';

const AGAIN = 'task_again';
const second = lease({ fence: 2 });
const UNCERTAIN = failure('may have run', null, { code: 'step_uncertain' });

type Step = Parameters<typeof settle>[0] & { key: string };

/** A step's function is run to its end, which is reported. */
function run(table: Table, { askedAt = 0, once = false, ...step }: Step): void {
  const { key, taskId = TASK, fence = 1 } = step;
  table.commit([begin({ key, taskId, fence, askedAt, once }), settle({ ...step, askedAt, once })]);
}

/** The first attempt ends, and the second begins. */
function failOnce(table: Table, cut: Cut | null): void {
  table.commit([fail({ cut }), claimOf(TASK)]);
}

/** The task ends, and is retried. */
function retry(table: Table): void {
  table.run({ verb: 'retryTask', args: { taskId: TASK, newTaskId: AGAIN } });
  table.run(claimOf(AGAIN));
}

function emitted(table: Table, taskId = TASK): number {
  return table.told.filter((event) => event.taskId === taskId && event.type === 'a.note').length;
}

/** How often the function of a step began. */
function ranTimes(table: Table, key: string): number {
  const started = table.told.filter(({ type }) => type === 'step.started');
  return started.filter(({ data }) => JSON.parse(data).name === key).length;
}

const givenTask = () => givenRunningTask({ maxAttempts: 2 });

test('26. runs the failed step again and nothing before it', () => {
  const table = givenTask();
  table.run(append(0, [note()]));
  run(table, { key: 'a', askedAt: 1 });
  run(table, { key: 'x', askedAt: 2, outcome: failure() });

  failOnce(table, cutAt({ keys: ['x'], askedAt: 2, ord: 2, emits: 1 }));

  expect(table.journal(TASK)).toMatchObject([{ key: 'a', ord: 1, emitsDone: 1 }]);
  run(table, { key: 'x', askedAt: 2, ...second });
  table.commit([append(1, [note()], second), { ...finish, args: { ...finish.args, ...second } }]);
  expect(table.task(TASK)).toMatchObject({ status: 'completed', ord: 2, emits: 2 });
  expect([ranTimes(table, 'a'), ranTimes(table, 'x'), emitted(table)]).toEqual([1, 2, 2]);
});

test('27. never gives the good path what a step of the failing path came to under the same name', () => {
  const table = givenTask();
  run(table, { key: 'x', outcome: failure() });
  run(table, { key: 'n', askedAt: 1, outcome: { status: 'completed', value: '"of the failing path"' } });

  failOnce(table, cutAt({ keys: ['x'] }));

  expect(table.journal(TASK)).toEqual([]);
  run(table, { key: 'x', ...second });
  run(table, { key: 'n', askedAt: 1, outcome: { status: 'completed', value: '"of the good path"' }, ...second });
  expect(table.row(TASK, 'n')).toMatchObject({ value: '"of the good path"', ord: 2, tries: 1 });
});

test('28. lets a kept row wait for no event of the failing path', () => {
  const table = givenTask();
  table.commit([begin({ key: 'y' })]);
  run(table, { key: 'x', outcome: failure() });
  table.commit([append(0, [note(), note()]), settle({ key: 'y' })]);
  expect(table.row(TASK, 'y')).toMatchObject({ ord: 2, emitsDone: 2 });

  failOnce(table, cutAt({ keys: ['x'] }));

  expect(table.journal(TASK)).toMatchObject([{ key: 'y', status: 'done', ord: 2, emitsDone: 0 }]);
  expect(table.task(TASK)).toMatchObject({ ord: 2, emits: 0 });
});

test('29. counts an event that was called before the failure and committed after it', () => {
  const table = givenTask();
  table.commit([begin({ key: 'x' })]);
  run(table, { key: 'y' });
  table.commit([settle({ key: 'x', outcome: failure() }), append(0, [note()])]);
  expect(table.row(TASK, 'x')).toMatchObject({ ord: 2, emitsDone: 0 });

  failOnce(table, cutAt({ keys: ['x'], askedAt: 1, ord: 2, emits: 1 }));

  expect(table.journal(TASK)).toMatchObject([{ key: 'y', ord: 1 }]);
  run(table, { key: 'z', askedAt: 2, ...second });
  expect(table.row(TASK, 'z').emitsDone).toBe(1);
  expect(() => table.run(append(0, [note()], second))).toThrow(`${TASK} has emitted 1 events, not the 0 before these.`);
});

test('30. runs both of two steps again that have failed', () => {
  const table = givenTask();
  table.commit([begin({ key: 'x' }), begin({ key: 'z' })]);
  table.commit([settle({ key: 'x', outcome: failure() }), settle({ key: 'z', outcome: failure() })]);

  failOnce(table, cutAt({ keys: ['x'] }));

  expect(table.journal(TASK)).toEqual([]);
  run(table, { key: 'x', ...second });
  run(table, { key: 'z', ...second });
  expect(table.journal(TASK)).toMatchObject([{ status: 'done' }, { status: 'done' }]);
});

test('31. lets a step fail again from the journal where nobody knows that it was its failure', () => {
  const table = givenTask();
  run(table, { key: 'x', outcome: failure() });
  run(table, { key: 'log', askedAt: 1 });

  failOnce(table, null);

  expect(table.journal(TASK)).toMatchObject([
    { key: 'x', status: 'failed', ord: 1 },
    { key: 'log', status: 'done', ord: 2 },
  ]);
});

test('32. runs a `once` step of the failing path once, over attempts and retries', () => {
  const table = givenTask();
  run(table, { key: 'x', outcome: failure() });
  run(table, { key: 'refund', askedAt: 1, once: true });
  failOnce(table, cutAt({ keys: ['x'] }));
  expect(table.task(TASK).marks).toEqual(['refund']);
  run(table, { key: 'x', outcome: failure(), ...second });
  table.run(settle({ key: 'refund', askedAt: 1, once: true, outcome: UNCERTAIN, ...second }));
  expect(table.row(TASK, 'refund')).toMatchObject({ status: 'failed', tries: 0, ord: 2 });
  table.run(fail({ ...second, cut: cutAt({ keys: ['refund'], askedAt: 1, ord: 2 }) }));

  retry(table);

  expect(table.journal(AGAIN)).toMatchObject([{ key: 'x', status: 'failed', ord: 1 }]);
  expect(table.task(AGAIN).marks).toEqual(['refund']);
  expect(ranTimes(table, 'refund')).toBe(1);
});

test.each([
  ['sleep', sleep({ key: 'refund', ...second })],
  ['plain step', begin({ key: 'refund', ...second })],
])('32. lets a mark concern no %s that has the same name', (_kind, call) => {
  const table = givenTask();
  run(table, { key: 'x', outcome: failure() });
  run(table, { key: 'refund', askedAt: 1, once: true });
  failOnce(table, cutAt({ keys: ['x'] }));

  const { outcome } = table.run(call);

  expect(outcome.ok).toBe(true);
  expect(table.row(TASK, 'refund')).toMatchObject({ status: 'pending', once: false });
});

test('33. gives a retried task another child, and keeps the place of the spawn and what came after it', () => {
  const table = givenTask();
  table.run(spawn());
  run(table, { key: 's', askedAt: 1 });
  table.run({ verb: 'cancelTask', args: { taskId: CHILD, reason: null } });
  const error = { code: 'invalid_output', message: 'no flights' } as const;
  table.run(fail({ error, cut: cutAt({ keys: ['flights>'], askedAt: 2, ord: 3 }) }));

  retry(table);

  expect(table.journal(AGAIN)).toMatchObject([
    { key: 'flights', status: 'pending', ord: 1, askedAt: 0 },
    { key: 's', status: 'done', ord: 2, askedAt: 1 },
  ]);
  const { resolutions } = table.run(spawn({ taskId: AGAIN, childId: 'task_other' }));
  expect(resolutions).toMatchObject([{ key: 'flights', ord: 1, value: '"task_other"' }]);
  expect(table.task('task_other')).toMatchObject({ parentId: AGAIN, status: 'queued' });
  expect(table.task(AGAIN).ord).toBe(2);
});

test('34. finds the messages again that the failing path has taken', () => {
  const table = givenTask();
  table.run({ verb: 'addToInbox', args: { taskId: TASK, message: 'hurry' } });
  run(table, { key: 'x', outcome: failure() });
  table.run({ verb: 'takeInbox', args: { ...lease(), key: 'inbox', askedAt: 1 } });

  failOnce(table, cutAt({ keys: ['x'] }));

  run(table, { key: 'x', ...second });
  table.run({ verb: 'takeInbox', args: { ...second, key: 'inbox', askedAt: 1 } });
  expect(table.row(TASK, 'inbox').value).toBe('["hurry"]');
});

test('35. retells the events of a task that was cancelled at a question, and asks it anew', () => {
  const table = givenTask();
  run(table, { key: 'a' });
  table.run(append(0, [note()]));
  table.run({ verb: 'askQuestion', args: askArgs({ askedAt: 2 }) });
  table.run({ verb: 'waitTask', args: { ...lease(), ord: 1, keys: ['dates'] } });
  table.run(cancel);

  retry(table);

  expect(table.journal(AGAIN)).toMatchObject([{ key: 'a', status: 'done', ord: 1, emitsDone: 0 }]);
  const again = lease({ taskId: AGAIN });
  table.commit([
    append(0, [note(AGAIN)], again),
    { verb: 'askQuestion', args: askArgs({ ...again, questionId: 'qst_again', askedAt: 2 }) },
    { verb: 'waitTask', args: { ...again, ord: 1, keys: ['dates'] } },
  ]);
  expect(table.task(AGAIN)).toMatchObject({ status: 'waiting', emits: 1, pendingQuestionCount: 1 });
  expect([ranTimes(table, 'a'), emitted(table, AGAIN)]).toEqual([1, 1]);
});
