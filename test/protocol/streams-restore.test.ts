import { cpSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { seqOf } from '../support/api.ts';
import { readLog } from '../support/log-pages.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { copyDirectory, newDirectory } from '../support/store-directory.ts';
import { onlyOnSqlite } from '../support/test-engine.ts';
import { cursorsOf, expectReset, expectVerdicts, NONE, play, without } from './cursor-verdicts.ts';
import { createStreamClient, EVERYTHING, STREAM_AGENTS, type StreamClient } from './stream-client.ts';

/** docs/protocol.md §5.2 and §5.3 `reset`, decision 001: which cursors are good where a log's history has changed. */
describe('Cursors', () => {
  const running: ServerProcess[] = [];
  beforeEach(({ skip }) => onlyOnSqlite(skip));
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.kill()));
  });

  async function start(dataDir: string): Promise<{ server: ServerProcess; client: StreamClient }> {
    const server = await startServerProcess({ dataDir, agents: STREAM_AGENTS });
    running.push(server);
    return { server, client: createStreamClient(server.url) };
  }

  test('of what was lost are reset where only `holdfast.db` is put back and its WAL is gone', async () => {
    const dir = newDirectory();
    const first = await start(dir);
    await play(first.client);
    const kept = await cursorsOf(first.client);
    await first.server.stop();
    const backup = copyDirectory(dir);
    const second = await start(dir);
    await play(second.client);
    const lost = without(await cursorsOf(second.client), kept);
    await second.server.kill();
    for (const file of ['holdfast.db-wal', 'holdfast.db-shm']) rmSync(join(dir, file));
    cpSync(join(backup, 'holdfast.db'), join(dir, 'holdfast.db'));

    const restored = await start(dir);
    await expectVerdicts(restored.client, kept, lost);
    await play(restored.client);
    const grown = await cursorsOf(restored.client);
    expect(seqOf(grown.plain.at(-1) ?? '')).toBeGreaterThanOrEqual(seqOf(lost.plain.at(-1) ?? ''));
    await expectVerdicts(restored.client, grown, lost);
    await restored.server.kill();

    const again = await start(dir);
    await expectVerdicts(again.client, grown, lost);
  });

  test('are all good where `holdfast.db` is put back beside the WAL of everything since: nothing is lost', async () => {
    const dir = newDirectory();
    const first = await start(dir);
    await play(first.client);
    await first.server.stop();
    const backup = copyDirectory(dir);
    const second = await start(dir);
    await play(second.client);
    const all = await cursorsOf(second.client);
    const log = await readLog(second.client, EVERYTHING);
    await second.server.kill();
    expect(statSync(join(dir, 'holdfast.db-wal')).size).toBeGreaterThan(0);
    cpSync(join(backup, 'holdfast.db'), join(dir, 'holdfast.db'));

    const restored = await start(dir);

    expect((await readLog(restored.client, EVERYTHING)).slice(0, log.length)).toEqual(log);
    await expectVerdicts(restored.client, all, NONE);
  });

  test('of what was lost are reset where the copy of a directory in use is put back, those of a retelling too', async () => {
    const dir = newDirectory();
    const first = await start(dir);
    await play(first.client);
    const kept = await cursorsOf(first.client);
    const backup = copyDirectory(dir);
    await play(first.client);
    const lost = without(await cursorsOf(first.client), kept);
    await first.server.kill();
    rmSync(dir, { recursive: true });
    cpSync(backup, dir, { recursive: true });

    const restored = await start(dir);
    await expectVerdicts(restored.client, kept, lost);
    await play(restored.client);
    await play(restored.client);
    const grown = await cursorsOf(restored.client);
    expect(seqOf(grown.plain.at(-1) ?? '')).toBeGreaterThanOrEqual(seqOf(lost.plain.at(-1) ?? ''));
    await expectVerdicts(restored.client, grown, lost);
    // What a retelling had told of is still there; what it was to tell of is not.
    expect(lost.retold.some((id) => seqOf(id) <= seqOf(kept.plain.at(-1) ?? ''))).toBe(true);
  });

  test('of one fork are reset by the other, in the stream of a task that both have ended too', async () => {
    const dir = newDirectory();
    const origin = await start(dir);
    const shared = await play(origin.client);
    const common = await cursorsOf(origin.client);
    await origin.server.stop();
    const fork = copyDirectory(dir);

    const left = await start(dir);
    const right = await start(fork);
    // The first that happens in each: it ends at the same place in both.
    for (const { client } of [left, right]) expect((await client.cancel(shared)).status).toBe(200);
    await play(left.client);
    for (let i = 0; i < 2; i++) await play(right.client);
    const ofLeft = await cursorsOf(left.client);
    const ofRight = await cursorsOf(right.client);
    await expectVerdicts(left.client, ofLeft, without(ofRight, common));
    await expectVerdicts(right.client, ofRight, without(ofLeft, common));
    // The end is at the same place in both, written by each.
    const [endInLeft, endInRight] = await Promise.all(
      [left, right].map(async ({ client }) => (await client.log(shared)).at(-1)?.id ?? ''),
    );
    expect(seqOf(endInLeft ?? '')).toBe(seqOf(endInRight ?? ''));
    expect((await right.client.open(shared, `?after=${endInRight}`)).response.status).toBe(204);
    await expectReset(right.client, shared, endInLeft ?? '');
    await right.server.kill();

    const again = await start(fork);
    await expectVerdicts(again.client, ofRight, without(ofLeft, common));
  });
});
