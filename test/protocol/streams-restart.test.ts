import { afterEach, describe, expect, test } from 'vitest';
import { expectExactly, expectOneEnd } from '../support/master-check.ts';
import { type ServerProcess, type ServerProcessOptions, startServerProcess } from '../support/server-process.ts';
import { isNamed, isType, logEvents, openSseReader } from '../support/sse-reader.ts';
import { copyDirectory, newDirectory } from '../support/store-directory.ts';
import { createStreamClient, EVERYTHING, pathOf, STREAM_AGENTS, type StreamClient } from './stream-client.ts';

const running: ServerProcess[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.kill()));
});

async function start(options: ServerProcessOptions): Promise<{ server: ServerProcess; client: StreamClient }> {
  const server = await startServerProcess({ agents: STREAM_AGENTS, ...options });
  running.push(server);
  return { server, client: createStreamClient(server.url) };
}

describe('§5.3 bye', () => {
  test('says `drain` on SIGTERM with a `retry:` in its block and no id, and the process ends with 0 in 10 s', async () => {
    const { server, client } = await start({});
    const taskId = await client.play({ op: 'ask' });
    await client.asks(taskId);
    const readers = await Promise.all([taskId, taskId, EVERYTHING].map((of) => client.open(of)));
    for (const reader of readers) await reader.until(isNamed('caught-up'));

    const startedAt = performance.now();
    const code = await server.stop();
    const tookMs = performance.now() - startedAt;

    for (const reader of readers) {
      expect(await reader.rest()).toEqual([
        expect.objectContaining({
          event: 'bye',
          id: null,
          data: '{"reason":"drain"}',
          retry: expect.stringMatching(/^[1-5]\d{3}$/),
        }),
      ]);
    }
    expect(code).toBe(0);
    expect(tookMs).toBeLessThan(10_000);
  });

  test('[Q1] [Q2] is no end: after the restart the reader goes on, the question is there, and the task too', async () => {
    const dataDir = newDirectory();
    const before = await start({ dataDir });
    const taskId = await before.client.play({ op: 'emit', count: 3 }, { op: 'ask' }, { op: 'emit', count: 3 });
    await before.client.asks(taskId);
    const asked = await before.client.pendingQuestion(taskId);
    const first = await before.client.open(taskId);
    const { id } = await first.until(isNamed('caught-up'));
    await before.server.stop();
    await first.rest();

    const after = await start({ dataDir });
    const second = await after.client.open(taskId, '', { 'Last-Event-ID': id ?? '' });
    await second.until(isNamed('caught-up'));
    const still = await after.client.pendingQuestion(taskId);
    await after.client.answerNext(taskId);
    await second.rest();

    const log = await after.client.log(taskId);
    expect(still).toEqual(asked);
    expectExactly([first.blocks, second.blocks], log);
    expectOneEnd(log, await after.client.task(taskId));
  });
});

describe('§5.2 cursors over restarts (decision 001)', () => {
  test('[Q12] stay valid over kill -9, plain ones and those of a retelling; no reader is reset', async () => {
    const dataDir = newDirectory();
    const before = await start({ dataDir });
    await before.client.playOut();
    const taskId = await before.client.play({ op: 'emit', count: 5 }, { op: 'ask' }, { op: 'emit', count: 5 });
    await before.client.asks(taskId);
    const whole = await before.client.open(EVERYTHING);
    await whole.until(isNamed('caught-up'));
    const cut = whole.blocks.slice(0, 4);
    await before.server.kill();
    await whole.rest().catch(() => []);

    const after = await start({ dataDir });
    await after.client.answerNext(taskId);
    await after.client.ended(taskId);
    const resumed = await after.client.open(EVERYTHING, `?after=${cut.at(-1)?.id}`);
    await resumed.until(isType('task.completed'));
    resumed.close();

    const log = await after.client.log(taskId);
    expect(cut.at(-1)?.id).toMatch(/^[a-z0-9]{8}\.\d+\.\d+$/);
    expectExactly([cut, resumed.blocks], log);
    expectOneEnd(log, await after.client.task(taskId));
  });

  test('keep the end of a task readable, and 204 behind it: existence comes from the store', async () => {
    const dataDir = newDirectory();
    const before = await start({ dataDir });
    const taskId = await before.client.playOut({ op: 'emit', count: 2 });
    const log = await before.client.log(taskId);
    await before.server.kill();

    const { client } = await start({ dataDir });
    const whole = await client.open(taskId);
    await whole.rest();
    const last = await client.open(taskId, `?after=${log.at(-2)?.id}`);
    await last.rest();

    expectExactly([whole.blocks], log);
    expect(whole.blocks.map(({ id }) => id).slice(0, log.length)).toEqual(log.map(({ id }) => id));
    expectExactly([last.blocks], log.slice(-1));
    expect((await client.open(taskId, `?after=${log.at(-1)?.id}`)).response.status).toBe(204);
  });

  test('are refused, never mistaken, where a copied-back directory has lost what they stood for', async () => {
    const dataDir = newDirectory();
    const old = await start({ dataDir });
    const taskId = await old.client.play({ op: 'emit' }, { op: 'ask' }, { op: 'emit', count: 3 });
    await old.client.asks(taskId);
    const common = (await old.client.log(taskId)).at(-1)?.id;
    await old.server.stop();
    const backup = copyDirectory(dataDir);

    const lost = await start({ dataDir });
    await lost.client.answerNext(taskId);
    await lost.client.ended(taskId);
    const lostCursors = (await lost.client.log(taskId)).slice(-4).map(({ id }) => id);
    await lost.server.stop();
    const fork = await start({ dataDir: backup });
    for (let i = 0; i < 5; i++) await fork.client.playOut();

    for (const cursor of lostCursors) {
      const reader = await fork.client.open(EVERYTHING, `?after=${cursor}`);
      const reset = await reader.next();
      expect(JSON.parse(reset?.data ?? '')).toMatchObject({ reason: 'unknown', asked: cursor });
      await reader.until(isNamed('caught-up'));
      expectExactly([reader.blocks], await fork.client.log(taskId));
      reader.close();
    }
    const served = await fork.client.open(EVERYTHING, `?after=${common}`);
    expect((await served.next())?.event).toBeNull();
    served.close();
  });
});

describe('§5.3 expired, over HTTP', () => {
  test('is told to a task whose events were pruned, and its whole end is still readable from `0`', async () => {
    const dataDir = newDirectory();
    const before = await start({ dataDir });
    const pruned = await before.client.playOut({ op: 'emit', count: 2 });
    const waiting = await before.client.play({ op: 'emit' }, { op: 'ask' });
    await before.client.asks(waiting);
    const log = await before.client.log(EVERYTHING);
    const ids = log.filter(({ taskId }) => taskId === pruned).map(({ id }) => id);
    await before.server.stop();

    // Pruned at the start: everything that has ended.
    const { server, client } = await start({ dataDir, env: { HOLDFAST_RETENTION_DAYS: '0.0000001' } });
    await expect.poll(async () => (await client.log(pruned)).length, { timeout: 10_000 }).toBe(0);

    const reader = await client.open(pruned, `?after=${ids[1]}`);
    const blocks = await reader.rest();
    expect(JSON.parse(blocks[0]?.data ?? '')).toEqual({ reason: 'expired', asked: ids[1], resumeAfter: ids.at(-1) });
    expect(blocks.map(({ event }) => event)).toEqual(['reset', 'end']);
    expect((await client.open(pruned, `?after=${ids.at(-1)}`)).response.status).toBe(204);

    const fromZero = await client.open(pruned, '?after=0');
    expect((await fromZero.rest()).map(({ event }) => event)).toEqual(['end']);
    const kept = await client.open(waiting);
    await kept.until(isNamed('caught-up'));
    expectExactly(
      [kept.blocks],
      log.filter(({ taskId }) => taskId === waiting),
    );
    kept.close();

    const page = await fetch(`${server.url}${pathOf(pruned)}?after=${ids[0]}`, {
      headers: { Accept: 'application/json' },
    });
    expect(page.status).toBe(410);
    expect(await page.json()).toMatchObject({ code: 'cursor_gone', reason: 'expired', resumeAfter: ids.at(-1) });
    const everything = await openSseReader(`${server.url}${EVERYTHING}?after=0`);
    await everything.until(isNamed('caught-up'));
    expect(logEvents(everything.blocks)).toEqual(
      logEvents(kept.blocks).filter(({ seq }) => seq > Number(ids.at(-1)?.split('.')[1])),
    );
    everything.close();
  });
});
