import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, createApi, expectProblem } from '../support/api.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import type { SseReader } from '../support/sse-reader.ts';

const JSON_ONLY = { Accept: 'application/json' };

/** docs/protocol.md §5.5 and §9. */
describe('A server that holds three streams and waits open', () => {
  let server: ServerProcess;
  let api: Api;
  let taskId: string;
  let open: SseReader[];

  beforeAll(async () => {
    server = await startServerProcess({
      agents: ['test/overload/overload-agents.ts'],
      env: { HOLDFAST_MAX_STREAMS: '3' },
    });
    api = createApi(server.url);
    taskId = (await api.run('asker')).id;
    open = await Promise.all(Array.from({ length: 3 }, () => api.openStream('/v1/events?after=latest')));
    for (const stream of open) await stream.next();
  });
  afterAll(async () => {
    for (const stream of open) stream.close();
    expect(await server.stop()).toBe(0);
    expect(server.stderr()).toBe('');
  });

  // Would fail as a 429 or 503, for which EventSource gives up for ever.
  test('sends the fourth stream away with 200 and a long time to come back', async () => {
    const stream = await api.openStream(`/v1/tasks/${taskId}/events`);

    const [bye, ...others] = await stream.rest();

    expect(stream.response.status).toBe(200);
    expect(others).toEqual([]);
    expect(bye).toMatchObject({ event: 'bye', data: '{"reason":"overloaded"}', id: null });
    expect(Number(bye?.retry)).toBeGreaterThanOrEqual(10_000);
  });

  test('refuses to wait with 503, and serves what need not wait', async () => {
    expectProblem(await api.get('/v1/events?after=latest&wait=5', JSON_ONLY), 503, 'overloaded');
    const refused = await api.get(`/v1/tasks/${taskId}?wait=5`);
    expectProblem(refused, 503, 'overloaded');
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);

    expect((await api.get(`/v1/tasks/${taskId}`)).status).toBe(200);
    expect((await api.get('/v1/events?after=latest', JSON_ONLY)).status).toBe(200);
  });

  // Would fail if the task were made and its client told that it was not.
  test('tells at once of a task that it has made, when it cannot wait for its end', async () => {
    const made = await api.post<{ id: string }>('/v1/tasks?wait=60', { agent: 'asker' });

    expect(made.status).toBe(202);
    expect((await api.get(`/v1/tasks/${made.body.id}`)).status).toBe(200);
  });

  // Would fail if only a wait that comes to its end gave its place back.
  test('has its places back from waits whose tasks are deleted meanwhile', async () => {
    open.shift()?.close();
    await untilOneIsFree();
    for (let n = 0; n < 20; n++) {
      const { body } = await api.post<{ id: string }>('/v1/conversations');
      const runAt = new Date(Date.now() + 60_000).toISOString();
      const task = { agent: 'asker', conversationId: body.id, runAt };
      await Promise.all([
        api.post('/v1/tasks?wait=0.05', task),
        api.post('/v1/tasks?wait=0.05', task),
        api.send(`/v1/conversations/${body.id}`, { method: 'DELETE' }),
      ]);
    }
    await untilOneIsFree();
  });

  // Would fail with the signal of the request alone: of those behind the first on a connection Node tells nothing.
  test('has its places back from waits that stand behind others on a connection that is gone', async () => {
    const { hostname, port } = new URL(server.url);
    const { id } = await api.createTask({ agent: 'asker', runAt: new Date(Date.now() + 60_000).toISOString() });
    const socket = connect(Number(port), hostname);
    const waiting = `GET /v1/tasks/${id}?wait=60 HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    const page = `GET /v1/events?after=latest&wait=60 HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n\r\n`;
    socket.write(`${page}${waiting}${waiting}`);
    await expect.poll(() => status(`/v1/tasks/${taskId}?wait=0.01`)).toBe(503);

    socket.destroy();

    await untilOneIsFree();
  });

  async function status(path: string): Promise<number> {
    return (await api.get(path)).status;
  }

  function untilOneIsFree(): Promise<void> {
    return expect.poll(() => status(`/v1/tasks/${taskId}?wait=0.01`), { timeout: 5000 }).toBe(200);
  }

  test('takes another when one has gone', async () => {
    open.shift()?.close();
    await untilOneIsFree();

    const stream = await api.openStream('/v1/events?after=latest');
    open.push(stream);

    expect((await stream.next())?.event).toBe('caught-up');
  });
});
