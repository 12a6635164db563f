import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Lease } from '../../src/model/fence.ts';
import { PoolSide } from '../support/worker-pool-side.ts';

const CULPRITS = new URL('./fixtures/culprits.ts', import.meta.url).href;
// A thread takes its time to start on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let side: PoolSide;
beforeEach(async () => {
  side = await PoolSide.start({ agentModules: [CULPRITS], memoryMb: 192, size: 2 });
});
afterEach(() => side.pool.stop());

const agentOf = (taskId: string) => (taskId === 'task_hoarder' ? 'hoards-buffers' : 'neighbour');

/** Lets the tasks begin again whenever they are lost, until one of them is the culprit. */
async function untilFound(): Promise<{ culprit: Lease; deaths: number; blamed: Lease[] }> {
  for (let deaths = 1; ; deaths++) {
    const { copies, culprit } = await side.loss();
    if (culprit !== null) return { culprit, deaths, blamed: copies };
    for (const { taskId, fence } of copies) side.begin(taskId, agentOf(taskId), fence + 1);
  }
}

test('a task that holds on to memory, when nobody knows whose that is, is found in the end, and nobody else is blamed', async () => {
  await side.until(() => side.pool.isHealthy());
  const neighbours = ['task_1', 'task_2', 'task_3', 'task_4', 'task_5'];
  for (const taskId of [...neighbours, 'task_hoarder']) side.begin(taskId, agentOf(taskId));

  const { culprit, deaths, blamed } = await untilFound();

  expect(culprit).toMatchObject({
    taskId: 'task_hoarder',
    error: { code: 'out_of_memory', message: 'The task has used up the memory of its worker.' },
  });
  expect(deaths).toBe(3);
  expect(blamed).toHaveLength(1);
  await side.until(() => side.pool.isHealthy());
  expect(side.losses).toEqual([]);
  for (const taskId of neighbours) {
    const { report } = side.reports.findLast(({ report }) => 'n' in report && report.taskId === taskId) ?? {};
    expect(report).toMatchObject({ kind: 'append', taskId });
  }
});
