import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDispatcher, type Dispatcher } from '../../src/engine/dispatcher.ts';
import { type CommitListener, createLog, type Log } from '../../src/engine/log.ts';
import { failOrphans } from '../../src/engine/orphans.ts';
import { createSweeper, type Sweeper } from '../../src/engine/sweeper.ts';
import type { TaskStatus } from '../../src/model/task.ts';
import { openSqliteStoreInProcess } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { createPool, type Pool } from '../../src/worker/pool.ts';
import { createArgs, resultOf } from '../support/store-owner.ts';

/** A real store whose clock the test moves, and real threads. */
let store: Store;
let log: Log;
let pool: Pool;
let dispatcher: Dispatcher;
let sweeper: Sweeper;
let now: number;
let commits: { verbs: string[]; refused: string[] }[];
let onCommit: () => void;

beforeEach(async () => {
  now = Date.UTC(2026, 10, 30);
  commits = [];
  onCommit = () => {};
  store = openSqliteStoreInProcess({ dir: ':memory:', now: () => now });
  const onFatal = (error: unknown) => {
    throw error;
  };
  dispatcher = createDispatcher(store, onFatal);
  sweeper = createSweeper({ store, retentionMs: null, onFatal });
  const keep: CommitListener = (_owner, calls, { outcomes }) => {
    commits.push({
      verbs: calls.map(({ verb }) => verb),
      refused: outcomes.flatMap((outcome) => (outcome.ok ? [] : [outcome.code])),
    });
    onCommit();
  };
  log = createLog({ store, listeners: [dispatcher.onCommitted, keep], follow: dispatcher.follow, onFatal });
  const agentModules = [new URL('./dispatcher-agents.ts', import.meta.url).href];
  pool = await createPool({ size: 1, agentModules, onReports: dispatcher.onReports, onLost: dispatcher.onLost });
});

afterEach(async () => {
  await dispatcher.drain(0);
  await pool.stop();
  await store.close();
});

async function create(agent: string): Promise<string> {
  const { outcomes } = await log.commit('ann', [{ verb: 'createTask', args: createArgs({ agent }) }]);
  return resultOf(outcomes[0]).task.id;
}

function until(holds: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    onCommit = () => {
      if (holds()) resolve();
    };
    onCommit();
  });
}

function reached(taskId: string, status: TaskStatus): Promise<void> {
  return until(() => store.task('ann', taskId)?.status === status);
}

function types(taskId: string): string[] {
  const scope = { kind: 'root', taskId } as const;
  const page = store.readEvents('ann', { scope, after: 0, upTo: 1000, unfinishedAt: null, limit: 200 });
  return page.events.map(({ type }) => type);
}

describe('a task that waits in the memory of its worker', () => {
  test('is claimed in the commit of the answer that wakes it', async () => {
    dispatcher.start(log, pool);
    const taskId = await create('asker');
    await reached(taskId, 'waiting');
    const [question] = store.listQuestions('ann', { taskId, limit: 1 });
    const before = commits.length;

    const args = { questionId: question?.id ?? '', given: { answer: true }, resolvedBy: 'ann' };
    await log.commit('ann', [{ verb: 'answerQuestion', args }]);

    expect(commits[before]).toEqual({ verbs: ['answerQuestion', 'claimTask'], refused: [] });
    await reached(taskId, 'completed');
    expect(types(taskId).slice(-5)).toEqual([
      'task.waiting',
      'question.answered',
      'task.resumed',
      'asker.heard',
      'task.completed',
    ]);
  });

  test('is woken by its timer, judged by the clock of the store', async () => {
    dispatcher.start(log, pool);
    const taskId = await create('sleeper');
    await reached(taskId, 'waiting');

    now += 59_999;
    await sweeper.tick(log);
    expect(store.task('ann', taskId)?.status).toBe('waiting');

    now += 1;
    await sweeper.tick(log);
    await reached(taskId, 'completed');
    expect(store.task('ann', taskId)?.output).toBe('awake');
  });

  test('goes on with `expired` when nobody has answered', async () => {
    dispatcher.start(log, pool);
    const taskId = await create('asker');
    await reached(taskId, 'waiting');

    now += 15 * 60_000;
    await sweeper.tick(log);
    await reached(taskId, 'completed');

    expect(store.task('ann', taskId)?.output).toBe('expired');
  });

  test('fails with its worker, and its question is cancelled', async () => {
    dispatcher.start(log, pool);
    const waiting = await create('asker');
    await reached(waiting, 'waiting');

    await create('leaver');
    await reached(waiting, 'failed');

    expect(store.task('ann', waiting)?.error?.code).toBe('worker_exited');
    expect(types(waiting).slice(-2)).toEqual(['question.cancelled', 'task.failed']);
  });
});

test('what an earlier process had begun fails, also what had been woken, and what had not been begun runs', async () => {
  const [running, woken, queued] = [await create('asker'), await create('asker'), await create('asker')];
  for (const taskId of [running, woken]) {
    await store.commit('ann', [{ verb: 'claimTask', args: { taskId, version: '1' } }]);
  }
  const lease = { taskId: woken, fence: 1 };
  await store.commit('ann', [
    { verb: 'startTimer', args: { ...lease, key: 'nap', ms: 0 } },
    { verb: 'waitTask', args: { ...lease, keys: ['nap'] } },
    { verb: 'fireTimer', args: { taskId: woken, key: 'nap' } },
  ]);
  expect(store.task('ann', woken)?.status).toBe('queued');

  await failOrphans(store, log);
  dispatcher.start(log, pool);
  await reached(queued, 'waiting');

  for (const taskId of [running, woken]) {
    expect(store.task('ann', taskId)).toMatchObject({ status: 'failed', error: { code: 'worker_exited' } });
  }
});

test('a report that is a bug costs its own task and nobody else', async () => {
  dispatcher.start(log, pool);
  const [healthy, broken] = [await create('holder'), await create('holder')];
  await until(() => types(healthy).includes('holder.holds') && types(broken).includes('holder.holds'));
  const of = (taskId: string) => ({ taskId, type: 'a.note', step: null, data: '{}' });

  dispatcher.onReports(0, [
    { taskId: broken, fence: 1, n: 2, kind: 'append', events: [of('task_none')] },
    { taskId: healthy, fence: 1, n: 2, kind: 'append', events: [of(healthy)] },
  ]);
  await reached(broken, 'failed');
  await until(() => types(healthy).at(-1) === 'a.note');

  expect(store.task('ann', broken)?.error?.code).toBe('agent_error');
  expect(store.task('ann', healthy)?.status).toBe('running');
});

test('a drain claims nothing more and ends when nothing runs', async () => {
  dispatcher.start(log, pool);
  const waiting = await create('asker');
  await reached(waiting, 'waiting');

  await dispatcher.drain(60_000);
  const late = await create('asker');
  // A claim would come in the turn after the commit.
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));

  expect(store.task('ann', late)?.status).toBe('queued');
  expect(store.task('ann', waiting)?.status).toBe('waiting');
});
