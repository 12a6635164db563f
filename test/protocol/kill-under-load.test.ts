import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../../src/worker/seeded.ts';
import { type Api, createApi, seqOf } from '../support/api.ts';
import { readLog } from '../support/log-pages.ts';
import { expectExactly, expectOneEnd } from '../support/master-check.ts';
import { readUntilGone, resume } from '../support/reader-crowd.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { newDirectory } from '../support/store-directory.ts';
import { expectStored, wholeLog } from '../support/stored-check.ts';

const EVERYTHING = '/v1/events';
const ENDLESS = 1_000_000;

/** docs/protocol.md §5.3: every event after the cursor, each once, none before it is on disk. */
describe('kill -9 under load', () => {
  const dataDir = newDirectory();
  let server: ServerProcess;
  let api: Api;

  async function start(): Promise<void> {
    server = await startServerProcess({ dataDir, agents: ['test/protocol/load-agents.ts'] });
    api = createApi(server.url);
  }

  beforeAll(start);
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
  });

  test.each([1, 2, 3, 4, 5])(
    'loses nothing that a reader was told, and each reader resumes with exactly the rest (seed %i)',
    async (seed) => {
      const before = (await readLog(api, EVERYTHING)).at(-1)?.id ?? '0';
      const pulse = await api.createTask({ agent: 'ticker', input: { count: ENDLESS, everyMs: 1 } });
      const flood = await api.createTask({ agent: 'ticker', input: { count: ENDLESS, padBytes: 100 } });
      const tasks = [pulse.id, flood.id];
      const paths = [...tasks, ...tasks].map((id) => `/v1/tasks/${id}/events`);
      const starts = [...paths, EVERYTHING].map((path) => ({ path, cursor: null }));
      const afterEvents = 500 + Math.floor(seededRandom(`${seed}`, 'events', 1) * 10_000);

      const readings = await readUntilGone(
        server.url,
        [...starts, { path: EVERYTHING, cursor: before }],
        afterEvents,
        () => server.kill(),
      );
      await start();

      expectStored(
        readings.flatMap(({ blocks }) => blocks),
        await wholeLog(server.url),
      );
      const log = await readLog(api, EVERYTHING);
      for (const id of tasks) {
        const task = await api.task(id);
        expect(task.error?.code).toBe('worker_exited');
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
