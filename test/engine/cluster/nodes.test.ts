import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { CopyReport, Report } from '../../../src/worker/protocol.ts';
import { newId, Owner } from '../../support/store-owner.ts';
import { turn } from '../published-store.ts';
import { ScriptedPool } from '../scripted-pool.ts';
import { type EngineNode, startEngine } from './engine-node.ts';
import { openSharedStore, type SharedStore, type View } from './shared-store.ts';

/** Two nodes, of which the first has an engine, with the test as its workers. */
let shared: SharedStore;
let view: View;
let pool: ScriptedPool;
let here: EngineNode;
let there: Owner;
let now: number;
const LEASE_MS = 300;
const SLOTS = 4;

beforeEach(async () => {
  now = 0;
  shared = openSharedStore({ now: () => Date.now() + now });
  view = shared.view('here', { leaseMs: LEASE_MS });
  pool = new ScriptedPool(SLOTS);
  here = await startEngine(view, { pool });
  there = new Owner(shared.view('there', { leaseMs: 1e9 }), 'ann');
});
afterEach(async () => {
  await here.stop();
  await shared.base.close();
});

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await turn();
}

/** A task that runs here. */
async function running(): Promise<string> {
  const { id } = await here.ann.create({ timeoutMs: 3_600_000 });
  await until(() => pool.toldTo(id).includes('start'));
  return id;
}

function report(taskId: string, n: number, given: CopyReport, fence = 1): void {
  const report: Report = { taskId, fence, n, ...given };
  here.dispatcher.onReports(1, [report]);
}

function append(taskId: string, n: number): void {
  const event = { taskId, conversationId: null, type: 'note.taken', step: null, data: '{}' };
  report(taskId, n, { kind: 'append', after: n - 1, events: [event] });
}

const ITEM = { id: 'a', prompt: 'Well?', header: null, required: true, type: 'boolean', default: null } as const;

/** A task whose copy waits here for an answer. */
async function waiting(): Promise<{ taskId: string; questionId: string }> {
  const taskId = await running();
  const questionId = newId('qst');
  report(taskId, 1, { kind: 'ask', questionId, key: 'go', askedAt: 0, items: [ITEM], metadata: {}, timeoutMs: null });
  report(taskId, 2, { kind: 'wait', ord: 0, keys: ['go'] });
  await until(() => pool.toldTo(taskId).includes('waited'));
  return { taskId, questionId };
}

async function answer(questionId: string): Promise<void> {
  const args = { questionId, given: { answers: { a: true } }, resolvedBy: 'bea' };
  await there.store.commit('ann', [{ verb: 'answerQuestion', args }]);
}

describe('A copy', () => {
  test('that runs is told of an answer that was given at another node', async () => {
    const taskId = await running();
    const questionId = newId('qst');
    report(taskId, 1, { kind: 'ask', questionId, key: 'go', askedAt: 0, items: [ITEM], metadata: {}, timeoutMs: null });
    await until(() => pool.toldTo(taskId).includes('ack'));

    await answer(questionId);
    await until(() => pool.toldTo(taskId).includes('resolve'));

    expect(pool.toldTo(taskId)).toEqual(['start', 'ack', 'resolve']);
  });

  test('that waits goes on with an answer that was given at another node', async () => {
    const { taskId, questionId } = await waiting();

    await answer(questionId);
    await until(() => pool.toldTo(taskId).includes('adopt'));

    expect(pool.sent.at(-1)).toMatchObject({ kind: 'adopt', taskId, fence: 2, resolutions: [{ key: 'go', ord: 1 }] });
  });

  test('that waits goes on before the node where the answer was given begins with the journal', async () => {
    const { taskId, questionId } = await waiting();
    const others = new ScriptedPool(4);
    const other = await startEngine(shared.view('other', { leaseMs: 1e9 }), { pool: others });

    const args = { questionId, given: { answers: { a: true } }, resolvedBy: 'bea' };
    await other.log.commit('ann', [{ verb: 'answerQuestion', args }]);
    await until(async () => (await there.task(taskId)).status === 'running');
    await other.stop();

    expect((await there.task(taskId)).node).toBe('here');
    expect(pool.toldTo(taskId).at(-1)).toBe('adopt');
    expect(others.sent).toEqual([]);
  });

  test('that is no longer kept in memory is missed by nobody for long', async () => {
    const { taskId, questionId } = await waiting();
    const others = new ScriptedPool(4);
    const other = await startEngine(shared.view('other', { leaseMs: 1e9 }), { pool: others });
    await here.stop();

    const args = { questionId, given: { answers: { a: true } }, resolvedBy: 'bea' };
    await other.log.commit('ann', [{ verb: 'answerQuestion', args }]);
    await until(() => others.toldTo(taskId).includes('start'));
    await other.stop();

    expect((await there.task(taskId)).node).toBe('other');
  });

  test('that waits is dropped when another node has claimed its task', async () => {
    const { taskId, questionId } = await waiting();

    const claim = there.claimArgs(taskId, { warm: false });
    const args = { questionId, given: { answers: { a: true } }, resolvedBy: 'bea' };
    await there.store.commit('ann', [
      { verb: 'answerQuestion', args },
      { verb: 'claimTask', args: claim },
    ]);
    await until(() => pool.toldTo(taskId).includes('drop'));

    expect(pool.sent.at(-1)).toEqual({ kind: 'drop', taskId, fence: 1, reason: 'lost' });
    expect(here.dispatcher.copies.get(taskId)).toBeUndefined();
  });

  test('is stopped when its task is cancelled at another node, and holds it until it has let go', async () => {
    const taskId = await running();

    await there.cancel(taskId);
    await until(() => pool.toldTo(taskId).includes('drop'));
    expect(pool.sent.at(-1)).toEqual({ kind: 'drop', taskId, fence: 1, reason: 'cancelled' });
    expect((await there.task(taskId)).held).toBe(true);
    here.dispatcher.onReports(1, [{ kind: 'released', taskId, fence: 1 }]);

    await until(async () => !(await there.task(taskId)).held);
  });

  test('is dropped when its node was taken for dead, and its task goes on', async () => {
    const taskId = await running();
    now += LEASE_MS * 2;
    await there.store.cluster?.buryDead();

    await until(() => pool.toldTo(taskId).includes('drop'));
    append(taskId, 1);
    await until(() => pool.toldTo(taskId).filter((kind) => kind === 'start').length === 2);

    expect(view.node).toBe('here+');
    expect(await there.task(taskId)).toMatchObject({ status: 'running', fence: 2, node: 'here+', emits: 0 });
    expect((await there.read({ scope: { kind: 'root', taskId } })).events.map(({ type }) => type)).toEqual([
      'task.created',
      'task.started',
      'task.recovered',
      'task.started',
    ]);
  });
});

test('A claim whose answer was lost is given back', async () => {
  await Promise.all(Array.from({ length: SLOTS }, running));
  const { id } = await here.ann.create();

  // Under the name of the node that hears nothing of it.
  await there.store.commit('ann', [{ verb: 'claimTask', args: { ...there.claimArgs(id), node: view.node } }]);
  await until(async () => !(await there.task(id)).held);

  expect(await there.task(id)).toMatchObject({ status: 'queued', attempt: 1 });
  expect(here.dispatcher.copies.running()).toBe(SLOTS);
});
