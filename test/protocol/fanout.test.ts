import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { readLog } from '../support/log-pages.ts';
import { expectExactly } from '../support/master-check.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { openSocketReader, type SocketReader } from '../support/socket-reader.ts';
import { isNamed, isType, logEvents, openSseReader } from '../support/sse-reader.ts';

const STREAMS = 500;
const WITHIN_MS = 50;

/** docs/protocol.md §5.3 and §5.4. */
describe('Five hundred streams opened within 50 ms around the end of a task', () => {
  let server: ServerProcess;
  let api: Api;

  beforeAll(async () => {
    server = await startServerProcess({ agents: ['test/protocol/load-agents.ts'] });
    api = createApi(server.url);
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    expect(server.stderr()).toBe('');
  });

  test.each([-30, 0, 10, 20, 30, 40, 60, 100])(
    'each tell its one terminal event and `end`, when it is let go %i ms after the first',
    async (letGoAtMs) => {
      const watcher = await openSseReader(`${server.url}/v1/events?after=latest`);
      const task = await api.run('closer', { before: 20, after: 5 });
      const question = await api.pendingQuestion(task.id);
      const path = `/v1/tasks/${task.id}/events`;
      const told = await readLog(api, path);
      const starts = [null, '0', 'latest', told[10]?.id ?? '', told.at(-1)?.id ?? ''];
      const startOf = (index: number) => starts[index % starts.length] ?? null;

      const answering = delay(Math.max(0, letGoAtMs)).then(() => api.answer(question.id, true));
      await delay(Math.max(0, -letGoAtMs));
      const readers = await openStreams(`${server.url}${path}`, startOf);
      const endings = await Promise.all(readers.map(({ closed }) => closed));

      expect((await answering).status).toBe(200);
      const log = await readLog(api, path);
      const end = log.at(-1)?.id ?? null;
      expect(endings).toEqual(readers.map(() => 'over'));
      for (const [index, { blocks }] of readers.entries()) {
        const start = startOf(index);
        // What comes now is nothing but `end` where the end has come already.
        const from =
          start === 'latest' ? log.length - logEvents(blocks).length : log.findIndex(({ id }) => id === start) + 1;
        expectExactly([blocks], log.slice(from));
        expect(blocks.filter(isNamed('end'))).toHaveLength(1);
        expect(blocks.at(-1)).toMatchObject({ event: 'end', id: end });
      }
      await watcher.until(isType('task.completed'));
      watcher.close();
      expectExactly([watcher.blocks.slice(0, log.length + 1)], log);
      const statuses = await Promise.all(readers.map(() => statusAfter(`${server.url}${path}`, end)));
      expect(new Set(statuses)).toEqual(new Set([204]));
    },
  );
});

/** Opens streams one after the other, evenly spread over the time. */
async function openStreams(url: string, startOf: (index: number) => string | null): Promise<SocketReader[]> {
  const startedAt = performance.now();
  const readers: SocketReader[] = [];
  while (readers.length < STREAMS) {
    const due = Math.min(STREAMS, Math.ceil(((performance.now() - startedAt) / WITHIN_MS) * STREAMS));
    while (readers.length < due) readers.push(openSocketReader(url, { cursor: startOf(readers.length) }));
    await delay(1);
  }
  return readers;
}

async function statusAfter(url: string, cursor: string | null): Promise<number | undefined> {
  const reader = openSocketReader(url, { cursor });
  const { statusCode } = await reader.opened;
  await reader.closed;
  return statusCode;
}
