/**
 * Verbs per second through the store on PostgreSQL, with one owner and with a hundred, each of whom has one commit under way
 * or fifty, which then share a transaction; with the CPU time of this process for a thousand of them.
 * `npm run bench:postgres [-- SECONDS]`, against HOLDFAST_TEST_POSTGRES or 127.0.0.1:5432.
 */
import { openPostgresStore } from '../src/store/postgres/open.ts';
import type { Store } from '../src/store/store.ts';
import { createTestDatabase } from '../test/support/postgres-server.ts';
import { createArgs } from '../test/support/store-owner.ts';
import { median } from './support/median.ts';

const [SECONDS = 4] = process.argv.slice(2).map(Number);
const ROUNDS = 3;
const OWNERS = [1, 100];
const AT_ONCE = [1, 50];

const database = await createTestDatabase();
const store = await openPostgresStore({ url: database.url });
try {
  for (const owners of OWNERS) {
    for (const atOnce of AT_ONCE) await measure(owners, atOnce);
  }
} finally {
  await store.close();
  await database.drop();
}

async function measure(owners: number, atOnce: number): Promise<void> {
  const names = Array.from({ length: owners }, (_, n) => `${owners}-${atOnce}-${n}`);
  const workers = (await Promise.all(names.map((owner) => startTasks(owner, atOnce)))).flat();
  await runFor(workers, 1000);
  const rates: number[] = [];
  const costs: number[] = [];
  for (let round = 1; round <= ROUNDS; round++) {
    const before = process.cpuUsage();
    const { verbs, ms } = await runFor(workers, SECONDS * 1000);
    const { user, system } = process.cpuUsage(before);
    rates.push(verbs / (ms / 1000));
    costs.push((user + system) / verbs);
  }
  const rate = Math.round(median(rates));
  console.log(`${owners} owners, ${atOnce} at once: ${rate} verbs/s, ${median(costs).toFixed(0)} ms of CPU for 1,000`);
}

interface Worker {
  owner: string;
  taskId: string;
  fence: number;
  emitted: number;
}

async function startTasks(owner: string, count: number): Promise<Worker[]> {
  return Promise.all(Array.from({ length: count }, () => startTask(store, owner)));
}

async function startTask({ commit, node }: Store, owner: string): Promise<Worker> {
  const args = createArgs({ timeoutMs: 24 * 60 * 60_000 });
  await commit(owner, [{ verb: 'createTask', args }]);
  const claim = { taskId: args.taskId, version: '1', warm: false, node };
  const { outcomes } = await commit(owner, [{ verb: 'claimTask', args: claim }]);
  if (!outcomes[0].ok) throw new Error(outcomes[0].message);
  return { owner, taskId: args.taskId, fence: outcomes[0].result.task.fence, emitted: 0 };
}

async function runFor(workers: readonly Worker[], ms: number): Promise<{ verbs: number; ms: number }> {
  const begun = performance.now();
  const counts = await Promise.all(workers.map((worker) => append(worker, begun + ms)));
  return { verbs: counts.reduce((sum, count) => sum + count, 0), ms: performance.now() - begun };
}

/** One event after the other, each acknowledged before the next. */
async function append(worker: Worker, until: number): Promise<number> {
  let count = 0;
  for (; performance.now() < until; count++) {
    const { owner, taskId, fence, emitted } = worker;
    const data = JSON.stringify({ n: emitted, text: 'x'.repeat(80) });
    const event = { taskId, conversationId: null, type: 'bench.tick', step: null, data };
    const args = { taskId, fence, after: emitted, events: [event] };
    const { outcomes } = await store.commit(owner, [{ verb: 'appendEvents', args }]);
    if (!outcomes[0].ok) throw new Error(outcomes[0].message);
    worker.emitted += 1;
  }
  return count;
}
