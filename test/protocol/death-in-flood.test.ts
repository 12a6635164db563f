import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { readLog } from '../support/log-pages.ts';
import { expectExactly, expectOneEnd } from '../support/master-check.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { openSseReader } from '../support/sse-reader.ts';
import { newDirectory } from '../support/store-directory.ts';
import { heardIn } from './flood-agents.ts';

const COUNT = 5000;

/** docs/protocol.md §4 and §5.3. */
describe('A worker that dies in the middle of a flood', () => {
  const files = newDirectory();
  let server: ServerProcess;
  let api: Api;

  beforeAll(async () => {
    server = await startServerProcess({ agents: ['test/protocol/flood-agents.ts'] });
    api = createApi(server.url);
  });
  /** While no worker is up, new tasks are refused with 503. */
  beforeEach(async () => {
    while ((await api.get('/readyz')).status !== 200);
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  test.each([
    { when: 'stored', at: 0, burst: 1 },
    { when: 'stored', at: 431, burst: 1 },
    { when: 'stored', at: 1777, burst: 40 },
    { when: 'stored', at: 700, burst: COUNT },
    { when: 'called', at: 300, burst: 1 },
    { when: 'called', at: 2999, burst: 40 },
    { when: 'called', at: 3500, burst: 1200 },
  ])(
    'has in the log all that its agent knew to be stored, and one end ($when $at, bursts of $burst)',
    async ({ burst, ...dies }) => {
      const file = join(files, `${dies.when}-${dies.at}`);
      const { id } = await api.createTask({ agent: 'flooder', input: { file, count: COUNT, burst, dies } });
      const reader = await openSseReader(`${server.url}/v1/tasks/${id}/events`);
      await reader.rest();

      const heard = heardIn(file);
      const task = await api.task(id);
      const log = await readLog(api, '/v1/events');
      const own = log.filter(({ taskId }) => taskId === id);
      const numbers = own.filter(({ type }) => type === 'flood.tick').map(({ data }) => `${data.n}`);

      expect(heard.length).toBeGreaterThanOrEqual(dies.when === 'stored' ? dies.at + 1 : dies.at - burst);
      expect(numbers).toEqual(numbers.map((_, n) => `${n}`));
      expect(numbers.slice(0, heard.length)).toEqual(heard);
      expect(numbers.length).toBeLessThan(COUNT);
      expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
      expect(task).toMatchObject({ status: 'failed', error: { code: 'worker_exited' } });
      expectOneEnd(own, task);
      expectExactly([reader.blocks], own);
      process.kill(server.pid, 0);
    },
  );
});
