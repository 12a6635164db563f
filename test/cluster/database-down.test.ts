import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { doneIn, noteDone } from '../protocol/durable-agents.ts';
import { expectProblem } from '../support/api.ts';
import { readLog } from '../support/log-pages.ts';
import { expectExactly, expectOneEnd } from '../support/master-check.ts';
import { findPostgresPrograms } from '../support/postgres-binaries.ts';
import { type PostgresCluster, startPostgresCluster } from '../support/postgres-cluster.ts';
import { openSocketReader } from '../support/socket-reader.ts';
import { newDirectory } from '../support/store-directory.ts';
import { startNode, until } from './node-crew.ts';

const EVERYTHING = '/v1/events';
const BACK_MS = 20_000;
const SPEC = { items: [{ id: 'a', prompt: 'Well?' }] };

/** docs/protocol.md §9 `storage_unavailable`. */
describe.skipIf(findPostgresPrograms() === null)('While the database is away', () => {
  let cluster: PostgresCluster;
  beforeAll(async () => {
    cluster = await startPostgresCluster();
  });
  afterAll(() => cluster.remove());

  test('a node says so, refuses what it cannot do, and keeps its streams; afterwards all goes on', async () => {
    const file = join(newDirectory(), 'done');
    const { server, api } = await startNode(await cluster.createDatabase('away'), {
      agents: ['test/protocol/durable-agents.ts'],
    });
    const running = await api.createTask({ agent: 'plodder', input: { file } });
    const asking = await api.run('questioner', SPEC);
    const question = await api.pendingQuestion(asking.id);
    await until('the step runs', BACK_MS, () => doneIn(file).includes('second 1'));
    const reader = openSocketReader(`${server.url}${EVERYTHING}`, { cursor: '0' });
    await reader.opened;

    await cluster.stop('immediate');
    await until('it is not ready', BACK_MS, async () => (await api.get('/readyz')).status === 503);
    const refused = await Promise.all([
      api.post('/v1/tasks', { agent: 'questioner', input: SPEC }),
      api.answer(question.id, 'no'),
      api.cancel(running.id),
      api.get(`/v1/tasks/${running.id}`),
      api.get(`${EVERYTHING}?after=0`, { Accept: 'application/json' }),
    ]);
    const health = await api.get('/healthz');
    const isOpen = await Promise.race([reader.closed, 'open']);
    noteDone(file, 'go');
    await cluster.start();
    await until('it is ready again', BACK_MS, async () => (await api.get('/readyz')).status === 200);

    for (const answer of refused) {
      expectProblem(answer, 503, 'storage_unavailable');
      expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0);
    }
    expect(health.status).toBe(200);
    expect(isOpen).toBe('open');
    expect((await api.answer(question.id, 'yes')).status).toBe(200);
    const ended = await Promise.all([running, asking].map(({ id }) => api.ended(id)));
    expect(ended.map(({ status }) => status)).toEqual(['completed', 'completed']);
    const log = await readLog(api, EVERYTHING);
    await until('the stream has caught up', BACK_MS, () => seqs(reader.blocks).length >= log.length);
    reader.destroy();
    expectExactly([reader.blocks], log);
    for (const task of ended) expectOneEnd(log, task);
    expect(await server.stop('SIGTERM')).toBe(0);
  });
});

function seqs(blocks: readonly { id: string | null; event: string | null }[]): string[] {
  return blocks.filter(({ event }) => event !== 'caught-up').flatMap(({ id }) => id ?? []);
}
