import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { openSocketReader, type SocketReader } from '../support/socket-reader.ts';
import { isNamed, isSignal, type SseBlock } from '../support/sse-reader.ts';
import { createTask, finished, questionOf, readLog } from '../support/task-client.ts';

const STREAMS = 500;
const WITHIN_MS = 50;

/** docs/protocol.md §5.3 and §5.4. */
describe('Five hundred streams opened within 50 ms around the end of a task', () => {
  let server: ServerProcess;

  beforeAll(async () => {
    server = await startServerProcess({ agents: ['test/protocol/load-agents.ts'] });
  });
  afterAll(() => server.stop());

  test.each([-30, 0, 10, 20, 30, 40, 60, 100])(
    'deliver its one terminal event and `end` each, when it is let go %i ms after the first',
    async (answerAtMs) => {
      const taskId = await createTask(server.url, 'closer', { before: 20, after: 5 });
      const question = await questionOf(server.url, taskId);
      const path = `/v1/tasks/${taskId}/events`;
      const told = await readLog(server.url, path);
      const cursors = [null, '0', 'latest', told[10]?.id ?? '', told.at(-1)?.id ?? ''];
      const askedOf = (index: number) => cursors[index % cursors.length] ?? null;

      const answering = delay(Math.max(0, answerAtMs)).then(() => question.answer());
      const opening = delay(Math.max(0, -answerAtMs)).then(() => openStreams(`${server.url}${path}`, askedOf));
      const readers = await opening;
      const endings = await Promise.all(readers.map(({ closed }) => closed));
      await answering;
      await finished(server.url, taskId);

      const log = (await readLog(server.url, path)).map(({ id }) => id);
      const last = log.at(-1) ?? null;
      expect(endings).toEqual(readers.map(() => 'over'));
      for (const [index, { blocks }] of readers.entries()) {
        const asked = askedOf(index);
        const ids = blocks.filter((block) => !isSignal(block)).map(({ id }) => id);
        // Who asks for what comes now is told nothing but `end` when that has come already.
        const wanted = asked === 'latest' ? log.slice(log.length - ids.length) : log.slice(log.indexOf(asked ?? '') + 1);
        expect(ids).toEqual(wanted);
        expect(blocks.filter(isTerminal)).toHaveLength(ids.length > 0 ? 1 : 0);
        expect(blocks.at(-1)).toMatchObject({ event: 'end', id: last });
        expect(blocks.filter(isNamed('end'))).toHaveLength(1);
      }
      const statuses = await Promise.all(readers.map(() => resume(`${server.url}${path}`, last)));
      expect(new Set(statuses)).toEqual(new Set([204]));
    },
  );
});

/** Opens streams one after the other, evenly spread over the time. */
async function openStreams(url: string, cursorOf: (index: number) => string | null): Promise<SocketReader[]> {
  const startedAt = performance.now();
  const readers: SocketReader[] = [];
  while (readers.length < STREAMS) {
    const due = Math.min(STREAMS, Math.ceil(((performance.now() - startedAt) / WITHIN_MS) * STREAMS));
    while (readers.length < due) readers.push(openSocketReader(url, { cursor: cursorOf(readers.length) }));
    await delay(1);
  }
  return readers;
}

async function resume(url: string, cursor: string | null): Promise<number | undefined> {
  const reader = openSocketReader(url, { cursor });
  const { statusCode } = await reader.opened;
  await reader.closed;
  return statusCode;
}

function isTerminal({ event, data }: SseBlock): boolean {
  return event === null && /^task\.(completed|failed|cancelled)$/.test(JSON.parse(data ?? '').type);
}
