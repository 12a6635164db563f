import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDispatcher, type Dispatcher } from '../../src/engine/dispatcher.ts';
import { createLog, type Log } from '../../src/engine/log.ts';
import { MAX_TASK_EVENTS, MAX_TASK_QUESTIONS } from '../../src/model/limits.ts';
import { openSqliteStoreInProcess } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import type { CopyReport, Report } from '../../src/worker/protocol.ts';
import { createArgs, newId, noteEvents } from '../support/store-owner.ts';
import { allDone } from './published-store.ts';
import { ScriptedPool } from './scripted-pool.ts';

/** A dispatcher over a real store with several owners, whose workers are the test. */
let store: Store;
let log: Log;
let pool: ScriptedPool;
let dispatcher: Dispatcher;
let troubles: string[];

function start(slots: number, maxRunningPerOwner?: number): void {
  store = openSqliteStoreInProcess({ dir: ':memory:' });
  const onFatal = (error: unknown) => {
    throw error;
  };
  pool = new ScriptedPool(slots);
  const onTrouble = (_taskId: string, why: string) => troubles.push(why);
  dispatcher = createDispatcher({ store, maxRunningPerOwner, onTrouble, onFatal });
  log = createLog({ store, listeners: [dispatcher.onCommitted], follow: dispatcher.follow, onFatal });
  dispatcher.start(log, pool);
}

beforeEach(() => {
  troubles = [];
});

afterEach(async () => {
  await dispatcher.drain(0);
  await store.close();
});

async function create(owner: string, count = 1): Promise<string[]> {
  const args = Array.from({ length: count }, () => createArgs({}));
  await log.commit(
    owner,
    args.map((each) => ({ verb: 'createTask', args: each }) as const),
  );
  await allDone();
  return args.map(({ taskId }) => taskId);
}

async function of(owner: string, taskId: string, n: number, report: CopyReport): Promise<Report> {
  return { taskId, fence: (await store.task(owner, taskId))?.fence ?? 0, n, ...report };
}

async function report(...reports: Report[]): Promise<void> {
  for (const each of reports) if (each.kind === 'end') pool.end(each.taskId);
  dispatcher.onReports(0, reports);
  await allDone();
}

const END: CopyReport = { kind: 'end', ending: { status: 'completed', output: null } };
const finish = async (owner: string, taskId: string) => report(await of(owner, taskId, 1, END));

function ask(key = 'go', questionId = newId('qst')): CopyReport {
  const item = { id: 'a', prompt: 'Well?', header: null, required: true, type: 'boolean', default: null } as const;
  return { kind: 'ask', questionId, key, askedAt: 0, items: [item], metadata: {}, timeoutMs: null };
}

async function running(owner: string): Promise<string[]> {
  return (await store.listTasks(owner, { status: ['running'], limit: 200, order: 'asc' })).map(({ id }) => id);
}

const task = (taskId: string) => store.task('ann', taskId);

describe('the slots', () => {
  test('go to no more tasks of one owner than it may have running', async () => {
    start(8, 3);
    const anns = await create('ann', 10);
    const bens = await create('ben', 2);

    expect(await running('ann')).toEqual(anns.slice(0, 3));
    expect(await running('ben')).toEqual(bens);

    await finish('ann', anns[0] ?? '');

    expect(await running('ann')).toEqual(anns.slice(1, 4));
  });

  // Would fail if those at their most were read first, and nothing behind them.
  test('go to others, however many owners have all that they may', async () => {
    start(40, 1);
    for (let n = 0; n < 30; n++) await create(`owner-${n}`, 5);

    const [first] = await create('ben');

    expect(await running('ben')).toEqual([first]);
    expect(pool.running).toBe(31);
  });

  test('are not given past that to a task that was answered in memory', async () => {
    start(8, 1);
    const [asker = '', other = ''] = await create('ann', 2);
    const questionId = newId('qst');
    await report(await of('ann', asker, 1, ask('go', questionId)));
    await report(await of('ann', asker, 2, { kind: 'wait', ord: 0, keys: ['go'] }));
    expect(await running('ann')).toEqual([other]);

    const args = { questionId, given: { answer: true }, resolvedBy: 'ann' };
    await log.commit('ann', [{ verb: 'answerQuestion', args }]);
    await allDone();
    expect((await task(asker))?.status).toBe('queued');

    await finish('ann', other);

    expect(await running('ann')).toEqual([asker]);
  });

  test('go to the first task of an owner by turns, however much another has queued', async () => {
    start(4);
    const anns = await create('ann', 10_000);
    const [first = '', second = ''] = await create('ben', 2);

    // Whose turn it was already comes first, once.
    await finish('ann', anns[0] ?? '');
    await finish('ann', anns[1] ?? '');
    expect(await running('ben')).toEqual([first]);

    await finish('ben', first);
    await finish('ann', anns[2] ?? '');

    expect(await running('ben')).toEqual([second]);
  });
});

describe('a task that wants more than it may', () => {
  test('fails when it asks a question too many, with what it had done before', async () => {
    start(4);
    const [id = ''] = await create('ann');
    const asks = await Promise.all(
      Array.from({ length: MAX_TASK_QUESTIONS + 1 }, (_, n) => of('ann', id, n + 1, ask(`go#${n + 1}`))),
    );

    await report(
      ...asks,
      await of('ann', id, asks.length + 1, { kind: 'append', after: 0, events: noteEvents(id, 1) }),
    );

    const error = { code: 'limit_exceeded', message: 'A task may have 100 questions pending at once.' };
    expect(await task(id)).toMatchObject({ status: 'failed', error, pendingQuestionCount: 0 });
    expect(await store.listQuestions('ann', { taskId: id, status: 'cancelled', limit: 200 })).toHaveLength(
      MAX_TASK_QUESTIONS,
    );
    expect(pool.toldTo(id)).toContain('drop');
    expect(troubles).toEqual([]);
  });

  // Would fail if what comes behind the last events could still end the task otherwise.
  test('fails when it has too many events, though it says in the same batch that it has ended', async () => {
    start(4);
    const [id = ''] = await create('ann');
    const AT_ONCE = 1000;
    let n = 0;
    for (let after = 0; after < MAX_TASK_EVENTS; after += AT_ONCE) {
      await report(await of('ann', id, ++n, { kind: 'append', after, events: noteEvents(id, AT_ONCE) }));
    }

    await report(
      await of('ann', id, ++n, { kind: 'append', after: MAX_TASK_EVENTS, events: noteEvents(id, 1) }),
      await of('ann', id, ++n, END),
    );

    const error = { code: 'limit_exceeded', message: 'A task may have 100000 events.' };
    expect(await task(id)).toMatchObject({ status: 'failed', error, emits: MAX_TASK_EVENTS });
    const last = (await store.log('ann')).head;
    const query = { scope: { kind: 'log' }, after: last - 2, upTo: last, unfinishedAt: null, limit: 10 } as const;
    expect((await store.readEvents('ann', query)).events.map(({ type }) => type)).toEqual([
      'note.taken',
      'task.failed',
    ]);
    expect(troubles).toEqual([]);
  });
});
