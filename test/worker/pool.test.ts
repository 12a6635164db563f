import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { SLOTS_PER_WORKER } from '../../src/worker/pooled-worker.ts';
import { PoolSide } from '../support/worker-pool-side.ts';

const CULPRITS = new URL('./fixtures/culprits.ts', import.meta.url).href;

describe('a pool', () => {
  let side: PoolSide;
  beforeAll(async () => {
    side = await PoolSide.start({ agentModules: [CULPRITS], size: 2 });
  });
  afterAll(() => side.pool.stop());

  test('knows the agents once it has started', () => {
    expect(side.pool.agents.map(({ name }) => name)).toContain('neighbour');
    expect(side.pool.agents.find(({ name }) => name === 'neighbour')).toMatchObject({
      version: '1',
      inputSchema: { type: 'object' },
    });
    expect(side.pool.isHealthy()).toBe(true);
  });

  test('gives each task to the thread with the most free slots, and counts only what runs', async () => {
    for (const taskId of ['task_1', 'task_2']) side.begin(taskId, 'neighbour');
    const places = [await side.report('task_1', 'append'), await side.report('task_2', 'append')];
    expect(new Set(places.map(({ worker }) => worker)).size).toBe(2);
    expect(side.pool.freeSlots()).toBe(2 * SLOTS_PER_WORKER - 2);

    await side.ack('task_1', 'append');
    await side.ack('task_1', 'ask');
    const { n } = await side.report('task_1', 'wait');
    side.pool.send({ kind: 'waited', taskId: 'task_1', fence: 1, n, answer: 'waiting' });
    expect(side.pool.freeSlots()).toBe(2 * SLOTS_PER_WORKER - 1);

    const answer = { key: 'q', status: 'done' as const, value: '{"status":"expired"}', ord: 1, emitsDone: 1, at: 1 };
    side.pool.send({ kind: 'adopt', taskId: 'task_1', fence: 2, resolutions: [answer] });
    expect(side.pool.freeSlots()).toBe(2 * SLOTS_PER_WORKER - 2);
    await side.ack('task_1', 'end', 2);
    side.pool.send({ kind: 'drop', taskId: 'task_2', fence: 1, reason: 'cancelled' });

    await side.report('task_2', 'released');
    expect(side.pool.freeSlots()).toBe(2 * SLOTS_PER_WORKER);
  });

  test('counts what was told to stop and has not', async () => {
    side.begin('task_deaf', 'deaf');

    side.pool.send({ kind: 'drop', taskId: 'task_deaf', fence: 1, reason: 'cancelled' });

    expect(side.pool.freeSlots()).toBe(2 * SLOTS_PER_WORKER - 1);
  });

  test('validates inputs', async () => {
    expect(await side.pool.validate('neighbour', {})).toBeNull();
    expect(await side.pool.validate('neighbour', 1)).toMatchObject([{ path: '' }]);
  });

  test('does not listen to what agents and their libraries send to `parentPort`', async () => {
    side.begin('task_chatter', 'chatterer');

    await side.ack('task_chatter', 'end');

    expect(side.losses).toEqual([]);
    expect(side.pool.isHealthy()).toBe(true);
  });

  test('bounds what a schema says of an input, and makes text of it', async () => {
    const issues = (await side.pool.validate('sloppy', 1)) ?? [];

    expect(issues).toHaveLength(50);
    expect(issues[0]).toEqual({ path: '', message: expect.stringContaining('a function') });
    expect(side.losses).toEqual([]);
  });

  test('leaves no timer behind when it has validated', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      await side.pool.validate('neighbour', {});

      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test('is overloaded when a validation takes too long', async () => {
    await expect(side.pool.validate('slow-schema', 'x')).rejects.toMatchObject({ code: 'overloaded' });
  });
});

describe('a thread that does not answer', () => {
  let side: PoolSide;
  beforeEach(async () => {
    side = await PoolSide.start({ agentModules: [CULPRITS], size: 2, unresponsiveAfterMs: 60_000 });
    side.begin('task_loop', 'loops');
    side.begin('task_1', 'neighbour');
    await side.until(() => !side.pool.isHealthy());
  });
  afterEach(() => side.pool.stop());

  test('gets no new task, and offers no slots', async () => {
    const { worker } = await side.report('task_1', 'append');

    for (const taskId of ['task_2', 'task_3', 'task_4']) side.begin(taskId, 'neighbour');

    for (const taskId of ['task_2', 'task_3', 'task_4'])
      expect((await side.report(taskId, 'append')).worker).toBe(worker);
    expect(side.pool.freeSlots()).toBe(SLOTS_PER_WORKER - 4);
  });

  test('where there is no other makes tasks wait for the next', async () => {
    const { worker } = await side.report('task_1', 'append');
    side.begin('task_exit', 'exits-well');
    await side.loss();

    side.begin('task_2', 'neighbour');

    expect((await side.report('task_2', 'append')).worker).not.toBe(worker);
    expect(side.losses).toEqual([]);
  });
});

describe('a task that has no thread yet', () => {
  test('is released at once when it is dropped', async () => {
    const side = await PoolSide.start({ agentModules: [CULPRITS] });
    side.begin('task_exit', 'exits-well');
    await side.loss();
    side.begin('task_1', 'neighbour', 3);

    side.pool.send({ kind: 'drop', taskId: 'task_1', fence: 3, reason: 'cancelled' });

    await side.report('task_1', 'released', 3);
    await side.until(() => side.pool.isHealthy());
    expect(side.reports.map(({ report }) => report.kind)).toEqual(['released']);
    await side.pool.stop();
  });

  test('learns of what was resolved before it has one', async () => {
    const side = await PoolSide.start({ agentModules: [CULPRITS] });
    side.begin('task_exit', 'exits-well');
    await side.loss();
    const q = { key: 'q', kind: 'ask', askedAt: 1, at: 0 } as const;
    const asked = { ...q, status: 'pending', value: null, ord: null, emitsDone: null, tries: 0, once: false } as const;
    side.begin('task_1', 'neighbour', 1, { emits: 1, rows: [asked] });

    const answer = {
      ...q,
      status: 'answered',
      value: '{"status":"answered","answers":{"a":"yes"}}',
      ord: 1,
      emitsDone: 1,
    } as const;
    side.pool.send({ kind: 'resolve', taskId: 'task_1', fence: 1, resolutions: [answer] });

    await side.report('task_1', 'end');
    await side.pool.stop();
  });
});

describe('a thread that holds too much that does not stop', () => {
  test("is retired: its copies are lost by nobody's doing, what was dropped is released, and it is replaced", async () => {
    const side = await PoolSide.start({ agentModules: [CULPRITS] });
    const { worker } = await side.beginWaiting('task_waiting');
    side.begin('task_deaf', 'deaf', 4);
    side.pool.send({ kind: 'drop', taskId: 'task_deaf', fence: 4, reason: 'cancelled' });
    expect(side.pool.freeSlots()).toBe(SLOTS_PER_WORKER - 1);

    side.pool.retire(worker);

    const { copies, culprit, error } = await side.loss();
    expect(copies).toEqual([{ taskId: 'task_waiting', fence: 1 }]);
    expect(culprit).toBeNull();
    expect(error.code).toBe('worker_exited');
    await side.report('task_deaf', 'released', 4);
    await side.until(() => side.pool.isHealthy());
    expect(side.pool.freeSlots()).toBe(SLOTS_PER_WORKER);
    await side.pool.stop();
  });
});

describe('a pool that cannot start', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'holdfast-pool-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  test.each([
    ['throws', `throw new Error('no key');`, 'no key'],
    ['has no agents', 'export default 1;', 'exports no agent'],
    ['exits', 'process.exit(3);', 'exited with code 3'],
  ])('says why when a module %s', async (name, code, message) => {
    const path = join(directory, `${name.replaceAll(' ', '-')}.mjs`);
    await writeFile(path, code);

    await expect(PoolSide.start({ agentModules: [pathToFileURL(path).href], size: 2 })).rejects.toThrow(message);
  });
});
