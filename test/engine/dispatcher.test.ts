import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDispatcher, type Dispatcher } from '../../src/engine/dispatcher.ts';
import { type CommitListener, createLog, type Log } from '../../src/engine/log.ts';
import { createSweeper, type Sweeper } from '../../src/engine/sweeper.ts';
import type { TaskStatus } from '../../src/model/task.ts';
import { openSqliteStoreInProcess } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { createPool, type Pool } from '../../src/worker/pool.ts';
import { MAX_BATCH_EVENTS, MAX_UNACKNOWLEDGED_EVENTS } from '../../src/worker/protocol.ts';
import { createArgs, resultOf } from '../support/store-owner.ts';

/** A real store whose clock the test moves, and a real thread. */
let store: Store;
let log: Log;
let pool: Pool;
let dispatcher: Dispatcher;
let sweeper: Sweeper;
let now: number;
let commits: { verbs: string[]; refused: string[] }[];
let onCommit: () => void;
let listeners: CommitListener[];

async function start(warmMs = 10_000): Promise<void> {
  now = Date.UTC(2026, 10, 30);
  commits = [];
  onCommit = () => {};
  store = openSqliteStoreInProcess({ dir: ':memory:', now: () => now });
  const onFatal = (error: unknown) => {
    throw error;
  };
  dispatcher = createDispatcher({ store, warmMs, onTrouble: (_taskId, why) => onFatal(new Error(why)), onFatal });
  sweeper = createSweeper({ store, retentionMs: null, onFatal });
  const keep: CommitListener = (_owner, calls, { outcomes }) => {
    commits.push({
      verbs: calls.map(({ verb }) => verb),
      refused: outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.code])),
    });
    onCommit();
  };
  listeners = [dispatcher.onCommitted, keep];
  log = createLog({ store, listeners, follow: dispatcher.follow, onFatal });
  const agentModules = [new URL('./dispatcher-agents.ts', import.meta.url).href];
  const { onReports, onLost, onFailed } = dispatcher;
  pool = await createPool({ size: 1, agentModules, onReports, onLost, onFailed });
  dispatcher.start(log, pool);
}

beforeEach(() => start());

afterEach(async () => {
  await dispatcher.drain(0);
  await pool.stop();
  await dispatcher.stop(1000);
  await store.close();
});

async function create(agent: string): Promise<string> {
  const { outcomes } = await log.commit('ann', [{ verb: 'createTask', args: createArgs({ agent }) }]);
  return resultOf(outcomes[0]).task.id;
}

function until(holds: () => Promise<boolean>): Promise<void> {
  return new Promise((resolve, reject) => {
    onCommit = () => void holds().then((does) => does && resolve(), reject);
    onCommit();
  });
}

function reached(taskId: string, status: TaskStatus): Promise<void> {
  return until(async () => (await store.task('ann', taskId))?.status === status);
}

async function types(taskId: string): Promise<string[]> {
  const scope = { kind: 'root', taskId } as const;
  const page = await store.readEvents('ann', { scope, after: 0, upTo: 1000, unfinishedAt: null, limit: 200 });
  return page.events.map(({ type }) => type);
}

async function answer(taskId: string): Promise<void> {
  const [question] = await store.listQuestions('ann', { taskId, limit: 1 });
  const args = { questionId: question?.id ?? '', given: { answer: true }, resolvedBy: 'ann' };
  await log.commit('ann', [{ verb: 'answerQuestion', args }]);
}

test('a task that waits in memory is claimed in the commit of the answer that wakes it', async () => {
  const taskId = await create('asker');
  await reached(taskId, 'waiting');
  const before = commits.length;

  await answer(taskId);

  expect(commits[before]).toEqual({ verbs: ['answerQuestion', 'claimTask'], refused: [] });
  await reached(taskId, 'completed');
  expect((await types(taskId)).slice(-5)).toEqual([
    'task.waiting',
    'question.answered',
    'task.resumed',
    'asker.heard',
    'task.completed',
  ]);
});

test('a task that was parked goes on from its journal', async () => {
  await dispatcher.drain(0);
  await pool.stop();
  await start(0);
  const taskId = await create('asker');
  await reached(taskId, 'waiting');

  await answer(taskId);
  await reached(taskId, 'completed');

  expect(commits.flatMap(({ verbs }) => verbs).filter((verb) => verb === 'claimTask')).toHaveLength(2);
  expect(await types(taskId)).toEqual([
    ...['task.created', 'task.started', 'question.asked', 'task.waiting'],
    ...['question.answered', 'task.resumed', 'asker.heard', 'task.completed'],
  ]);
});

test('a task that sleeps is woken by its timer, judged by the clock of the store', async () => {
  const taskId = await create('sleeper');
  await reached(taskId, 'waiting');

  now += 59_999;
  await sweeper.tick(log);
  expect((await store.task('ann', taskId))?.status).toBe('waiting');

  now += 1;
  await sweeper.tick(log);
  await reached(taskId, 'completed');
  expect((await store.task('ann', taskId))?.output).toBe('awake');
});

test('a task goes on with `expired` when nobody has answered', async () => {
  const taskId = await create('asker');
  await reached(taskId, 'waiting');

  now += 15 * 60_000;
  await sweeper.tick(log);
  await reached(taskId, 'completed');

  expect((await store.task('ann', taskId))?.output).toBe('expired');
});

test('a worker that dies costs the one that ended it; its neighbour begins anew, and who waits is answered', async () => {
  const waiting = await create('asker');
  await reached(waiting, 'waiting');
  const neighbour = await create('holder');
  await until(async () => (await types(neighbour)).includes('holder.holds'));

  const leaver = await create('leaver');
  await reached(leaver, 'failed');
  await until(async () => (await store.task('ann', neighbour))?.attempt === 2);
  await answer(waiting);
  await reached(waiting, 'completed');

  expect((await store.task('ann', leaver))?.error?.code).toBe('worker_exited');
  expect(await types(neighbour)).toEqual([
    ...['task.created', 'task.started', 'holder.holds', 'task.recovered', 'task.started'],
  ]);
});

test('a task that is to begin later is begun when the sweeper finds it ready', async () => {
  const args = createArgs({ agent: 'sleeper', runAt: now + 1000 });
  await log.commit('ann', [{ verb: 'createTask', args }]);

  await sweeper.tick(log);
  expect(await store.task('ann', args.taskId)).toMatchObject({ status: 'queued', runAt: now + 1000 });

  now += 1000;
  await sweeper.tick(log);
  await reached(args.taskId, 'waiting');
});

test('a drain claims nothing more and ends when nothing runs', async () => {
  const waiting = await create('asker');
  await reached(waiting, 'waiting');

  await dispatcher.drain(60_000);
  const late = await create('asker');
  // A claim would come in the turn after the commit.
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));

  expect((await store.task('ann', late))?.status).toBe('queued');
  expect((await store.task('ann', waiting))?.status).toBe('waiting');
});

// Would fail if a worker sent what it has to report in one line, or if a flood were not slowed down.
test('an owner whose tasks flood a worker does not keep another from being heard there', async () => {
  const FLOODS = 10;
  /** A turn of each, and what was on its way already. */
  const FEW = FLOODS * MAX_BATCH_EVENTS + MAX_UNACKNOWLEDGED_EVENTS + MAX_BATCH_EVENTS;
  let between = 0;
  let most = 0;
  listeners.push((owner, calls, { events }) => {
    if (owner === 'ann') between += events.length;
    else if (calls.some(({ verb }) => verb === 'appendEvents')) {
      most = Math.max(most, between);
      between = 0;
    }
  });
  for (let n = 0; n < FLOODS; n++) await create('torrent');
  const args = createArgs({ agent: 'talker' });
  await log.commit('ben', [{ verb: 'createTask', args }]);
  await until(async () => (await store.task('ben', args.taskId))?.status === 'completed');

  expect(most).toBeGreaterThan(MAX_BATCH_EVENTS);
  expect(most).toBeLessThanOrEqual(FEW);
  for (const { id } of await store.listTasks('ann', { order: 'asc', limit: 200 })) {
    await log.commit('ann', [{ verb: 'cancelTask', args: { taskId: id, reason: null } }]);
  }
});
