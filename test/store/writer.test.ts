import { once } from 'node:events';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import SqliteDatabase, { type Database } from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { VerbCall } from '../../src/model/batch.ts';
import { databaseFile, openConnection, prepareFile } from '../../src/store/sqlite/connection.ts';
import {
  type Answer,
  packCommit,
  type Reply,
  type Request,
  unpackBatch,
  unpackFailure,
} from '../../src/store/sqlite/request.ts';
import { serveWriter } from '../../src/store/sqlite/serve.ts';
import { type Commit, createWriter, type Writer } from '../../src/store/sqlite/writer.ts';
import { StoreError } from '../../src/store/store.ts';
import { newDirectory } from '../support/store-directory.ts';
import { createArgs } from '../support/store-owner.ts';

async function answersFrom(port: MessagePort, count: number): Promise<Answer[]> {
  const answers: Answer[] = [];
  while (answers.length < count) {
    const [reply]: Reply[] = await once(port, 'message');
    answers.push(...(reply?.answers ?? []));
  }
  return answers;
}

describe('the writer', () => {
  let db: Database;
  let writer: Writer;
  beforeEach(() => {
    const dir = newDirectory();
    prepareFile(dir);
    db = openConnection(databaseFile(dir), 'write');
    writer = createWriter(db, 'abcdefgh', Date.now);
  });
  afterEach(() => writer.close());

  const create = (owner: string, given = {}): Commit => ({
    owner,
    calls: [{ verb: 'createTask', args: createArgs(given) } satisfies VerbCall],
  });
  /** SQL that a `CHECK` refuses, for which no verb is to blame. */
  const unwritable = (owner: string) => create(owner, { priority: 1_000 });

  test('tries each commit by itself when the database refuses their transaction', () => {
    const settled = writer.commitAll([create('ann'), unwritable('ann'), create('ben'), create('ann')]);

    expect(settled.map(({ ok }) => ok)).toEqual([true, false, true, true]);
    expect(settled.map((each) => each.ok && each.batch.firstSeq)).toEqual([1, false, 1, 2]);
  });

  test('has the lock before it looks at the clock, so that nobody else writes from then on', () => {
    const dir = newDirectory();
    prepareFile(dir);
    const rival = new SqliteDatabase(databaseFile(dir), { timeout: 0 });
    const refusals: unknown[] = [];
    const locking = createWriter(openConnection(databaseFile(dir), 'write'), 'abcdefgh', () => {
      try {
        rival.exec('begin immediate; rollback');
        refusals.push(null);
      } catch (error) {
        refusals.push(error);
      }
      return Date.now();
    });

    const settled = locking.commitAll([create('ann')]);

    expect(settled).toMatchObject([{ ok: true }]);
    expect(refusals).toMatchObject([{ code: 'SQLITE_BUSY' }]);
    rival.close();
    locking.close();
  });

  test('says storage_full when there is no space, lets none overtake, and writes again when there is', () => {
    const big = () => create('ann', { input: 'x'.repeat(200_000) });
    const pages = Number(db.pragma('page_count', { simple: true }));
    db.pragma(`max_page_count = ${pages + 150}`);

    const settled = writer.commitAll([big(), big(), create('ben')]);

    const full = { code: 'storage_full' };
    expect(settled.map((each) => each.ok || each.error)).toMatchObject([true, full, full]);
    db.pragma('max_page_count = 1000000');
    expect(writer.commitAll([big()])).toMatchObject([{ ok: true, batch: { firstSeq: 2 } }]);
  });

  test('fails everything once the file under it was broken', () => {
    const dir = newDirectory();
    prepareFile(dir);
    const onBroken = createWriter(openConnection(databaseFile(dir), 'write'), 'abcdefgh', Date.now);
    const whole = readFileSync(databaseFile(dir));
    truncateSync(databaseFile(dir), whole.length / 2);

    const settled = onBroken.commitAll([create('ann'), create('ben')]);
    writeFileSync(databaseFile(dir), whole);
    settled.push(...onBroken.commitAll([create('ann')]));

    const failed = { ok: false, error: { code: 'storage_failed' } };
    expect(settled).toMatchObject([failed, failed, failed]);
    expect(() => onBroken.describeAgents([])).toThrow(StoreError);
    onBroken.close();
  });

  test('keeps its WAL bounded', () => {
    for (let i = 0; i < 60; i++) {
      writer.commitAll([create('ann', { input: 'x'.repeat(400_000) })]);
      writer.checkpoint();
    }

    expect(db.pragma('wal_checkpoint(noop)')).toMatchObject([{ log: expect.toSatisfy((pages) => pages < 2_200) }]);
  });

  test('serves over a port what it would do at home, in the order of the requests', async () => {
    const { port1, port2 } = new MessageChannel();
    serveWriter(port2, writer);
    const { taskId, ...rest } = createArgs();
    const note = (task: string) => ({
      taskId: task,
      conversationId: null,
      type: 'note.taken',
      step: null,
      data: '{"n":"é"}',
    });
    const calls: VerbCall[] = [
      { verb: 'createTask', args: { taskId, ...rest } },
      { verb: 'claimTask', args: { taskId, version: '1', warm: false, node: 'n' } },
      { verb: 'appendEvents', args: { taskId, fence: 1, after: 0, events: [note(taskId), note(taskId)] } },
    ];
    const stray: VerbCall = { verb: 'appendEvents', args: { taskId, fence: 1, after: 2, events: [note('task_none')] } };

    port1.postMessage([
      packCommit({ owner: 'ann', calls }, 0),
      packCommit({ owner: 'ann', calls: [stray] }, 0),
      { kind: 'agents', agents: [{ name: 'a', description: '', version: '1', inputSchema: null }] },
      packCommit(unwritable('ben'), 0),
    ] satisfies Request[]);
    const answers = await answersFrom(port1, 4);
    port1.close();

    const [first, second, third, fourth] = answers;
    const events = first?.ok && first.batch !== null ? unpackBatch(first.batch, calls).events : [];
    expect(events.map(({ seq, type, rootId }) => [seq, type, rootId])).toEqual([
      [1, 'task.created', taskId],
      [2, 'task.started', taskId],
      [3, 'note.taken', taskId],
      [4, 'note.taken', taskId],
    ]);
    expect(events.at(-1)).toMatchObject(note(taskId));
    expect(second?.ok === false && unpackFailure(second.failure)).toMatchObject({
      message: expect.stringContaining('not loaded'),
    });
    expect(third).toEqual({ ok: true, batch: null });
    expect(fourth?.ok).toBe(false);
  });

  test('puts together over a port what is small, and commits what is large apart', async () => {
    const { port1, port2 } = new MessageChannel();
    serveWriter(port2, writer);
    const settle = (value: string): Request => {
      const outcome = { status: 'completed', value } as const;
      const step = { name: 'page', attempt: 1 };
      const args = { taskId: 'task_none', fence: 1, step, askedAt: 0, once: false, ms: 1, outcome };
      const call = { verb: 'settleStep', args: { ...args, message: null, tool: null } } satisfies VerbCall;
      return packCommit({ owner: 'ann', calls: [call] }, 0);
    };
    const replies: number[] = [];
    port1.on('message', ({ answers }: Reply) => replies.push(answers.length));

    port1.postMessage([settle('1'), settle('2'), settle('3')]);
    await once(port1, 'message');
    port1.postMessage(['1', '2', '3'].map((digit) => settle(digit.repeat(600_000))));
    while (replies.length < 4) await once(port1, 'message');
    port1.close();

    expect(replies).toEqual([3, 1, 1, 1]);
  });

  test('refuses over a port what was asked before it was known that there is no space', async () => {
    const { port1, port2 } = new MessageChannel();
    serveWriter(port2, writer);
    const big = () => create('ann', { input: 'x'.repeat(400_000) });
    db.pragma(`max_page_count = ${Number(db.pragma('page_count', { simple: true })) + 50}`);

    port1.postMessage([packCommit(create('ann'), 0), packCommit(big(), 0), packCommit(create('ann'), 0)]);
    const before = await answersFrom(port1, 3);
    port1.postMessage([packCommit(create('ann'), 0), packCommit(create('ann'), 1)]);
    const after = await answersFrom(port1, 2);
    port1.close();

    const full = { ok: false, failure: { code: 'storage_full' } };
    expect(before).toMatchObject([{ ok: true }, full, full]);
    expect(after).toMatchObject([full, { ok: true, batch: { firstSeq: 2 } }]);
  });

  test('brings trouble of the disk over a port under its code', () => {
    const failure = { code: 'storage_full', error: new Error('no space') } as const;

    expect(unpackFailure(failure)).toEqual(new StoreError('storage_full', failure.error));
  });
});
