import { expect, test } from 'vitest';
import { newRow } from '../../src/model/row.ts';
import type { TaskRecord } from '../../src/model/task.ts';
import { View } from '../../src/model/view.ts';
import { givenQuestion, givenRunningTask, QUESTION, TASK } from './given.ts';

const LOG = { owner: 'local', head: 9, prunedSeq: 0, epoch: 'epoch001', unfinishedRoots: 0, pendingQuestions: 0 };
const nap = newRow({ taskId: TASK, key: 'nap' }, { kind: 'sleep', askedAt: 1, dueAt: 5 });
const key = { key: 'k', fingerprint: 'f', result: '1', at: 1 };

test('finds what was loaded and nothing else', () => {
  const table = givenQuestion();
  const view = new View(LOG);

  view.load({ tasks: table.tasks.values(), questions: table.questions.values(), rows: [nap], keys: [key] });

  expect(view.task(TASK)).toBe(table.task(TASK));
  expect(view.question(QUESTION)).toBe(table.question(QUESTION));
  expect(view.row(nap)).toBe(nap);
  expect(view.idempotencyKey('k')).toBe(key);
  expect([view.task('x'), view.question('x'), view.row({ ...nap, key: 'x' }), view.idempotencyKey('x')]).toEqual([
    ...[null, null, null, null],
  ]);
});

test('never lets a late load overwrite what a verb has changed', () => {
  const table = givenQuestion();
  const task = { ...table.task(TASK), priority: 7 };
  const question = { ...table.question(QUESTION), name: 'changed' };
  const view = new View(LOG);
  view.apply({ tasks: [task], questions: [question], rows: [{ ...nap, tries: 7 }] });
  view.applyKey({ ...key, result: '2' });

  view.load({ tasks: table.tasks.values(), questions: table.questions.values(), rows: [nap], keys: [key] });

  expect(view.task(TASK)).toBe(task);
  expect(view.question(QUESTION)).toBe(question);
  expect(view.row(nap)?.tries).toBe(7);
  expect(view.idempotencyKey('k')?.result).toBe('2');
});

test('marks nothing for writing that was only loaded', () => {
  const table = givenQuestion();
  const view = new View(LOG);

  view.load({ tasks: table.tasks.values(), questions: table.questions.values(), rows: [nap], keys: [key] });
  view.load({});

  const dirty = [view.dirtyTasks, view.dirtyQuestions, view.dirtyRows, view.droppedRows];
  expect(dirty.map(({ size }) => size)).toEqual([0, 0, 0, 0]);
  expect([view.newKeys, view.pruned]).toEqual([[], []]);
});

test('marks for writing what a verb has changed', () => {
  const table = givenQuestion();
  const view = new View(LOG);
  view.load({ rows: [{ ...nap, key: 'other' }] });

  view.apply({ tasks: [table.task(TASK)], questions: [table.question(QUESTION)], rows: [nap] });
  view.apply({ rows: [{ ...nap, tries: 7 }], prune: [{ rootId: TASK, upTo: 4 }] });
  view.applyKey(key);

  expect([...view.dirtyTasks]).toEqual([TASK]);
  expect([...view.dirtyQuestions]).toEqual([QUESTION]);
  expect([...view.dirtyRows.values()]).toEqual([{ ...nap, tries: 7 }]);
  expect(view.newKeys).toEqual([key]);
  expect(view.pruned).toEqual([{ rootId: TASK, upTo: 4 }]);
  expect(view.log.prunedSeq).toBe(4);
});

test('forgets a row that a verb has dropped, whatever is loaded later', () => {
  const view = new View(LOG);
  view.load({ rows: [nap] });
  view.apply({ rows: [{ ...nap, tries: 7 }] });

  view.apply({ droppedRows: [nap] });
  view.load({ rows: [nap] });

  expect(view.row(nap)).toBeNull();
  expect(view.rows(TASK)).toEqual([]);
  expect([...view.dirtyRows.values()]).toEqual([]);
  expect([...view.droppedRows.values()]).toEqual([nap]);
});

test('writes a row that is there again after it was dropped', () => {
  const view = new View(LOG);
  view.load({ rows: [nap] });

  view.apply({ droppedRows: [nap] });
  view.apply({ rows: [{ ...nap, askedAt: 9 }] });

  expect([...view.dirtyRows.values()]).toEqual([{ ...nap, askedAt: 9 }]);
  expect(view.droppedRows.size).toBe(0);
});

test('tells the rows of two tasks apart that share a key', () => {
  const view = new View(LOG);
  view.load({ rows: [nap, { ...nap, taskId: 'task_b', dueAt: 6 }] });

  expect(view.row({ taskId: 'task_b', key: 'nap' })?.dueAt).toBe(6);
  expect(view.rows(TASK)).toEqual([nap]);
});

test('lists the rows of a journal in the order of the calls, however they were loaded', () => {
  const view = new View(LOG);
  const b = { ...nap, key: 'b', askedAt: 0 };
  const a = { ...nap, key: 'a', askedAt: 0 };

  view.load({ rows: [nap, b, a] });

  expect(view.rows(TASK)).toEqual([a, b, nap]);
});

test('adds to the text of a message what it says in this batch', () => {
  const view = new View(LOG);
  view.load({ texts: [['msg_a', 'Lis']] });

  view.addDelta('{"messageId":"msg_a","text":"bon"}');
  view.addDelta('{"messageId":"msg_b","text":"not \\"msg_a\\""}');
  view.addDelta('{"messageId":"msg_b","text":"msg_a"}');

  expect(view.messageText('msg_a')).toBe('Lisbon');
  expect(view.messageText('msg_c')).toBe('');
});

test('finds a lane busy by any task that is held in it', () => {
  const held = { ...givenRunningTask({ concurrencyKey: 'ann' }).task(TASK), firstSeq: 1 };
  const queued = { ...held, id: 'task_b', rootId: 'task_b', held: false };
  const view = new View(LOG);
  view.load({ tasks: [held, queued, { ...queued, id: 'task_w', status: 'waiting' }] });

  expect(view.isLaneBusy(queued)).toBe(true);
  expect(view.isLaneBusy({ ...queued, lane: 'key bob' })).toBe(false);
  expect(view.isLaneBusy({ ...queued, lane: null })).toBe(false);
});

test('lets a turn begin when those before it have ended and let go, whatever its own children do', () => {
  const first = { ...givenRunningTask().task(TASK), isTurn: true, lane: 'turn conv_a', firstSeq: 1, held: false };
  const second = { ...first, id: 'task_b', rootId: 'task_b', firstSeq: 2, status: 'queued' } as const;
  const child = { ...first, id: 'task_c', parentId: 'task_b', rootId: 'task_b', isTurn: false, held: true };
  const busyWith = (...tasks: TaskRecord[]) => {
    const view = new View({ ...LOG, head: 9 });
    view.load({ tasks: [...tasks, second] });
    return view.isLaneBusy(second);
  };

  expect(busyWith({ ...first, status: 'waiting' })).toBe(true);
  expect(busyWith({ ...first, status: 'cancelled', held: true })).toBe(true);
  expect(busyWith({ ...first, status: 'cancelled' })).toBe(false);
  expect(busyWith({ ...first, status: 'completed' }, child)).toBe(false);
  expect(busyWith({ ...first, firstSeq: 3, status: 'queued' })).toBe(false);
  expect(new View({ ...LOG, head: 9 }).isLaneBusy({ ...child, held: false })).toBe(false);
});
