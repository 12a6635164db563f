import { afterEach, describe, expect, test } from 'vitest';
import { createApi } from '../support/api.ts';
import { expectExactly, expectOneEnd } from '../support/master-check.ts';
import { type ServerProcess, type ServerProcessOptions, startServerProcess } from '../support/server-process.ts';
import { isNamed } from '../support/sse-reader.ts';
import { copyDirectory, newDirectory } from '../support/store-directory.ts';
import { onlyOnSqlite } from '../support/test-engine.ts';
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
    const code = await server.stop('SIGTERM');
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

  test('is no end: after the restart the reader goes on from its cursor, to the one end of the task', async () => {
    const dataDir = newDirectory();
    const before = await start({ dataDir });
    const taskId = await before.client.play({ op: 'emit', count: 3 }, { op: 'ask' });
    await before.client.asks(taskId);
    const first = await before.client.open(taskId);
    const { id } = await first.until(isNamed('caught-up'));
    await before.server.stop();
    const bye = await first.next();

    const after = await start({ dataDir });
    const second = await after.client.open(taskId, '', { 'Last-Event-ID': id ?? '' });
    await createApi(after.server.url).cancel(taskId);
    await second.rest();

    const log = await after.client.log(taskId);
    expect(bye?.event).toBe('bye');
    expectExactly([first.blocks, second.blocks], log);
    expectOneEnd(log, await after.client.task(taskId));
  });
});

describe('§5.2 cursors over restarts (decision 001)', () => {
  test('[T1] stay valid over kill -9, plain ones and those of a retelling; no reader is reset', async () => {
    const dataDir = newDirectory();
    const before = await start({ dataDir });
    await before.client.playOut();
    const taskId = await before.client.play({ op: 'emit', count: 5 }, { op: 'say', text: 'Half way.' }, { op: 'ask' });
    await before.client.asks(taskId);
    const whole = await before.client.open(EVERYTHING);
    await whole.until(isNamed('caught-up'));
    await before.server.kill();
    await whole.rest().catch(() => []);
    const retold = whole.blocks.slice(0, 4);

    const after = await start({ dataDir });
    await createApi(after.server.url).cancel(taskId);
    await after.client.ended(taskId);
    const log = await after.client.log(taskId);

    for (const cut of [retold, whole.blocks]) {
      const resumed = await after.client.open(EVERYTHING, `?after=${cut.at(-1)?.id}`);
      await resumed.until(isNamed('caught-up'));
      resumed.close();
      expectExactly([cut, resumed.blocks], log);
    }
    expect(retold.at(-1)?.id).toMatch(/^[a-z0-9]{8}\.\d+\.\d+$/);
    expect(whole.blocks.at(-1)?.id).toMatch(/^[a-z0-9]{8}\.\d+$/);
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

  test('are refused, never mistaken, where a copied-back directory has lost what they stood for', async ({ skip }) => {
    onlyOnSqlite(skip);
    const dataDir = newDirectory();
    const old = await start({ dataDir });
    const common = (await old.client.log(await old.client.playOut())).at(-1)?.id;
    await old.server.stop();
    const backup = copyDirectory(dataDir);

    const lost = await start({ dataDir });
    const lostCursors = (await lost.client.log(await lost.client.playOut({ op: 'emit' }))).map(({ id }) => id);
    await lost.server.stop();
    const { client } = await start({ dataDir: backup });
    for (let i = 0; i < 3; i++) await client.playOut();
    const waiting = await client.play({ op: 'emit' }, { op: 'ask' });
    await client.asks(waiting);

    for (const cursor of lostCursors) {
      const reader = await client.open(EVERYTHING, `?after=${cursor}`);
      const reset = await reader.next();
      expect(JSON.parse(reset?.data ?? '')).toMatchObject({ reason: 'unknown', asked: cursor });
      await reader.until(isNamed('caught-up'));
      expectExactly([reader.blocks], await client.log(waiting));
      reader.close();
    }
    const served = await client.open(EVERYTHING, `?after=${common}`);
    expect((await served.next())?.event).toBeNull();
    served.close();
  });
});

describe('§5.3 expired, over HTTP', () => {
  test('is told to a task whose events were pruned, which is never expired from `0`', async () => {
    const dataDir = newDirectory();
    const before = await start({ dataDir });
    const pruned = await before.client.playOut({ op: 'emit', count: 2 });
    const ids = (await before.client.log(pruned)).map(({ id }) => id);
    await before.server.stop();

    // What has ended is pruned at the start, and then once a minute.
    const { client } = await start({ dataDir, env: { HOLDFAST_RETENTION_DAYS: '0.0000001' } });
    await expect.poll(async () => (await client.log(pruned)).length, { timeout: 10_000 }).toBe(0);
    const waiting = await client.play({ op: 'emit' }, { op: 'ask' });
    await client.asks(waiting);

    const reader = await client.open(pruned, `?after=${ids[1]}`);
    const [reset, end] = await reader.rest();
    expect(JSON.parse(reset?.data ?? '')).toEqual({ reason: 'expired', asked: ids[1], resumeAfter: ids.at(-1) });
    expect(end).toMatchObject({ event: 'end', id: ids.at(-1) });
    expect((await client.open(pruned, `?after=${ids.at(-1)}`)).response.status).toBe(204);
    const fromZero = await client.open(pruned, '?after=0');
    expect((await fromZero.rest()).map(({ event }) => event)).toEqual(['end']);

    const page = await client.get(`${pathOf(pruned)}?after=${ids[0]}`, { Accept: 'application/json' });
    expect(page).toMatchObject({
      status: 410,
      body: { code: 'cursor_gone', reason: 'expired', resumeAfter: ids.at(-1) },
    });

    const everything = await client.open(EVERYTHING, `?after=${ids[0]}`);
    expect((await everything.next())?.data).toContain('"reason":"expired"');
    await everything.until(isNamed('caught-up'));
    expectExactly([everything.blocks], await client.log(waiting));
    everything.close();
  });
});
