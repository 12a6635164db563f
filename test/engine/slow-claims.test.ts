import { afterEach, expect, test } from 'vitest';
import { createDispatcher, type Dispatcher } from '../../src/engine/dispatcher.ts';
import { createLog, type Log } from '../../src/engine/log.ts';
import type { VerbCall } from '../../src/model/batch.ts';
import { openSqliteStoreInProcess } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import type { CopyReport } from '../../src/worker/protocol.ts';
import { diceOf } from '../support/dice.ts';
import { createArgs, newId } from '../support/store-owner.ts';
import { allDone } from './published-store.ts';
import { ScriptedPool } from './scripted-pool.ts';
import { SlowReads } from './slow-reads.ts';

/** A dispatcher while the store takes its time to say what can be claimed. The workers are the test. */
let slow: SlowReads;
let log: Log;
let pool: ScriptedPool;
let dispatcher: Dispatcher;
let refused: string[];
/** While it is not settled, claims are asked for, and not written. */
let writable: Promise<void>;

function start(slots: number, maxRunningPerOwner?: number): void {
  slow = new SlowReads(openSqliteStoreInProcess({ dir: ':memory:' }));
  slow.isSlow = false;
  refused = [];
  writable = Promise.resolve();
  const commit: Store['commit'] = async (owner, calls) => {
    if (calls.some(({ verb }) => verb === 'claimTask')) await writable;
    return slow.store.commit(owner, calls);
  };
  const store = { ...slow.store, commit };
  const onFatal = (error: unknown) => {
    throw error;
  };
  pool = new ScriptedPool(slots);
  dispatcher = createDispatcher({ store, maxRunningPerOwner, onTrouble: (_taskId, why) => onFatal(why), onFatal });
  const keep: typeof dispatcher.onCommitted = (owner, calls, committed) => {
    dispatcher.onCommitted(owner, calls, committed);
    for (const outcome of committed.outcomes) if (!outcome.ok) refused.push(outcome.code);
  };
  log = createLog({ store, listeners: [keep], follow: dispatcher.follow, onFatal });
  dispatcher.start(log, pool);
}

afterEach(async () => {
  slow.isSlow = false;
  while (slow.held > 0) slow.release();
  await dispatcher.drain(0);
  await slow.store.close();
});

async function create(owner = 'ann'): Promise<string> {
  const args = createArgs();
  await log.commit(owner, [{ verb: 'createTask', args }]);
  await allDone();
  return args.taskId;
}

async function report(taskId: string, fence: number, n: number, given: CopyReport): Promise<void> {
  if (given.kind === 'end') pool.end(taskId);
  dispatcher.onReports(0, [{ taskId, fence, n, ...given }]);
  await allDone();
}

async function running(owner = 'ann'): Promise<string[]> {
  return (await slow.store.listTasks(owner, { status: ['running'], limit: 200, order: 'asc' })).map(({ id }) => id);
}

async function release(): Promise<void> {
  slow.release();
  await allDone();
}

const ITEM = { id: 'a', prompt: 'Well?', header: null, required: true, type: 'boolean', default: null } as const;
const END: CopyReport = { kind: 'end', ending: { status: 'completed', output: null } };

/** A task that waits in memory for an answer. */
async function waiting(): Promise<{ taskId: string; answer: VerbCall }> {
  const taskId = await create();
  const questionId = newId('qst');
  const about = { items: [ITEM], metadata: {}, timeoutMs: null };
  await report(taskId, 1, 1, { kind: 'ask', questionId, key: 'go', askedAt: 0, ...about });
  await report(taskId, 1, 2, { kind: 'wait', ord: 0, keys: ['go'] });
  const args = { questionId, given: { answer: true }, resolvedBy: 'ann' };
  return { taskId, answer: { verb: 'answerQuestion', args } };
}

test('what comes while it is looked is looked for once that is over, and is not forgotten', async () => {
  start(8);
  slow.isSlow = true;
  const first = await create();
  const others = [await create(), await create('ben'), await create()];
  expect(slow.held).toBe(1);

  await release();
  expect(await running()).toEqual([first]);
  expect(slow.held).toBe(1);
  await release();

  expect([...(await running()), ...(await running('ben'))].sort()).toEqual([first, ...others].sort());
  expect(slow.most).toBe(1);
});

test('a slot that was taken while it was looked is not given again', async () => {
  start(1);
  const { taskId, answer } = await waiting();
  slow.isSlow = true;
  const other = await create();
  expect(slow.held).toBe(1);

  await log.commit('ann', [answer]);
  await allDone();
  expect(await running()).toEqual([taskId]);
  slow.isSlow = false;
  await release();
  expect(await running()).toEqual([taskId]);
  await report(taskId, 2, 3, END);

  expect(await running()).toEqual([other]);
  expect(pool.most).toBe(1);
});

test('a task whose claim was on its way when it was looked is claimed once', async () => {
  start(4);
  slow.isSlow = true;
  const first = await create();
  let write = (): void => {};
  writable = new Promise((resolve) => {
    write = resolve;
  });
  await release();
  const second = await create();
  expect([await running(), slow.held]).toEqual([[], 1]);

  write();
  await allDone();
  expect(await running()).toEqual([first]);
  while (slow.held > 0) await release();

  expect(await running()).toEqual([first, second]);
  expect(refused).toEqual([]);
});

test('an owner is given no more than it may have, though its tasks were claimed while it was looked', async () => {
  start(8, 1);
  const { taskId, answer } = await waiting();
  slow.isSlow = true;
  await create();
  await create('ben');

  await log.commit('ann', [answer]);
  await allDone();
  while (slow.held > 0) await release();

  expect(await running()).toEqual([taskId]);
  expect(await running('ben')).toHaveLength(1);
});

test('nothing is claimed of what was found when the process is to stop', async () => {
  start(4);
  slow.isSlow = true;
  await create();
  expect(slow.held).toBe(1);

  const drained = dispatcher.drain(0);
  await release();
  await drained;
  await allDone();

  expect([await running(), pool.sent]).toEqual([[], []]);
});

test.each([1, 2, 3, 4])('no more tasks run than there are slots, whatever comes when (%i)', async (seed) => {
  const dice = diceOf(seed);
  start(3, 2);
  slow.isSlow = true;
  const ended = new Set<string>();

  for (let i = 0; i < 150; i++) {
    const what = dice.below(5);
    const [next] = [...pool.sent].filter(({ kind }) => kind === 'start').filter((each) => !ended.has(idOf(each)));
    if (what < 2) await create(dice.pick(['ann', 'ben', 'cleo']));
    else if (what === 2 && next !== undefined) {
      ended.add(idOf(next));
      await report(idOf(next), 1, 1, END);
    } else if (slow.held > 0) await release();
    expect(pool.running).toBeLessThanOrEqual(3);
    for (const owner of ['ann', 'ben', 'cleo']) expect((await running(owner)).length).toBeLessThanOrEqual(2);
  }

  expect(pool.most).toBe(3);
  expect(slow.most).toBe(1);
  expect(ended.size).toBeGreaterThan(10);
  expect(refused).toEqual([]);
});

function idOf(command: ScriptedPool['sent'][number]): string {
  return 'taskId' in command ? command.taskId : '';
}
