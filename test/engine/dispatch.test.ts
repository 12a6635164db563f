import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDispatcher, type Dispatcher } from '../../src/engine/dispatcher.ts';
import { type CommitListener, createLog, type Log } from '../../src/engine/log.ts';
import { taskError } from '../../src/model/task-error.ts';
import { openSqliteStoreInProcess } from '../../src/store/sqlite/open.ts';
import { type Store, StoreError } from '../../src/store/store.ts';
import type { CopyReport, Report } from '../../src/worker/protocol.ts';
import { createArgs, newId, noteEvents } from '../support/store-owner.ts';
import { allDone } from './published-store.ts';
import { ScriptedPool } from './scripted-pool.ts';

/** A dispatcher over a real store, whose workers are the test. */
let store: Store;
let log: Log;
let pool: ScriptedPool;
let dispatcher: Dispatcher;
let troubles: string[];
let commits: string[][];
let isFull: boolean;
/** Called when a commit was asked for, before anybody is told of it. */
let onAsked: (verbs: string[]) => void;

function start(slots = 8, warmMs = 10_000): void {
  const real = openSqliteStoreInProcess({ dir: ':memory:' });
  const commit: Store['commit'] = (owner, calls) => {
    if (isFull) return Promise.reject(new StoreError('storage_full', null));
    const committed = real.commit(owner, calls);
    onAsked(calls.map(({ verb }) => verb));
    return committed;
  };
  store = { ...real, commit };
  const onFatal = (error: unknown) => {
    throw error;
  };
  pool = new ScriptedPool(slots);
  dispatcher = createDispatcher({
    store,
    warmMs,
    onTrouble: (taskId, why) => troubles.push(`${taskId}: ${why}`),
    onFatal,
  });
  const keep: CommitListener = (_owner, calls) => commits.push(calls.map(({ verb }) => verb));
  log = createLog({ store, listeners: [dispatcher.onCommitted, keep], follow: dispatcher.follow, onFatal });
  dispatcher.start(log, pool);
}

beforeEach(() => {
  troubles = [];
  commits = [];
  isFull = false;
  onAsked = () => {};
});

afterEach(async () => {
  await dispatcher.drain(0);
  // Else what is told to stop is let go of later, in a store that is closed.
  await dispatcher.stop(0);
  await store.close();
});

async function create(given: Parameters<typeof createArgs>[0] = {}): Promise<string> {
  const args = createArgs(given);
  await log.commit('ann', [{ verb: 'createTask', args }]);
  await allDone();
  return args.taskId;
}

async function of(taskId: string, n: number, report: CopyReport): Promise<Report> {
  return { taskId, fence: (await store.task('ann', taskId))?.fence ?? 0, n, ...report };
}

async function report(...reports: Report[]): Promise<void> {
  for (const each of reports) if (each.kind === 'end') pool.end(each.taskId);
  dispatcher.onReports(0, reports);
  await allDone();
}

function note(taskId: string, after: number): CopyReport {
  return { kind: 'append', after, events: noteEvents(taskId, 1) };
}

function ask(questionId = newId('qst')): CopyReport {
  const item = { id: 'a', prompt: 'Well?', header: null, required: true, type: 'boolean', default: null } as const;
  return { kind: 'ask', questionId, key: 'go', askedAt: 0, items: [item], metadata: {}, timeoutMs: null };
}

const WAIT: CopyReport = { kind: 'wait', ord: 0, keys: ['go'] };
const END: CopyReport = { kind: 'end', ending: { status: 'completed', output: null } };

/** A task that waits, and whose copy is warm. @returns its id and its question's */
async function waiting(given: Parameters<typeof createArgs>[0] = {}): Promise<[taskId: string, questionId: string]> {
  const taskId = await create(given);
  const questionId = newId('qst');
  await report(await of(taskId, 1, ask(questionId)));
  await report(await of(taskId, 2, WAIT));
  expect(await status(taskId)).toBe('waiting');
  return [taskId, questionId];
}

async function answer(questionId: string): Promise<void> {
  const args = { questionId, given: { answer: true }, resolvedBy: 'ann' };
  await log.commit('ann', [{ verb: 'answerQuestion', args }]);
}

/** Does something while the next commit with this verb is on its way. */
function whileAsked(wanted: string, act: () => void): void {
  onAsked = (verbs) => {
    if (!verbs.includes(wanted)) return;
    onAsked = () => {};
    act();
  };
}

async function cancel(taskId: string): Promise<void> {
  await log.commit('ann', [{ verb: 'cancelTask', args: { taskId, reason: null } }]);
  await allDone();
}

const status = async (taskId: string) => (await store.task('ann', taskId))?.status;
const types = async (taskId: string) =>
  (
    await store.readEvents('ann', { scope: { kind: 'log' }, after: 0, upTo: 10_000, unfinishedAt: null, limit: 200 })
  ).events.flatMap((event) => (event.taskId === taskId ? [event.type] : []));

describe('claims', () => {
  test('are never more than there are slots free', async () => {
    start(3);
    for (let n = 0; n < 10; n++) await create();

    expect(pool.running).toBe(3);
    expect(await store.listTasks('ann', { status: ['running'], limit: 20, order: 'asc' })).toHaveLength(3);
  });

  test('that nothing came of are not tried again before something changes', async () => {
    start();
    await create({ concurrencyKey: 'lane' });
    await create({ concurrencyKey: 'lane' });
    const before = commits.length;

    await allDone();

    expect(commits.length).toBe(before);
  });

  test('of tasks that wait in memory come with what wakes them, one commit for both', async () => {
    start();
    const [taskId, questionId] = await waiting();
    commits = [];

    await answer(questionId);

    expect(commits).toEqual([['answerQuestion', 'claimTask']]);
    expect(pool.toldTo(taskId).at(-1)).toBe('adopt');
  });

  test('of a parent come with the end of its child', async () => {
    start();
    const parent = await create();
    const childId = newId('task');
    await report(
      await of(parent, 1, { kind: 'spawn', key: 'kid', askedAt: 0, childId, agent: 'planner', input: null }),
    );
    await report(await of(parent, 2, { kind: 'wait', ord: 1, keys: ['kid>'] }));
    expect([await status(parent), await status(childId)]).toEqual(['waiting', 'running']);
    commits = [];

    await report(await of(childId, 1, END));

    expect(commits[0]).toEqual(['finishTask', 'claimTask']);
    expect(pool.sent.at(-2)).toMatchObject({ kind: 'adopt', taskId: parent, resolutions: [{ key: 'kid>' }] });
    expect(pool.sent.at(-1)).toMatchObject({ kind: 'ack', taskId: childId });
  });

  test('of a parent come with the cancellation of its child', async () => {
    start();
    const parent = await create();
    const childId = newId('task');
    await report(
      await of(parent, 1, { kind: 'spawn', key: 'kid', askedAt: 0, childId, agent: 'planner', input: null }),
    );
    await report(await of(parent, 2, { kind: 'wait', ord: 1, keys: ['kid>'] }));
    commits = [];

    await cancel(childId);

    expect(commits[0]).toEqual(['cancelTask', 'claimTask']);
    expect(await status(parent)).toBe('running');
  });

  test('of tasks that wait in memory take no slot that is not free, and then begin as soon as one is', async () => {
    start(1);
    const [taskId, questionId] = await waiting();
    const other = await create();
    expect(await status(other)).toBe('running');
    commits = [];

    await answer(questionId);
    await allDone();
    expect(commits).toEqual([['answerQuestion']]);

    await report(await of(other, 1, END));
    expect(await status(taskId)).toBe('running');
    expect(pool.toldTo(taskId).at(-1)).toBe('adopt');
    expect(pool.running).toBe(1);
  });

  test('of many tasks that are woken at once share the slots', async () => {
    start(3);
    const asked: string[] = [];
    for (let n = 0; n < 6; n++) asked.push((await waiting())[1]);

    await Promise.all(asked.map(answer));
    await allDone();

    expect(pool.running).toBe(3);
    expect(await store.listTasks('ann', { status: ['running'], limit: 20, order: 'asc' })).toHaveLength(3);
  });

  test('that there was no space for leave the copy warm and the slot free', async () => {
    start(1);
    const [taskId, questionId] = await waiting();
    isFull = true;
    await expect(answer(questionId)).rejects.toThrow('Nothing can be stored');

    isFull = false;
    await answer(questionId);

    expect(await status(taskId)).toBe('running');
    expect(pool.toldTo(taskId).at(-1)).toBe('adopt');
  });

  test('of a suspect are left to the quarantine, which has a slot kept for it when others always queue', async () => {
    start(1);
    const suspect = await create();
    for (let crash = 0; crash < 2; crash++) {
      const { fence = 0 } = (await store.task('ann', suspect)) ?? {};
      await store.commit('ann', [{ verb: 'requeueTask', args: { taskId: suspect, fence, cause: 'crashed' } }]);
      if (crash === 0) {
        await store.commit('ann', [
          { verb: 'claimTask', args: { taskId: suspect, version: '1', warm: true, node: store.node } },
        ]);
      }
    }
    expect(await store.suspects(10)).toMatchObject([{ taskId: suspect, crashes: 2 }]);
    pool.end(suspect);
    const busy = await create();
    const queued = await create();
    expect([await status(busy), await status(queued)]).toEqual(['running', 'queued']);

    // Time for the quarantine to have looked.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await report(await of(busy, 1, END));
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await allDone();

    expect([await status(suspect), await status(queued)]).toEqual(['running', 'queued']);
  });
});

describe('reports', () => {
  test('with a gap cost the copy that sent them its attempt, and are told of', async () => {
    start();
    const [broken, healthy] = [await create(), await create()];

    await report(await of(broken, 2, note(broken, 0)), await of(healthy, 1, note(healthy, 0)));

    expect(await store.task('ann', broken)).toMatchObject({ status: 'failed', error: { code: 'agent_error' } });
    expect(await types(healthy)).toEqual(['task.created', 'task.started', 'note.taken']);
    expect(troubles).toEqual([expect.stringContaining(broken)]);
    expect(pool.toldTo(broken)).toEqual(['start', 'drop']);
  });

  test('that are a bug cost their own task and nobody else', async () => {
    start();
    const [broken, healthy] = [await create(), await create()];

    await report(
      await of(healthy, 1, note(healthy, 0)),
      await of(broken, 1, note(broken, 7)),
      await of(broken, 2, note(broken, 8)),
      await of(healthy, 2, note(healthy, 1)),
    );

    expect(await store.task('ann', broken)).toMatchObject({ status: 'failed', error: { code: 'agent_error' } });
    expect((await types(healthy)).filter((type) => type === 'note.taken')).toHaveLength(2);
    expect(await status(healthy)).toBe('running');
  });

  test('of a healthy copy that overtook an earlier one are not taken for the whole: it goes on from its journal', async () => {
    start();
    const [broken, healthy] = [await create(), await create()];
    const step = (name: string): CopyReport => {
      const ref = { name, attempt: 1 };
      return { kind: 'startStep', step: ref, askedAt: 0, once: false, messageId: null, tool: null };
    };

    const first = [await of(healthy, 1, step('one')), await of(broken, 1, note(broken, 7))];
    const second = [await of(healthy, 2, step('two'))];

    // Two batches are under way at once, and the first is refused as a whole.
    dispatcher.onReports(0, first);
    dispatcher.onReports(0, second);
    await allDone();

    expect(await store.task('ann', broken)).toMatchObject({ status: 'failed', error: { code: 'agent_error' } });
    expect(await store.task('ann', healthy)).toMatchObject({ status: 'running', attempt: 2, fence: 2 });
    expect(await types(healthy)).toContain('task.recovered');
    expect(pool.sent.at(-1)).toMatchObject({ kind: 'start', taskId: healthy, rows: [{ key: 'two', tries: 1 }] });
  });

  test('that were sent before its worker was lost count: a copy that had ended has ended', async () => {
    start();
    const [ended, running] = [await create(), await create()];
    const lease = { fence: 1 };

    dispatcher.onReports(0, [
      await of(ended, 1, note(ended, 0)),
      await of(ended, 2, END),
      await of(running, 1, note(running, 0)),
    ]);
    const copies = [ended, running].map((taskId) => ({ taskId, ...lease }));
    const error = taskError('worker_exited', 'The worker has ended.');
    dispatcher.onLost({ copies, culprit: null, error }, null);
    await allDone();

    expect(await status(ended)).toBe('completed');
    expect(await types(running)).toEqual([
      ...['task.created', 'task.started', 'note.taken', 'task.recovered', 'task.started'],
    ]);
    expect(pool.sent.at(-1)).toMatchObject({ kind: 'start', taskId: running, attempt: 2, emits: 1 });
  });

  test.each(['wake', 'claim'])('of a wake and a claim that cross claim once, the %s first', async (first) => {
    start();
    const [taskId, questionId] = await waiting();

    if (first === 'claim') whileAsked('claimTask', () => dispatcher.onReports(0, [{ kind: 'wake', taskId, fence: 1 }]));
    else dispatcher.onReports(0, [{ kind: 'wake', taskId, fence: 1 }]);
    await answer(questionId);
    await allDone();

    expect(commits).toContainEqual(first === 'claim' ? ['answerQuestion', 'claimTask'] : ['wakeTask', 'claimTask']);
    expect(await store.task('ann', taskId)).toMatchObject({ status: 'running', fence: 2 });
    expect(pool.toldTo(taskId).filter((kind) => kind === 'adopt')).toHaveLength(1);
  });

  test('of a wake alone claim the task for the copy', async () => {
    start();
    const [taskId] = await waiting();
    commits = [];

    await report({ kind: 'wake', taskId, fence: 1 });

    expect(commits).toEqual([['wakeTask', 'claimTask']]);
    expect(pool.sent.at(-1)).toEqual({ kind: 'adopt', taskId, fence: 2, resolutions: [] });
  });
});

describe('a worker that is lost', () => {
  const error = taskError('worker_exited', 'The worker has ended.');

  test('costs the culprit its attempt and the others nothing; who waits is not touched', async () => {
    start();
    const [culprit, neighbour] = [await create(), await create()];
    const [resting] = await waiting();
    const copies = [culprit, neighbour, resting].map((taskId) => ({ taskId, fence: 1 }));

    const itsError = taskError('out_of_memory', 'It has used up its memory.');
    dispatcher.onLost({ copies, culprit: { taskId: culprit, fence: 1, error: itsError }, error }, null);
    await allDone();

    expect(await store.task('ann', culprit)).toMatchObject({ status: 'failed', error: itsError });
    expect(await store.task('ann', neighbour)).toMatchObject({ status: 'running', attempt: 2 });
    expect(await status(resting)).toBe('waiting');
    expect((await types(resting)).at(-1)).toBe('task.waiting');
  });

  test('while a claim for its waiting copy is on its way: the task goes on in another', async () => {
    start();
    const [taskId, questionId] = await waiting();

    const lost = { copies: [{ taskId, fence: 1 }], culprit: null, error };
    whileAsked('claimTask', () => dispatcher.onLost(lost, null));
    await answer(questionId);
    await allDone();

    expect(await store.task('ann', taskId)).toMatchObject({ status: 'running', fence: 3, attempt: 1 });
    expect(pool.sent.at(-1)).toMatchObject({ kind: 'start', taskId, fence: 3, rows: [{ key: 'go' }] });
  });

  test('leaves its lane free when the task is cancelled before it is given back', async () => {
    start();
    const taskId = await create({ concurrencyKey: 'lane' });
    const next = await create({ concurrencyKey: 'lane' });

    const lost = { copies: [{ taskId, fence: 1 }], culprit: null, error };
    whileAsked('cancelTask', () => dispatcher.onLost(lost, null));
    await cancel(taskId);

    expect([await status(taskId), await status(next)]).toEqual(['cancelled', 'running']);
  });

  test('is not needed for a task to have failed by itself', async () => {
    start();
    const taskId = await create({ maxAttempts: 2 });

    dispatcher.onFailed(taskId, 1, taskError('agent_error', 'It threw in a timer.'), 'at a timer', null);
    await allDone();

    expect(await types(taskId)).toContain('task.retrying');
    expect(pool.toldTo(taskId).slice(0, 2)).toEqual(['start', 'drop']);
  });
});

describe('code that throws where nobody catches it', () => {
  const error = taskError('agent_error', 'It threw in a timer.');

  test('costs its task the attempt, though its thread knows it by the claim before', async () => {
    start();
    const [taskId, questionId] = await waiting();
    await answer(questionId);

    dispatcher.onFailed(taskId, 1, error, 'in a timer', null);
    await allDone();

    expect(await store.task('ann', taskId)).toMatchObject({ status: 'failed', error, fence: 2 });
    expect(pool.sent.at(-1)).toEqual({ kind: 'drop', taskId, fence: 2, reason: 'lost' });
  });

  test('takes the journal back to before the failure that it was, for the next attempt', async () => {
    start();
    const taskId = await create({ maxAttempts: 2 });
    const step = { step: { name: 'flaky', attempt: 1 }, askedAt: 0, once: false, tool: null };
    const told = taskError('agent_error', 'It flaked.');
    const outcome = { status: 'failed', error: told, failure: '{"fields":{}}', retryInMs: null } as const;
    await report(await of(taskId, 1, { kind: 'startStep', ...step, messageId: null }));
    await report(await of(taskId, 2, { kind: 'settleStep', ...step, ms: 1, outcome, message: null }));
    expect((await store.task('ann', taskId))?.ord).toBe(1);

    const cut = { keys: ['flaky'], askedAt: 0, ord: 1, emits: 5 };
    dispatcher.onFailed(taskId, 1, error, 'in a promise', cut);
    await allDone();

    expect(await types(taskId)).toContain('task.retrying');
    expect(await store.task('ann', taskId)).toMatchObject({ ord: 0, emits: 0, failures: 1 });
  });

  test('costs its task the attempt while it waits as well', async () => {
    start();
    const [taskId] = await waiting();

    dispatcher.onFailed(taskId, 1, error, 'in a timer', null);
    await allDone();

    expect(await store.task('ann', taskId)).toMatchObject({ status: 'failed', error });
  });

  test('costs its task the attempt while it waits and another has its lane', async () => {
    start();
    const [taskId] = await waiting({ concurrencyKey: 'lane' });
    const other = await create({ concurrencyKey: 'lane' });

    dispatcher.onFailed(taskId, 1, error, 'in a timer', null);
    await allDone();

    expect([await status(taskId), await status(other)]).toEqual(['failed', 'running']);
  });

  test('keeps its lane until its worker has let go of it', async () => {
    start();
    const taskId = await create({ concurrencyKey: 'lane' });
    const next = await create({ concurrencyKey: 'lane' });

    dispatcher.onFailed(taskId, 1, error, 'in a timer', null);
    await allDone();
    expect([await status(taskId), await status(next)]).toEqual(['failed', 'queued']);

    await report({ kind: 'released', taskId, fence: 1 });
    expect(await status(next)).toBe('running');
  });

  test('costs nothing when another copy runs the task by then', async () => {
    start();
    const taskId = await create();
    const lost = taskError('worker_exited', 'The worker has ended.');
    dispatcher.onLost({ copies: [{ taskId, fence: 1 }], culprit: null, error: lost }, null);
    await allDone();

    dispatcher.onFailed(taskId, 1, error, 'in a timer', null);
    await allDone();

    expect(await store.task('ann', taskId)).toMatchObject({ status: 'running', attempt: 2 });
  });
});

describe('a task that is cancelled while it runs', () => {
  test('holds its lane until its worker has let go of it', async () => {
    start();
    const taskId = await create({ concurrencyKey: 'lane' });
    const next = await create({ concurrencyKey: 'lane' });

    await cancel(taskId);
    expect([await status(taskId), await status(next)]).toEqual(['cancelled', 'queued']);
    expect((await store.task('ann', taskId))?.held).toBe(true);

    await report({ kind: 'released', taskId, fence: 1 });
    expect((await store.task('ann', taskId))?.held).toBe(false);
    expect(await status(next)).toBe('running');
  });

  test('lets go of its lane with its worker', async () => {
    start();
    const taskId = await create({ concurrencyKey: 'lane' });
    const next = await create({ concurrencyKey: 'lane' });
    await cancel(taskId);

    const error = taskError('worker_exited', 'The worker has ended.');
    dispatcher.onLost({ copies: [{ taskId, fence: 1 }], culprit: null, error }, null);
    await allDone();

    expect(await status(next)).toBe('running');
  });
});

describe('a stop', () => {
  test('gives back what still runs, as if nothing had been, and lets go of what was cancelled', async () => {
    start();
    const [running, cancelled] = [await create(), await create()];
    const [resting] = await waiting();
    await cancel(cancelled);

    await dispatcher.drain(0);
    await dispatcher.stop(1000);

    expect(await store.task('ann', running)).toMatchObject({ status: 'queued', attempt: 1, crashes: 0, begins: false });
    expect(await types(running)).toEqual(['task.created', 'task.started']);
    expect(await status(resting)).toBe('waiting');
    expect(await store.orphans(10)).toEqual([]);
  });

  test('writes first what had been reported', async () => {
    start();
    const taskId = await create();

    dispatcher.onReports(0, [await of(taskId, 1, note(taskId, 0)), await of(taskId, 2, END)]);
    await dispatcher.drain(0);
    await dispatcher.stop(1000);

    expect(await status(taskId)).toBe('completed');
  });

  test('does not take longer than it may when nothing can be stored', async () => {
    start();
    const taskId = await create();
    isFull = true;

    await dispatcher.drain(0);
    await dispatcher.stop(50);

    expect(await status(taskId)).toBe('running');
  });

  test('claims nothing more', async () => {
    start();

    await dispatcher.drain(0);
    const late = await create();

    expect(await status(late)).toBe('queued');
  });
});
