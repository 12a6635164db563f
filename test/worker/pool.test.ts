import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
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
    side.pool.send({ kind: 'waited', taskId: 'task_1', fence: 1, n, at: 1, answer: 'waiting' });
    expect(side.pool.freeSlots()).toBe(2 * SLOTS_PER_WORKER - 1);

    side.pool.send({
      kind: 'adopt',
      taskId: 'task_1',
      fence: 2,
      at: 1,
      resolutions: [{ key: 'q', outcome: { status: 'expired' } }],
    });
    expect(side.pool.freeSlots()).toBe(2 * SLOTS_PER_WORKER - 2);
    await side.ack('task_1', 'end', 2);
    side.pool.send({ kind: 'drop', taskId: 'task_2', fence: 1, reason: 'cancelled' });

    expect(side.pool.freeSlots()).toBe(2 * SLOTS_PER_WORKER);
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

/** Lets an agent end the only thread of a pool, where another task waits, and looks at what is left. */
async function loseThread(side: PoolSide, agent: string) {
  await side.until(() => side.pool.isHealthy());
  side.reports.length = 0;
  side.begin('task_waiting', 'neighbour');
  await side.ack('task_waiting', 'append');
  await side.ack('task_waiting', 'ask');
  const { n } = await side.report('task_waiting', 'wait');
  side.pool.send({ kind: 'waited', taskId: 'task_waiting', fence: 1, n, at: 1, answer: 'waiting' });

  side.begin('task_culprit', agent, 7);
  const loss = await side.loss();

  expect(loss.copies).toEqual([
    { taskId: 'task_waiting', fence: 1 },
    { taskId: 'task_culprit', fence: 7 },
  ]);
  expect(side.pool.isHealthy()).toBe(false);
  expect(side.pool.freeSlots()).toBe(0);
  side.begin('task_after', 'neighbour');
  await side.report('task_after', 'append');
  side.pool.send({ kind: 'drop', taskId: 'task_after', fence: 1, reason: 'lost' });
  expect(side.pool.freeSlots()).toBe(SLOTS_PER_WORKER);
  expect(side.losses).toEqual([]);
  return loss;
}

describe('a thread that ends', () => {
  let side: PoolSide;
  beforeAll(async () => {
    side = await PoolSide.start({ agentModules: [CULPRITS], heapMb: 48 });
  });
  afterAll(() => side.pool.stop());

  test.each([
    ['exits-well', 'worker_exited', 'The worker has ended.', 'The worker exited with code 0.'],
    ['exits-badly', 'worker_exited', 'The worker has ended.', 'The worker exited with code 1.'],
    ['throws-in-timer', 'worker_exited', 'The worker has ended.', 'boom'],
    ['rejects-unheard', 'worker_exited', 'The worker has ended.', 'nobody listens'],
    ['throws-null', 'worker_exited', 'The worker has ended.', null],
    ['fills-heap', 'out_of_memory', 'The worker has used up its memory.', expect.stringMatching(/memory/)],
  ])(
    'by an agent that %s loses its copies, running and waiting, and is replaced, and only the cause tells what was thrown',
    async (agent, code, message, thrown) => {
      const { error, cause } = await loseThread(side, agent);

      expect(error).toEqual({ code, message });
      expect(cause instanceof Error ? cause.message : cause).toEqual(thrown);
    },
  );
});

describe('a thread that does not answer', () => {
  test('is ended, loses its copies, running and waiting, and is replaced', async () => {
    const side = await PoolSide.start({ agentModules: [CULPRITS], unresponsiveAfterMs: 1000 });

    const { error } = await loseThread(side, 'loops');

    expect(error).toEqual({ code: 'worker_unresponsive', message: 'The worker has not answered for 1000 ms.' });
    await side.pool.stop();
  });

  test('gets no new task while another one answers, though it has more free slots', async () => {
    const side = await PoolSide.start({ agentModules: [CULPRITS], size: 2 });
    side.begin('task_loop', 'loops');
    side.begin('task_1', 'neighbour');
    const { worker } = await side.report('task_1', 'append');
    await side.until(() => !side.pool.isHealthy());

    for (const taskId of ['task_2', 'task_3', 'task_4']) side.begin(taskId, 'neighbour');

    for (const taskId of ['task_2', 'task_3', 'task_4'])
      expect((await side.report(taskId, 'append')).worker).toBe(worker);
    await side.pool.stop();
  });

  test('gets a new task where no other is up', async () => {
    const side = await PoolSide.start({ agentModules: [CULPRITS], unresponsiveAfterMs: 4000 });
    side.begin('task_loop', 'loops');
    await side.until(() => !side.pool.isHealthy());

    side.begin('task_1', 'neighbour');

    expect((await side.loss()).copies.map(({ taskId }) => taskId)).toEqual(['task_loop', 'task_1']);
    await side.pool.stop();
  });
});

describe('the neighbours of a thread that ends', () => {
  test('go on in theirs', async () => {
    const side = await PoolSide.start({ agentModules: [CULPRITS], size: 2 });
    side.begin('task_1', 'neighbour');
    await side.report('task_1', 'append');

    side.begin('task_2', 'exits-well');
    const { copies } = await side.loss();

    expect(copies).toEqual([{ taskId: 'task_2', fence: 1 }]);
    await side.ack('task_1', 'append');
    await side.report('task_1', 'ask');
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
