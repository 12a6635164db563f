import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { databaseFile, prepareFile } from '../../src/store/sqlite/connection.ts';
import { openSqliteStoreInProcess } from '../../src/store/sqlite/open.ts';
import { type RemoteWriter, startRemoteWriter } from '../../src/store/sqlite/remote.ts';
import type { Commit } from '../../src/store/sqlite/writer.ts';
import { StoreError } from '../../src/store/store.ts';
import { newDirectory } from '../support/store-directory.ts';
import { createArgs } from '../support/store-owner.ts';

/** Several transactions' worth, so that some are under way, or wait for their turn, when the first is acknowledged. */
const COMMITS = 1000;
const FAILED = expect.objectContaining({ name: 'StoreError', code: 'storage_failed' });

/** A request that no store sends: reading it throws in the thread, where nothing is made to catch it. */
const UNREADABLE = [{ kind: 'commit', owner: 'ann', shortages: 0, calls: 'no JSON', texts: [], rows: 1 }];

const DEATHS: [string, (thread: Worker) => unknown][] = [
  ['throws', (thread) => thread.postMessage(UNREADABLE)],
  ['is ended', (thread) => thread.terminate()],
];

describe("The writer's thread", () => {
  test.each(DEATHS)('that %s fails all that is pending, and keeps what it acknowledged', async (_how, kill) => {
    const { dir, writer, thread } = await startWriter();
    const settled: unknown[] = [];
    const pending = Array.from({ length: COMMITS }, (_, n) =>
      writer.commit(create(`owner-${n}`)).then(
        () => settled.push('stored'),
        (error) => settled.push(error),
      ),
    );
    await pending[0];

    kill(thread);
    const behind = Array.from({ length: 3 }, (_, n) => writer.commit(create(`late-${n}`)));
    const late = await Promise.allSettled([...behind, writer.describeAgents([])]);
    await Promise.all(pending);

    const stored = settled.filter((each) => each === 'stored').length;
    expect(settled.slice(stored)).toEqual(Array(COMMITS - stored).fill(FAILED));
    expect(late).toEqual(Array(4).fill({ status: 'rejected', reason: FAILED }));
    const store = openSqliteStoreInProcess({ dir });
    const logs = await Promise.all(Array.from({ length: stored }, (_, n) => store.log(`owner-${n}`)));
    expect(logs.map(({ head }) => head)).toEqual(Array(stored).fill(1));
    expect((await store.log('late-0')).head).toBe(0);
    await store.close();
  });

  test.each(DEATHS)('that %s refuses all that comes later, and can be closed', async (_how, kill) => {
    const { writer, thread } = await startWriter();
    const exited = new Promise((resolve) => thread.on('exit', resolve));
    kill(thread);
    await exited;

    const late = writer.commit(create('ann'));

    await expect(late).rejects.toThrow(StoreError);
    await expect(late).rejects.toEqual(FAILED);
    await writer.close();
  });
});

async function startWriter(): Promise<{ dir: string; writer: RemoteWriter; thread: Worker }> {
  const dir = newDirectory();
  prepareFile(dir);
  const started = once(process, 'worker');
  const writer = await startRemoteWriter({ file: databaseFile(dir), epoch: 'abcdefgh' }, () => {});
  const [thread]: Worker[] = await started;
  if (thread === undefined) throw new Error('No thread was started.');
  return { dir, writer, thread };
}

function create(owner: string): Commit {
  return { owner, calls: [{ verb: 'createTask', args: createArgs() }] };
}
