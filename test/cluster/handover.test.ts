import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { doneIn, noteDone } from '../protocol/durable-agents.ts';
import { TASK_AGENTS } from '../support/api.ts';
import { createTestDatabase, findPostgres, type TestDatabase } from '../support/postgres-server.ts';
import { isType } from '../support/sse-reader.ts';
import { newDirectory } from '../support/store-directory.ts';
import { LEASE_MS } from '../support/test-engine.ts';
import { startNode, type TestNode, until } from './node-crew.ts';

const DURABLE_AGENTS = ['test/protocol/durable-agents.ts'];
/** Beyond the lease. */
const SPARE_MS = 5000;
const AT_ONCE_MS = 3000;
const ANSWERS = 40;
const WAKE_MS = 2000;

const postgres = await findPostgres();

/** docs/decisions/008-fence-every-write.md */
describe.skipIf(postgres === null)('Of two nodes on one database', () => {
  const files = newDirectory();
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  /** A task that is in the middle of a step, on a node that another one has joined meanwhile. */
  async function plodding(file: string): Promise<{ on: TestNode; other: TestNode; id: string }> {
    const on = await startNode(database.url, { agents: DURABLE_AGENTS });
    const { id } = await on.api.createTask({ agent: 'plodder', input: { file } });
    await until('the step runs', SPARE_MS, () => doneIn(file).includes('second 1'));
    return { on, other: await startNode(database.url, { agents: DURABLE_AGENTS }), id };
  }

  test('the other does what one that was killed was doing, within the lease and a little', async () => {
    const file = join(files, 'killed');
    const { on, other, id } = await plodding(file);

    await on.server.kill();
    const ms = await until('the other runs it', LEASE_MS + SPARE_MS, () => doneIn(file).includes('second 2'));
    noteDone(file, 'go');
    const task = await other.api.ended(id);

    note(`a task of a killed node ran elsewhere after ${ms.toFixed(0)} ms, with a lease of ${LEASE_MS} ms`);
    expect(task).toMatchObject({ status: 'completed', output: { first: 'first', second: 'second 2', attempt: 2 } });
    const recovered = (await other.api.eventsOf(id)).filter(({ type }) => type === 'task.recovered');
    expect(recovered.map(({ data }) => data.reason)).toEqual(['crashed']);
  });

  test('the other does at once what one that was stopped has given back', async () => {
    const file = join(files, 'stopped');
    const { on, other, id } = await plodding(file);

    expect(await on.server.stop('SIGTERM')).toBe(0);
    const ms = await until('the other runs it', AT_ONCE_MS, () => doneIn(file).length >= 3);
    noteDone(file, 'go');
    const task = await other.api.ended(id);

    note(`a task of a stopped node ran elsewhere ${ms.toFixed(0)} ms after its end`);
    expect(task).toMatchObject({ status: 'completed', output: { first: 'first' } });
  });

  test('one wakes what waits in the memory of the other, and tells its readers', { timeout: 120_000 }, async () => {
    const waiting = await startNode(database.url, { agents: TASK_AGENTS });
    const ids = await Promise.all(
      Array.from({ length: ANSWERS }, async () => {
        const { id } = await waiting.api.run('asker', { items: [{ id: 'a', prompt: 'Well?' }] });
        return id;
      }),
    );
    // It has no such agent: whatever it is asked to do, the other one does it.
    const asked = await startNode(database.url, { agents: ['test/protocol/race-agents.ts'] });
    const times: number[] = [];
    for (const id of ids) {
      const question = await asked.api.pendingQuestion(id);
      const reader = await asked.api.openStream(`/v1/tasks/${id}/events`);
      const begun = performance.now();
      expect((await asked.api.answer(question.id, 'yes')).status).toBe(200);
      await reader.until(isType('task.completed'));
      times.push(performance.now() - begun);
      reader.close();
    }

    const sorted = times.toSorted((a, b) => a - b);
    const [p50, p99] = [sorted[ANSWERS >> 1] ?? 0, sorted.at(-1) ?? 0];
    note(
      `from an answer at one node to the end of the task of the other, seen at the first: p50 ${p50.toFixed(0)} ms, max ${p99.toFixed(0)} ms`,
    );
    expect(p50).toBeLessThan(WAKE_MS);
    for (const id of ids) expect((await asked.api.task(id)).status).toBe('completed');
  });
});

/** A figure, for whoever reads the output. */
function note(text: string): void {
  process.stderr.write(`${text}\n`);
}
