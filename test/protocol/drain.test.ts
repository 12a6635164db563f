import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createHoldfast } from '../../src/index.ts';
import { createApi, expectProblem, TASK_AGENTS } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { isNamed, isType, openSseReader } from '../support/sse-reader.ts';

const STREAMS = 40;
const STOP_MS = 10_000;

/** docs/operations.md, "Stopping and rolling restarts". */
describe('a server that is told to stop', () => {
  async function start(): Promise<ServerProcess> {
    const server = await startServerProcess({ agents: TASK_AGENTS });
    onTestFinished(() => server.kill());
    return server;
  }

  test('says so at /readyz, takes nothing new, and goes on answering, until its streams are told and its tasks rest', async () => {
    const server = await start();
    const api = createApi(server.url);
    expect((await api.get('/readyz')).status).toBe(200);
    const task = await api.createTask({ agent: 'holder' });
    const reader = await api.openStream(`/v1/tasks/${task.id}/events`);
    await reader.until(isType('holder.begun'));

    const begun = performance.now();
    const stopped = server.stop('SIGTERM');
    await untilDraining(server.url);
    const [ready, created, read, health] = await Promise.all([
      api.get('/readyz'),
      api.post('/v1/tasks', { agent: 'holder' }),
      api.get(`/v1/tasks/${task.id}`),
      api.get('/healthz'),
    ]);
    const late = await (await openSseReader(`${server.url}/v1/events`)).rest();

    for (const refused of [ready, created]) {
      expectProblem(refused, 503, 'draining');
      expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
    }
    expect([read.status, health.status]).toEqual([200, 200]);
    expect(late.map(({ data }) => data)).toEqual(['{"reason":"drain"}']);
    expect(await stopped).toBe(0);
    expect(performance.now() - begun).toBeLessThan(STOP_MS);
  });

  // Would fail if all were told in one instant: 40 moments in two seconds are within half of one once in 10²².
  test('tells its streams one after the other, over two seconds', async () => {
    const server = await start();
    const readers = await Promise.all(
      Array.from({ length: STREAMS }, () => openSseReader(`${server.url}/v1/events?after=latest`)),
    );

    const begun = performance.now();
    const stopped = server.stop('SIGTERM');
    const times = await Promise.all(
      readers.map(async (reader) => {
        await reader.until(isNamed('bye'));
        return performance.now() - begun;
      }),
    );

    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(500);
    expect(await stopped).toBe(0);
    expect(performance.now() - begun).toBeLessThan(STOP_MS);
  });

  test('is seen to go by a load balancer that had not asked before', async () => {
    const server = await start();
    const api = createApi(server.url);

    const stopped = server.stop('SIGTERM');
    while ((await api.post('/v1/tasks', { agent: 'echo' })).status !== 503);

    expectProblem(await api.get('/readyz'), 503, 'draining');
    expect(await stopped).toBe(0);
  });
});

test('an embedded server that is closed drains likewise, and again is the same', async () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'holdfast-test-'));
  const agents = TASK_AGENTS.map((file) => pathToFileURL(path.resolve(file)));
  const holdfast = await createHoldfast({ dataDir, agents, port: 0, workers: 2 });
  const api = createApi(holdfast.url);
  const reader = await api.openStream('/v1/events');
  expect((await api.get('/readyz')).status).toBe(200);

  const closed = holdfast.close();

  expectProblem(await api.get('/readyz'), 503, 'draining');
  expectProblem(await api.post('/v1/tasks', { agent: 'holder' }), 503, 'draining');
  expect((await reader.until(isNamed('bye'))).data).toBe('{"reason":"drain"}');
  expect(holdfast.close()).toBe(closed);
  await closed;
  await expect(api.get('/readyz')).rejects.toThrow();
  rmSync(dataDir, { recursive: true });
});

/** The signal is on its way: until it has come, the server is as it was. */
async function untilDraining(url: string): Promise<void> {
  while ((await createApi(url).get('/readyz')).status !== 503);
}
