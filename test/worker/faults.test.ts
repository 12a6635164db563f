import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { MAX_WRITES } from '../../src/worker/bounded-output.ts';
import type { StartRow } from '../../src/worker/protocol.ts';
import { PoolSide } from '../support/worker-pool-side.ts';

const CULPRITS = new URL('./fixtures/culprits.ts', import.meta.url).href;
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const FLAKED = { name: 'Error', message: 'flaked', fields: {}, cause: null };

function row(key: string, rest: Partial<StartRow>): StartRow {
  const nothing = { status: 'pending', value: null, ord: null, emitsDone: null, at: null } as const;
  return { key, kind: 'step', askedAt: 0, tries: 1, once: false, ...nothing, ...rest };
}

describe('what a task’s code throws where nobody can catch it', () => {
  let side: PoolSide;
  const failures: unknown[][] = [];
  beforeAll(async () => {
    side = await PoolSide.start({ agentModules: [CULPRITS], onFailed: (...failure) => failures.push(failure) });
  });
  afterEach(() => failures.splice(0));
  afterAll(() => side.pool.stop());

  test('says where the journal is taken back to: before the failure that it is', async () => {
    side.begin('task_1', 'loses-a-branch');
    await side.report('task_1', 'startStep');
    const value = JSON.stringify(FLAKED);
    const failed = { key: 'flaky', status: 'failed', value, ord: 1, emitsDone: 0, at: 1 } as const;
    side.pool.send({ kind: 'resolve', taskId: 'task_1', fence: 1, resolutions: [failed] });

    await side.until(() => failures.length > 0);

    expect(failures[0]?.slice(0, 2)).toEqual(['task_1', 1]);
    expect(failures[0]?.at(-1)).toEqual({ keys: ['flaky'], askedAt: 0, ord: 1, emits: 0 });
  });

  test('says so too when the failure was stored by an attempt before', async () => {
    const value = JSON.stringify(FLAKED);
    const rows = [row('slow', {}), row('flaky', { status: 'failed', value, ord: 1, emitsDone: 0, at: 1 })];
    side.begin('task_2', 'loses-a-branch', 2, { emits: 0, rows });

    await side.until(() => failures.length > 0);

    expect(failures[0]?.at(-1)).toEqual({ keys: ['flaky'], askedAt: 0, ord: 1, emits: 0 });
  });

  test('keeps the journal whole when it is no failure that was delivered', async () => {
    side.begin('task_3', 'throws-in-timer');

    await side.until(() => failures.length > 0);

    expect(failures[0]?.at(-1)).toBeNull();
  });
});

describe('what is thrown for no task', () => {
  let side: PoolSide;
  const thrown: { taskId: string; agent: string; stack: string }[] = [];
  beforeAll(async () => {
    const onThrown = (taskId: string, agent: string, stack: string) => void thrown.push({ taskId, agent, stack });
    side = await PoolSide.start({ agentModules: [CULPRITS], onThrown });
  });
  afterEach(() => thrown.splice(0));
  afterAll(() => side.pool.stop());

  test('by a schema refuses the input, and the thread lives on', async () => {
    const { worker } = await side.beginWaiting('task_1');

    const issues = await side.pool.validate('leaking-schema', 'x');

    expect(issues).toEqual([{ path: '', message: 'The schema failed: leaked' }]);
    side.begin('task_2', 'neighbour');
    expect(await side.report('task_2', 'append')).toMatchObject({ worker });
    expect(side.losses).toEqual([]);
    expect(thrown).toEqual([{ taskId: '', agent: 'leaking-schema', stack: expect.stringContaining('leaked') }]);
  });

  test('by an agent’s module is logged once a second, and the thread lives on', async () => {
    side.begin('task_3', 'makes-its-module-throw');
    await side.until(() => thrown.length > 1);

    expect(thrown[0]).toEqual({ taskId: '', agent: '', stack: expect.stringContaining('of the module') });
    side.begin('task_4', 'neighbour');
    await side.report('task_4', 'append');
    expect(side.losses).toEqual([]);
    expect(side.failures).toEqual([]);
    expect(thrown.length).toBeLessThan(10);
  });

  test('by the worker itself ends the thread', async () => {
    const rows: StartRow[] = JSON.parse('null');

    side.begin('task_5', 'neighbour', 1, { emits: 0, rows });

    const { culprit, cause } = await side.loss();
    expect(culprit).toBeNull();
    expect(cause).toMatchObject({ name: 'BrokenThread', message: expect.stringContaining('The worker itself') });
  });
});

describe('an agent', () => {
  let side: PoolSide;
  beforeAll(async () => {
    side = await PoolSide.start({ agentModules: [CULPRITS] });
  });
  afterAll(() => side.pool.stop());

  test('that writes to the console without end is heard, but not all of it', async () => {
    const written: string[] = [];
    vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
      written.push(String(chunk));
      return true;
    });
    side.begin('task_1', 'floods-the-console');

    await side.until(() => written.some((chunk) => chunk.startsWith('[holdfast]')));
    vi.restoreAllMocks();

    const lines = written.filter((chunk) => /^\d+ x+\n$/.test(chunk));
    expect(lines[0]).toMatch(/^0 x/);
    expect(lines.length).toBeGreaterThanOrEqual(MAX_WRITES);
    expect(lines.length).toBeLessThan(50_000);
  });

  test('that leaves fake timers behind stops nobody else, and cannot change JSON', async () => {
    side.begin('task_2', 'leaves-fake-globals');
    side.begin('task_3', 'neighbour');

    await side.ack('task_3', 'append');
    await side.report('task_3', 'ask');
    const end = side.reports.map(({ report }) => report).find(({ kind }) => kind === 'end');
    expect(end).toMatchObject({ taskId: 'task_2', ending: { error: { code: 'agent_error' } } });
  });
});
