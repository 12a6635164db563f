import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/worker/seeded.ts';
import { type Api, createApi, seqOf } from '../support/api.ts';
import { readLog } from '../support/log-pages.ts';
import { expectExactly, expectOneEnd } from '../support/master-check.ts';
import { readUntilGone, resume } from '../support/reader-crowd.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { newDirectory } from '../support/store-directory.ts';
import { expectStored, wholeLog } from '../support/stored-check.ts';
import { heardIn } from './flood-agents.ts';

const EVERYTHING = '/v1/events';
const AGENTS = ['test/protocol/load-agents.ts', 'test/protocol/flood-agents.ts'];
const ENDLESS = 1_000_000;

/** docs/protocol.md §5.3: every event after the cursor, each once, none before it is on disk. */
describe('kill -9 under load', () => {
  const dataDir = newDirectory();
  const files = newDirectory();
  let server: ServerProcess;
  let api: Api;

  async function start(): Promise<void> {
    server = await startServerProcess({ dataDir, agents: AGENTS });
    api = createApi(server.url);
  }

  beforeAll(start);
  afterAll(() => server.kill());

  test.each([1, 2, 3])(
    'loses nothing that a reader or the agent was told, and each reader resumes with exactly the rest (seed %i)',
    async (seed) => {
      const before = (await readLog(api, EVERYTHING)).at(-1)?.id ?? '0';
      const pulse = await api.createTask({ agent: 'ticker', input: { count: ENDLESS, everyMs: 1 } });
      const file = join(files, `heard-${seed}`);
      const flood = await api.createTask({
        agent: 'flooder',
        input: { file, count: ENDLESS, burst: 300, padBytes: 100 },
      });
      const tasks = [pulse.id, flood.id];
      const paths = [...tasks, ...tasks].map((id) => `/v1/tasks/${id}/events`);
      const starts = [...paths, EVERYTHING].map((path) => ({ path, cursor: null }));
      const afterEvents = 500 + Math.floor(seededRandom(`${seed}`, 'events', 1) * 5000);

      const readings = await readUntilGone(
        server.url,
        [...starts, { path: EVERYTHING, cursor: before }],
        afterEvents,
        () => server.kill(),
      );
      const heard = heardIn(file);
      await start();
      // They go on, and would for ever.
      for (const id of tasks) expect((await api.cancel(id)).status).toBe(200);

      expectStored(
        readings.flatMap(({ blocks }) => blocks),
        await wholeLog(server.url),
      );
      const log = await readLog(api, EVERYTHING);
      const stored = log.filter(({ taskId, type }) => taskId === flood.id && type === 'flood.tick');
      expect(stored.map(({ data }) => data.n)).toEqual(stored.map((_, n) => n));
      expect(heard).toEqual(stored.slice(0, heard.length).map(({ data }) => `${data.n}`));
      expect(heard.length).toBeGreaterThan(0);
      for (const id of tasks) {
        const task = await api.task(id);
        expect(task.status).toBe('cancelled');
        expect(log.some(({ taskId, type }) => taskId === id && type === 'task.recovered')).toBe(true);
        expectOneEnd(log, task);
      }
      const ofRound = log.slice(seqOf(before) || 0);
      for (const reading of readings) {
        const [, of] = /tasks\/(.+)\/events/.exec(reading.path) ?? [];
        const expected = of === undefined ? ofRound : ofRound.filter(({ taskId }) => taskId === of);
        expectExactly([reading.blocks, await resume(server.url, reading)], expected);
      }
    },
  );
});
