import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createApi } from '../support/api.ts';
import { readLog } from '../support/log-pages.ts';
import { expectExactly, expectOneEnd } from '../support/master-check.ts';
import { readUntilGone, resume } from '../support/reader-crowd.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { newDirectory } from '../support/store-directory.ts';
import { expectStored, wholeLog } from '../support/stored-check.ts';
import { onlyOnSqlite } from '../support/test-engine.ts';
import { heardIn } from './flood-agents.ts';

const EVERYTHING = '/v1/events';
const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;
const mustRun = process.env.CI === 'true';

/** docs/decisions/002-on-disk-before-seen.md */
describe('A disk that fails for good', () => {
  const running: ServerProcess[] = [];
  beforeEach(({ skip }) => onlyOnSqlite(skip));
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.kill()));
  });

  test.for([300, 4000])(
    'ends the process with 1, having told nobody anything that is not on it (after %i events)',
    async (afterEvents, { skip }) => {
      if (!hasPrlimit && !mustRun) return skip('This machine has no prlimit, by which a write is made to fail.');
      const dataDir = newDirectory();
      const start = async () => {
        const server = await startServerProcess({ dataDir, agents: ['test/protocol/flood-agents.ts'] });
        running.push(server);
        return { server, api: createApi(server.url) };
      };
      const before = await start();
      const file = join(newDirectory(), 'heard');
      const { id } = await before.api.createTask({
        agent: 'flooder',
        input: { file, count: 1_000_000, burst: 300, padBytes: 100 },
      });
      const paths = [`/v1/tasks/${id}/events`, EVERYTHING];

      const readings = await readUntilGone(
        before.server.url,
        paths.map((path) => ({ path, cursor: null })),
        afterEvents,
        () => failWritesBehind(statSync(join(dataDir, 'holdfast.db-wal')).size, before.server.pid),
      );
      const code = await before.server.stop();
      const heard = heardIn(file);
      // There it goes on, from its journal.
      const after = await start();
      await after.api.cancel(id);

      expect(code).toBe(1);
      expect(before.server.stderr()).toContain('storage_failed');
      expectStored(
        readings.flatMap(({ blocks }) => blocks),
        await wholeLog(after.server.url),
      );
      const log = await readLog(after.api, EVERYTHING);
      const stored = log.filter(({ type }) => type === 'flood.tick').map(({ data }) => `${data.n}`);
      expect(stored.slice(0, heard.length)).toEqual(heard);
      expectOneEnd(log, await after.api.task(id));
      for (const reading of readings) {
        expectExactly([reading.blocks, await resume(after.server.url, reading)], log);
      }
    },
  );
});

/** Every write of the process beyond this place of any file fails from now on, with an error that is no lack of space. */
function failWritesBehind(bytes: number, pid: number): void {
  const { status, stderr } = spawnSync('prlimit', ['--pid', `${pid}`, `--fsize=${bytes}`]);
  if (status !== 0) throw new Error(`The limit could not be set: ${stderr}`);
}
