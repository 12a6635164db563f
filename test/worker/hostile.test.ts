import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { FLOOD_LIMIT, MAX_OUTSTANDING_EVENTS } from '../../src/worker/outgoing.ts';
import { EVENT_BURST } from '../../src/worker/pace.ts';
import { SLOTS_PER_WORKER } from '../../src/worker/pooled-worker.ts';
import { PoolSide } from '../support/worker-pool-side.ts';

const CULPRITS = new URL('./fixtures/culprits.ts', import.meta.url).href;
const CULPRIT = { taskId: 'task_culprit', fence: 7 };
/** On a busy machine the loop of the main thread may stand still for so long, whatever an agent does. */
const SANE_LAG_MS = 3000;
// A thread takes its time to start on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

/** Two neighbours in the only thread of a pool, one that waits and one that runs, and a task that is no good to them. */
async function meet(side: PoolSide, agent: string): Promise<void> {
  await side.until(() => side.pool.isHealthy());
  side.reports.length = 0;
  side.lag.reset();
  await side.beginWaiting('task_waiting');
  side.begin('task_running', 'neighbour');
  await side.report('task_running', 'append');
  side.begin(CULPRIT.taskId, agent, CULPRIT.fence);
}

/** What the pool is like once it has lost its only thread, with all that was in it. */
async function expectNewThread(side: PoolSide): Promise<void> {
  side.reports.length = 0;
  await side.until(() => side.pool.isHealthy());
  side.begin('task_after', 'neighbour');
  await side.report('task_after', 'append');
  side.pool.send({ kind: 'drop', taskId: 'task_after', fence: 1, reason: 'lost' });
  await side.report('task_after', 'released');
  expect(side.pool.freeSlots()).toBe(SLOTS_PER_WORKER);
  expect(side.losses).toEqual([]);
  expect(side.failures).toEqual([]);
  expect(side.lag.max / 1e6).toBeLessThan(SANE_LAG_MS);
}

const ALL_THREE = [{ taskId: 'task_waiting', fence: 1 }, { taskId: 'task_running', fence: 1 }, CULPRIT];

describe('a task that throws where nobody can catch it', () => {
  let side: PoolSide;
  beforeAll(async () => {
    side = await PoolSide.start({ agentModules: [CULPRITS] });
  });
  afterAll(() => side.pool.stop());

  test.each([
    ['throws-in-timer', 'boom'],
    ['throws-null', 'null'],
    ['throws-all-the-time', 'boom'],
    ['rejects-unheard', 'nobody listens'],
    ['rejects-in-step', 'nobody listens'],
    ['overflows-in-timer', 'Maximum call stack size exceeded'],
  ])('fails alone, and its thread lives on: %s', async (agent, message) => {
    await meet(side, agent);

    const { stack, ...failure } = await side.failure();

    expect(failure).toEqual({ ...CULPRIT, error: { code: 'agent_error', message } });
    expect(stack).toContain(message);
    await side.ack('task_running', 'append');
    await side.report('task_running', 'ask');
    for (const { taskId, fence } of ALL_THREE) side.pool.send({ kind: 'drop', taskId, fence, reason: 'lost' });
    expect(side.losses).toEqual([]);
    expect(side.failures).toEqual([]);
  });
});

describe('a task that ends its thread', () => {
  let side: PoolSide;
  beforeAll(async () => {
    side = await PoolSide.start({ agentModules: [CULPRITS] });
  });
  afterAll(() => side.pool.stop());

  test.each([
    ['exits-well', 0],
    ['exits-badly', 1],
    ['exits-in-timer', 2],
    ['exits-in-step', 3],
  ])('is the culprit, and its neighbours are not: %s', async (agent, exitCode) => {
    await meet(side, agent);
    if (agent === 'exits-in-step') await side.report('task_culprit', 'startStep');

    const { copies, culprit, error, cause } = await side.loss();

    expect(copies).toEqual(ALL_THREE);
    expect(culprit).toEqual({
      ...CULPRIT,
      error: { code: 'worker_exited', message: 'The task has ended its worker.' },
    });
    expect(error).toEqual({ code: 'worker_exited', message: 'The worker has ended.' });
    expect(cause).toEqual(new Error(`The worker exited with code ${exitCode}.`));
    await expectNewThread(side);
  });
});

describe('a task that keeps its thread busy for ever', () => {
  const unresponsiveAfterMs = 3000;
  let side: PoolSide;
  beforeAll(async () => {
    side = await PoolSide.start({ agentModules: [CULPRITS], unresponsiveAfterMs });
  });
  afterAll(() => side.pool.stop());

  test.each([
    'loops',
    'loops-after-a-while',
    'loops-in-promises',
    'loops-in-ticks',
    'matches-for-ever',
    'waits-synchronously',
    'calls-the-system',
  ])('is the culprit, and its neighbours are not: %s', async (agent) => {
    await meet(side, agent);

    const { copies, culprit, error } = await side.loss();

    expect(copies).toEqual(ALL_THREE);
    expect(culprit).toEqual({
      ...CULPRIT,
      error: { code: 'worker_unresponsive', message: 'The task has kept its worker from answering for 3000 ms.' },
    });
    expect(error).toEqual({ code: 'worker_unresponsive', message: 'The worker has not answered for 3000 ms.' });
    await expectNewThread(side);
  });

  test('is no longer there to be blamed when it was dropped, and its neighbours are not', async () => {
    await meet(side, 'loops-when-aborted');

    side.pool.send({ kind: 'drop', ...CULPRIT, reason: 'cancelled' });
    const { copies, culprit } = await side.loss();

    expect(copies).toEqual(ALL_THREE.slice(0, 2));
    expect(culprit).toBeNull();
    await side.report('task_culprit', 'released');
    await expectNewThread(side);
  });

  test('is none of those that are there when it is a schema that loops', async () => {
    await meet(side, 'neighbour');

    await expect(side.pool.validate('looping-schema', 'x')).rejects.toMatchObject({ code: 'overloaded' });
    const { copies, culprit } = await side.loss();

    expect(copies).toEqual(ALL_THREE);
    expect(culprit).toBeNull();
    await expectNewThread(side);
  });
});

describe('a task that uses up the memory of its thread', () => {
  let side: PoolSide;
  beforeAll(async () => {
    side = await PoolSide.start({ agentModules: [CULPRITS], memoryMb: 192, unresponsiveAfterMs: 60_000 });
  });
  afterAll(() => side.pool.stop());

  test.each(['fills-heap', 'fills-an-array', 'fills-buffers'])(
    'is the culprit, and its neighbours are not: %s',
    async (agent) => {
      await meet(side, agent);

      const { copies, culprit, error } = await side.loss();

      expect(copies).toEqual(ALL_THREE);
      expect(culprit).toEqual({
        ...CULPRIT,
        error: { code: 'out_of_memory', message: 'The task has used up the memory of its worker.' },
      });
      expect(error).toEqual({ code: 'out_of_memory', message: 'The worker has used up its memory.' });
      await expectNewThread(side);
    },
  );
});

describe('a task that reports more than the store can take', () => {
  let side: PoolSide;
  beforeAll(async () => {
    side = await PoolSide.start({ agentModules: [CULPRITS], unresponsiveAfterMs: 60_000 });
  });
  afterAll(() => side.pool.stop());

  test('is heard of bit by bit until it is stopped, and keeps nobody from being heard', async () => {
    await meet(side, 'emits-very-much');
    side.reports.length = 0;
    const { taskId, fence } = CULPRIT;

    let events = 0;
    let ending: unknown = null;
    while (ending === null) {
      await side.until(() => side.reports.length > 0);
      for (const { report } of side.reports.splice(0)) {
        if (!('n' in report) || report.taskId !== taskId) continue;
        if (report.kind === 'append') events += report.events.length;
        side.pool.send({ kind: 'ack', taskId, fence, n: report.n });
        if (report.kind === 'end') ending = report.ending;
      }
    }

    // What had left at the time, and not all of what it wanted.
    expect(events).toBeGreaterThanOrEqual(EVENT_BURST);
    expect(events).toBeLessThan(MAX_OUTSTANDING_EVENTS);
    expect(ending).toMatchObject({ status: 'failed', error: { code: 'limit_exceeded', message: FLOOD_LIMIT } });
    expect(side.losses).toEqual([]);
    expect(side.pool.isHealthy()).toBe(true);
    expect(side.lag.max / 1e6).toBeLessThan(SANE_LAG_MS);
  });
});

describe('the neighbours of a thread that ends', () => {
  test('go on in theirs', async () => {
    const side = await PoolSide.start({ agentModules: [CULPRITS], size: 2 });
    for (const taskId of ['task_1', 'task_2']) side.begin(taskId, 'neighbour');
    await Promise.all(['task_1', 'task_2'].map((taskId) => side.report(taskId, 'append')));

    side.begin(CULPRIT.taskId, 'exits-well', CULPRIT.fence);
    const { copies } = await side.loss();

    expect(copies).toEqual([{ taskId: expect.stringMatching(/^task_[12]$/), fence: 1 }, CULPRIT]);
    const elsewhere = copies[0]?.taskId === 'task_1' ? 'task_2' : 'task_1';
    await side.ack(elsewhere, 'append');
    await side.report(elsewhere, 'ask');
    await side.pool.stop();
  });
});
